import { escapeBytes } from "#bytes";
import {
  fingerprints,
  type TokenizerParts,
  type TokenTable,
  tokenizers,
  tokenKeys,
  tokenTables,
} from "#tokenizer";

/** The output of `bpe diff --json` (docs/difference.schema.json). Tokens are escaped. */
export type Difference = {
  readonly format: "bpe-difference";
  readonly version: 1;
  readonly a: TokenizerFacts;
  readonly b: TokenizerFacts;
  readonly tokens: {
    readonly inBoth: number;
    readonly onlyInA: readonly TokenWithId[];
    readonly onlyInB: readonly TokenWithId[];
    /** Tokens that both have, but with different ids. */
    readonly moved: readonly MovedToken[];
  };
  readonly merges: {
    readonly inBoth: number;
    readonly onlyInA: readonly MergeWithRank[];
    readonly onlyInB: readonly MergeWithRank[];
    /** A smallest set of common merges such that the remaining common merges have the same order in both. */
    readonly moved: readonly MovedMerge[];
  };
  /** Null without a text. */
  readonly text: TextDifference | null;
};

export type TokenizerFacts = {
  readonly path: string;
  readonly kind: string;
  /** A digest of the ids into which the tokenizer encodes a fixed text. */
  readonly fingerprint: string;
  readonly pattern: string | null;
  readonly patternSources: readonly string[];
  readonly vocabularySize: number;
  readonly mergeCount: number;
};

type TokenWithId = { readonly token: string; readonly id: number; readonly isSpecial: boolean };
type MovedToken = Omit<TokenWithId, "id"> & { readonly idA: number; readonly idB: number };
export type MergeWithRank = { readonly left: string; readonly right: string; readonly rank: number };
type MovedMerge = Omit<MergeWithRank, "rank"> & { readonly rankA: number; readonly rankB: number };

/** How two tokenizers cut the words of a text, with the whitespace character before each word. */
export type TextDifference = DifferentWords & {
  readonly name: string;
  readonly inputs: readonly string[];
  readonly tokensA: number;
  readonly tokensB: number;
  readonly words: number;
  readonly differentShare: number | null;
};

export type DifferentWords = {
  /** Number of occurrences of words that the tokenizers cut differently. */
  readonly differentWords: number;
  /** The number of distinct words that the tokenizers cut differently. */
  readonly distinctDifferentWords: number;
  /** The most frequent words that the tokenizers cut differently, at most 1,000. */
  readonly mostFrequent: readonly DifferentWord[];
};

type DifferentWord = {
  readonly word: string;
  readonly count: number;
  readonly piecesA: readonly string[];
  readonly piecesB: readonly string[];
};

/**
 * Compares two tokenizers without a text. Yields between steps of some milliseconds, because the largest tokenizers
 * take a second.
 */
export function* of(a: TokenizerParts, b: TokenizerParts): Generator<undefined, Omit<Difference, "text">> {
  return {
    format: "bpe-difference",
    version: 1,
    a: factsOf(a),
    b: factsOf(b),
    tokens: yield* compareTokens(a, b),
    merges: yield* compareMerges(a, b),
  };
}

/** The number of tokens or merges that are compared in a step. */
const stepSize = 5_000;

/** Maps each element, drops undefined results, and yields between steps. */
function* mapInSteps<From, To>(
  some: Iterable<From>,
  make: (one: From) => To | undefined,
): Generator<undefined, To[]> {
  const made: To[] = [];
  let count = 0;
  for (const one of some) {
    const to = make(one);
    if (to !== undefined) made.push(to);
    if (++count % stepSize === 0) yield;
  }
  return made;
}

function factsOf(parts: TokenizerParts): TokenizerFacts {
  const { description, tokens, model } = parts;
  const { path, kind, patternName, patternSources } = description;
  return {
    path,
    kind,
    fingerprint: fingerprints.ofBehavior(parts),
    pattern: patternName,
    patternSources,
    vocabularySize: tokens.tokenCount,
    mergeCount: model.merges.merged.length,
  };
}

type Entry = { readonly id: number; readonly isSpecial: boolean };

/**
 * Returns the tokens by key. The key says whether the token is an added one, and contains its bytes. A number at the
 * start of the key distinguishes duplicates.
 */
function* tokensByKey(parts: TokenizerParts): Generator<undefined, Map<string, Entry>> {
  const { tokens } = parts;
  const specialIds = new Set(tokenizers.allAddedTokens(parts).map(({ id }) => id));
  const byKey = new Map<string, Entry>();
  const shared = tokenKeys.textsOfShared(parts);
  for (let id = 0; id < tokens.idLimit; id++) {
    if (id % stepSize === 0) yield;
    if (tokens.starts[id] === tokens.starts[id + 1]) continue;
    const isSpecial = specialIds.has(id);
    const key = `${isSpecial ? "special" : "token"} ${latin1(shared.get(id) ?? tokenTables.bytesOf(tokens, id))}`;
    let unique = `0 ${key}`;
    for (let n = 1; byKey.has(unique); n++) unique = `${n} ${key}`;
    byKey.set(unique, { id, isSpecial });
  }
  return byKey;
}

const latin1 = (bytes: Uint8Array) =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");

const latin1Of = (tokens: TokenTable, id: number) => latin1(tokenTables.bytesOf(tokens, id));

const showToken = ({ tokens }: TokenizerParts, id: number) => escapeBytes(tokenTables.bytesOf(tokens, id));

function* compareTokens(a: TokenizerParts, b: TokenizerParts): Generator<undefined, Difference["tokens"]> {
  const ofA = yield* tokensByKey(a);
  const ofB = yield* tokensByKey(b);
  const only = (some: Map<string, Entry>, others: Map<string, Entry>, parts: TokenizerParts) => {
    const nameOf = tokenKeys.namer(parts);
    return mapInSteps(some, ([key, { id, isSpecial }]) =>
      others.has(key) ? undefined : { token: nameOf(id), id, isSpecial },
    );
  };
  const nameInA = tokenKeys.namer(a);
  let inBoth = 0;
  const movedOf = ([key, { id: idA, isSpecial }]: [string, Entry]) => {
    const idB = ofB.get(key)?.id;
    if (idB === undefined) return undefined;
    inBoth++;
    return idA === idB ? undefined : { token: nameInA(idA), idA, idB, isSpecial };
  };
  const moved = yield* mapInSteps(ofA, movedOf);
  return { inBoth, onlyInA: yield* only(ofA, ofB, a), onlyInB: yield* only(ofB, ofA, b), moved };
}

/**
 * Returns the ranks of merges by a key that has the bytes of both halves. If a pair is listed twice, the later rank
 * counts, as in encoding.
 */
function* ranksByKey({ model, tokens }: TokenizerParts): Generator<undefined, Map<string, number>> {
  const { left, right } = model.merges;
  const ranks = new Map<string, number>();
  for (let rank = 0; rank < left.length; rank++) {
    if (rank % stepSize === 0) yield;
    const leftText = latin1Of(tokens, left[rank]!);
    ranks.set(`${leftText.length} ${leftText}${latin1Of(tokens, right[rank]!)}`, rank);
  }
  return ranks;
}

function* compareMerges(a: TokenizerParts, b: TokenizerParts): Generator<undefined, Difference["merges"]> {
  const ofA = yield* ranksByKey(a);
  const ofB = yield* ranksByKey(b);
  const halves = (parts: TokenizerParts, rank: number) => ({
    left: showToken(parts, parts.model.merges.left[rank]!),
    right: showToken(parts, parts.model.merges.right[rank]!),
  });
  const only = (some: Map<string, number>, others: Map<string, number>, parts: TokenizerParts) =>
    mapInSteps(some, ([key, rank]) => (others.has(key) ? undefined : { ...halves(parts, rank), rank }));
  const both = yield* mapInSteps(ofA, ([key, rankA]) => {
    const rankB = ofB.get(key);
    return rankB === undefined ? undefined : { rankA, rankB };
  });
  both.sort((one, other) => one.rankA - other.rankA);
  yield;
  const stay = new Set(longestIncreasing(both.map(({ rankB }) => rankB)));
  yield;
  const moved = yield* mapInSteps(both.keys(), (i) => {
    const { rankA, rankB } = both[i]!;
    return stay.has(i) ? undefined : { ...halves(a, rankA), rankA, rankB };
  });
  return {
    inBoth: both.length,
    onlyInA: yield* only(ofA, ofB, a),
    onlyInB: yield* only(ofB, ofA, b),
    moved,
  };
}

/** Returns the indices of a longest increasing subsequence of distinct numbers: [1, 2] for [3, 1, 2]. */
export function longestIncreasing(numbers: ArrayLike<number>): Uint32Array {
  // Patience sorting: `tails[l]` is the index of the smallest number that ends an increasing subsequence of length l +
  // 1.
  const tails: number[] = [];
  const before = new Int32Array(numbers.length);
  for (let i = 0; i < numbers.length; i++) {
    let low = 0;
    let high = tails.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (numbers[tails[middle]!]! < numbers[i]!) low = middle + 1;
      else high = middle;
    }
    before[i] = low === 0 ? -1 : tails[low - 1]!;
    tails[low] = i;
  }
  const longest = new Uint32Array(tails.length);
  for (let l = tails.length - 1, i = tails[l] ?? -1; l >= 0; l--, i = before[i]!) longest[l] = i;
  return longest;
}
