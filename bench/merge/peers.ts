// Compares the merge phase of `bpe` with that of gigabpe, its phase 2, on the same words, in alternating runs:
//
//   node scripts/bun.mjs bench/merge/peers.ts words.tsv [--vocab-size 32000] [--rounds 3] [--record name]
//
// `words.tsv` is what `bpe count` or make-words.ts writes. The time of `bpe` is `mergeMs` of training.json.

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { parseArgs } from "node:util";
import { patterns } from "../../src/pattern/named-patterns.ts";
import * as countsFormat from "../../src/words/counts-format.ts";
import { keepRecord, median } from "../record.ts";
import { readWordLines, readWords } from "./words.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    "vocab-size": { type: "string", default: "32000" },
    rounds: { type: "string", default: "3" },
    record: { type: "string" },
  },
});
const root = `${import.meta.dir}/../..`;
const gigabpe = `${root}/dist/peers/bin/gigabpe`;
const [words] = positionals;
if (words === undefined || !existsSync(gigabpe)) {
  console.error(words === undefined ? "usage: peers.ts words.tsv" : "no gigabpe: run bench/peers/setup");
  process.exit(2);
}

const home = mkdtempSync(`${tmpdir()}/bpe-bench-`);
const counts = `${home}/words.counts`;
const lines = `${home}/words.tsv`;
const vocabSize = values["vocab-size"];
const timed = ["/usr/bin/time", "-f", "%M"];

function run(command: string[]): { stderr: string; peakMemoryBytes: number } {
  const { exitCode, stderr } = Bun.spawnSync([...timed, ...command], { stdout: "ignore", stderr: "pipe" });
  const lines = stderr.toString().trim().split("\n");
  if (exitCode !== 0) throw new Error(lines.join("\n"));
  return { stderr: lines.slice(0, -1).join("\n"), peakMemoryBytes: Number(lines.at(-1)) * 1024 };
}

function runBpe() {
  const command = ["train", "--counts", counts, "-n", vocabSize, "-o", `${home}/tokenizer`, "-q"];
  const { peakMemoryBytes } = run([`${root}/dist/bpe`, ...command]);
  const record = JSON.parse(readFileSync(`${home}/tokenizer/training.json`, "utf8"));
  const { distinctWordCount, mergeCount, mergesSha256 } = record;
  return {
    seconds: record.timings.mergeMs / 1000,
    peakMemoryBytes,
    distinctWordCount,
    mergeCount,
    mergesSha256,
  };
}

function runGigabpe() {
  const { stderr, peakMemoryBytes } = run([
    gigabpe,
    "--words-tsv",
    lines,
    "--vocab-size",
    vocabSize,
    "--threads",
    "2",
  ]);
  const [, number, unit] = /phase2: ([\d.]+)(ms|s)/.exec(stderr)!;
  return { seconds: Number(number) / (unit === "ms" ? 1000 : 1), peakMemoryBytes };
}

const options = { patterns: patterns.gpt2.sources, specialTokens: [], isLinewise: false };
writeFileSync(counts, Buffer.concat([...countsFormat.fileChunks(readWords(words), options)]));
writeFileSync(lines, readWordLines(words));
const ours: ReturnType<typeof runBpe>[] = [];
const theirs: ReturnType<typeof runGigabpe>[] = [];
for (let round = 0; round < Number(values.rounds); round++) {
  ours.push(runBpe());
  theirs.push(runGigabpe());
}
rmSync(home, { recursive: true });

const row = (name: string, runs: { seconds: number; peakMemoryBytes: number }[]) => ({
  name,
  seconds: Number(median(runs.map((each) => each.seconds)).toFixed(3)),
  all: runs.map((each) => each.seconds.toFixed(2)).join(" / "),
  "peak MB": Math.round(Math.max(...runs.map((each) => each.peakMemoryBytes)) / 1e6),
});
const results = [row("bpe", ours), row("gigabpe, phase 2", theirs)];
const ratio = Number((results[0]!.seconds / results[1]!.seconds).toFixed(3));
const { distinctWordCount, mergeCount, mergesSha256 } = ours[0]!;
console.table(results);
console.log(`${distinctWordCount} words, ${mergeCount} merges, ${mergesSha256.slice(0, 12)}; ratio ${ratio}`);
if (values.record !== undefined) {
  keepRecord(values.record, { vocabSize, distinctWordCount, mergeCount, mergesSha256, results, ratio });
}
