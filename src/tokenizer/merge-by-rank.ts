import { Heap } from "../bytes/arrays.ts";
import { escapeBytes } from "../bytes/escape.ts";
import { scaled } from "../runtime/scale.ts";
import { runToEnd } from "../runtime/turns.ts";
import {
  buildModel,
  type EncodingModel,
  maxOf,
  type PackedTokens,
  type RankedMerges,
} from "./encoding-model.ts";
import { refuse } from "./tokenizer-parts.ts";

/**
 * The merges that a file of ranks stands for. tiktoken merges neighbours that make a token together, the lowest rank first.
 * Bytes between two places that no merge has crossed are merged the same way wherever they are. So a token can arise only
 * from the two parts that merging its own bytes stops at, and these two are its merge. Shorter tokens come first, because
 * they are the parts. A token whose bytes do not merge to two parts is only found as a whole pretoken, as in tiktoken.
 */
export const modelOfRanks = (tokens: PackedTokens, path: string): EncodingModel =>
  runToEnd(makeModelOfRanks(tokens, path));

/** Tokens that are merged between two yields, some 20 ms. */
const sliceTokens = scaled(8192, 3);

/** The same in slices. The ids of the tokens are their ranks. */
export function* makeModelOfRanks(tokens: PackedTokens, path: string): Generator<undefined, EncodingModel> {
  const { bytes, starts, ids: ranks } = tokens;
  const byteIds = byteIdsOf(tokens, path);
  const rankLimit = maxOf(ranks) + 1;
  const pairs = allocatePairs(ranks.length, rankLimit);
  const isMade = new Uint8Array(rankLimit);
  const wholeTokens = new Map<string, number>();
  const order = byLength(starts, ranks.length);
  const longest = order[order.length - 1]!;
  const sequence = allocateSequence(starts[longest + 1]! - starts[longest]!);
  for (let i = 0; i < order.length; i++) {
    if (i % sliceTokens === 0) yield;
    const start = starts[order[i]!]!;
    const end = starts[order[i]! + 1]!;
    if (end - start < 2) continue;
    const rank = ranks[order[i]!]!;
    takeBytes(sequence, byteIds, bytes, start, end);
    mergeByRank(sequence, pairs);
    if (sequence.count === 2) {
      addPair(pairs, sequence.ids[0]!, sequence.ids[1]!, rank);
      isMade[rank] = 1;
      continue;
    }
    const token = bytes.subarray(start, end);
    const key = Buffer.from(token).toString("latin1");
    if (sequence.count === 1 || wholeTokens.has(key)) refuseDouble(token, path);
    wholeTokens.set(key, rank);
  }
  yield;
  return buildModel({ byteIds, merges: madeMerges(pairs, isMade), idMax: rankLimit - 1, wholeTokens });
}

/** The merges whose token is marked, ascending. */
function madeMerges({ halves }: PairTable, isMade: Uint8Array): RankedMerges {
  const count = isMade.reduce((sum, mark) => sum + mark, 0);
  const merges = { left: new Int32Array(count), right: new Int32Array(count), merged: new Int32Array(count) };
  for (let rank = 0, k = 0; rank < isMade.length; rank++) {
    if (isMade[rank] === 0) continue;
    merges.left[k] = halves[2 * rank]!;
    merges.right[k] = halves[2 * rank + 1]!;
    merges.merged[k++] = rank;
  }
  return merges;
}

/** The indices of tokens by their length, shorter ones first, equal ones in their order. */
function byLength(starts: Int32Array, count: number): Uint32Array {
  const lengthOf = (token: number) => starts[token + 1]! - starts[token]!;
  let lengthMax = 0;
  for (let token = 0; token < count; token++) lengthMax = Math.max(lengthMax, lengthOf(token));
  // First how many there are of each length, then where those of each begin.
  const ends = new Uint32Array(lengthMax + 2);
  for (let token = 0; token < count; token++) ends[lengthOf(token) + 1]!++;
  for (let length = 0; length <= lengthMax; length++) ends[length + 1]! += ends[length]!;
  const order = new Uint32Array(count);
  for (let token = 0; token < count; token++) order[ends[lengthOf(token)]!++] = token;
  return order;
}

/**
 * The id of each byte. Refuses a list that lacks one, and two tokens of one rank, as tiktoken does. Longer tokens that are
 * listed twice are found when they are merged.
 */
function byteIdsOf({ bytes, starts, ids: ranks }: PackedTokens, path: string): Int32Array {
  const byteIds = new Int32Array(256).fill(-1);
  const isByte = (token: number) => starts[token + 1]! - starts[token]! === 1;
  for (let token = 0; token < ranks.length; token++) {
    if (isByte(token)) byteIds[bytes[starts[token]!]!] = ranks[token]!;
  }
  if (byteIds.includes(-1)) {
    refuse(path, `it has no token for byte 0x${byteIds.indexOf(-1).toString(16).padStart(2, "0")}`);
  }
  const seen = new Uint8Array(maxOf(ranks) + 1);
  for (let token = 0; token < ranks.length; token++) {
    const rank = ranks[token]!;
    if (seen[rank] === 1) refuse(path, `two tokens have the rank ${rank}`);
    seen[rank] = 1;
    const byte = bytes[starts[token]!]!;
    // Of two the later one has set the id.
    if (isByte(token) && byteIds[byte] !== rank) refuseDouble(Uint8Array.of(byte), path);
  }
  return byteIds;
}

function refuseDouble(bytes: Uint8Array, path: string): never {
  refuse(path, `the token "${escapeBytes(bytes)}" is listed twice`);
}

/**
 * RankedSequence: ids that are merged where they are.
 *
 *   ARRAY    TYPE         LENGTH     MEANING
 *   ids      Int32Array   capacity   the first `count` are the sequence
 *   ranks    Int32Array   capacity   rank of the pair that begins at each of them; `noRank` at the last
 */
export type RankedSequence = { readonly ids: Int32Array; readonly ranks: Int32Array; count: number };

export const allocateSequence = (capacity: number): RankedSequence => ({
  ids: new Int32Array(capacity),
  ranks: new Int32Array(capacity),
  count: 0,
});

/** Makes the sequence that of bytes[start .. end). */
export function takeBytes(
  sequence: RankedSequence,
  byteIds: Int32Array,
  bytes: Uint8Array,
  start: number,
  end: number,
): void {
  const { ids } = sequence;
  for (let pos = start; pos < end; pos++) ids[pos - start] = byteIds[bytes[pos]!]!;
  sequence.count = end - start;
}

/**
 * Merges a short sequence, the lowest rank first, from the left. `merged` has what the merge of each rank makes; without it a
 * rank is the id. Returns the rank of the last merge, or `noRank`. Long ones are for `SequenceMerger`.
 */
export function mergeByRank(sequence: RankedSequence, pairs: PairTable, merged?: Int32Array): number {
  const { ids, ranks } = sequence;
  let { count } = sequence;
  for (let i = 0; i + 1 < count; i++) ranks[i] = findPair(pairs, ids[i]!, ids[i + 1]!);
  ranks[count - 1] = noRank;
  for (let last = noRank; ; ) {
    let best = noRank;
    let bestPos = 0;
    for (let i = 0; i + 1 < count; i++) {
      if (ranks[i]! >= best) continue;
      best = ranks[i]!;
      bestPos = i;
    }
    if (best === noRank) {
      sequence.count = count;
      return last;
    }
    last = best;
    count--;
    ids[bestPos] = merged === undefined ? best : merged[best]!;
    for (let i = bestPos + 1; i < count; i++) {
      ids[i] = ids[i + 1]!;
      ranks[i] = ranks[i + 1]!;
    }
    ranks[bestPos] = bestPos + 1 < count ? findPair(pairs, ids[bestPos]!, ids[bestPos + 1]!) : noRank;
    if (bestPos > 0) ranks[bestPos - 1] = findPair(pairs, ids[bestPos - 1]!, ids[bestPos]!);
  }
}

/**
 * PairTable: the rank of each pair of ids. The kernel has its own (src/kernel/encode/pair-ranks.ts).
 *
 *   ARRAY    TYPE         LENGTH          MEANING
 *   slots    Int32Array   2^slotBits      open addressing, linear probing, at most half full: in the low `rankBits` bits
 *                                         rank + 1, above them the tag, the low bits of the hash; 0 in a free slot
 *   halves   Int32Array   2 * rankLimit   left and right id of each rank, at 2 rank; looked at where the tag is right
 *   filter   Int32Array   2^(slotBits-3)  a bit for each pair: word by the top bits of the hash, bit by its lowest five. Most
 *                                         pairs that are asked for are none, and most of those end here
 *
 * The home slot of a pair is the top `slotBits` bits of its hash.
 */
export type PairTable = {
  readonly slots: Int32Array;
  readonly halves: Int32Array;
  readonly slotBits: number;
  readonly rankBits: number;
  readonly filter: Int32Array;
};

/** The rank of two ids that do not merge: higher than every rank. */
export const noRank = 0x7fffffff;

/** Eight slots share the 32 bits of a word. */
const filterShift = 3;

const multiplier0 = 0x9e3779b1 | 0;
const multiplier1 = 0x85ebca77 | 0;

/** A table for so many pairs, of ranks below `rankLimit`. */
export function allocatePairs(pairCount: number, rankLimit: number): PairTable {
  const slotBits = Math.max(4, Math.ceil(Math.log2(2 * pairCount)));
  const rankBits = 32 - Math.clz32(rankLimit);
  return {
    slots: new Int32Array(2 ** slotBits),
    halves: new Int32Array(2 * rankLimit),
    slotBits,
    rankBits,
    filter: new Int32Array(2 ** (slotBits - filterShift)),
  };
}

/** Sets the rank of a pair; returns whether the pair is new. */
export function addPair(table: PairTable, left: number, right: number, rank: number): boolean {
  const { slots, halves, slotBits, rankBits, filter } = table;
  const hash = hashOf(left, right);
  filter[hash >>> (32 - slotBits + filterShift)]! |= 1 << (hash & 31);
  let pos = hash >>> (32 - slotBits);
  for (let slot = slots[pos]!; slot !== 0; slot = slots[pos]!) {
    const known = (slot & ((1 << rankBits) - 1)) - 1;
    if (halves[2 * known] === left && halves[2 * known + 1] === right) break;
    pos = (pos + 1) & (slots.length - 1);
  }
  const isNew = slots[pos] === 0;
  slots[pos] = (hash << rankBits) | (rank + 1);
  halves[2 * rank] = left;
  halves[2 * rank + 1] = right;
  return isNew;
}

/** The rank of the pair, or `noRank`. */
export function findPair(table: PairTable, left: number, right: number): number {
  const { slots, halves, rankBits, filter } = table;
  const hash = hashOf(left, right);
  if (((filter[hash >>> (32 - table.slotBits + filterShift)]! >>> (hash & 31)) & 1) === 0) return noRank;
  const tag = hash << rankBits;
  let pos = hash >>> (32 - table.slotBits);
  for (;;) {
    const slot = slots[pos]!;
    if (slot === 0) return noRank;
    if ((slot ^ tag) >>> rankBits === 0) {
      const rank = ((slot ^ tag) - 1) | 0;
      if (halves[2 * rank] === left && halves[2 * rank + 1] === right) return rank;
    }
    pos = (pos + 1) & (slots.length - 1);
  }
}

function hashOf(left: number, right: number): number {
  return Math.imul((Math.imul(left, multiplier0) + right) | 0, multiplier1);
}

/** Merges over an alphabet: merge k makes the id `alphabetSize` + k. */
type SymbolMerges = { readonly alphabetSize: number; readonly left: Int32Array; readonly right: Int32Array };

/**
 * Merges long sequences of symbols by rank. The symbols are a linked list, and the pairs that can be merged are in a heap, by
 * rank and then by position. A merge gives rise to two pairs at most, so a document of n symbols takes n log n.
 *
 *   ARRAY   TYPE           LENGTH         MEANING
 *   tokens  Uint32Array    symbolCount    id of the token that begins at a position, `merged` inside of one
 *   next    Int32Array     symbolCount    where the next token begins; symbolCount behind the last
 *   before  Int32Array     symbolCount    where the token before it begins, -1 before the first
 */
export class SequenceMerger {
  private readonly pairs: PairTable;

  constructor(private readonly merges: SymbolMerges) {
    const { left, right } = merges;
    this.pairs = allocatePairs(left.length, left.length);
    left.forEach((id, rank) => {
      addPair(this.pairs, id, right[rank]!, rank);
    });
  }

  /** Encodes a document. Yields now and then. */
  *merge(symbols: Uint32Array): Generator<undefined, Uint32Array> {
    const { length } = symbols;
    const { alphabetSize, left, right } = this.merges;
    const tokens = symbols.slice();
    const next = Int32Array.from({ length }, (_, pos) => pos + 1);
    const before = Int32Array.from({ length }, (_, pos) => pos - 1);
    const heap = new Heap();
    const offer = (pos: number, behind: number) => {
      const rank = findPair(this.pairs, tokens[pos]!, tokens[behind]!);
      if (rank !== noRank) heap.push(rank, pos);
    };
    for (let pos = 0; pos + 1 < length; pos++) {
      offer(pos, pos + 1);
      if (pos % workPerSlice === 0) yield;
    }
    for (let work = 1; heap.count > 0; work++) {
      if (work % workPerSlice === 0) yield;
      const rank = heap.topKey | 0;
      const pos = heap.topId;
      heap.pop();
      const behind = next[pos]!;
      // The pair may be gone: one of the two has become another token.
      if (tokens[pos] !== left[rank] || behind >= length || tokens[behind] !== right[rank]) continue;
      tokens[pos] = alphabetSize + rank;
      tokens[behind] = merged;
      const after = next[behind]!;
      next[pos] = after;
      if (after < length) {
        before[after] = pos;
        offer(pos, after);
      }
      if (before[pos]! >= 0) offer(before[pos]!, pos);
    }
    return tokens.filter((token) => token !== merged);
  }
}

const merged = 0xffffffff;
const workPerSlice = scaled(1 << 14, 16);
