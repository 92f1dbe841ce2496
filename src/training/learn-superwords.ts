import type { Report } from "#jobs";
import { trainInPlace, trainMerges } from "#merge";
import { runSliced } from "#runtime";
import { plainCutting } from "#text";
import { type Merges, vocabularies } from "#tokenizer";
import {
  addUp,
  countParts,
  idBytesOf,
  type Parts,
  type RecordWords,
  type TokenWords,
  type WordTable,
  type wordTables,
} from "#words";
import {
  findKeptMerges,
  inheritedTokens,
  keepInherited,
  modelOfMerges,
  renumberCounts,
} from "./inherited-merges.ts";
import { type Corpus, mergeOptionsOf, mergeRoom, runMerging, type SuperwordFacts } from "./learn-merges.ts";
import type { Training } from "./training.ts";

/**
 * Runs the second stage: lifts the pretokens of the corpus, encoding them with the merges of the first stage, and
 * continues merging from these tokens. Returns all merges, starting with the kept ones of the first stage.
 *
 * The words are converted to records in the memory where they were counted. If that memory is too small, or the words
 * are in sorted runs or slices, they are copied to a table first.
 */
export async function learnSuperwords(
  training: Training,
  run: Corpus,
  learned: Merges,
  report: Report,
): Promise<Superwords> {
  let lifted = await liftCorpus(training, run, learned, report);
  const records = await runSliced(toRecords(lifted), run.rest);
  if (records !== undefined) {
    const superwords = await learnFrom(records, lifted, training, run, report);
    if (superwords !== undefined) return superwords;
    // Merging ran out of memory. If it did so halfway, the words were consumed.
    if (lifted.parts.counter.words.distinctWordCount === 0)
      lifted = await liftCorpus(training, run, learned, report);
  }
  const words = await tableOf(lifted, run, (size) =>
    mergeRoom(run, size, mergeOptionsOf(training, training.vocabSize, run)),
  );
  return (await learnFrom(words, lifted, training, run, report))!;
}

type Superwords = { readonly merges: Merges; readonly facts: SuperwordFacts };

/**
 * The pretokens of a corpus, lifted to sequences of ids and counted. Threads, sorted runs and slices are not
 * yet added up.
 */
type Lifted = {
  readonly parts: Parts;
  readonly idLimit: number;
  readonly idBytes: 2 | 4;
  /** The merges of the first stage. */
  readonly learned: Merges;
  /** How often each token of the first stage occurs in the pretokens. */
  readonly tokenCounts: Float64Array;
};

/** Lifts and counts the pretokens of the corpus. The cache and counts files hold no lifted pretokens. */
async function liftCorpus(training: Training, run: Corpus, learned: Merges, report: Report): Promise<Lifted> {
  const { specialTokens, normalization } = training;
  const cutting = plainCutting(training.superwords!.pattern.compiled, specialTokens, normalization);
  const liftingModel = modelOfMerges(learned);
  const corpus = { ...run, cutting, liftingModel, cache: undefined, countsFiles: undefined };
  const { parts, idCounts } = await countParts(corpus, report, "lifting");
  const { idLimit } = liftingModel;
  const tokenCounts = new Float64Array(idLimit);
  for (const counts of idCounts) for (let id = 0; id < idLimit; id++) tokenCounts[id]! += counts[id]!;
  return { parts, idLimit, idBytes: idBytesOf(liftingModel), learned, tokenCounts };
}

/** Converts the words to records. Returns undefined if they are not all in one counter, or memory has no room. */
function* toRecords({ parts, idLimit, idBytes }: Lifted): Generator<undefined, RecordWords | undefined> {
  const { counter, slices = [], sources } = parts;
  if (sources.length > 0 || slices.length > 0) return undefined;
  return yield* counter.words.convertToRecords(idLimit, idBytes);
}

/** Adds up the words into a table. Calls `check` with the numbers of words and tokens first. */
async function tableOf(
  { parts, idBytes }: Lifted,
  { rest }: Pick<Corpus, "rest">,
  check: (size: wordTables.TokenWordsSize) => void,
): Promise<TokenWords> {
  const table = await runSliced(
    addUp(parts, ({ wordCount, byteCount }) => check({ wordCount, positionCount: byteCount / idBytes })),
    rest,
  );
  return toTokenWords(table, idBytes);
}

/** Learns from words or records. Returns undefined if they are records whose memory has no room for merging. */
async function learnFrom(
  words: TokenWords | RecordWords,
  { learned, tokenCounts }: Lifted,
  training: Training,
  run: Corpus,
  report: Report,
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

const pretokenCountOf = (words: TokenWords | RecordWords) =>
  "tokens" in words
    ? words.counts.reduce((sum, count) => sum + count, 0)
    : words.kernel.exports.pretokenCount();

/** Reinterprets the bytes of the words as ids, in place. */
function toTokenWords({ wordCount, bytes, starts, counts }: WordTable, idBytes: 2 | 4): TokenWords {
  const Ids = idBytes === 2 ? Uint16Array : Uint32Array;
  for (let w = 0; w <= wordCount; w++) starts[w]! /= idBytes;
  const tokens = new Ids(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.length / idBytes);
  return { wordCount, tokens, starts, counts };
}
