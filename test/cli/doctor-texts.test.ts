// What `bpe doctor` finds in texts and in the training corpus, and that it finds nothing in ordinary ones.
import { beforeAll, expect, test } from "bun:test";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { corpusScripts } from "../../src/doctor/corpus-scripts.ts";
import { checkCorpus } from "../../src/doctor/text-checks.ts";
import { type ScriptCounts, TextSurvey } from "../../src/doctor/text-survey.ts";
import * as tokenizerFiles from "../../src/formats/load-tokenizer.ts";
import { encodeShort } from "../../src/tokenizer/fingerprint.ts";
import { bpe, put, scratch } from "../binary.ts";
import { type Random, randomNumbers } from "../random.ts";

const root = join(import.meta.dir, "../..");
const home = scratch();
const tokenizer = join(home, "tokenizer");
type Finding = {
  check: string;
  severity: string;
  evidence: string[];
  tokens: { token: string }[];
  count: number;
};

const { parts } = JSON.parse(readFileSync(join(root, "docs/probe-1.json"), "utf8"));
/** Returns the sentences of the probe text's parts in this script. */
const sentencesOf = (script: string): string =>
  parts
    .filter(({ name }: { name: string }) => name.endsWith(`(${script})`))
    .map(({ text }: { text: string }) => text)
    .join("");
const scripts = ["Latin", "Cyrillic", "Greek", "Arabic", "Devanagari", "Thai", "Hangul", "Han"];
const pages = [
  "README.md",
  "ARCHITECTURE.md",
  "docs/train.md",
  "docs/evaluate.md",
  "docs/formats.md",
  "docs/learn.md",
  "docs/encode.md",
  "docs/inputs.md",
  "docs/moving.md",
  "CHANGELOG.md",
];
const english = pages
  .map((page) => readFileSync(join(root, page), "utf8"))
  .join("\n")
  .replaceAll("<|", "<")
  .slice(0, 100_000);

/** Words that only the skewed document has. */
const ownWords = ["zqx", "wukk", "pryx", "vashq", "khol", "jexx", "bwelg", "dzunk"].flatMap((first) =>
  ["orbel", "anzib", "olent", "tubok", "miqra"].map((last) => first + last),
);
/** Returns a document of `count` random words of `ownWords`. */
const repeated = (random: Random, count: number) =>
  Array.from({ length: count }, () => ownWords[random(ownWords.length)]).join(" ");

/** English text cut into documents of up to 500 characters. */
const ordinary = english.match(/[\s\S]{1,500}/g)!;
const skewed = ordinary.with(77, repeated(randomNumbers(3), 4000));
const jsonl = (documents: readonly string[]) =>
  documents.map((text) => `${JSON.stringify({ text })}\n`).join("");

beforeAll(() => {
  // The tokenizer learns from all documents, including the skewed one.
  const corpus = put(home, "corpus.txt", skewed.join("\n"));
  const options = ["-n", "2000", "-p", "gpt4", "-s", "<|endoftext|>", "-o", tokenizer, "-w", "1", "-q"];
  expect(bpe(["train", corpus, ...options])).toMatchObject({ code: 0 });
});

function findingsIn(path: string, ...texts: string[]): Record<string, Finding | undefined> {
  const { stdout } = bpe(["doctor", path, "--json", "--text", ...texts]);
  const findings: Finding[] = JSON.parse(stdout).findings;
  return Object.fromEntries(findings.map((found) => [found.check, found]));
}

test("tokens that one document made are found, with the document, in each kind of documents", () => {
  const files = join(home, "files");
  mkdirSync(files);
  for (const [i, text] of skewed.entries()) put(files, `${String(i).padStart(4, "0")}.txt`, text);
  const kinds = {
    records: [put(home, "skewed.jsonl", jsonl(skewed)), 'document 78 of "'],
    texts: [put(home, "skewed.txt", skewed.join("<|endoftext|>")), 'document 78 of "'],
    files: [files, '"'],
  };
  const found = Object.values(kinds).map(([path, place]) => {
    const { count, tokens, severity, evidence } = findingsIn(tokenizer, path!)["one-document-tokens"]!;
    expect(evidence[0]).toStartWith(place!);
    return { count, tokens, severity, of: evidence[0]!.slice(evidence[0]!.indexOf(": ")) };
  });
  expect(findingsIn(tokenizer, files)["one-document-tokens"]!.evidence[0]).toContain('/0077.txt": ');
  expect(found[1]).toEqual(found[0]!);
  expect(found[2]).toEqual(found[0]!);
  expect(found[0]).toMatchObject({ severity: "note" });
  expect(found[0]!.count).toBeGreaterThanOrEqual(ownWords.length);
  const listed = found[0]!.tokens.map(({ token }) => token);
  expect(listed.every((token) => ownWords.some((word) => token === ` ${word}`))).toBeTrue();
  expect(listed).toHaveLength(20);
});

test("tokens of two documents, of few documents, or of an ordinary text are not found", () => {
  const twice = skewed.with(20, ownWords.join(" ") + skewed[77]!.slice(0, 2000));
  const texts = {
    twice: jsonl(twice),
    "in one text": skewed.join("\n"),
    few: jsonl(skewed.slice(0, 99)),
    ordinary: jsonl(ordinary),
    rare: jsonl(ordinary.with(77, ownWords.map((word) => ` ${word}`.repeat(9)).join(""))),
  };
  for (const [name, text] of Object.entries(texts)) {
    const path = put(home, `${name}.${name === "in one text" ? "txt" : "jsonl"}`, text);
    expect({ name, found: findingsIn(tokenizer, path)["one-document-tokens"] }).toEqual({
      name,
      found: undefined,
    });
  }
});

/** At least 12 kB of each script. */
const multilingual = scripts.map((script) => {
  const sentences = sentencesOf(script);
  return sentences.repeat(Math.ceil(12_000 / Buffer.byteLength(sentences)));
});

test("scripts that take more than twice the tokens of the best are found, the costliest first", () => {
  const path = put(home, "multilingual.txt", multilingual.join(""));
  const { evidence, count, severity } = findingsIn(tokenizer, path)["costly-scripts"]!;
  expect(severity).toBe("note");
  expect(evidence.at(-1)).toMatch(/^(Latin|Han): \d\.\d\d bytes per token in 1\d\.\d kB$/);
  expect(evidence).toHaveLength(count + 1);
  const times = evidence.slice(0, -1).map((line) => Number(/, ([\d.]+) times the tokens$/.exec(line)![1]));
  expect(times).toEqual(times.toSorted((a, b) => b - a));
  expect(times.every((each) => each >= 2)).toBeTrue();
  const named = evidence.slice(0, -1).map((line) => line.split(":")[0]);
  expect(named).toEqual(expect.arrayContaining(["Devanagari", "Thai"]));
});

test("no script is costly after a fair training, in a text of one script, or in a short text", () => {
  const fair = join(home, "fair");
  const sentences = scripts.map((script) => sentencesOf(script).split("\n")[0]!);
  const languages = scripts.flatMap((script, i) => {
    const path = put(home, `${script}.txt`, sentences[i]!);
    return ["--language", `${script}=${path}`, "--language-dev", `${script}=${path}`];
  });
  expect(bpe(["train", ...languages, "-n", "500", "-p", "o200k", "-o", fair, "-q"])).toMatchObject({
    code: 0,
  });
  const text = sentences.map((sentence) => `${sentence}\n`.repeat(12_000 / sentence.length)).join("");
  const path = put(home, "fair.txt", text);
  expect(findingsIn(fair, path)["costly-scripts"]).toBeUndefined();
  expect(findingsIn(tokenizer, path)["costly-scripts"]).toBeDefined();
  const little =
    english +
    multilingual
      .slice(1)
      .map((text) => text.slice(0, 2000))
      .join("");
  expect(findingsIn(tokenizer, put(home, "little.txt", little))["costly-scripts"]).toBeUndefined();
  expect(findingsIn(tokenizer, put(home, "one.txt", multilingual[4]!))["costly-scripts"]).toBeUndefined();
});

test("a script that needs more tokens in a text than in the training corpus is found", () => {
  const words = ["zyxqv", "wkjhg", "qzxvb", "jjkqw"];
  const odd = Array.from({ length: 3000 }, (_, i) => words[i % 4]!).join(" ");
  const found = findingsIn(tokenizer, put(home, "odd.txt", odd))["unlike-corpus"]!;
  expect(found).toMatchObject({ severity: "note", count: 1 });
  expect(found.evidence).toHaveLength(1);
  const rates = /^Latin: ([\d.]+) bytes per token in 1\d\.\d kB, ([\d.]+) in the corpus$/.exec(
    found.evidence[0]!,
  )!;
  expect(Number(rates[2]) / Number(rates[1])).toBeGreaterThan(1.5);
  // The same text, cut to 5,000 characters, is too short for the check.
  expect(findingsIn(tokenizer, put(home, "short.txt", odd.slice(0, 5000)))["unlike-corpus"]).toBeUndefined();
  expect(findingsIn(tokenizer, join(home, "corpus.txt"))["unlike-corpus"]).toBeUndefined();
});

test("the counts of the training are those of its corpus, by script", async () => {
  const parts = await tokenizerFiles.load(tokenizer);
  const [corpus] = corpusScripts(parts).filter(({ name }) => name === "Latin");
  const survey = new TextSurvey([{ path: "corpus.txt" }], parts);
  survey.write(Uint32Array.from(encodeShort(parts, readFileSync(join(home, "corpus.txt"), "utf8"))));
  const text = survey.result().scripts.find(({ name }) => name === "Latin")!;
  // The counts from the training omit letters that take several tokens, such as é.
  expect(corpus!.tokens).toBeWithin(0.99 * text.tokens, text.tokens + 1);
  expect(corpus!.bytes).toBeWithin(0.99 * text.bytes, text.bytes + 1);
});

test("scripts of the corpus are judged, if few of its tokens are parts of characters", async () => {
  const letters = sentencesOf("Cyrillic").replaceAll(/[^\p{L}]/gu, "");
  const corpus = put(home, "letters.txt", english + Array.from(letters.repeat(60)).join(" "));
  const judged = (size: number) => {
    const path = join(home, `letters${size}`);
    const options = ["-n", String(size), "-p", "o200k", "-o", path, "-w", "1", "-q"];
    expect(bpe(["train", corpus, ...options])).toMatchObject({ code: 0 });
    const found: Finding[] = JSON.parse(bpe(["doctor", path, "--json"]).stdout).findings;
    return found.find(({ check }) => check === "costly-scripts");
  };
  for (const size of [260, 300]) expect(judged(size)).toBeUndefined();
  // With 300 tokens, only some Cyrillic letters have a token. Each other letter is encoded as several tokens.
  const few = await tokenizerFiles.load(join(home, "letters300"));
  expect(corpusScripts(few).map(({ name }) => name)).not.toContain("Cyrillic");
  expect(judged(3000)!.evidence).toEqual([
    expect.stringMatching(/^Cyrillic: (2.\d\d|3.00) bytes per token in [\d.]+ kB, [\d.]+ times the tokens$/),
    expect.stringMatching(/^Latin: /),
  ]);
});

test("a text is compared with a corpus only if both have enough of a script", () => {
  const latin = (tokens: number, bytes: number) => [{ name: "Latin", tokens, bytes }];
  const found = (text: ScriptCounts[], corpus: ScriptCounts[]) => checkCorpus(text, corpus).length;
  expect(found(latin(15_100, 30_000), latin(10_000, 30_000))).toBe(1);
  expect(found(latin(14_900, 30_000), latin(10_000, 30_000))).toBe(0);
  expect(found(latin(9_999, 9_999), latin(10_000, 30_000))).toBe(0);
  expect(found(latin(15_100, 30_000), latin(3_000, 9_999))).toBe(0);
  const digits = (tokens: number) => [{ name: "digits", tokens, bytes: 30_000 }];
  expect(found(digits(30_000), digits(10_000))).toBe(0);
});
