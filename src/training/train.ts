import { type Input, totalBytesOf } from "#corpus";
import type { trainingRecords } from "#formats";
import { type Report, repeatReport } from "#jobs";
import { type Length, type MergeOptions, tieOrderOf } from "#merge";
import { UserError } from "#runtime";
import { type LearnedPairs, type Merges, tokenCounting, type Vocabulary, vocabularies } from "#tokenizer";
import { countWords, type LanguageTables, type TokenWords, type WordTable, wordTables } from "#words";
import {
  type Corpus,
  type Extended,
  type FairLengths,
  type Learner,
  learnPairs,
  mergeOptionsOf,
  mergeRoom,
  type TrainedVocabulary,
} from "./learn-merges.ts";
import { checkParity, defaultParity } from "./parity.ts";
import { type Base, cuttingOf, type Training } from "./training.ts";

/** The corpus, and the receivers of the results. */
type TrainRun<B extends Base | null> = Corpus & {
  /** Called with the words before the merges are learned. */
  readonly saveWords?: (words: WordTable) => Promise<void>;
  /** Writes the result. */
  readonly write?: (trained: TrainedOf<B>) => Promise<void>;
};

type TrainedOf<B extends Base | null> = B extends null ? TrainedVocabulary : Extended;

/**
 * Trains a tokenizer on a corpus. Yields to the event loop between slices of work, so that signals are
 * handled and progress is drawn.
 */
export async function train<B extends Base | null>(
  training: Training<B>,
  given: TrainRun<B>,
  reportGiven: Report,
): Promise<TrainedOf<B>> {
  const total = given.inputs.length === 0 ? null : totalBytesOf(given.inputs, given.ranges);
  const { report, rest } = repeatReport(reportGiven, { stage: "counting", done: 0, total, unit: "bytes" });
  const run = { ...given, rest };
  const { base, superwords, weights, parity } = training;
  if (superwords) checkReadTwice(run.inputs);
  if (parity && run.languages) checkParity(parity, run.languages);
  const startMs = performance.now();
  // Few trainings need the code for a base.
  const { check, merge } =
    base === null
      ? fromBytes(training, run)
      : await (await import("./extend-tokenizer.ts")).learnBeyondBase(base, training, run);

  // 1. Read the corpus, cut it into pretokens, and count each distinct one. All threads do this.
  const corpus = { ...run, cutting: cuttingOf(training) };
  const counted =
    weights === undefined && run.languages === undefined
      ? { tables: undefined, languages: undefined, ...(await countWords(corpus, report, check)) }
      : await (await import("#words/count-groups")).countGroups(corpus, weights ?? [], report, check);
  const { words, pretokenCount, statistics, keepRest } = counted;
  if (run.inputs.length === 0 && pretokenCount === 0 && base?.learns !== false) throw noWords();
  check(wordTables.sizeOf(words));
  await run.saveWords?.(words);
  // From here on the words must not change, because step 5 puts them into the cache.
  const countedMs = performance.now();

  // 2. Merge, some ten thousand times: the most frequent pair of tokens becomes one token.
  const number = await merge(words, report, run.languages && counted.tables);
  const mergedMs = performance.now();

  // 3. Number: bytes, special tokens and merges get ids. The tokens of a base keep theirs.
  const { lengths, plainLengths, ...numbered } = await number();
  const trained = {
    ...numbered,
    statistics,
    pretokenCount,
    distinctWordCount: words.wordCount,
    languages: counted.languages?.map((language, k) => {
      const { startCount: byteCount, tokenCount } = lengths![k]!;
      return { ...language, byteCount, tokenCount, plainTokenCount: plainLengths![k]!.tokenCount };
    }),
    countMs: countedMs - startMs,
    mergeMs: mergedMs - countedMs,
  } as TrainedOf<B>;

  // 4. Write the tokenizer's files, which replace the former ones atomically.
  await run.write?.(trained);

  // 5. Store in the cache what the next training on this corpus can use.
  await keepRest?.();
  return trained;
}

/** Learns a new vocabulary, which begins with the 256 bytes. */
function fromBytes(training: Training, run: Corpus): Learner {
  const {
    superwords,
    vocabSize,
    smallerSizes,
    specialTokens,
    specialTokensFirst,
    compat,
    padTo,
    like,
    parity = defaultParity,
  } = training;
  const mergeOptions = mergeOptionsOf(training, superwords?.fromVocabSize ?? vocabSize, run);
  const later = like?.laterTokens.map(({ content }) => content) ?? [];
  const laterTokens = later.filter((text) => !specialTokens.includes(text));
  const build = (merges: LearnedPairs) =>
    vocabularies.build({ merges, specialTokens, specialTokensFirst, laterTokens, compat, padTo });
  return {
    check: (size) => mergeRoom(run, wordTables.byteWordsSize(size), mergeOptions),
    async merge(words, report, tables) {
      const learned: Merges & Partial<FairLengths> =
        tables === undefined
          ? await learnPairs(wordTables.byteWords(words), mergeOptions, run, report)
          : await learnFairly(words, tables, parity, mergeOptions, run, report);
      // With superwords, merging continues on longer pretokens. Few trainings need the code for it.
      const second =
        superwords &&
        (await (await import("./learn-superwords.ts")).learnSuperwords(training, run, learned, report));
      const merges = second?.merges ?? learned;
      // With languages, the number of merges determines a size, even if a merge spells a special token.
      const ofSize = (vocabulary: Vocabulary, size: number) =>
        tables === undefined
          ? vocabularies.mergesOfSize(merges, vocabulary, size)
          : vocabularies.firstMerges(merges, mergeOptions.mergeCount - (vocabSize - size));
      return async () => {
        const vocabulary = build(merges);
        return {
          vocabulary,
          smaller: smallerSizes.map((size) => build(ofSize(vocabulary, size))),
          superwordFacts: second?.facts,
          tokenCounts: tokenCounting.make(merges),
          lengths: learned.lengths,
          plainLengths: learned.plainLengths,
        };
      };
    },
  };
}

/** Learns parity-aware merges, and plain merges for comparison. */
async function learnFairly(
  words: WordTable,
  { train, dev }: LanguageTables,
  parity: trainingRecords.Parity,
  mergeOptions: MergeOptions,
  run: Corpus,
  report: Report,
): Promise<Merges & FairLengths> {
  const { trainParityMerges } = await import("#merge/parity-merges");
  const all = [...train, ...(dev ?? [])].map((table) => wordTables.byteWordsSize(wordTables.sizeOf(table)));
  mergeRoom(run, all, mergeOptions);
  const learn = async (
    shares: trainingRecords.Parity,
    options: MergeOptions,
    stage: "merging" | "merging plainly",
  ) => {
    let lengths: readonly Length[] = [];
    function* startMerging(together: TokenWords, asked: MergeOptions) {
      const learned = yield* trainParityMerges(together, train, dev, shares, asked);
      lengths = learned.lengths;
      return learned;
    }
    const merges = await learnPairs(wordTables.byteWords(words), options, run, report, stage, startMerging);
    return { merges, lengths };
  };
  const fair = await learn(parity, mergeOptions, "merging");
  // Here all merges are learned from all text as one, as in a training without languages.
  const together = { ...defaultParity, globalMerges: mergeOptions.mergeCount };
  const asPlain = { ...mergeOptions, ties: tieOrderOf(mergeOptions) };
  const plain = await learn(together, asPlain, "merging plainly");
  return { ...fair.merges, lengths: fair.lengths, plainLengths: plain.lengths };
}

const noWords = () =>
  new UserError("there is nothing to train on: the word counts contain no words", {
    hint: "name a text, or word counts that are not empty",
  });

/** Throws a UserError for an input that can be read only once: for superwords the corpus is read twice. */
function checkReadTwice(inputs: readonly Input[]): void {
  const once = inputs.find((input) => input.isStream);
  if (once === undefined) return;
  const name = once.path === "-" ? "standard input" : `"${once.path}"`;
  throw new UserError(`superwords read the corpus twice, but ${name} can be read only once`, {
    hint: "write the data to a file first",
  });
}
