import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { findInputs } from "../../src/corpus/find-inputs.ts";
import { inspectFirstStream } from "../../src/corpus/inspect-input.ts";
import { isIntermediate } from "../../src/pages/app/observations.ts";
import { unpack } from "../../src/pages/unpacked.ts";
import { sampleTextsOf, textsOfInputs } from "../../src/reports/report-writer.ts";
import type { Message } from "../../src/runtime/message.ts";
import { bpe, put, scratch } from "../binary.ts";

const directory = scratch();
const text = put(directory, "text.txt", "low lower lowest newest widest ".repeat(40));
const tokenizer = join(directory, "tokenizer");
expect(bpe(["train", text, "-n", "280", "-o", tokenizer, "-q"]).code).toBe(0);

const dataOf = (page: string) => JSON.parse(/id="data">(.*?)<\/script>/s.exec(page)![1]!);
const headlineOf = (page: string) => /<h1>(.*?)<\/h1>/s.exec(page)![1]!;

test("inspect --report contains what --json prints, counts of the text, and the text cut into tokens", () => {
  const path = join(directory, "with-text.html");
  const args = ["inspect", tokenizer, "--text", text];
  const { stdout } = bpe([...args, "--json", "--report", path]);
  const page = readFileSync(path, "utf8");
  const data = dataOf(page);
  expect(data.view).toBe("inspect");
  expect(data.inspection).toEqual(JSON.parse(stdout));
  expect(data.textName).toBe("text.txt");
  expect(headlineOf(page)).toBe(
    `tokenizer averages ${data.inspection.text.bytesPerToken.toFixed(2)} bytes per token on text.txt, with ${data.inspection.vocabularySize} tokens.`,
  );
  const [{ text: name, content, cuts }] = data.excerpts;
  expect(name).toBe(basename(text));
  expect("low lower lowest newest widest ".repeat(40)).toContain(content);
  expect(content.length).toBeGreaterThan(300);
  expect(cuts[0].lengths.reduce((sum: number, length: number) => sum + length, 0)).toBe(content.length);
});

test("inspect --report draws the same curve of a training as train --report", async () => {
  const corpus = put(directory, "corpus.txt", "occur occurs occurred a aaa aaaa lower lowest ".repeat(30));
  const variants = [["--compat", "huggingface"], ["-s", "<|end|>", "--pad-to", "64"], []];
  for (const [i, more] of variants.entries()) {
    const [output, path] = [join(directory, `again${i}`), join(directory, `again${i}.html`)];
    const args = ["train", corpus, "-n", "276", "-o", output, "--report", path, "-q", "--ledger", ...more];
    expect(bpe(args)).toMatchObject({ code: 0, stderr: "" });
    const trained = dataOf(readFileSync(path, "utf8"));
    for (const of of [output, join(output, "tokenizer.json")]) {
      expect(bpe(["inspect", of, "--report", path]).code).toBe(0);
      const inspected = dataOf(readFileSync(path, "utf8"));
      expect(inspected.curve).toEqual(trained.curve);
      // One of the pages stores the token counts at the end of training, the other computes them. They must be equal.
      const [drawn, drew] = await Promise.all([inspected, trained].map((data) => unpack(data.vocabulary)));
      expect(drawn!.merged).toEqual(drew!.merged);
    }
  }
});

test("a table of tokens of another tokenizer is left out, and the record has ten points of the curve", () => {
  const other = join(directory, "left-out");
  const path = join(directory, "left-out.html");
  expect(bpe(["train", text, "-n", "280", "-o", other, "-q", "--ledger"]).code).toBe(0);
  const tablePath = join(other, "tokens.tsv");
  const whole = readFileSync(tablePath, "utf8");
  const lines = whole.split("\n");
  const wrong = [
    "",
    `${lines.slice(0, -2).join("\n")}\n`,
    whole.slice(0, -1),
    `${whole}280\tx\t1\t0\t0\t\t\n`,
    whole.replace(/^270\t.*$/m, (row) => row.replace(/\d+$/, "3")),
    whole.replace(/^270\t.*$/m, (row) => row.replace(/\t\d+\t\d+\t\d+\t\d+$/, "\t9\t9\t1\t2")),
    whole.replace(/^270\t/m, "271\t"),
  ];
  const inspect = () => {
    expect(bpe(["inspect", other, "--report", path]).code).toBe(0);
    return dataOf(readFileSync(path, "utf8"));
  };
  for (const content of wrong) {
    put(other, "tokens.tsv", content);
    const { vocabulary, curve } = inspect();
    expect([vocabulary.lastPairCount, vocabulary.tokensBefore]).toEqual([null, null]);
    expect(curve.points.length).toBeWithin(2, 11);
  }
  put(other, "tokens.tsv", whole);
  expect(inspect().vocabulary.lastPairCount).toBeGreaterThan(0);
});

test("of an input with records, the page shows the first text that is not empty", () => {
  const records = put(directory, "r.jsonl", '{"text":""}\n{"text":"lowest <b>"}\n');
  const path = join(directory, "records.html");
  expect(bpe(["inspect", tokenizer, "--text", records, "--report", path])).toMatchObject({
    code: 0,
    stderr: `written ${path}\n`,
  });
  expect(dataOf(readFileSync(path, "utf8")).excerpts[0].content).toBe("lowest <b>");
});

test("a report that cannot be written is an error before any work", () => {
  const nowhere = join(directory, "none", "report.html");
  const { code, stdout, stderr } = bpe(["inspect", tokenizer, "--report", nowhere]);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toContain("there is no directory");
  expect(existsSync(join(directory, "none"))).toBe(false);
});

test("a report in place of a socket is an error before any work", () => {
  const path = join(directory, "socket");
  const listener = Bun.listen({ unix: path, socket: { data() {} } });
  const output = join(directory, "not-trained");
  for (const command of [
    ["inspect", tokenizer],
    ["train", text, "-n", "280", "-o", output],
  ]) {
    const { code, stdout, stderr } = bpe([...command, "--report", path]);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(`"${path}" is a socket, not a file`);
  }
  expect(existsSync(output)).toBe(false);
  listener.stop();
});

test("inspect prints nothing about the tokenizer if the text is missing", () => {
  const { code, stdout, stderr } = bpe(["inspect", tokenizer, "--text", join(directory, "missing.txt")]);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toContain("no such file");
});

const trainedPage = (name: string, ...more: string[]) => {
  const path = join(directory, `${name}.html`);
  const output = join(directory, name);
  const done = bpe(["train", text, "-n", "270", "-o", output, "--report", path, ...more]);
  expect(done).toMatchObject({ code: 0, stdout: "" });
  expect(done.stderr.split("\n").at(-2)).toMatch(/^report +\S+\.html$/);
  return {
    page: readFileSync(path, "utf8"),
    record: JSON.parse(readFileSync(join(output, "training.json"), "utf8")),
  };
};

test("train --report contains the record, the curve and the counts of the training, and the finding comes first", async () => {
  const { page, record } = trainedPage("trained");
  const data = dataOf(page);
  expect(data.record).toEqual(record);
  expect(headlineOf(page)).toBe(
    `270 tokens average ${record.bytesPerToken.toFixed(2)} bytes each in the training text.`,
  );
  expect(data.curve.points.at(-1)).toEqual({ size: 270, bytesPerToken: record.bytesPerToken });
  expect(page).toContain(`<th scope="row">270</th><td>${record.bytesPerToken.toFixed(3)}</td>`);
  // The number of tokens left after the last merge is the token count in the record.
  const { merged } = await unpack(data.vocabulary);
  expect(merged).toHaveLength(record.mergeCount);
  expect(merged.at(-1)!.tokensLeft).toBe(record.tokenCount);
  const { lastPairCount } = data.vocabulary;
  expect(merged.filter((token) => isIntermediate(token, lastPairCount))).toHaveLength(record.residueCount);
  expect(data.made.flat()).toContain(record.mergesSha256);
  const names = data.summary.map(([name]: [string]) => name);
  for (const name of ["corpus", "pattern", "pretokens", "absorbed", "time", "memory", "written"])
    expect(names).toContain(name);
  expect(readdirSync(join(directory, "trained")).sort()).toEqual([...record.files].sort());
  // For this larger vocabulary, the headline judges whether the size fits the training text.
  const words = Array.from({ length: 900 }, (_, i) => `w${(i * 7919) % 10_007} `.repeat(1 + (i % 5))).join(
    "",
  );
  const [output, path] = [join(directory, "estimated"), join(directory, "estimated.html")];
  const args = [
    "train",
    put(directory, "words.txt", words),
    "-n",
    "1100",
    "-o",
    output,
    "--report",
    path,
    "-q",
  ];
  expect(bpe(args).code).toBe(0);
  expect(headlineOf(readFileSync(path, "utf8"))).toMatch(
    /^1,\d\d\d tokens are (few|a good size|many) for the training text: .*[\d.]+\u00a0%/,
  );
});

test("a report alone does not request a table of tokens", () => {
  expect(trainedPage("alone", "--format", "gpt2").record.files).not.toContain("tokens.tsv");
  expect(trainedPage("kept", "--format", "gpt2", "--ledger").record.files).toContain("tokens.tsv");
});

test("any number of workers makes the same page, except for the times", () => {
  const pages = ["1", "2", "7"].map((workers) => dataOf(trainedPage(`w${workers}`, "-w", workers).page));
  const plain = pages.map(({ record: _, summary: __, made: ___, ...shown }) => shown);
  expect(plain[1]).toEqual(plain[0]!);
  expect(plain[2]).toEqual(plain[0]!);
});

test("the page cuts a text like bpe encode, even if HF's trainer cuts differently, and with superwords", async () => {
  const lines = put(directory, "lines.txt", "low\n\n\nlower <|end|>low\n\n\nlowest naïve\n\n".repeat(20));
  const variants = [
    ["--compat", "huggingface"],
    ["--superwords-from", "262"],
    ["-s", "<|end|>"],
    ["--compat", "huggingface", "-s", "<|end|>", "--pattern", "llama3"],
    ["--normalize", "nfd", "-s", "<|end|>"],
    [],
  ];
  for (const [i, more] of variants.entries()) {
    const [output, path] = [join(directory, `cut${i}`), join(directory, `cut${i}.html`)];
    expect(bpe(["train", lines, "-n", "270", "-o", output, "--report", path, "-q", ...more])).toMatchObject({
      code: 0,
    });
    const [{ content, cuts }] = dataOf(readFileSync(path, "utf8")).excerpts;
    const { ids, lengths } = cuts[0] as { ids: number[]; lengths: number[] };
    const shown = put(directory, "shown.txt", content);
    const encoded = bpe(["encode", shown, "--tokenizer", output, "-q"]).stdout.trim().split(" ").map(Number);
    expect(ids.length).toBeGreaterThan(50);
    expect([more, ids]).toEqual([more, encoded]);
    expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(Buffer.byteLength(content));
  }
});

test("inputs that are not text are left out of the page", () => {
  const bad = put(directory, "bad.txt", Buffer.from([0x61, 0xff, 0x62, 0x0a]));
  const [output, path] = [join(directory, "bad"), join(directory, "bad.html")];
  expect(bpe(["train", bad, text, "-n", "262", "-o", output, "--report", path, "-q"]).code).toBe(0);
  const { excerpts } = dataOf(readFileSync(path, "utf8"));
  expect(excerpts.map(({ text }: { text: string }) => text)).toEqual([basename(text)]);
});

test("eval --report writes the measures that it prints, and how each tokenizer cuts each text", () => {
  const other = join(directory, "other");
  const german = put(directory, "german.txt", "Die Würde des Menschen ist unantastbar. ".repeat(9));
  expect(bpe(["train", german, "-n", "300", "-o", other, "-q"]).code).toBe(0);
  const path = join(directory, "eval.html");
  const args = ["eval", `<b>one=${tokenizer}`, `two=${other}`, "--text", `low=${text}`, german];
  const done = bpe([...args, "--json", "--report", path, "-q"]);
  expect(done.code).toBe(0);
  expect(done.stdout).toBe(bpe([...args, "--json", "-q"]).stdout);
  const page = readFileSync(path, "utf8");
  // The page contains what --json prints.
  const evaluation = JSON.parse(done.stdout);
  expect(dataOf(page)).toMatchObject({ view: "eval", evaluation });
  const { tokenizers, texts, excerpts } = evaluation;
  for (const { texts } of tokenizers) {
    for (const { bytesPerToken } of texts) expect(page).toContain(`<td>${bytesPerToken.toFixed(3)}</td>`);
  }
  expect(page).toMatch(
    /<h1>On low, <span class="name c0">&lt;b&gt;one<\/span> \([\d,]+ tokens\) needs .*<\/h1>/,
  );
  expect(page).toContain('<p class="caution">low is among the inputs that &lt;b&gt;one learned from');
  expect(page.includes("<b>one")).toBe(false);
  expect(texts.map(({ trainedBy }: { trainedBy: string[] }) => trainedBy)).toEqual([["<b>one"], ["two"]]);
  const [{ content, cuts }] = excerpts;
  for (const [t, { ids, lengths }] of cuts.entries()) {
    const encoded = bpe([
      "encode",
      put(directory, "excerpt.txt", content),
      "--tokenizer",
      [tokenizer, other][t]!,
      "-q",
    ]);
    expect(encoded.stdout.trim()).toBe(ids.join(" "));
    expect(lengths.reduce((sum: number, length: number) => sum + length, 0)).toBe(Buffer.byteLength(content));
  }
  expect(bpe([...args, "--csv", "--report", path]).stderr).toEndWith(`\nwritten ${path}\n`);
  expect(bpe(["inspect", tokenizer, "--report", path]).stderr).toBe(`written ${path}\n`);
});

test("texts whose scripts put no spaces between words are marked", () => {
  const thai = put(directory, "thai.txt", "มนุษย์ทั้งหลายเกิดมามีอิสระและเสมอภาคกัน hello\n".repeat(5));
  const path = join(directory, "thai.html");
  const pair = [`one=${tokenizer}`, `two=${tokenizer}`];
  const pageOf = (...texts: string[]) => {
    const { stdout } = bpe(["eval", ...pair, "--text", ...texts, "--json", "--report", path, "-q"]);
    return { page: readFileSync(path, "utf8"), texts: JSON.parse(stdout).texts };
  };
  const alone = pageOf(`thai=${thai}`);
  expect(alone.texts[0].isSpaced).toBe(false);
  const strange = put(directory, "strange.txt", "some strange words\n");
  const both = pageOf(`thai=${thai}`, `low=${strange}`);
  expect(both.texts.map((facts: { isSpaced: boolean }) => facts.isSpaced)).toEqual([false, true]);
  const facts = dataOf(both.page).evaluation.texts;
  expect(facts).toEqual(both.texts);
});

test("a report does not replace a text that is read", () => {
  expect(bpe(["eval", tokenizer, "--text", text, "--report", text])).toMatchObject({ code: 2, stdout: "" });
  expect(bpe(["inspect", tokenizer, "--text", text, "--report", text]).code).toBe(2);
  expect(readFileSync(text, "utf8")).toStartWith("low lower");
});

test("a report replaces an earlier one or an empty file, and nothing else", () => {
  const path = put(directory, "again.html", "");
  const commands = [
    ["inspect", tokenizer],
    ["eval", tokenizer, "--text", text],
    ["train", text, "-n", "280", "-o", join(directory, "again"), "-q"],
  ];
  for (const command of commands) {
    expect(bpe([...command, "--report", path]).code).toBe(0);
    expect(readFileSync(path, "utf8")).toStartWith("<!doctype html>");
    for (const other of [
      put(directory, "other.json", "{}"),
      put(directory, "index.html", "<!doctype html>\n<p>mine"),
    ]) {
      const before = readFileSync(other);
      const { code, stderr } = bpe([...command, "--report", other]);
      expect(code).toBe(1);
      expect(stderr).toContain(`"${other}" is not replaced: it is not a report of bpe`);
      expect(readFileSync(other)).toEqual(before);
    }
  }
});

test("diff --report contains what --json prints, and the same text cut by both", () => {
  const other = join(directory, "other-of-diff");
  expect(bpe(["train", text, "-n", "262", "-o", other, "-q"]).code).toBe(0);
  const path = join(directory, "diff.html");
  const args = ["diff", `<b>one=${tokenizer}`, `two=${other}`, "--text", text];
  const done = bpe([...args, "--json", "--report", path]);
  expect(done.stderr).toEndWith(`\nwritten ${path}\n`);
  const page = readFileSync(path, "utf8");
  const { view, difference, counts, excerpts, names } = dataOf(page);
  const whole = JSON.parse(done.stdout);
  expect([view, names]).toEqual(["diff", ["<b>one", "two"]]);
  expect(difference).toEqual(whole);
  expect(counts.tokens.onlyInA).toBe(whole.tokens.onlyInA.length);
  expect(excerpts[0].cuts).toHaveLength(2);
  expect(headlineOf(page)).toMatch(
    /^On text, <span class="name c0">&lt;b&gt;one<\/span> needs [\d.]+.% fewer tokens than/,
  );
  // The terminal prints the same finding.
  expect(bpe(args).stdout).toMatch(
    /^different fingerprints: .*\nOn text, <b>one needs [\d.]+ % fewer tokens than two; /,
  );
  expect(bpe(["diff", tokenizer, other, "--report", text]).code).toBe(1);
  // Long lists are cut.
  const large = join(directory, "large-of-diff");
  const words = Array.from({ length: 1500 }, (_, i) => `v${(i * 7919) % 10_007} `.repeat(2)).join("");
  expect(bpe(["train", put(directory, "v.txt", words), "-n", "1200", "-o", large, "-q"]).code).toBe(0);
  expect(bpe(["diff", large, other, "--report", path]).code).toBe(0);
  const cut = dataOf(readFileSync(path, "utf8"));
  expect(cut.difference.tokens.onlyInA).toHaveLength(500);
  expect(cut.counts.tokens.onlyInA).toBeGreaterThan(500);
});

test("inputs that vanish or change before the page is written cause a warning, and it shows the others", async () => {
  const names = ["gone", "kept", "shorter", "last"];
  const paths = names.map((name) => put(directory, `${name}.txt`, `${name} text`));
  const inputs = await inspectFirstStream(findInputs(paths, {}), {});
  rmSync(paths[0]!);
  put(directory, "shorter.txt", "s");
  const warnings: Message[] = [];
  const found = sampleTextsOf(textsOfInputs(inputs), (warning) => warnings.push(warning));
  expect(found.map(({ name }) => name)).toEqual(["kept.txt", "last.txt"]);
  expect(warnings).toEqual([
    `the page shows no text of this file: "${paths[0]}": no such file`,
    expect.stringMatching(/^the page shows no text of this file: ".*shorter\.txt" shrank/),
  ]);
  // If one text has several inputs, its sample comes from the first of them that still exists.
  const together = sampleTextsOf([{ name: "all", inputs }], () => {});
  expect(together.map(({ bytes }) => Buffer.from(bytes).toString())).toEqual(["kept text"]);
});

test("passages come from the middle of texts: from a paragraph, a line, a word or a record", async () => {
  const passageOf = async (name: string, content: string | Uint8Array, bytesMax?: number) => {
    const input = await inspectFirstStream(findInputs([put(directory, name, content)], {}), {});
    const [sample] = sampleTextsOf(textsOfInputs(input), () => expect.unreachable(), bytesMax);
    return Buffer.from(sample!.bytes).toString();
  };
  const numbered = (count: number, end: string) =>
    Array.from({ length: count }, (_, i) => `sentence ${i} of a text about é and 日本.${end}`).join("");
  const middle = /^sentence 4\d\d of a text/;
  expect(await passageOf("paragraphs.txt", numbered(900, "\n\n"))).toMatch(middle);
  expect(await passageOf("lines.txt", numbered(900, "\n"))).toMatch(middle);
  expect(await passageOf("crlf.txt", numbered(900, "\r\n\r\n"))).toMatch(middle);
  expect(await passageOf("spaces.txt", numbered(900, " "))).toMatch(/^ \S+ /);
  expect(await passageOf("zipped.txt.gz", Bun.gzipSync(numbered(900, "\n")))).toMatch(middle);
  const whole = numbered(9, "\n");
  expect(await passageOf("short.txt", whole)).toBe(whole);
  // Characters stay whole, at any length.
  for (let bytes = 600; bytes < 620; bytes++) {
    const shown = await passageOf("unbroken.txt", "日本é".repeat(3000), bytes);
    expect("日本é".repeat(400)).toContain(shown);
    expect(Buffer.byteLength(shown)).toBeWithin(bytes - 3, bytes + 1);
  }
  const records = Array.from({ length: 2000 }, (_, i) => `${JSON.stringify({ id: i, text: `text ${i}` })}\n`);
  expect(await passageOf("many.jsonl", records.join(""))).toMatch(/^text (6|7|8|9)\d\d$/);
  // The record in the middle is longer than what is read, so the first record is shown.
  const long = `${JSON.stringify({ text: "x".repeat(90_000) })}\n`;
  expect(await passageOf("long.jsonl", records[0] + long)).toBe("text 0");
});
