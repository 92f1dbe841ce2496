import { assert } from "../errors.ts";
import { spareThirdTier } from "../runtime/compile-sparingly.ts";
import { findWholeCharacters } from "./characters.ts";
import {
  addJoin,
  allocateJoins,
  firstByte,
  firstBytes,
  type Joins,
  joinFirst,
  joinLast,
  lastBytes,
} from "./joins.ts";
import { addPair, allocatePairs, findPair, noRank, type PairTable } from "./pairs.ts";
import { packTokens, type WholeTokens } from "./whole-tokens.ts";

/**
 * EncodingModel: all that turns the bytes of one pretoken into ids. Plain data, built once, frozen then, posted to
 * workers as it is.
 *
 *   ARRAY       TYPE         LENGTH       MEANING
 *   byteIds     Int32Array   256          id of each byte, or `droppedByte` where the vocabulary lacks it
 *   mergedIds   Int32Array   mergeCount   id of what the merge of rank r makes
 *   pairs       PairTable                 (left id, right id) -> rank
 *   byteRanks   Int32Array   65536        the same for two bytes, at first << 8 | second; `noRank` (pairs.ts) where they do not
 *
 * Ids are those of the finished vocabulary. The lower the rank, the earlier the merge; of equal ranks the leftmost first.
 *
 * The merges "t h" -> 256, "th e" -> 257 give mergedIds = [256, 257], byteRanks["t" << 8 | "h"] = 0, and the pair
 * (256, 101) has rank 1.
 */
export type EncodingModel = {
  readonly byteIds: Int32Array;
  readonly mergedIds: Int32Array;
  readonly pairs: PairTable;
  readonly byteRanks: Int32Array;
  /** Some byte has no id: it is left out, and its neighbours become neighbours. */
  readonly dropsBytes: boolean;
  /** A merge only makes pairs of higher rank, so ranks can be gone through in ascending order. */
  readonly isMonotone: boolean;
  /** Characters that merging may begin with (characters.ts); null where it has to begin with bytes. */
  readonly characters: Int32Array | null;
  /** Tokens that only a whole pretoken can be; null without any. */
  readonly wholeTokens: WholeTokens | null;
  /** Where the halves of merges meet, to find places in a text that no merge crosses; null where none may be cut. */
  readonly joins: Joins | null;
  /** Two bytes at first << 8 | second that stand side by side in some token: 1; elsewhere no merge ever crosses: 0. */
  readonly adjacency: Uint8Array;
};

export const droppedByte = -1;

/** Merges in the order of their ranks: what `buildModel` is given. */
export type RankedMerges = {
  readonly left: Int32Array;
  readonly right: Int32Array;
  readonly merged: Int32Array;
};

export type ModelParts = {
  readonly byteIds: Int32Array;
  readonly merges: RankedMerges;
  /** Ids by the tokens' bytes as Latin-1 text. */
  readonly wholeTokens?: ReadonlyMap<string, number>;
};

export function buildModel({ byteIds, merges, wholeTokens = new Map() }: ModelParts): EncodingModel {
  const { left, right, merged } = merges;
  const pairs = allocatePairs(left.length, left.length);
  // Of a pair that is listed twice the later counts, as in HF.
  let isDistinct = true;
  for (let rank = 0; rank < left.length; rank++) {
    if (!addPair(pairs, left[rank]!, right[rank]!, rank)) isDistinct = false;
  }
  const idMax = Math.max(maxOf(byteIds), maxOf(merged), maxOf([...wholeTokens.values()]));
  assert(idMax < 2 ** 27, "ids of the model fit into 27 bits");
  const isMonotone = ranksOnlyRise(merges, isDistinct ? null : pairs, idMax);
  const joined = joinsOf(byteIds, merges, wholeTokens, idMax);
  return {
    byteIds,
    mergedIds: merged,
    pairs,
    byteRanks: ranksOfBytes(byteIds, merges, idMax),
    dropsBytes: byteIds.includes(droppedByte),
    isMonotone,
    // Without joins, ids do not tell bytes apart.
    characters:
      isMonotone && joined.joins !== null ? findWholeCharacters(byteIds, merged, pairs, idMax) : null,
    wholeTokens: wholeTokens.size === 0 ? null : packTokens(wholeTokens),
    ...joined,
  };
}

/** The largest, 0 without any; as arguments of a call they might be too many. */
function maxOf(numbers: ArrayLike<number>): number {
  let max = 0;
  for (let i = 0; i < numbers.length; i++) max = Math.max(max, numbers[i]!);
  return max;
}

function ranksOfBytes(byteIds: Int32Array, { left, right }: RankedMerges, idMax: number): Int32Array {
  const ranks = new Int32Array(65536).fill(noRank);
  const byteOf = new Int16Array(idMax + 1).fill(-1);
  for (let byte = 0; byte < 256; byte++) if (byteIds[byte] !== droppedByte) byteOf[byteIds[byte]!] = byte;
  for (let rank = 0; rank < left.length; rank++) {
    const first = byteOf[left[rank]!]!;
    const second = byteOf[right[rank]!]!;
    if (first >= 0 && second >= 0) ranks[(first << 8) | second] = rank;
  }
  return ranks;
}

/**
 * Whether every pair has a higher rank than the merges that made its halves. `pairs` tells which merge of a pair counts;
 * null where each is listed once.
 */
function ranksOnlyRise(
  { left, right, merged }: RankedMerges,
  pairs: PairTable | null,
  idMax: number,
): boolean {
  const lastRankOf = new Int32Array(idMax + 1).fill(-1);
  for (let rank = 0; rank < merged.length; rank++) lastRankOf[merged[rank]!] = rank;
  for (let rank = 0; rank < merged.length; rank++) {
    if (pairs !== null && findPair(pairs, left[rank]!, right[rank]!) !== rank) continue;
    if (lastRankOf[left[rank]!]! >= rank || lastRankOf[right[rank]!]! >= rank) return false;
  }
  return true;
}

/**
 * Where merges join, as pairs of bytes and with more context. A merge adds only the place where its halves meet; a whole
 * token that merging does not reach adds every place inside it.
 */
function joinsOf(
  byteIds: Int32Array,
  { left, right, merged }: RankedMerges,
  wholeTokens: ReadonlyMap<string, number>,
  idMax: number,
): { adjacency: Uint8Array; joins: Joins | null } {
  const adjacency = new Uint8Array(65536);
  const edges = edgesOf(byteIds, { left, right, merged }, idMax);
  // Bytes that are left out, or share an id, are neighbours of what nobody can tell: nothing may be cut.
  if (edges === null) return { adjacency, joins: null };
  let joinCount = merged.length;
  for (const key of wholeTokens.keys()) joinCount += key.length;
  const joins = allocateJoins(joinCount);
  for (let rank = 0; rank < merged.length; rank++) {
    const leftEdge = edges.last[left[rank]!]!;
    const rightEdge = edges.first[right[rank]!]!;
    if (leftEdge !== 0 && rightEdge !== 0) noteJoin(adjacency, joins, leftEdge, rightEdge);
  }
  for (const key of wholeTokens.keys()) {
    const bytes = Buffer.from(key, "latin1");
    for (let i = 1; i < bytes.length; i++) {
      noteJoin(adjacency, joins, lastBytes(bytes, i), firstBytes(bytes, i));
    }
  }
  return { adjacency, joins };
}

function noteJoin(adjacency: Uint8Array, joins: Joins, leftEdge: number, rightEdge: number): void {
  const last = leftEdge & 255;
  const first = firstByte(rightEdge);
  adjacency[(last << 8) | first] = 1;
  // Between characters, the one behind begins with a lead byte.
  if (last >= 0x80 && first >= 0xc0) addJoin(joins, leftEdge, rightEdge);
}

/** Up to three bytes from either end of each token, in the form of a join's lanes; 0 for ids that merging does not make. */
type Edges = { readonly first: Int32Array; readonly last: Int32Array };

/** The edges of every token that merging can make; null if ids do not tell bytes apart. */
function edgesOf(byteIds: Int32Array, { left, right, merged }: RankedMerges, idMax: number): Edges | null {
  const first = new Int32Array(idMax + 1);
  const last = new Int32Array(idMax + 1);
  for (let byte = 0; byte < 256; byte++) {
    const id = byteIds[byte]!;
    if (id === droppedByte || first[id] !== 0) return null;
    first[id] = last[id] = (1 << 24) | byte;
  }
  // Merges may stand before those that make their halves: once more until nothing is open, or nothing is new.
  for (let isOpen = true, isNew = true; isOpen && isNew; ) {
    isOpen = false;
    isNew = false;
    for (let rank = 0; rank < merged.length; rank++) {
      const id = merged[rank]!;
      if (first[id] !== 0) continue;
      if (first[left[rank]!] === 0 || first[right[rank]!] === 0) {
        isOpen = true;
        continue;
      }
      first[id] = joinFirst(first[left[rank]!]!, first[right[rank]!]!);
      last[id] = joinLast(last[left[rank]!]!, last[right[rank]!]!);
      isNew = true;
    }
  }
  return { first, last };
}

spareThirdTier(addPair, addJoin, joinFirst, joinLast, noteJoin, ranksOfBytes, ranksOnlyRise);
