import { type RunTokens, runTokenBytes } from "../count/run-counter.ts";
import { UserError } from "../errors.ts";
import type { Merges } from "../merge/merges.ts";
import { createSplitter, isLetter } from "../pattern/pattern.ts";
import { inTurns } from "../runtime/turns.ts";
import { WordMerger } from "../tokenizer/encoding-kernel.ts";
import { buildModel } from "../tokenizer/encoding-model.ts";
import { RunMerger } from "../tokenizer/run-merger.ts";
import { type LearnedSupermerges, type Operations, orderOperations } from "../vocabulary/operations.ts";
import { SpelledTokens } from "../vocabulary/spelled-tokens.ts";
import { copyTokenBytes, makeTokenBytes } from "../vocabulary/token-bytes.ts";
import { sizeOfWords, type TokenWords } from "../words/token-words.ts";
import type { WordTable } from "../words/word-table.ts";
import { type CorpusOptions, countAfresh } from "./count-afresh.ts";
import { learnPairs, type MergeSettings, mergeOptionsOf, mergeRoom } from "./learn-merges.ts";
import type { Report } from "./stage-progress.ts";

/*
 * The second pass of BoundlessBPE (docs/boundless.md): supermerges of whole pretokens, in one order with the merges of the
 * first pass. What is counted are runs of pretokens that are one token each; merges inside of pretokens never change them,
 * so the supermerges are learned by themselves, and put among the merges by their counts.
 */

type Options = CorpusOptions & MergeSettings;

/** Word counts do not say which pretokens follow each other. */
export function checkHasText({ inputs, countsFiles }: CorpusOptions): void {
  if (countsFiles === undefined && inputs.length > 0) return;
  throw new UserError("superwords boundless reads the corpus, and word counts do not say what follows what", {
    hint: "name the files that were counted",
  });
}

/** Learns supermerges for the merges of the first pass. */
export async function learnSupermerges(options: Options, words: Merges, report: Report): Promise<Operations> {
  const { tokens, runTokens } = await inTurns(eligibleTokens(options, words));
  const { words: runs } = await countAfresh(
    { ...options, cache: undefined, countsFiles: undefined, ranges: undefined, runTokens },
    report,
  );
  const table = tokenWordsOfRuns(runs, runTokens);
  const learned = await learnFromRuns(table, runTokens, mergingOfRuns(options, words, report));
  return inTurns(orderOperations(words, { ...learned, runTokens: tokens }));
}

/**
 * The tokens that a run may hold: each is the whole of a pretoken, has a letter, and is what its own text is encoded as.
 * Yields between slices of work.
 */
function* eligibleTokens(
  { pattern }: Options,
  merges: Merges,
): Generator<undefined, { tokens: Int32Array; runTokens: RunTokens }> {
  const tokenBytes = makeTokenBytes(merges);
  const { mergeCount, left, right } = merges;
  const merger = new WordMerger(
    buildModel({
      byteIds: Int32Array.from({ length: 256 }, (_, byte) => byte),
      merges: { left, right, merged: Int32Array.from({ length: mergeCount }, (_, k) => 256 + k) },
    }),
  );
  const splitter = createSplitter(pattern);
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const found: number[] = [];
  const texts: Uint8Array[] = [];
  for (let token = 0; token < 256 + mergeCount; token++) {
    if (token % tokensPerSlice === 0) yield;
    const bytes = copyTokenBytes(tokenBytes, token);
    if (!hasLetter(bytes, decoder) || !isOnePretoken(bytes)) continue;
    const ids = merger.merge(bytes);
    if (ids.length !== 1 || ids[0] !== token) continue;
    found.push(token);
    texts.push(bytes);
  }
  const starts = new Uint32Array(texts.length + 1);
  texts.forEach((text, t) => {
    starts[t + 1] = starts[t]! + text.length;
  });
  const bytes = new Uint8Array(Buffer.concat(texts));
  return { tokens: Int32Array.from(found), runTokens: { count: found.length, bytes, starts } };

  function isOnePretoken(bytes: Uint8Array): boolean {
    const text = { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length) };
    splitter.start(0);
    splitter.scan(text, bytes.length, bytes.length);
    splitter.finish(bytes.length);
    const isOne = splitter.endCount === 2;
    splitter.take();
    return isOne;
  }
}

const tokensPerSlice = 1 << 10;

/** Whether the bytes are valid UTF-8 and have a letter. */
function hasLetter(bytes: Uint8Array, decoder: TextDecoder): boolean {
  try {
    return [...decoder.decode(bytes)].some((character) => isLetter(character.codePointAt(0)!));
  } catch {
    return false;
  }
}

/** Runs as the engine takes them: their bytes are the numbers of run tokens. */
function tokenWordsOfRuns({ wordCount, bytes, starts, counts }: WordTable, runTokens: RunTokens): TokenWords {
  const width = runTokenBytes(runTokens);
  const length = bytes.length / width;
  const tokens =
    width === 2
      ? new Uint16Array(bytes.buffer, bytes.byteOffset, length)
      : new Uint32Array(bytes.buffer, bytes.byteOffset, length);
  return { wordCount, tokens, starts: starts.map((start) => start / width), counts };
}

type LearnMerges = (words: TokenWords, spelled: SpelledTokens) => Promise<Merges>;
type Learned = Omit<LearnedSupermerges, "runTokens">;

/**
 * Learns the supermerges of runs. A token is its bytes. Now and then a supermerge spells a token that is there already: what
 * one script writes letter by letter may be a word in another. The engine takes them for two tokens; so up to there its
 * supermerges are made in the runs, and it begins anew with what these are then.
 */
export async function learnFromRuns(
  runs: TokenWords,
  { bytes, starts }: RunTokens,
  learn: LearnMerges,
): Promise<Learned> {
  const spelled = new SpelledTokens(bytes, starts);
  const all: { left: number[]; right: number[]; made: number[]; counts: number[] } = {
    left: [],
    right: [],
    made: [],
    counts: [],
  };
  for (let words = runs; ; ) {
    const first = all.made.length;
    const merges = await learn(words, spelled);
    if (!(await inTurns(takeUntilRepeat(merges, spelled, all)))) return all;
    // The last one apart: what it makes may stand in a pair of an earlier one, which was merged before there was that pair.
    for (const [from, to] of [
      [first, all.made.length - 1],
      [all.made.length - 1, all.made.length],
    ] as const) {
      const merger = new RunMerger({
        left: Int32Array.from(all.left.slice(from, to)),
        right: Int32Array.from(all.right.slice(from, to)),
        merged: Int32Array.from(all.made.slice(from, to)),
      });
      words = await inTurns(mergedRuns(words, merger, spelled.count));
    }
  }
}

/** Adds the merges to `all`, with the token that each spells; true if one spells a token that was there, which is the last then. Yields between slices of work. */
function* takeUntilRepeat(
  { startCount, mergeCount, left, right, counts }: Merges,
  spelled: SpelledTokens,
  all: { left: number[]; right: number[]; made: number[]; counts: number[] },
): Generator<undefined, boolean> {
  const made: number[] = [];
  const numberOf = (id: number) => (id < startCount ? id : made[id - startCount]!);
  for (let k = 0; k < mergeCount; k++) {
    if (k % tokensPerSlice === 0) yield;
    const countBefore = spelled.count;
    const halves = [numberOf(left[k]!), numberOf(right[k]!)] as const;
    const token = spelled.join(...halves);
    made.push(token);
    all.left.push(halves[0]);
    all.right.push(halves[1]);
    all.made.push(token);
    all.counts.push(counts[k]!);
    if (token < countBefore) return true;
  }
  return false;
}

/** The runs with these supermerges made. Yields between slices of work. */
function* mergedRuns(
  { wordCount, tokens, starts, counts }: TokenWords,
  merger: RunMerger,
  tokenCount: number,
): Generator<undefined, TokenWords> {
  const merged = tokenCount > 0x10000 ? new Uint32Array(tokens.length) : new Uint16Array(tokens.length);
  const mergedStarts = new Uint32Array(wordCount + 1);
  let sliceEnd = positionsPerSlice;
  let end = 0;
  for (let w = 0; w < wordCount; w++) {
    const run = Int32Array.from(tokens.subarray(starts[w]!, starts[w + 1]!));
    const length = merger.merge(run, run.length);
    merged.set(run.subarray(0, length), end);
    end += length;
    mergedStarts[w + 1] = end;
    if (starts[w]! < sliceEnd) continue;
    sliceEnd = starts[w]! + positionsPerSlice;
    yield;
  }
  return { wordCount, tokens: merged.slice(0, end), starts: mergedStarts, counts };
}

const positionsPerSlice = 1 << 14;

/**
 * How the supermerges of runs are learned. None is wanted that occurs as often as the last merge, or less: with that merge
 * there are tokens enough.
 */
function mergingOfRuns(options: Options, { mergeCount, counts }: Merges, report: Report): LearnMerges {
  return (words, spelled) => {
    const merging = {
      ...mergeOptionsOf(options),
      mergeCount,
      startTokens: { count: spelled.count, spelling: spelled.packed() },
      minFrequency: Math.max(options.minFrequency, (counts.at(-1) ?? 0) + 1),
    };
    mergeRoom(options, sizeOfWords(words), merging);
    return learnPairs(words, merging, "merging runs", options.tellMemory, report);
  };
}
