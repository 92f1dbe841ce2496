import { compareTokens, insertLongToken, isLong } from "./long-tokens";
import { Special } from "./merge-records";
import { byteRanks, prefixLengthMax, specialBytes, specialCount, specials, tieKeys } from "./merge-regions";
import { byteCount, hasBytes, lengthOf, prefixLengthOf, prefixOf } from "./merge-tokens";
import { pairAt } from "./pair-table";

/**
 * Which of two pairs with equal counts is merged first. Each token has a tie key, a number; the pair with the greater
 * left key wins, then the one with the greater right key:
 *
 *   RULE          WINS                                            TIE KEY
 *   cs336         greater (bytes of left, bytes of right)         first 8 bytes as one number; equal keys: compare bytes
 *   huggingface   smaller (left id, right id), HF's own ids       2^32 minus that id
 *   rustbpe       smaller (left id, right id)                     2^32 minus the id
 *
 *   REGION        ELEMENT  ELEMENTS          MEANING
 *   tieKeys       u64      tokenCapacity     of two tokens the greater key wins a tie; equal: compare bytes
 *   byteRanks     u32      256               id of each byte as the rule has it; unused where bytes are compared
 *   specials      Special  specialCount      the special tokens that a merge may spell
 *   specialBytes  u8       specialByteCount  their bytes
 */
const middleKey: u64 = 1 << 32;
const keyBytes: u32 = 8;

export function tieKeyOf(id: u32): u64 {
  return load<u64>(tieKeys + ((<usize>id) << 3));
}

/** Gives the bytes their keys. */
export function startTieKeys(): void {
  for (let byte: u32 = 0; byte < byteCount; byte++) giveTieKey(byte);
}

/** Gives a token its key, and its place among the long ones. False if it spells a special token. */
export function giveTieKey(id: u32): bool {
  if (prefixLengthMax > 0) {
    setTieKey(id, prefixKey(id));
    if (isLong(id)) insertLongToken(id);
    return true;
  }
  const rank = rankAsSpecial(id);
  if (rank > 0) setTieKey(id, middleKey + rank);
  else setTieKey(id, middleKey - (id < byteCount ? load<u32>(byteRanks + ((<usize>id) << 2)) : id));
  return rank === 0;
}

function setTieKey(id: u32, key: u64): void {
  store<u64>(tieKeys + ((<usize>id) << 3), key);
}

function prefixKey(id: u32): u64 {
  const prefix = prefixOf(id);
  const length = prefixLengthOf(id);
  let key: u64 = 0;
  for (let k: u32 = 0; k < keyBytes; k++) key = (key << 8) | (k < length ? <u64>load<u8>(prefix + k) : 0);
  return key;
}

/** The rank of the special token that equals token `id`, or 0. */
function rankAsSpecial(id: u32): u32 {
  const length = lengthOf(id);
  for (let k: u32 = 0; k < specialCount; k++) {
    const special = changetype<Special>(specials + <usize>k * offsetof<Special>());
    if (special.length === length && hasBytes(id, specialBytes + special.start, length)) return special.rank;
  }
  return 0;
}

/** Whether pair `p` is merged before pair `q`, another one with the same count. */
export function pairWins(p: u32, q: u32): bool {
  const a = pairAt(p);
  const b = pairAt(q);
  if (a.left !== b.left) return tokenWins(a.left, b.left);
  return tokenWins(a.right, b.right);
}

function tokenWins(a: u32, b: u32): bool {
  const keyA = tieKeyOf(a);
  const keyB = tieKeyOf(b);
  if (keyA !== keyB) return keyA > keyB;
  return compareTokens(a, b) > 0;
}
