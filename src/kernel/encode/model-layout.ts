import { reserveTable } from "../regions";
import { hashLong } from "../words/word-slots";

/**
 * EncodingModel: the tables that turn the bytes of a pretoken into ids. JavaScript writes the first thirteen fields and
 * their arrays (src/tokenizer/encoding-model.ts); `buildTables` (build-model.ts) adds the others.
 *
 *   OFFSET   FIELD            ARRAY OR NUMBER
 *   0        byteIds          i32[256]: id of each byte; if the vocabulary lacks the byte, the id of the unknown token
 *                             or, without one, `droppedByte`
 *   4        lefts            i32[mergeCount]: left id of the merge of each rank
 *   8        rights           i32[mergeCount]: right id
 *   12       mergedIds        i32[mergeCount]: id of the merged token
 *   16       mergeCount
 *   20       idLimit          greater than every id of the model
 *   24       isNarrow         1: every id of the tokenizer fits 16 bits
 *   28       cutPlaces        where pretokens may be cut (never-merged.ts). 0: nowhere; 1: next to bytes that are not
 *                             ASCII; 2: everywhere
 *   32       wholeTokens      a TokenTable (below): the tokens of whole-tokens.ts
 *   36       characters       a TokenTable of the tokens of single characters that are not ASCII: first-characters.ts
 *   40       beginning        what merging begins with. 0: bytes; otherwise characters, and a character without a token
 *                             becomes 1: its bytes; 2: `unknownId`; 3: `unknownId`, once for adjacent ones
 *   44       unknownId        `droppedByte` if there is none
 *   48       firstTied        i32[mergeCount]: for each merge the first one with its priority (pair-ranks.ts); 0 if no
 *                             merges are tied
 *
 *   52       byteRanks        i32[65536]: rank of two bytes at first << 8 | second, or `noRank` (pair-ranks.ts)
 *   56       isMonotone       1: every pair has a higher rank than the merges of its halves
 *   60       adjacency        u8[65536]: at left << 8 | right, the sizes of joins (never-merged.ts) with these bytes at
 *                             their centre: bit l - 1 for l bytes on the left, bit 2 + r for r bytes on the right. 0:
 *                             there is no such join
 *   64       joins            a Bloom filter (never-merged.ts); 0 if no pretoken may be cut
 *   68       lateRank         merges from this rank on are late (late-merges.ts); `mergeCount` if none is
 *
 * Ids are those of the vocabulary. Merges are made in the order of their ranks, and merges of one rank from left to
 * right.
 *
 * The merges "t h" -> 256, "th e" -> 257 give mergedIds = [256, 257], byteRanks["t" << 8 | "h"] = 0, and the pair (256,
 * 101) has rank 1.
 */
@unmanaged
export class EncodingModel {
  byteIds: usize;
  lefts: usize;
  rights: usize;
  mergedIds: usize;
  mergeCount: u32;
  idLimit: u32;
  isNarrow: u32;
  cutPlaces: u32;
  wholeTokens: TokenTable;
  characters: TokenTable;
  beginning: u32;
  unknownId: i32;
  firstTied: usize;
  byteRanks: usize;
  isMonotone: u32;
  adjacency: usize;
  joins: usize;
  lateRank: u32;
}

/** Returns the size of a model's head in bytes, which JavaScript reserves. */
export function modelHeadBytes(): u32 {
  return offsetof<EncodingModel>();
}

export function tokenTableHeadBytes(): u32 {
  return offsetof<TokenTable>();
}

/** The value in `byteIds` for a byte that has no id. The encoder drops such bytes. */
export const droppedByte: i32 = -1;

/**
 * TokenTable: ids of tokens by their bytes. JavaScript writes the first four fields and their arrays; `indexTokens`
 * adds the slots.
 *
 *   OFFSET   FIELD      ARRAY OR NUMBER
 *   0        count      the number of tokens
 *   4        bytes      u8[]: the concatenated tokens, and 8 bytes of padding
 *   8        starts     u32[count + 1]: token t is bytes[starts[t] .. starts[t + 1])
 *   12       ids        i32[count]
 *   16       slotBits
 *   20       slots      u32[2^slotBits]: t + 1, at the hash of the token; 0: free. At most a quarter are used
 */
@unmanaged
export class TokenTable {
  count: u32;
  bytes: usize;
  starts: usize;
  ids: usize;
  slotBits: u32;
  slots: usize;
}

/** Indexes the tokens; returns false if memory runs out. */
export function indexTokens(table: TokenTable): bool {
  if (table.count === 0) return true;
  table.slotBits = 34 - clz(table.count);
  table.slots = reserveTable((<usize>4) << table.slotBits);
  if (table.slots === 0) return false;
  for (let token: u32 = 0; token < table.count; token++) {
    insertToken(table, table.slots, hashLong(tokenStart(table, token), tokenLength(table, token)), token);
  }
  return true;
}

/** Returns the index of the token that equals the `length` bytes at `start`, or -1. */
export function findTokenAt(table: TokenTable, start: usize, length: u32): i32 {
  const last: u32 = (1 << table.slotBits) - 1;
  const home = hashLong(start, length) >> (32 - table.slotBits);
  let pos = home;
  for (let token = tokenIn(table.slots, pos); token >= 0; token = tokenIn(table.slots, pos)) {
    if (tokenLength(table, token) === length && equalBytes(tokenStart(table, token), start, length))
      return token;
    pos = nextSlot(pos, last, home);
  }
  return -1;
}

/**
 * Returns the slot after `pos`. Traps when a search comes back to its home slot, because only a damaged image has no
 * free slot.
 */
export function nextSlot(pos: u32, last: u32, home: u32): u32 {
  const next = (pos + 1) & last;
  if (next === home) unreachable();
  return next;
}

export function tokenId(table: TokenTable, token: u32): i32 {
  return load<i32>(table.ids + (token << 2));
}

export function tokenStart(table: TokenTable, token: u32): usize {
  return table.bytes + load<u32>(table.starts + (token << 2));
}

export function tokenLength(table: TokenTable, token: u32): u32 {
  const at = table.starts + (token << 2);
  return load<u32>(at, 4) - load<u32>(at);
}

/** Inserts a token with this hash into `slots`, which has as many slots as `table.slots`. */
export function insertToken(table: TokenTable, slots: usize, hash: u32, token: u32): void {
  const last: u32 = (1 << table.slotBits) - 1;
  let pos = hash >> (32 - table.slotBits);
  while (load<u32>(slots + (pos << 2)) !== 0) pos = (pos + 1) & last;
  store<u32>(slots + (pos << 2), token + 1);
}

/** Returns the index of the token in a slot, or -1. */
export function tokenIn(slots: usize, pos: u32): i32 {
  return load<i32>(slots + (pos << 2)) - 1;
}

/** Whether the `length` bytes at two addresses are equal. Reads up to 8 bytes after them. */
export function equalBytes(a: usize, b: usize, length: u32): bool {
  const wholeEnd = a + (length & ~7);
  for (; a < wholeEnd; a += 8, b += 8) if (load<u64>(a) !== load<u64>(b)) return false;
  const restBits = <u64>(8 * (length & 7));
  return ((load<u64>(a) ^ load<u64>(b)) & (((<u64>1) << restBits) - 1)) === 0;
}

/**
 * The number of bytes of each id's token: u32[idLimit], 0 for ids that are neither those of bytes nor made by merges.
 * Correct only if every merge has a higher rank than the merges that make its halves, because `tokenLengths` goes
 * through the merges once, in order.
 */
let lengths: usize = 0;

/** Returns the address of `lengths`, which the first call computes; 0 if memory runs out. */
export function tokenLengths(model: EncodingModel): usize {
  if (lengths !== 0) return lengths;
  lengths = reserveTable(4 * <usize>model.idLimit);
  if (lengths === 0) return 0;
  for (let byte: u32 = 0; byte < 256; byte++) {
    store<u32>(lengths + (load<u32>(model.byteIds + (byte << 2)) << 2), 1);
  }
  for (let rank: u32 = 0; rank < model.mergeCount; rank++) {
    const left = lengths + (load<u32>(model.lefts + (rank << 2)) << 2);
    const right = lengths + (load<u32>(model.rights + (rank << 2)) << 2);
    const merged = lengths + (load<u32>(model.mergedIds + (rank << 2)) << 2);
    store<u32>(merged, load<u32>(left) + load<u32>(right));
  }
  return lengths;
}
