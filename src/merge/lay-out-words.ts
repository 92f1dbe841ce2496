import type { TokenWords } from "../words/token-words.ts";
import type { MergeMemory } from "./merge-memories.ts";
import { inRuns, inSlices, type MergeProgress, spend, type WorkBudget } from "./work-budget.ts";

/** Bytes that are copied with as much work as one cell. */
const bytesPerWork = 16;

/** Copies the words of a memory into it. */
export function* copyWords(
  { exports, memory, words: { first, end } }: MergeMemory,
  words: TokenWords,
  budget: WorkBudget,
): Generator<MergeProgress, void> {
  const { tokens, starts, counts } = words;
  const { buffer } = memory;
  const firstStart = starts[first]!;
  const regions = [
    [asBytes(counts.subarray(first, end)), exports.mergeWordCounts],
    [asBytes(starts.subarray(first, end + 1)), exports.mergeWordStarts],
    [asBytes(tokens.subarray(firstStart, starts[end]!)), exports.mergeWordTokens],
  ] as const;
  for (const [source, address] of regions) {
    const target = new Uint8Array(buffer, address.value >>> 0, source.length);
    const sliceBytes = budget.sliceWork * bytesPerWork;
    for (let from = 0; from < source.length; from += sliceBytes) {
      target.set(source.subarray(from, from + sliceBytes), from);
      if (spend(budget, budget.sliceWork)) yield budget.progress;
    }
  }
  exports.startLayout(firstStart);
}

const asBytes = (array: Float64Array | Uint32Array | TokenWords["tokens"]) =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

/** Writes the words that were copied as cells, by falling count (src/kernel/merge/word-layout.ts). */
export function* layOutWords(
  { exports, plan }: MergeMemory,
  budget: WorkBudget,
  report: (cellCount: number) => void,
): Generator<MergeProgress, void> {
  yield* inRuns(budget, plan.wordCount, exports.tallyWords);
  const frequentCount = exports.frequentWordCount();
  for (let shift = 0; exports.startDigit(shift); shift += digitBits) {
    yield* inRuns(budget, frequentCount, (from, to) => exports.tallyDigits(shift, from, to));
    exports.addUpDigits();
    yield* inRuns(budget, frequentCount, (from, to) => exports.placeByDigit(shift, from, to));
    exports.endDigit();
  }
  const reportCells = () => report(exports.laidOutCells());
  yield* inSlices(budget, exports.layOutFrequentWords, { report: reportCells });
  exports.startRareWords();
  yield* inSlices(budget, exports.layOutRareWords, { report: reportCells });
}

/** Of the sort of the frequent words. */
const digitBits = 11;
