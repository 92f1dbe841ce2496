import type { trainingRecords } from "#formats";
import type { Report } from "#jobs";
import { kernels, memoryPages } from "#runtime";
import {
  kernelArrays,
  type LearnedPairs,
  type Merges,
  tokenCounting,
  type Vocabulary,
  vocabularies,
} from "#tokenizer";
import { type FreeMemory, type LanguageTables, type WordTable, wordTables } from "#words";
import {
  type Corpus,
  type FairLengths,
  type Learner,
  learnPairs,
  mergeOptionsOf,
  mergeRoom,
  type Settings,
} from "./learn-merges.ts";
import { type MergeOptions, tieOrderOf } from "./merge-options.ts";
import type { Length } from "./parity-merges.ts";

const defaultParity: trainingRecords.Parity = { ratio: null, window: null, globalMerges: 0 };

/** Returns a learner of a new vocabulary: merges of the 256 bytes. */
export function learnFromBytes(training: Settings, run: Corpus): Learner {
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
    async merge({ words, tables, giveUpMemory }, report) {
      const free = tables === undefined ? giveUpMemory?.() : undefined;
      const learned: Merges & Partial<FairLengths> =
        tables === undefined
          ? await learnPairs(wordTables.byteWords(words), { ...mergeOptions, free }, run, report)
          : await learnFairly(words, tables, parity, mergeOptions, run, report);
      // While superwords are learned, this memory is not needed, so it is left to the garbage collector.
      if (free !== undefined && superwords === null) useAfterMerging(free);
      // With superwords, merging continues on longer pretokens. Few trainings need the code for it.
      const second =
        superwords &&
        (await (await import("./learn-superwords.ts")).learnSuperwords(training, run, learned, report));
      const merges = second?.merges ?? learned;
      // With languages, each merge adds one to the size, even a merge that spells a special token.
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

/** The size of the arrays of most vocabularies. */
const arraysBytes = 1 << 23;

/** Uses the memory in which words were counted and merged for the arrays of the vocabulary. */
function useAfterMerging({ kernel: { memory }, fixedEnd, freeStart, freeEnd }: FreeMemory): void {
  // The first page has the numbers by which the engine's helper threads see that they must end.
  const start = freeStart + kernels.pageBytes;
  const end = Math.min(start + arraysBytes, freeEnd);
  memoryPages.discard(new Uint8Array(memory.buffer, end, freeEnd - end));
  kernelArrays.useMemory(memory, { start, end: freeEnd, lowBytes: freeStart, writtenLowBytes: fixedEnd });
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
  const { trainParityMerges } = await import("./parity-merges.ts");
  const all = [...train, ...(dev ?? [])].map((table) => wordTables.byteWordsSize(wordTables.sizeOf(table)));
  mergeRoom(run, all, mergeOptions);
  const learn = async (
    shares: trainingRecords.Parity,
    options: MergeOptions,
    stage: "merging" | "merging plainly",
  ) => {
    let lengths: readonly Length[] = [];
    function* startMerging(together: wordTables.TokenWords, asked: MergeOptions) {
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
