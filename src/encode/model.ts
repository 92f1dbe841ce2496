import { assert } from "../errors.ts";
import { addPair, allocatePairs, findPair, type PairTable } from "./pairs.ts";

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
  /** Pretokens that are a token though merging does not arrive at it; keyed by their bytes as Latin-1 text. */
  readonly wholeTokens: ReadonlyMap<string, number>;
  /** Length of the longest of these. */
  readonly wholeBytesMax: number;
  /** Two bytes at first << 8 | second that stand side by side in some token: 1; elsewhere no merge ever crosses: 0. */
  readonly adjacency: Uint8Array;
  /** The largest id that merging can give. */
  readonly idMax: number;
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
  readonly wholeTokens?: ReadonlyMap<string, number>;
};

export function buildModel({ byteIds, merges, wholeTokens = new Map() }: ModelParts): EncodingModel {
  const { left, right, merged } = merges;
  const pairs = allocatePairs(left.length);
  // Of a pair that is listed twice the later counts, as in HF.
  for (let rank = 0; rank < left.length; rank++) addPair(pairs, left[rank]!, right[rank]!, rank);
  const idMax = Math.max(maxOf(byteIds), maxOf(merged), ...wholeTokens.values());
  assert(idMax < 2 ** 27, "ids of the model fit into 27 bits");
  return {
    byteIds,
    mergedIds: merged,
    pairs,
    byteRanks: ranksOfBytes(byteIds, pairs),
    dropsBytes: byteIds.includes(droppedByte),
    isMonotone: ranksOnlyRise(merges, pairs, idMax),
    wholeTokens,
    wholeBytesMax: Math.max(0, ...Array.from(wholeTokens.keys(), (key) => key.length)),
    adjacency: adjacentBytes(byteIds, merges, wholeTokens, idMax),
    idMax,
  };
}

function maxOf(numbers: Int32Array): number {
  let max = 0;
  for (let i = 0; i < numbers.length; i++) max = Math.max(max, numbers[i]!);
  return max;
}

function ranksOfBytes(byteIds: Int32Array, pairs: PairTable): Int32Array {
  const ranks = new Int32Array(65536);
  for (let first = 0; first < 256; first++) {
    for (let second = 0; second < 256; second++) {
      ranks[(first << 8) | second] = findPair(pairs.lanes, pairs.slotBits, byteIds[first]!, byteIds[second]!);
    }
  }
  return ranks;
}

/** Whether every pair has a higher rank than the merges that made its halves. */
function ranksOnlyRise({ left, right, merged }: RankedMerges, pairs: PairTable, idMax: number): boolean {
  const lastRankOf = new Int32Array(idMax + 1).fill(-1);
  for (let rank = 0; rank < merged.length; rank++) lastRankOf[merged[rank]!] = rank;
  for (let rank = 0; rank < merged.length; rank++) {
    if (findPair(pairs.lanes, pairs.slotBits, left[rank]!, right[rank]!) !== rank) continue;
    if (lastRankOf[left[rank]!]! >= rank || lastRankOf[right[rank]!]! >= rank) return false;
  }
  return true;
}

/**
 * The pairs of bytes inside tokens. A merge adds only the pair where its halves meet: the last byte of the left one and
 * the first of the right one.
 */
function adjacentBytes(
  byteIds: Int32Array,
  { left, right, merged }: RankedMerges,
  wholeTokens: ReadonlyMap<string, number>,
  idMax: number,
): Uint8Array {
  const adjacency = new Uint8Array(65536);
  const unknown = -1;
  const firstBytes = new Int16Array(idMax + 1).fill(unknown);
  const lastBytes = new Int16Array(idMax + 1).fill(unknown);
  for (let byte = 0; byte < 256; byte++) {
    const id = byteIds[byte]!;
    if (id === droppedByte) return adjacency.fill(1);
    // Two bytes of one id (that of an unknown token) are told apart by nobody.
    if (firstBytes[id] !== unknown) return adjacency.fill(1);
    firstBytes[id] = lastBytes[id] = byte;
  }
  // Merges may stand before those that make their halves: once more until nothing is new.
  for (let isNew = true; isNew; ) {
    isNew = false;
    for (let rank = 0; rank < merged.length; rank++) {
      const first = firstBytes[left[rank]!]!;
      const last = lastBytes[right[rank]!]!;
      if (first === unknown || last === unknown || lastBytes[left[rank]!] === unknown) continue;
      if (firstBytes[right[rank]!] === unknown) continue;
      adjacency[(lastBytes[left[rank]!]! << 8) | firstBytes[right[rank]!]!] = 1;
      if (firstBytes[merged[rank]!] !== unknown) continue;
      firstBytes[merged[rank]!] = first;
      lastBytes[merged[rank]!] = last;
      isNew = true;
    }
  }
  for (const key of wholeTokens.keys()) {
    for (let i = 1; i < key.length; i++) adjacency[(key.charCodeAt(i - 1) << 8) | key.charCodeAt(i)] = 1;
  }
  return adjacency;
}
