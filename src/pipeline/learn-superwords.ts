import { addUp } from "../count/add-up.ts";
import type { Merges } from "../merge/merges.ts";
import { inTurns } from "../runtime/turns.ts";
import {
  inheritedTokens,
  keepInherited,
  modelOfMerges,
  renumberTokens,
} from "../superwords/inherited-merges.ts";
import { findKeptMerges } from "../superwords/kept-merges.ts";
import { idBytesOf } from "../superwords/lifted-pretokens.ts";
import { plainCutting } from "../text/cutting.ts";
import type { EncodingModel } from "../tokenizer/encoding-model.ts";
import { baseSize } from "../vocabulary/vocabulary.ts";
import { sizeOfWords, type TokenWords, type TokenWordsSize, type WordTable } from "../words/word-table.ts";
import { type CorpusOptions, countParts } from "./count-words.ts";
import { type Corpus, learnPairs, mergeOptionsOf, mergeRoom, type SuperwordFacts } from "./learn-merges.ts";
import type { Report } from "./stage-progress.ts";
import type { Training } from "./training.ts";

/**
 * The second stage: lifts the pretokens of the corpus, and goes on merging where the merges of the first stage have been made
 * in them. Returns all merges, those of the first stage that stay first.
 */
export async function learnSuperwords(
  training: Training,
  run: Corpus,
  learned: Merges,
  report: Report,
): Promise<{ readonly merges: Merges; readonly facts: SuperwordFacts }> {
  const { specialTokens, normalization, compat, vocabSize } = training;
  const options = mergeOptionsOf(training, vocabSize, run);
  const check = (size: TokenWordsSize) => mergeRoom(run, size, options);
  const cutting = plainCutting(training.superwords!.pattern.compiled, specialTokens, normalization);
  const words = await liftCorpus({ ...run, cutting, liftingModel: modelOfMerges(learned) }, report, check);
  const found = await inTurns(findKeptMerges(words, learned));
  const { merges: inherited, numbers } = keepInherited(learned, found);
  if (inherited.mergeCount < learned.mergeCount) await inTurns(renumberTokens(words, numbers));
  const { startTokens, entryCount } = inheritedTokens(inherited, specialTokens, compat);
  const mergeOptions = {
    ...options,
    mergeCount: vocabSize - baseSize(specialTokens, compat) - entryCount,
    startTokens,
    limitsWords: true,
  };
  mergeRoom(run, sizeOfWords(words), mergeOptions);
  const superMerges = await learnPairs(words, mergeOptions, run, report, "merging superwords");
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
    startCounts: first.startCounts,
  };
}

const sumOf = ({ counts }: TokenWords) => counts.reduce((sum, count) => sum + count, 0);

/**
 * The pretokens of a corpus as sequences of the ids that the model gives them, counted. The cache, and word counts from
 * elsewhere, know nothing of them. `check` is told how many words and tokens there are.
 */
async function liftCorpus(
  options: CorpusOptions & { readonly liftingModel: EncodingModel },
  report: Report,
  check: (size: TokenWordsSize) => void,
): Promise<TokenWords> {
  const idBytes = idBytesOf(options.liftingModel);
  const corpus = { ...options, cache: undefined, countsFiles: undefined };
  const { parts } = await countParts(corpus, report, "lifting");
  const table = await inTurns(
    addUp(parts, ({ wordCount, byteCount }) => check({ wordCount, positionCount: byteCount / idBytes })),
  );
  return asTokenWords(table, idBytes);
}

/** The same words in the same memory: their bytes are ids, little endian. */
export function asTokenWords({ wordCount, bytes, starts, counts }: WordTable, idBytes: 2 | 4): TokenWords {
  const Ids = idBytes === 2 ? Uint16Array : Uint32Array;
  for (let w = 0; w <= wordCount; w++) starts[w]! /= idBytes;
  const tokens = new Ids(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.length / idBytes);
  return { wordCount, tokens, starts, counts };
}
