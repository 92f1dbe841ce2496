import { runSliced } from "#runtime";
import { wordTables } from "#words";
import {
  addSpecials,
  type Base,
  checkReachable,
  numberExtension,
  padExtension,
  startTokensOf,
  truncateExtension,
} from "./extend-vocabulary.ts";
import {
  type Corpus,
  type Learner,
  learnPairs,
  mergeRoom,
  mergeThreads,
  type Settings,
} from "./learn-merges.ts";
import { type MergeOptions, tokenLimits } from "./merge-options.ts";
import { segmentWords } from "./segment-words.ts";

/** Returns a learner of merges on top of a base, whose tokens keep their ids. */
export async function learnBeyondBase(base: Base, training: Settings, run: Corpus): Promise<Learner> {
  const { parts } = base;
  const startTokens = await runSliced(startTokensOf(parts), run.rest);
  const newTokenCounts = newTokenCountsOf(base, training);
  const mergeOptions: MergeOptions = {
    mergeCount: newTokenCounts.at(-1)!,
    firstMerges: base.seedMerges,
    ...tokenLimits(training),
    threadCount: () => mergeThreads(run),
    compat: training.compat,
    ...(base.rule === "extension" && { ties: "smaller characters" }),
    startTokens,
  };
  return {
    check: (size) => mergeRoom(run, wordTables.byteWordsSize(size), mergeOptions),
    async merge({ words }, report) {
      // Each word begins as the tokens into which the base encodes it.
      const segmented = await runSliced(segmentWords(words, parts.model, parts.tokens), run.rest);
      const merges = await learnPairs(segmented, mergeOptions, run, report);
      return async () => {
        const all = numberExtension(parts, merges, startTokens.known!);
        const extensions = newTokenCounts.map((count) =>
          padExtension(
            parts,
            addSpecials(truncateExtension(all, count, base.seedMerges.length), base.newSpecials),
            training.padTo,
          ),
        );
        // Encoding must be able to produce each new token.
        for (const extension of extensions)
          await runSliced(checkReachable(parts, extension, base.seedTokenCount), run.rest);
        const tokenCountBefore = weightedLength(segmented.starts, words.counts);
        return {
          extensions,
          pretokenBytes: weightedLength(words.starts, words.counts),
          tokenCountBefore,
          // The merges of each size are a prefix of all merges.
          tokenCounts: extensions.map(({ merges: { left } }) =>
            merges.replacedCounts
              .subarray(0, left.length)
              .reduce((sum, count) => sum - count, tokenCountBefore),
          ),
        };
      };
    },
  };
}

/** Returns the number of new merged tokens for each size, ascending. */
const newTokenCountsOf = ({ parts, newSpecials }: Base, { smallerSizes, vocabSize }: Settings) =>
  [...smallerSizes, vocabSize].map((size) => size - parts.tokens.idLimit - newSpecials.length);

function weightedLength(starts: Uint32Array, counts: Float64Array): number {
  let sum = 0;
  for (let w = 0; w < counts.length; w++) sum += (starts[w + 1]! - starts[w]!) * counts[w]!;
  return sum;
}
