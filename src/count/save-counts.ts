import { stageFile } from "../publish/file.ts";
import type { CountsOptions, CountsTotals } from "../words/counts-format.ts";
import { CountsWriter, countsFileHead, unknownTotals } from "../words/counts-writer.ts";
import type { SumOfParts } from "./add-up.ts";

/**
 * Writes a sum as a counts file in the compact form, word by word, without a table of all. `guard` is told how to undo
 * what is half done, and gives back how to call that off.
 */
export function* saveSum(
  sum: SumOfParts,
  path: string,
  options: CountsOptions,
  guard: (discard: () => void) => () => void,
): Generator<undefined, CountsTotals> {
  const staged = stageFile(path);
  const callOff = guard(() => staged.discard());
  try {
    // Into a pipe the totals have to go first; in a file they are written over what stands for them.
    staged.write(countsFileHead(options, staged.isRegular ? unknownTotals : yield* sum.totals()));
    const totals = yield* sum.read(function* (words) {
      const writer = new CountsWriter((chunk) => staged.write(chunk));
      for (let wordCount = 1; words.next(); wordCount++) {
        writer.add(words.word.bytes, 0, words.wordLength, words.count);
        if (wordCount % wordsPerSlice === 0) yield;
      }
      return writer.finish();
    });
    if (staged.isRegular) staged.overwrite(countsFileHead(options, totals), 0);
    staged.publish();
    return totals;
  } catch (error) {
    staged.discard();
    throw error;
  } finally {
    callOff();
  }
}

const wordsPerSlice = 1 << 15;
