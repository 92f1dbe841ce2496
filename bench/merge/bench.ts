/**
 * Times the merge engine on a file of word counts, and prints the checksum of its merges:
 *
 *   node scripts/bun.mjs bench/merge/bench.ts words.tsv [--merges 31744] [--compat cs336] [--words N]
 *     [--threads 1] [--out merges.txt]
 *
 * The checksum is the first 16 hex digits of `mergesSha256` in training.json.
 */

import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import * as byteCharacters from "../../src/bytes/byte-characters.ts";
import type { MergeProgress } from "../../src/merge/merge-memories.ts";
import { estimateMergeMemoryBytes, trainMerges } from "../../src/merge/train-merges.ts";
import type { Compat, Merges } from "../../src/tokenizer/merges.ts";
import * as wordTables from "../../src/words/word-table.ts";
import { readWords } from "./words.ts";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    merges: { type: "string", default: "31744" },
    compat: { type: "string", default: "cs336" },
    words: { type: "string", default: "Infinity" },
    "min-frequency": { type: "string", default: "1" },
    "max-token-length": { type: "string" },
    special: { type: "string", multiple: true, default: [] },
    threads: { type: "string", default: "1" },
    out: { type: "string" },
  },
});

const words = readWords(positionals[0]!, Number(values.words));
const options = {
  mergeCount: Number(values.merges),
  compat: values.compat as Compat,
  minFrequency: Number(values["min-frequency"]),
  maxTokenLength: values["max-token-length"] === undefined ? null : Number(values["max-token-length"]),
  specialTokens: values.special,
  threadCount: Number(values.threads),
};
const memoryBefore = process.memoryUsage().rss;
const phaseMs: Record<MergeProgress["phase"], number> = { layout: 0, index: 0, merge: 0 };
let longestSliceMs = 0;
const startMs = performance.now();
let lastMs = startMs;
const training = trainMerges(words, options);
let step = training.next();
for (; !step.done; step = training.next()) {
  const nowMs = performance.now();
  phaseMs[step.value.phase] += nowMs - lastMs;
  longestSliceMs = Math.max(longestSliceMs, nowMs - lastMs);
  lastMs = nowMs;
}
const endMs = performance.now();
phaseMs.merge += endMs - lastMs;

const merges = step.value;
const lines = mergeLines(merges);
const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(0)} MB`;
const peakBytes = 1024 * Number(/VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))![1]);
console.log(
  [
    `words ${words.wordCount.toLocaleString("en-US")}`,
    `merges ${merges.mergeCount}`,
    `${((endMs - startMs) / 1000).toFixed(3)} s`,
    `(layout ${phaseMs.layout.toFixed(0)}, index ${phaseMs.index.toFixed(0)}, merge ${phaseMs.merge.toFixed(0)} ms)`,
    `longest slice ${longestSliceMs.toFixed(0)} ms`,
    `before ${megabytes(memoryBefore)}, peak ${megabytes(peakBytes)}, estimated ${megabytes(estimateMergeMemoryBytes(wordTables.byteWordsSize(wordTables.sizeOf(words)), options))}`,
    `sha256 ${createHash("sha256").update(lines).digest("hex").slice(0, 16)}`,
  ].join("  "),
);
if (values.out !== undefined) writeFileSync(values.out, lines);

function mergeLines(merges: Merges): string {
  const tokens = [...byteCharacters.characters];
  let lines = "";
  for (let k = 0; k < merges.mergeCount; k++) {
    const left = tokens[merges.left[k]!]!;
    const right = tokens[merges.right[k]!]!;
    tokens.push(left + right);
    lines += `${left} ${right}\n`;
  }
  return lines;
}
