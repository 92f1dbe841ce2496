/**
 * Times the merge engine on one huge word:
 *
 *   node scripts/bun.mjs bench/merge/long-words.ts KIND SIZE_MB MERGES [COMPAT]
 *
 * KIND: aaaa (one letter), abab, acgt (random DNA), base64 (random), runs (of 1 to 1,000 times "a", with a "b" before
 * each).
 */

import { readFileSync } from "node:fs";
import { estimateMergeMemoryBytes, trainMerges } from "../../src/merge/train-merges.ts";
import type { Compat } from "../../src/tokenizer/merges.ts";
import * as wordTables from "../../src/words/word-table.ts";

const [kind = "acgt", sizeMb = "10", mergeCount = "31744", compat = "cs336"] = process.argv.slice(2);
const length = Number(sizeMb) * 1e6;
let state = 42;
const random = () => {
  state ^= state << 13;
  state ^= state >>> 17;
  state ^= state << 5;
  return state >>> 0;
};
const base64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
let runEnd = 0;
const byteMakers: Record<string, (pos: number) => number> = {
  aaaa: () => 97,
  abab: (pos) => 97 + (pos & 1),
  acgt: () => "ACGT".charCodeAt(random() >>> 30),
  base64: () => base64.charCodeAt(random() >>> 26),
  runs: (pos) => {
    if (pos < runEnd) return 97;
    runEnd = pos + 2 + (random() % 1000);
    return 98;
  },
};
const byteAt = byteMakers[kind]!;
const bytes = new Uint8Array(length);
for (let pos = 0; pos < length; pos++) bytes[pos] = byteAt(pos);
const words = { wordCount: 1, bytes, starts: Uint32Array.of(0, length), counts: Float64Array.of(1) };

const options = { mergeCount: Number(mergeCount), compat: compat as Compat };
const startMs = performance.now();
let lastMs = startMs;
let longestSliceMs = 0;
const training = trainMerges(words, options);
let step = training.next();
for (; !step.done; step = training.next()) {
  longestSliceMs = Math.max(longestSliceMs, performance.now() - lastMs);
  lastMs = performance.now();
}
const seconds = (performance.now() - startMs) / 1000;
const peakBytes = 1024 * Number(/VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))![1]);
console.log(
  `${kind} ${sizeMb} MB, ${compat}: ${step.value.mergeCount} merges, ${seconds.toFixed(2)} s, longest slice ${longestSliceMs.toFixed(0)} ms, peak ${(peakBytes / 1e6).toFixed(0)} MB, estimated ${(estimateMergeMemoryBytes(wordTables.byteWordsSize(wordTables.sizeOf(words)), options) / 1e6).toFixed(0)} MB`,
);
