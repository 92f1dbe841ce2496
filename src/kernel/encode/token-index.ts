import { hashLong } from "../words/word-keys";
import { reserveTable } from "./encoding-memory";

/**
 * TokenTable: ids of tokens by their bytes. JavaScript writes the first four fields and their arrays; `indexTokens` adds the
 * slots.
 *
 *   OFFSET   FIELD      ARRAY OR NUMBER
 *   0        count      tokens
 *   4        bytes      u8[]: the tokens end to end, and 8 bytes more
 *   8        starts     u32[count + 1]: token t is bytes[starts[t] .. starts[t + 1])
 *   12       ids        i32[count]
 *   16       slotBits
 *   20       slots      u32[2^slotBits]: t + 1 by the hash of the token; 0 in a free slot. At most a quarter is used
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

/** Indexes the tokens; false without room. */
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

/** The token that equals the `length` bytes at `start`, or -1. */
export function findTokenAt(table: TokenTable, start: usize, length: u32): i32 {
  const last: u32 = (1 << table.slotBits) - 1;
  let pos = hashLong(start, length) >> (32 - table.slotBits);
  for (let token = tokenIn(table.slots, pos); token >= 0; token = tokenIn(table.slots, pos)) {
    if (tokenLength(table, token) === length && equalBytes(tokenStart(table, token), start, length))
      return token;
    pos = (pos + 1) & last;
  }
  return -1;
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

/** Puts a token into `slots`, an array as long as the table's own, by a hash. */
export function insertToken(table: TokenTable, slots: usize, hash: u32, token: u32): void {
  const last: u32 = (1 << table.slotBits) - 1;
  let pos = hash >> (32 - table.slotBits);
  while (load<u32>(slots + (pos << 2)) !== 0) pos = (pos + 1) & last;
  store<u32>(slots + (pos << 2), token + 1);
}

/** The token in a slot, or -1. */
export function tokenIn(slots: usize, pos: u32): i32 {
  return load<i32>(slots + (pos << 2)) - 1;
}

/** Whether the `length` bytes at two addresses are equal. Up to 7 bytes behind them are read. */
export function equalBytes(a: usize, b: usize, length: u32): bool {
  const wholeEnd = a + (length & ~7);
  for (; a < wholeEnd; a += 8, b += 8) if (load<u64>(a) !== load<u64>(b)) return false;
  const restBits = <u64>(8 * (length & 7));
  return ((load<u64>(a) ^ load<u64>(b)) & (((<u64>1) << restBits) - 1)) === 0;
}
