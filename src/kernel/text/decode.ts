import { layOutTextModule, reserveTable } from "../regions";

/**
 * The decoding of ids to bytes: their tokens are concatenated. An instance of the text module has either these tables
 * or those of sections.ts.
 *
 *   ARRAY    TYPE   LENGTH        MEANING
 *   starts   u32    idLimit + 1   the token of an id is tokens[starts[id] .. starts[id + 1]); empty if it has none
 *   tokens   u8     starts[idLimit]
 *   ids      u32    idsMax        the ids of a call
 *   output   u8     outputBytes   the decoded bytes of as many ids as fit
 */
let starts: usize = 0;
let tokens: usize = 0;
let ids: usize = 0;
let output: usize = 0;
export let idLimit: u32 = 0;
let outputBytes: u32 = 0;
/** The number of ids that the last `measureIds` or `decodeIds` processed. */
let takenCount: u32 = 0;

const idsMax: u32 = isSmallScale ? 3 : 1 << 14;
const usualOutputBytes: u32 = isSmallScale ? 8 : 1 << 17;
/** Tokens are copied eight bytes at a time, so reads and writes may go up to 7 bytes beyond `tokens` and `output`. */
const slackBytes: u32 = 8;

/**
 * Reserves memory for the tokens of ids below `limit`, `byteCount` bytes in all, and for an output of at least
 * `longestBytes` bytes, so that each token fits. (Callers that never decode pass 0 as `longestBytes`.) Returns false if
 * memory runs out.
 */
export function beginDecoding(limit: u32, byteCount: u32, longestBytes: u32): bool {
  if (!layOutTextModule()) return false;
  idLimit = limit;
  outputBytes = max(longestBytes, usualOutputBytes);
  starts = reserveTable(4 * (<usize>limit + 1));
  tokens = reserveTable(<usize>byteCount + slackBytes);
  ids = reserveTable(4 * idsMax);
  output = reserveTable(<usize>outputBytes + slackBytes);
  return starts !== 0 && tokens !== 0 && ids !== 0 && output !== 0;
}

export function startsAddress(): usize {
  return starts;
}

export function tokensAddress(): usize {
  return tokens;
}

export function givenIdsAddress(): usize {
  return ids;
}

export function givenIdsMax(): u32 {
  return idsMax;
}

export function decodedAddress(): usize {
  return output;
}

export function decodedCapacity(): u32 {
  return outputBytes;
}

export function takenIds(): u32 {
  return takenCount;
}

/**
 * Returns the decoded size in bytes of the first `count` ids. Stops before an id without a token; then `takenIds` is
 * less than `count`.
 */
export function measureIds(count: u32): f64 {
  let byteCount: u64 = 0;
  let i: u32 = 0;
  for (; i < count; i++) {
    const length = lengthOf(givenId(i));
    if (length === 0) break;
    byteCount += length;
  }
  takenCount = i;
  return <f64>byteCount;
}

/**
 * Decodes the ids at the indices [first, end), which must have tokens, until one does not fit into `output`. Returns
 * the number of bytes; `takenIds` is the number of ids decoded.
 */
export function decodeIds(first: u32, end: u32): u32 {
  let to = output;
  let room = outputBytes;
  let i = first;
  for (; i < end; i++) {
    const id = givenId(i);
    const length = lengthOf(id);
    if (length > room) break;
    const from = tokenAddress(id);
    for (let at: u32 = 0; at < length; at += 8) store<u64>(to + at, load<u64>(from + at));
    to += length;
    room -= length;
  }
  takenCount = i - first;
  return outputBytes - room;
}

/** Returns the given id at an index. */
export function givenId(index: u32): u32 {
  return load<u32>(ids + (index << 2));
}

/** Returns the address of the token of an id below `idLimit`. */
export function tokenAddress(id: u32): usize {
  return tokens + load<u32>(starts + (id << 2));
}

export function tokenSize(id: u32): u32 {
  const at = starts + (id << 2);
  return load<u32>(at, 4) - load<u32>(at);
}

function lengthOf(id: u32): u32 {
  return id >= idLimit ? 0 : tokenSize(id);
}
