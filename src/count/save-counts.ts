import { stageFile } from "../publish/file.ts";
import { CommonWords, type LeftOut, nothingLeftOut } from "../words/common-words.ts";
import type { CountsOptions, CountsTotals } from "../words/counts-format.ts";
import { totalsOfSum } from "../words/counts-merge.ts";
import { CountsWriter, countsFileHead, unknownTotals } from "../words/counts-writer.ts";
import type { SortedWords } from "../words/sorted-words.ts";
import { type Parts, SumOfParts } from "./add-up.ts";

/**
 * Writes the sum of parts as a counts file in the compact form, word by word, without a table of all. `guard` is told how to undo
 * what is half done, and gives back how to call that off. Words that occur fewer than `minCount` times are left out.
 */
export function* saveSum(
  parts: Parts,
  path: string,
  options: CountsOptions,
  guard: (discard: () => void) => () => void,
  minCount = 1,
): Generator<undefined, { totals: CountsTotals; leftOut: LeftOut }> {
  const sum = yield* SumOfParts.of(parts);
  let leftOut = nothingLeftOut();
  function* readCommon<T>(read: (words: SortedWords) => Generator<undefined, T>): Generator<undefined, T> {
    leftOut = nothingLeftOut();
    return yield* sum.read((words) => read(minCount > 1 ? new CommonWords(words, minCount, leftOut) : words));
  }
  function* exactTotals(): Generator<undefined, CountsTotals> {
    return yield* minCount > 1 ? readCommon(totalsOfSum) : sum.totals();
  }
  const staged = stageFile(path);
  const callOff = guard(() => staged.discard());
  try {
    // Into a pipe the totals have to go first; in a file they are written over what stands for them.
    staged.write(countsFileHead(options, staged.isRegular ? unknownTotals : yield* exactTotals()));
    const totals = yield* readCommon(function* (words) {
      const writer = new CountsWriter((chunk) => staged.write(chunk));
      for (let wordCount = 1; words.next(); wordCount++) {
        writer.add(words.word.bytes, 0, words.wordLength, words.count);
        if (wordCount % wordsPerSlice === 0) yield;
      }
      return writer.finish();
    });
    if (staged.isRegular) staged.overwrite(countsFileHead(options, totals), 0);
    staged.publish();
    return { totals, leftOut };
  } catch (error) {
    staged.discard();
    throw error;
  } finally {
    callOff();
  }
}

const wordsPerSlice = 1 << 15;
