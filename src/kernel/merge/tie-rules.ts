import { compareTokens, insertLongToken, isLong } from "./long-tokens";
import { Special } from "./merge-records";
import {
  prefixLengthMax,
  specialByteCount,
  specialBytes,
  specialCount,
  specialSlotCount,
  specialSlots,
  specials,
  startCount,
  startRanks,
  tieKeys,
} from "./merge-regions";
import { copyBytes, isStart, prefixLengthOf, prefixOf, sizeOf } from "./merge-tokens";
import { pairAt } from "./pair-table";

/**
 * Which of two pairs with equal counts is merged first. Each token has a tie key, a number; the pair with the greater
 * left key wins, then the one with the greater right key:
 *
 *   RULE           WINS                                      TIE KEY
 *   greater bytes  greater (bytes of left, bytes of right)   first 8 bytes as one number; equal keys: compare bytes
 *   smaller bytes  smaller (bytes of left, bytes of right)   the same, all bits inverted
 *   smaller id     smaller (left id, right id)               2^32 minus the id, as the rule has it
 *
 * Bytes are compared as they are in `startBytes`: whoever fills it may put other numbers for them, in another order.
 *
 *   REGION        ELEMENT  ELEMENTS              MEANING
 *   tieKeys       u64      tokenCapacity         of two tokens the greater key wins a tie; equal: compare bytes
 *   startRanks    u32      startCount            id of each start token as the rule has it; unused where bytes are compared
 *   specials      Special  specialCount          the tokens that exist already, and that a merge may spell
 *   specialBytes  u8       2 x specialByteCount  their bytes, and behind them room for the token that is looked for
 *   specialSlots  u32      specialSlotCount      hash table of the specials by their bytes, at most half full: special + 1,
 *                                                or 0 for an empty slot; linear probing, so the first of equal ones is found
 */
const middleKey: u64 = 1 << 32;
const keyBytes: u32 = 8;

/** Whether the smaller bytes win, not the greater ones. */
let smallerWins: bool = false;

export function tieKeyOf(id: u32): u64 {
  return load<u64>(tieKeys + ((<usize>id) << 3));
}

/** Gives the start tokens their keys. */
export function startTieKeys(doSmallerWin: bool): void {
  smallerWins = doSmallerWin;
  indexSpecials();
  for (let id: u32 = 0; id < startCount; id++) giveTieKey(id);
}

/** Gives a token its key, and its place among the long ones. False if it spells one that exists already. */
export function giveTieKey(id: u32): bool {
  const key = keyAsSpecial(id);
  if (prefixLengthMax > 0) {
    setTieKey(id, smallerWins ? ~prefixKey(id) : prefixKey(id));
    if (isLong(id)) insertLongToken(id);
  } else if (key > 0) setTieKey(id, key);
  else setTieKey(id, middleKey - (isStart(id) ? <u64>(<i64>load<i32>(startRanks + ((<usize>id) << 2))) : id));
  return key === 0;
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

/** Bytes of the longest special token. */
let longestSpecial: u32 = 0;

function indexSpecials(): void {
  longestSpecial = 0;
  for (let k: u32 = 0; k < specialCount; k++) {
    const special = specialAt(k);
    let slot = slotOf(specialBytes + special.start, special.length);
    while (specialInSlot(slot) > 0) slot = slotBehind(slot);
    store<u32>(specialSlots + ((<usize>slot) << 2), k + 1);
    longestSpecial = max(longestSpecial, special.length);
  }
}

/** The key of the special token that equals token `id`, or 0. */
function keyAsSpecial(id: u32): u64 {
  const length = sizeOf(id);
  if (specialCount === 0 || length > longestSpecial) return 0;
  const bytes = specialBytes + specialByteCount;
  copyBytes(id, bytes);
  for (let slot = slotOf(bytes, length); specialInSlot(slot) > 0; slot = slotBehind(slot)) {
    const special = specialAt(specialInSlot(slot) - 1);
    const isSame =
      special.length === length && memory.compare(specialBytes + special.start, bytes, length) === 0;
    if (isSame) return special.key;
  }
  return 0;
}

function specialAt(k: u32): Special {
  return changetype<Special>(specials + <usize>k * offsetof<Special>());
}

function specialInSlot(slot: u32): u32 {
  return load<u32>(specialSlots + ((<usize>slot) << 2));
}

function slotBehind(slot: u32): u32 {
  return (slot + 1) & (specialSlotCount - 1);
}

/** FNV-1a, its upper half folded into the lower one. */
function slotOf(bytes: usize, length: u32): u32 {
  let hash: u32 = 0x811c9dc5;
  for (let k: u32 = 0; k < length; k++) hash = (hash ^ load<u8>(bytes + k)) * 0x01000193;
  return (hash ^ (hash >> 16)) & (specialSlotCount - 1);
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
  return smallerWins ? compareTokens(a, b) < 0 : compareTokens(a, b) > 0;
}
