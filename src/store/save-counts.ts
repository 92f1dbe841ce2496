import { type Parts, SumOfParts } from "../count/add-up.ts";
import type { CountsOptions, CountsTotals } from "../words/counts-format.ts";
import { CountsWriter, countsFileHead, unknownTotals } from "../words/counts-writer.ts";
import {
  CommonWords,
  type LeftOut,
  nothingLeftOut,
  type SortedWords,
  totalsOfSum,
} from "../words/sorted-words.ts";
import { stageFile } from "./staged-file.ts";

export type Saved = { readonly totals: CountsTotals; readonly leftOut: LeftOut };

/** Takes a chunk, which is valid during the call only. */
type Write = (chunk: Uint8Array) => void;

/**
 * Writes the sum of parts as a counts file in the compact form, word by word, without a table of all words. Words that
 * occur fewer than `minCount` times are left out.
 *
 * @param guard registers `discard` to run if the process stops, and returns a function that unregisters it
 */
export function* saveSum(
  parts: Parts,
  path: string,
  options: CountsOptions,
  guard: (discard: () => void) => () => void,
  minCount = 1,
): Generator<undefined, Saved> {
  const sum = yield* SumOfParts.of(parts);
  const staged = stageFile(path);
  const callOff = guard(() => staged.discard());
  try {
    staged.write(countsFileHead(options, unknownTotals));
    const saved = yield* writeWords(sum, (chunk) => staged.write(chunk), minCount);
    staged.overwrite(countsFileHead(options, saved.totals), 0);
    staged.publish();
    return saved;
  } catch (error) {
    staged.discard();
    throw error;
  } finally {
    callOff();
  }
}

/** The same for a pipe or a device. The totals come first, so the sum may have to be read twice. */
export function* streamSum(
  parts: Parts,
  write: Write,
  options: CountsOptions,
  minCount = 1,
): Generator<undefined, Saved> {
  const sum = yield* SumOfParts.of(parts);
  const totals =
    minCount > 1 ? yield* readCommon(sum, minCount, nothingLeftOut(), totalsOfSum) : yield* sum.totals();
  write(countsFileHead(options, totals));
  return yield* writeWords(sum, write, minCount);
}

function* writeWords(sum: SumOfParts, write: Write, minCount: number): Generator<undefined, Saved> {
  const leftOut = nothingLeftOut();
  const totals = yield* readCommon(sum, minCount, leftOut, function* (words) {
    const writer = new CountsWriter(write);
    for (let wordCount = 1; words.next(); wordCount++) {
      writer.add(words.word.bytes, 0, words.wordLength, words.count);
      if (wordCount % wordsPerSlice === 0) yield;
    }
    return writer.finish();
  });
  return { totals, leftOut };
}

const readCommon = <T>(
  sum: SumOfParts,
  minCount: number,
  leftOut: LeftOut,
  read: (words: SortedWords) => Generator<undefined, T>,
) => sum.read((words) => read(minCount > 1 ? new CommonWords(words, minCount, leftOut) : words));

const wordsPerSlice = 1 << 15;
