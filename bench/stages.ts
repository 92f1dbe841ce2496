// Times some stages of training separately, in one thread, with mitata:
//
//   node scripts/bun.mjs bench/stages.ts <corpus> [--pattern gpt2] [--megabytes 16] [--record name]
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { bench, run } from "mitata";
import { trainMerges } from "../src/merge/train-merges.ts";
import { type PatternName, patterns } from "../src/pattern/named-patterns.ts";
import * as compiledPatterns from "../src/pattern/pattern.ts";
import { Pretokens } from "../src/text/pretokens.ts";
import * as textParts from "../src/text/text-part.ts";
import { WordCounter } from "../src/words/word-counter.ts";
import { keepRecord } from "./record.ts";

const { values, positionals } = parseArgs({
  args: process.argv.slice(2),
  allowPositionals: true,
  options: {
    pattern: { type: "string", default: "gpt2" },
    megabytes: { type: "string", default: "16" },
    record: { type: "string" },
  },
});
const path = positionals[0];
if (path === undefined || !(values.pattern in patterns)) {
  console.error("usage: stages.ts <corpus> [--pattern NAME] [--megabytes N] [--record NAME]");
  process.exit(2);
}

const bytes = readFileSync(path).subarray(0, Number(values.megabytes) * 1e6);
const { sources } = patterns[values.pattern as PatternName];
const pattern = compiledPatterns.compile(sources);

function countWords(): WordCounter {
  const counter = new WordCounter();
  counter.text(bytes.length).bytes.set(bytes);
  const pretokens = new Pretokens(pattern.automata, [], counter);
  pretokens.searchText(bytes.length);
  pretokens.start(0, false);
  while (!pretokens.take(textParts.to(bytes.length)));
  return counter;
}

function merge(): number {
  const work = trainMerges(words, { mergeCount: 8000, compat: "cs336" });
  let step = work.next();
  while (!step.done) step = work.next();
  return step.value.left.reduce(
    (sum, left, k) => (Math.imul(sum, 31) + left * 7 + step.value.right![k]!) | 0,
    0,
  );
}

const counter = countWords();
const pretokenCount = counter.pretokenCount;
const words = counter.toWordTable();
const stages: [name: string, run: () => number][] = [
  ["compile the pattern", () => compiledPatterns.compile(sources).automata.length],
  ["boundaries + words", () => countWords().distinctWordCount],
  ["word table", () => counter.toWordTable().wordCount],
  ["8,000 merges", merge],
];
const answers = new Map(stages.map(([name, stage]) => [name, stage()]));
for (const [name, stage] of stages) bench(name, stage);

const { benchmarks } = await run({ format: "quiet" });
const results = benchmarks.map(({ alias, runs }) => {
  const { p50, min } = runs[0]!.stats!;
  return {
    stage: alias,
    "median ms": Number((p50 / 1e6).toFixed(3)),
    "least ms": Number((min / 1e6).toFixed(3)),
    "MB/s": Math.round((bytes.length * 1e3) / p50),
    "ns/pretoken": Number((p50 / pretokenCount).toFixed(2)),
    answer: answers.get(alias),
  };
});
console.log(
  `${path.split("/").at(-1)}: ${bytes.length / 1e6} MB, ${pretokenCount} pretokens, ${words.wordCount} words`,
);
console.table(results);
if (values.record !== undefined) {
  keepRecord(values.record, {
    corpus: path.split("/").at(-1),
    sizeBytes: bytes.length,
    pattern: values.pattern,
    results,
  });
}
