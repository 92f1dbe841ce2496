import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { bpe, put, scratch } from "../binary.ts";

const directory = scratch();
const text = put(directory, "text.txt", "low lower lowest newest widest ".repeat(40));
const tokenizer = join(directory, "tokenizer");
expect(bpe(["train", text, "-n", "280", "-o", tokenizer, "-q"]).code).toBe(0);

const dataOf = (page: string) => JSON.parse(/id="data">(.*?)<\/script>/s.exec(page)![1]!);
const sections = (page: string) => [...page.matchAll(/<section id="(\w+)"/g)].map(([, id]) => id);

test("with a text, the page has frequencies and the text cut into tokens", () => {
  const path = join(directory, "with-text.html");
  expect(bpe(["inspect", tokenizer, "--text", text, "--report", path]).code).toBe(0);
  const page = readFileSync(path, "utf8");
  expect(sections(page)).toEqual(
    "summary compression merges frequency lengths intermediate samples tree provenance".split(" "),
  );
  expect(page).toContain("How often the tokens occur in text.txt");
  const shown = [...page.matchAll(/<i data-id="\d+" data-n="\d+">([^<]*)<\/i>/g)].map(([, token]) => token);
  const repeated = "low lower lowest newest widest ".repeat(40).replaceAll(" ", "␣");
  expect(shown.join("")).toBe(repeated.slice(0, shown.join("").length));
  expect(shown.join("").length).toBeGreaterThan(300);
});

test("inspect --report draws of a training what train --report drew", () => {
  const corpus = put(directory, "corpus.txt", "occur occurs occurred a aaa aaaa lower lowest ".repeat(30));
  const variants = [["--compat", "huggingface"], ["-s", "<|end|>", "--pad-to", "64"], []];
  for (const [i, more] of variants.entries()) {
    const [output, path] = [join(directory, `again${i}`), join(directory, `again${i}.html`)];
    const args = ["train", corpus, "-n", "276", "-o", output, "--report", path, "-q", ...more];
    expect(bpe(args)).toMatchObject({ code: 0, stderr: "" });
    const trained = readFileSync(path, "utf8");
    for (const of of [output, join(output, "tokenizer.json")]) {
      expect(bpe(["inspect", of, "--report", path]).code).toBe(0);
      const inspected = readFileSync(path, "utf8");
      for (const id of ["compression", "intermediate"]) {
        const section = new RegExp(`<section id="${id}".*?</section>`, "s");
        expect(section.exec(inspected)?.[0]).toBe(section.exec(trained)![0]);
      }
    }
  }
});

test("a table of tokens that is not of this tokenizer is left out", () => {
  const other = join(directory, "left-out");
  const path = join(directory, "left-out.html");
  expect(bpe(["train", text, "-n", "280", "-o", other, "-q"]).code).toBe(0);
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
  for (const content of wrong) {
    put(other, "tokens.tsv", content);
    expect(bpe(["inspect", other, "--report", path]).code).toBe(0);
    expect(sections(readFileSync(path, "utf8"))).not.toContain("intermediate");
  }
  put(other, "tokens.tsv", whole);
  expect(bpe(["inspect", other, "--report", path]).code).toBe(0);
  expect(sections(readFileSync(path, "utf8"))).toContain("intermediate");
});

test("records show the text of the first one", () => {
  const records = put(directory, "r.jsonl", '{"text":""}\n{"text":"lowest <b>"}\n');
  const path = join(directory, "records.html");
  expect(bpe(["inspect", tokenizer, "--text", records, "--report", path])).toMatchObject({
    code: 0,
    stderr: `written ${path}\n`,
  });
  expect(readFileSync(path, "utf8")).toContain("&lt;</i>");
});

test("a report that can be written nowhere is an error before any work", () => {
  for (const path of ["-", ""]) {
    const { code, stdout, stderr } = bpe(["inspect", tokenizer, `--report=${path}`]);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(`--report "${path}" names no file`);
  }
  const nowhere = join(directory, "none", "report.html");
  const { code, stdout, stderr } = bpe(["inspect", tokenizer, "--report", nowhere]);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toContain("there is no directory");
  expect(existsSync(join(directory, "none"))).toBe(false);
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

test("train --report writes the curve, intermediate tokens and counts of the training", () => {
  const { page, record } = trainedPage("trained");
  expect(sections(page)).toEqual(
    "summary compression merges frequency lengths intermediate samples tree provenance".split(" "),
  );
  expect(page).toContain(`270 tokens: ${record.bytesPerToken.toFixed(3)} bytes per token"`);
  // The merges add up to the tokens that are left.
  const left = [...page.matchAll(/<td>([\d,]+)<svg class="bar/g)].map(([, count]) =>
    count!.replace(/,/g, ""),
  );
  expect(left).toHaveLength(record.mergeCount);
  expect(Number(left.at(-1))).toBe(record.tokenCount);
  expect(page).toContain(`<strong>${record.residueCount}</strong> of ${record.mergeCount} learned tokens`);
  expect(page).toContain(record.mergesSha256);
  // All that the summary says in full, but for what has a section.
  const names = [...page.matchAll(/<dt>([^<]*)<\/dt><dd>/g)].map(([, name]) => name!);
  for (const name of ["corpus", "pattern", "pretokens", "absorbed", "time", "memory", "written"])
    expect(names).toContain(name);
  expect(names).not.toContain("longest");
  expect(readdirSync(join(directory, "trained")).sort()).toEqual([...record.files].sort());
});

test("a report alone asks for no table of tokens", () => {
  expect(trainedPage("alone", "--format", "gpt2").record.files).not.toContain("tokens.tsv");
  expect(trainedPage("kept", "--format", "gpt2", "--ledger").record.files).toContain("tokens.tsv");
});

test("any number of workers makes the same page, but for the times", () => {
  const pages = ["1", "2", "7"].map((workers) => trainedPage(`w${workers}`, "-w", workers).page);
  const plain = pages.map((page) =>
    page
      .replace(/<section id="(summary|provenance)".*?<\/section>/gs, "")
      .replace(/<dt>time<\/dt><dd>[^<]*<\/dd><dd class="quiet">[^<]*/, "")
      .replaceAll(/\bw[127]\b/g, "w"),
  );
  expect(new Set(plain.map((page) => Bun.hash(page))).size).toBe(1);
});

test("the text is cut as bpe encode cuts it, also where HF's trainer cuts otherwise, and with superwords", () => {
  const lines = put(directory, "lines.txt", "low\n\n\nlower low\n\n\nlowest\n\n".repeat(20));
  const variants = [["--compat", "huggingface"], ["--superwords-from", "262"], []];
  for (const [i, more] of variants.entries()) {
    const [output, path] = [join(directory, `cut${i}`), join(directory, `cut${i}.html`)];
    expect(bpe(["train", lines, "-n", "266", "-o", output, "--report", path, "-q", ...more]).code).toBe(0);
    const ids = [...readFileSync(path, "utf8").matchAll(/<i data-id="(\d+)"/g)].map(([, id]) => id);
    const encoded = bpe(["encode", lines, "--tokenizer", output, "-q"]).stdout.trim().split(" ");
    expect(ids.length).toBeGreaterThan(50);
    // The text is all of the file: it is shorter than what a report shows.
    expect(ids).toEqual(encoded);
  }
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
  // The page holds what --json prints.
  const evaluation = JSON.parse(done.stdout);
  expect(dataOf(page)).toMatchObject({ view: "eval", evaluation });
  const { tokenizers, texts, excerpts } = evaluation;
  for (const { texts } of tokenizers) {
    for (const { bytesPerToken } of texts) expect(page).toContain(`<td>${bytesPerToken.toFixed(3)}</td>`);
  }
  expect(page).toMatch(/<h1>On low, <span class="name c0">&lt;b&gt;one<\/span> needs .*<\/h1>/);
  expect(page).toContain('<p class="caution">low is among the inputs that &lt;b&gt;one learned from');
  expect(page.includes("<b>one")).toBe(false);
  expect(texts.map(({ trainedBy }: { trainedBy: string[] }) => trainedBy)).toEqual([["<b>one"], ["two"]]);
  // The tokens of an excerpt are those that bpe encode makes, and their lengths add up.
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

test("a report does not take the place of a text that is read", () => {
  expect(bpe(["eval", tokenizer, "--text", text, "--report", text])).toMatchObject({ code: 2, stdout: "" });
  expect(bpe(["inspect", tokenizer, "--text", text, "--report", text]).code).toBe(2);
  expect(readFileSync(text, "utf8")).toStartWith("low lower");
});

test("a report takes the place of an earlier one or of an empty file, and of no other", () => {
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
