import type { Merges } from "../merge/merges.ts";
import { inTurns } from "../runtime/turns.ts";
import {
  inheritedTokens,
  keepInherited,
  modelOfMerges,
  renumberTokens,
} from "../superwords/inherited-merges.ts";
import { findKeptMerges } from "../superwords/kept-merges.ts";
import { baseSize } from "../vocabulary/vocabulary.ts";
import { sizeOfWords, type TokenWords, type TokenWordsSize } from "../words/word-table.ts";
import type { CorpusOptions } from "./count-words.ts";
import { learnPairs, type MergeSettings, mergeOptionsOf, mergeRoom } from "./learn-merges.ts";
import { liftCorpus } from "./lift-corpus.ts";
import type { Report } from "./stage-progress.ts";
import type { SuperwordSettings } from "./training.ts";

/** Facts of a second stage. */
export type SuperwordFacts = {
  /** Pretokens of the second stage, and how many of them are distinct. */
  readonly pretokenCount: number;
  readonly distinctWordCount: number;
  /** Merges of the first stage that stayed, and that went. */
  readonly inheritedCount: number;
  readonly droppedCount: number;
};

/**
 * The second stage: lifts the pretokens of the corpus, and goes on merging where the merges of the first stage have been made
 * in them. Returns all merges, those of the first stage that stay first.
 */
export async function learnSuperwords(
  options: CorpusOptions & MergeSettings,
  superwords: SuperwordSettings,
  learned: Merges,
  report: Report,
): Promise<{ readonly merges: Merges; readonly facts: SuperwordFacts }> {
  const { specialTokens, compat, vocabSize } = options;
  const check = (size: TokenWordsSize) => mergeRoom(options, size, mergeOptionsOf(options));
  const lifting = { pattern: superwords.pattern.compiled, model: modelOfMerges(learned) };
  const words = await liftCorpus(options, lifting, report, check);
  const found = await inTurns(findKeptMerges(words, learned));
  const { merges: inherited, numbers } = keepInherited(learned, found);
  if (inherited.mergeCount < learned.mergeCount) await inTurns(renumberTokens(words, numbers));
  const { startTokens, entryCount } = inheritedTokens(inherited, specialTokens, compat);
  const mergeOptions = {
    ...mergeOptionsOf(options),
    mergeCount: vocabSize - baseSize(specialTokens, compat) - entryCount,
    startTokens,
    limitsWords: true,
  };
  mergeRoom(options, sizeOfWords(words), mergeOptions);
  const superMerges = await learnPairs(words, mergeOptions, "merging superwords", options.tellMemory, report);
  return {
    merges: bothMerges(inherited, superMerges),
    facts: {
      pretokenCount: sumOf(words),
      distinctWordCount: words.wordCount,
      inheritedCount: inherited.mergeCount,
      droppedCount: learned.mergeCount - inherited.mergeCount,
    },
  };
}

function bothMerges(first: Merges, second: Merges): Merges {
  const both = <T extends Int32Array | Float64Array>(all: T, a: T, b: T) => {
    all.set(a);
    all.set(b, a.length);
    return all;
  };
  const mergeCount = first.mergeCount + second.mergeCount;
  return {
    startCount: first.startCount,
    mergeCount,
    left: both(new Int32Array(mergeCount), first.left, second.left),
    right: both(new Int32Array(mergeCount), first.right, second.right),
    counts: both(new Float64Array(mergeCount), first.counts, second.counts),
    replacedCounts: both(new Float64Array(mergeCount), first.replacedCounts, second.replacedCounts),
  };
}

const sumOf = ({ counts }: TokenWords) => counts.reduce((sum, count) => sum + count, 0);
