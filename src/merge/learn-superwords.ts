import type { Report } from "#jobs";
import { runSliced } from "#runtime";
import { cuttings } from "#text";
import { type Merges, vocabularies } from "#tokenizer";
import { liftWords, type RecordWords, type wordTables } from "#words";
import {
  findKeptMerges,
  inheritedTokens,
  keepInherited,
  modelOfMerges,
  renumberCounts,
} from "./inherited-merges.ts";
import {
  type Corpus,
  mergeOptionsOf,
  mergeRoom,
  runMerging,
  type Settings,
  type SuperwordFacts,
} from "./learn-merges.ts";
import { trainInPlace, trainMerges } from "./train-merges.ts";

/**
 * Runs the second stage: encodes the pretokens of the corpus by the merges of the first stage, and learns more merges
 * from the resulting tokens. Returns all merges, starting with the kept ones of the first stage.
 */
export async function learnSuperwords(
  training: Settings,
  run: Corpus,
  learned: Merges,
  report: Report,
): Promise<Superwords> {
  const first = { learned, training, run, report };
  let lifted = await liftCorpus(training, run, learned, report);
  const records = await runSliced(lifted.toRecords(), run.rest);
  if (records !== undefined) {
    const superwords = await learnFrom(records, lifted.idCounts, first);
    if (superwords !== undefined) return superwords;
    // Merging ran out of memory. If that happened midway, the words were consumed, so they must be lifted again.
    if (lifted.isConsumed) lifted = await liftCorpus(training, run, learned, report);
  }
  const check = (size: wordTables.TokenWordsSize) =>
    mergeRoom(run, size, mergeOptionsOf(training, training.vocabSize, run));
  const words = await runSliced(lifted.toTable(check), run.rest);
  return (await learnFrom(words, lifted.idCounts, first))!;
}

type Superwords = { readonly merges: Merges; readonly facts: SuperwordFacts };

/** Lifts the pretokens of the corpus: encodes them with the merges of the first stage, and counts the distinct ones. */
function liftCorpus(training: Settings, run: Corpus, learned: Merges, report: Report) {
  const { specialTokens, normalization } = training;
  const cutting = cuttings.plain(training.superwords!.pattern.compiled, specialTokens, normalization);
  return liftWords({ ...run, cutting }, modelOfMerges(learned), report);
}

/** The merges of the first stage, and what the second stage needs in order to continue from them. */
type FirstStage = {
  readonly learned: Merges;
  readonly training: Settings;
  readonly run: Corpus;
  readonly report: Report;
};

/**
 * Learns from a table of words, or from words that are records in the memory of a kernel. Returns undefined if the
 * words are such records and that memory has no room for merging.
 *
 * @param tokenCounts how often each token of the first stage occurs in the pretokens
 */
async function learnFrom(
  words: wordTables.TokenWords | RecordWords,
  tokenCounts: Float64Array,
  { learned, training, run, report }: FirstStage,
): Promise<Superwords | undefined> {
  const { specialTokens, compat, vocabSize } = training;
  const found = await runSliced(findKeptMerges(words, learned, tokenCounts), run.rest);
  const { merges: inherited, numbers } = keepInherited(learned, found);
  const { startTokens, entryCount } = inheritedTokens(inherited, specialTokens, compat);
  const options = {
    ...mergeOptionsOf(training, vocabSize, run),
    mergeCount: vocabSize - vocabularies.baseSize(specialTokens, compat) - entryCount,
    startTokens,
    limitsWords: true,
  };
  const { wordCount } = words;
  const pretokenCount = pretokenCountOf(words);
  const size = { wordCount, positionCount: found.positionCount };
  mergeRoom(run, size, options);
  const numbered = { numbers, startCounts: renumberCounts(tokenCounts, numbers) };
  const work =
    "tokens" in words
      ? trainMerges({ ...words, ...numbered }, options)
      : trainInPlace({ ...words, ...size, ...numbered }, options);
  if (work === undefined) return undefined;
  const superMerges = await runMerging(work, size, options, {
    tellMemory: run.tellMemory,
    report,
    stage: "merging superwords",
  });
  return (
    superMerges && {
      merges: bothMerges(inherited, superMerges),
      facts: {
        pretokenCount,
        distinctWordCount: wordCount,
        inheritedCount: inherited.mergeCount,
        droppedCount: learned.mergeCount - inherited.mergeCount,
      },
    }
  );
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
    startCounts: first.startCounts,
  };
}

const pretokenCountOf = (words: wordTables.TokenWords | RecordWords) =>
  "tokens" in words
    ? words.counts.reduce((sum, count) => sum + count, 0)
    : words.kernel.exports.pretokenCount();
