import { expect, test } from "bun:test";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { timesText } from "../../src/train/train-summary.ts";
import { binary, bpe, put, scratch } from "../binary.ts";
import { onTerminal } from "../pseudo-terminal.ts";

const home = scratch();
put(home, "corpus.txt", "the cat sat on the mat, and the other cat sat there. <|end|>".repeat(20));
const words = Array.from({ length: 400 }, (_, i) => ((i + 3) * 7919 * 7919).toString(36).replace(/\d/g, "x"));
put(home, "long.txt", `${words.join(" ")} ---------- ${" ".repeat(40)}\n`.repeat(20));
mkdirSync(join(home, "mixed"));
put(home, "mixed/page", `{"text":"${"a cat and a mat ".repeat(9)}"}\n`.repeat(9));
put(home, "mixed/image.png", Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0]));

const run = (...args: string[]) => bpe(args, { cwd: home });
const train = (...args: string[]) => run("train", ...args, "-w", "1");
const recordIn = (directory: string) =>
  JSON.parse(readFileSync(join(home, directory, "training.json"), "utf8"));

/** Masks times, rates, memory and the directory, which differ from run to run. */
const withoutTimes = (text: string) =>
  text
    .replace(/\d+(\.\d+)? [kMG]?B\/s/g, "R")
    .replace(/[\d,]+\/s/g, "R")
    .replace(/\b\d+(\.\d+)? m?s\b/g, "T")
    .replace(/\d+\.\d MB at/, "M at")
    .replaceAll(home, "HOME");

const typical = ["corpus.txt", "-n", "300", "-s", "<|end|>"];

const endOf = ({ stderr }: { stderr: string }) => withoutTimes(stderr);
const allFiles =
  "tokenizer.json, tokenizer_config.json, special_tokens_map.json, vocab.json, merges.txt, tokenizer.tiktoken, tokens.tsv, training.json";

test("the short summary is the default; warnings are above it", () => {
  const short = `
bpe: warning: stopped early: the corpus has only enough pairs for 19 of 43 merges
corpus      1.2 kB in 1 file, 20 documents
pattern     gpt2 (default; o200k needs 7 % fewer tokens for English: bpe help docs/size-and-pattern.md)
vocabulary  276 tokens, 19 merges; 3.533 bytes per token
time        T: counting T, merging T
memory      M at its peak
written     tokenizer: tokenizer.json, tokenizer_config.json and 6 more
`.slice(1);
  expect(endOf(train(...typical, "-o", "tokenizer"))).toBe(short);
  expect(endOf(train(...typical, "-o", "tokenizer", "--summary=short"))).toBe(short);
});

test("the summary names every stage of a second or more, and a speed only for 1 MB or more", () => {
  const timings = { totalMs: 17_700, countMs: 3_500, mergeMs: 7_400, writeMs: 1_000 };
  const of = (textBytes: number, more: object, isFull = false) =>
    timesText(textBytes, { ...timings, ...more }, 74_000, isFull);
  const named = "counting 3.50 s (2.0 MB/s), merging 7.40 s (10,000/s)";
  const writing = "writing 1.00 s, opening files and numbering tokens 5.80 s";
  expect(of(7e6, {})).toBe(`17.70 s: ${named}, ${writing}`);
  expect(of(7e6, { totalMs: 12_898, writeMs: 999 })).toBe(`12.90 s: ${named}`);
  expect(of(7e6, { totalMs: 12_898, writeMs: 999 }, true)).toBe(`12.90 s: ${named}, writing 999 ms`);
  expect(of(999_999, {})).toBe(`17.70 s: counting 3.50 s, merging 7.40 s, ${writing}`);
  // A training from word counts alone reads no text.
  expect(of(0, {})).toBe(`17.70 s: counting 3.50 s, merging 7.40 s (10,000/s), ${writing}`);
});

test("the full summary has all rows", () => {
  expect(endOf(train(...typical, "-o", "full", "--summary", "full"))).toBe(
    `
bpe: warning: stopped early: the corpus has only enough pairs for 19 of 43 merges
corpus      1.2 kB in 1 file, 20 documents
pattern     gpt2 (default; o200k needs 7 % fewer tokens for English: bpe help docs/size-and-pattern.md)
llama.cpp   pre-tokenizer gpt-2
pretokens   300, 12 of them distinct
vocabulary  276 tokens, 19 merges; 3.533 bytes per token
absorbed    10 intermediate tokens (52.6 %), 10 of them occur nowhere
longest     " there" " other" " the" " sat" " cat" "ther" " mat" " and" "the" "sat"
time        T: counting T, merging T, writing T
memory      M at its peak
written     full: ${allFiles}
`.slice(1),
  );
});

test("the full summary names half the size, whitespace and separator tokens, and its longest tokens have letters", () => {
  const { stderr } = train("long.txt", "-n", "600", "-o", "long", "--summary", "full");
  const { half, residueCount, neverReachedCount, mergeCount } = recordIn("long");
  const share = ((100 * residueCount) / mergeCount).toFixed(1);
  expect(stderr).toContain(`half size   ${half.bytesPerToken.toFixed(3)} bytes per token with 300 tokens\n`);
  expect(stderr).toContain(
    `absorbed    ${residueCount} intermediate tokens (${share} %), ${neverReachedCount} of them occur nowhere\n`,
  );
  const [, longest] = /^longest +(.*)$/m.exec(stderr)!;
  const shown = longest!.match(/"[^"]*"/g)!;
  expect(shown).toHaveLength(10);
  for (const token of shown) expect(token).toMatch(/\p{L}/u);
  expect(stderr).toMatch(/^whitespace +\d+ whitespace tokens?, \d+ separator tokens?, such as -----$/m);
});

test("the short summary contains automatic decisions, and has eight lines at most", () => {
  const decided = ["mixed", "-n", "270", "-s", "<|endoftext|>", "-o", "decided", "--keep", "1"];
  train(...decided);
  expect(endOf(train(...decided)).replace(/\.2\d+T\d+Z$/m, ".TIME")).toBe(
    `
bpe: warning: stopped early: the corpus has only enough pairs for 8 of 13 merges
corpus      1.3 kB in 1 file, 9 documents
read as     lines of JSON by content: "mixed/page"
skipped     1 file: "mixed/image.png" is a PNG image, not text
roles       <|endoftext|> is bos and eos (by its name)
vocabulary  265 tokens, 8 merges; 3.130 bytes per token
time        T: counting T, merging T
written     decided: tokenizer.json, tokenizer_config.json and 6 more
kept        HOME/decided.TIME
`.slice(1),
  );
  // The summary omits roles that the user asked for.
  expect(endOf(train(...decided, "--bos", "<|endoftext|>", "--eos", "<|endoftext|>"))).toContain(
    "is a PNG image, not text\npattern     gpt2 (default; o200k needs 7 % fewer tokens for English: bpe help docs/size-and-pattern.md)\nvocabulary  265 tokens, 8 merges; 3.130 bytes per token\ntime  ",
  );
});

test("without a chosen pattern, the summary names the gain of a modern one, by the page's number", () => {
  const patternOf = (output: string, ...args: string[]) =>
    /^pattern +(.*)$/m.exec(train("corpus.txt", "-n", "270", "-o", output, ...args).stderr)?.[1];
  const page = readFileSync(join(import.meta.dir, "../../docs/size-and-pattern.md"), "utf8");
  const english = (name: string) => Number(new RegExp(`^\\| ${name} \\| ([\\d.]+) \\|`, "m").exec(page)![1]);
  const fewer = Math.round(100 * (1 - english("gpt2") / english("o200k")));
  expect(patternOf("unchosen")).toBe(
    `gpt2 (default; o200k needs ${fewer} % fewer tokens for English: bpe help docs/size-and-pattern.md)`,
  );
  for (const chosen of [
    ["-p", "gpt2"],
    ["--compat", "huggingface"],
    ["--like", "unchosen"],
  ])
    expect(patternOf("chosen", ...chosen)).toBe("gpt2");
  expect(patternOf("chosen", "-p", "\\S+|\\s+")).toBe("a regular expression");
  expect(patternOf("chosen", "-p", "gpt-4")).toBe("cl100k (gpt-4; gpt4 is another pattern)");
});

test("several sizes, counts alone, languages and superwords", () => {
  expect(endOf(train("corpus.txt", "-n", "260,265,270", "-o", "sizes"))).toBe(
    `
corpus      1.2 kB in 1 file, 1 document
pattern     gpt2 (default; o200k needs 7 % fewer tokens for English: bpe help docs/size-and-pattern.md)
vocabulary  3 sizes up to 270 tokens, 14 merges; 2.308 bytes per token
time        T: counting T, merging T
memory      M at its peak
written     sizes/260, 265, 270: tokenizer.json and 7 more
`.slice(1),
  );
  run("count", "corpus.txt", "-o", "corpus.counts");
  expect(endOf(train("--counts", "corpus.counts", "-n", "260", "-o", "counts"))).toStartWith(
    "counts      corpus.counts\npattern     gpt2\nvocabulary  260 tokens, 4 merges; ",
  );
  const languages = ["--language", "en=corpus.txt", "--language", "de=corpus.txt"];
  expect(endOf(run("train", ...languages, "-n", "260", "-o", "languages", "--summary", "full"))).toContain(
    `
languages   en  840 tokens, 1.429 bytes per token (plain training: 840, 1.429); 1.2 kB, 340 pretokens, 14 of them distinct
            de  840 tokens, 1.429 bytes per token (plain training: 840, 1.429); 1.2 kB, 340 pretokens, 14 of them distinct
pattern     gpt2 (default; o200k needs 7 % fewer tokens for English: bpe help docs/size-and-pattern.md)
`,
  );
  const superwords = ["--superwords-from", "268", "-n", "280", "-o", "superwords"];
  expect(endOf(train("corpus.txt", ...superwords, "--summary", "full"))).toContain(
    "\nsuperwords  after 12 merges, from 80 pretokens, 4 of them distinct\n",
  );
});

test("--extend describes the base, and its record has what the summary says", () => {
  train("corpus.txt", "-n", "266", "-o", "base", "-s", "<|end|>");
  const extend = ["corpus.txt", "-n", "+5", "--extend", "base", "-o", "extended", "-s", "<|end|>"];
  const { stderr } = train(...extend);
  const { base, bytesPerToken } = recordIn("extended");
  expect(base.bytesPerToken).toBe(recordIn("base").bytesPerToken);
  expect(withoutTimes(stderr)).toBe(
    `
base        base, 266 ids
corpus      1.2 kB in 1 file, 20 documents
documents   end at <|end|>
new tokens  5, ids 266 to 270; ${bytesPerToken.toFixed(3)} bytes per token (base: ${base.bytesPerToken.toFixed(3)})
time        T: counting T, merging T
memory      M at its peak
written     extended: tokenizer.json, vocab.json, merges.txt and 4 more
embeddings  bpe diff base extended --pieces FILE maps each new token to old ids
`.slice(1),
  );
  expect(endOf(train(...extend, "--pad-to", "64", "--summary", "full"))).toContain(
    `
documents   end at <|end|>
pretokens   300, 12 of them distinct
new tokens  5, ids 266 to 270; ${bytesPerToken.toFixed(3)} bytes per token (base: ${base.bytesPerToken.toFixed(3)})
reserved    49 tokens, to 320 ids
rule        cs336
`,
  );
  const sizes = train(...extend.with(2, "+2,+4"));
  expect(sizes.code).toBe(0);
  const perToken = ["extended", "extended/270", "extended/268"].map((name) => {
    const record = recordIn(name);
    expect(record.base.bytesPerToken).toBe(base.bytesPerToken);
    return record.bytesPerToken;
  });
  train(...extend.with(2, "+2"));
  expect(perToken).toEqual([perToken[1], perToken[1], recordIn("extended").bytesPerToken]);
  expect(perToken[2]).toBeLessThan(perToken[1]);
});

test("ids have a summary of their own, the same in both forms", () => {
  expect(run("encode", "corpus.txt", "--tokenizer", "full", "-o", "ids.npy").code).toBe(0);
  for (const form of ["short", "full"]) {
    const options = ["-n", "+5000", "-o", "ids", "--summary", form];
    expect(endOf(run("ids", "train", "ids.npy", ...options))).toBe(
      `
bpe: warning: stopped early: the corpus has only enough pairs for 19 of 5,000 merges
corpus      320 ids in 1 document
alphabet    276 ids
vocabulary  295 tokens, 19 merges; 320.000 ids per token
time        T: reading T, merging T (R)
memory      M at its peak
written     ids: merges.txt, tokenizer.json, training.json
`.slice(1),
    );
  }
});

test("every number of the full summary is in training.json, or is the number of its files or tokens", () => {
  for (const [name, ...args] of [
    ["full", ...typical],
    ["long", "long.txt", "-n", "600"],
    ["languages", "--language", "en=corpus.txt", "--language", "de=corpus.txt", "-n", "260"],
  ]) {
    const { stderr } = run("train", ...args, "-o", name!, "--summary", "full");
    const record = recordIn(name!);
    const known = new Set<string>();
    const note = (value: unknown): void => {
      if (typeof value === "number") known.add(String(value)).add(value.toFixed(3));
      else if (typeof value === "object" && value !== null) Object.values(value).forEach(note);
    };
    note(record);
    const { inputs, mergeCount, options, residueCount } = record;
    const sumOf = (field: string) =>
      inputs.reduce((sum: number, one: Record<string, number>) => sum + one[field]!, 0);
    note([inputs.length, sumOf("documents"), 256 + options.specialTokens.length + mergeCount]);
    known.add(((100 * residueCount) / mergeCount).toFixed(1)).add((sumOf("textBytes") / 1000).toFixed(1));
    for (const { textBytes } of [...inputs, ...(record.languages ?? [])])
      known.add((textBytes / 1000).toFixed(1));
    const rows = withoutTimes(stderr).match(
      /^(corpus|languages|pretokens|vocabulary|half size|absorbed) .*$/gm,
    )!;
    const told = rows.flatMap((row) => row.replaceAll(",", "").match(/\b\d[\d.]*\d\b|\b\d\b/g) ?? []);
    expect(told.length).toBeGreaterThan(8);
    expect(told.filter((number) => !known.has(number))).toEqual([]);
  }
});

test("a terminal gets lines of its width, a log gets whole rows; -q prints neither, and json no summary", async () => {
  const full = ["train", ...typical, "-o", "shown", "-w", "1", "--summary", "full", "--log-file", "log"];
  const shown = await onTerminal([binary, ...full], { columns: 50, cwd: home });
  expect(withoutTimes(shown)).toContain(
    `
longest     " there" " other" " the" " sat" " cat"
            "ther" " mat" " and" "the" "sat"
`,
  );
  for (const line of Bun.stripANSI(shown).split("\n").slice(1)) expect(line.length).toBeLessThanOrEqual(50);
  expect(readFileSync(join(home, "log"), "utf8")).toMatch(new RegExp(`Z written {5}shown: ${allFiles}\n`));
  expect(train(...typical, "-o", "shown", "--summary", "full", "-q").stderr).toBe("");
  const json = train(...typical, "-o", "shown", "--summary", "full", "--progress", "json").stderr;
  expect(json.split("\n").filter((line) => !line.startsWith('{"event":'))).toEqual([""]);
});

test("a word that is not a form is refused", () => {
  expect(train(...typical, "-o", "never", "--summary", "long")).toEqual({
    code: 2,
    stdout: "",
    stderr: 'bpe: error: --summary: unknown value "long"\nhint: one of: short, full\n',
  });
});
