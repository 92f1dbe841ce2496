import type { kernels } from "#runtime";
import type { Merges } from "#tokenizer";

/**
 * @internal Copies the learned merges from an engine's memories. Each memory has all merges, but only its own part of
 * the counts of start tokens, so these counts are added up.
 */
export function readMerges(memories: readonly kernels.Kernel[], startCount: number): Merges {
  const [{ exports, memory }] = memories as [kernels.Kernel];
  const mergeCount = exports.mergeCount();
  // The regions have an element for each token: first for the start tokens, then for the merged ones.
  const idsOf = (region: WebAssembly.Global) =>
    new Int32Array(memory.buffer, (region.value >>> 0) + 4 * startCount, mergeCount).slice();
  const countsOf = (region: WebAssembly.Global) =>
    new Float64Array(memory.buffer, (region.value >>> 0) + 8 * startCount, mergeCount).slice();
  return {
    startCount,
    mergeCount,
    left: idsOf(exports.lefts),
    right: idsOf(exports.rights),
    counts: countsOf(exports.mergeCounts),
    replacedCounts: countsOf(exports.replacedCounts),
    startCounts: readStartCounts(memories, startCount),
  };
}

/** @internal Sums the occurrences of each start token over the words of all memories. */
export function readStartCounts(memories: readonly kernels.Kernel[], startCount: number): Float64Array {
  const sums = new Float64Array(startCount);
  for (const { exports, memory } of memories) {
    const counts = new Float64Array(memory.buffer, exports.mergeCounts.value >>> 0, startCount);
    for (let token = 0; token < startCount; token++) sums[token]! += counts[token]!;
  }
  return sums;
}
