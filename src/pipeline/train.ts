import { UserError } from "../errors.ts";
import type { Merges } from "../merge/merges.ts";
import { inTurns } from "../runtime/turns.ts";
import { countBytes, type Ledger, makeLedger } from "../vocabulary/ledger.ts";
import { buildVocabulary, mergesOfSize, type Vocabulary } from "../vocabulary/vocabulary.ts";
import { sizeOf, type WordTable } from "../words/word-table.ts";
import type { CorpusOptions, CountedWords } from "./count-words.ts";
import { countWords } from "./count-words.ts";
import { type MergeSettings, mergingOf } from "./learn-merges.ts";
import type { SuperwordFacts } from "./learn-superwords.ts";
import type { Report } from "./stage-progress.ts";
import { checkReadTwice, type SuperwordSettings } from "./training.ts";

export type TrainOptions = CorpusOptions &
  MergeSettings & {
    /** Sizes of smaller vocabularies that are wanted, too. */
    readonly smallerSizes?: readonly number[];
    /** How superwords are learned, if they are. */
    readonly superwords?: SuperwordSettings | null;
    /** Vocabularies are filled with reserved tokens to a multiple of this; default 1. */
    readonly padTo?: number;
    /** Called with the words before the merges are learned. */
    readonly saveWords?: (words: WordTable) => Promise<void>;
    /** Writes the result. */
    readonly write?: (trained: Trained) => Promise<void>;
  };

export type Trained = Pick<CountedWords, "statistics" | "pretokenCount"> & {
  readonly vocabulary: Vocabulary;
  /** Those of the smaller sizes, as runs of their own would have made them. */
  readonly smaller: readonly Vocabulary[];
  readonly distinctWordCount: number;
  /** Undefined without superwords. */
  readonly superwordFacts: SuperwordFacts | undefined;
  readonly ledger: Ledger;
  readonly countMs: number;
  readonly mergeMs: number;
};

/**
 * Trains a vocabulary on a corpus. The event loop turns between slices of work, so that signals are served and progress
 * is drawn.
 */
export async function train(options: TrainOptions, report: Report): Promise<Trained> {
  const { inputs, specialTokens, compat, smallerSizes = [], padTo = 1 } = options;
  const { superwords } = options;
  if (superwords) checkReadTwice(inputs);
  const merging = mergingOf({ ...options, vocabSize: superwords?.fromVocabSize ?? options.vocabSize });
  const startMs = performance.now();

  // 1. Read the corpus, cut it into pretokens, and count each distinct one. All threads do this.
  const { words, pretokenCount, statistics, keepRest } = await countWords(options, report, merging.check);
  if (inputs.length === 0 && pretokenCount === 0) throw noWords();
  merging.check(sizeOf(words));
  await options.saveWords?.(words);
  const countedMs = performance.now();

  // 2. Merge, some ten thousand times: the pair of tokens that occurs most often becomes one token.
  const learned = await merging.learn(words, report);
  // With superwords it goes on over longer pretokens.
  const second = superwords && (await superwordsBehind(learned, superwords, options, report));
  const merges = second?.merges ?? learned;
  const mergedMs = performance.now();

  // 3. Number: bytes, special tokens and merges get ids.
  const vocabulary = buildVocabulary({ merges, specialTokens, compat, padTo });
  const smaller = smallerSizes.map((size) =>
    buildVocabulary({ merges: mergesOfSize(merges, vocabulary, size), specialTokens, compat, padTo }),
  );
  const ledger = makeLedger(merges, await inTurns(countBytes(words)));
  const trained = {
    vocabulary,
    smaller,
    ledger,
    statistics,
    pretokenCount,
    distinctWordCount: words.wordCount,
    superwordFacts: second?.facts,
    countMs: countedMs - startMs,
    mergeMs: mergedMs - countedMs,
  };

  // 4. Write the vocabulary's files; they take the place of the former ones at one instant.
  await options.write?.(trained);

  // 5. Keep what the next training on this corpus can use. Nobody waits for that.
  await keepRest?.();
  return trained;
}

async function superwordsBehind(
  learned: Merges,
  superwords: SuperwordSettings,
  options: TrainOptions,
  report: Report,
) {
  // Few trainings need the code for it.
  const { learnSuperwords } = await import("./learn-superwords.ts");
  return learnSuperwords(options, superwords, learned, report);
}

const noWords = () =>
  new UserError("there is nothing to train on: the word counts hold no words", {
    hint: "name counts of a text with words in it, or a text",
  });
