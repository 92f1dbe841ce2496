import { results } from "./look-up";
import { keptAddress } from "./word-cache";
import {
  keptCount,
  keptOffset,
  missing,
  narrowCountShift,
  wideCountShift,
  wideIdsMask,
} from "./word-results";

/** Address of the next id. There is room for one id for each byte of the text that is left, and 8 bytes more. */
export let idsEnd: usize = 0;

export function beginIds(start: usize): void {
  idsEnd = start;
}

/**
 * Writes the ids of the words from `word` on, until a word is missing or all are written; returns the index of that word, or
 * `wordCount`. All 64 bits of a result are stored; the next one overwrites those that are no ids.
 */
export function emitNarrow(word: u32, wordCount: u32): u32 {
  let ids = idsEnd;
  let at = results + (word << 3);
  const end = results + (wordCount << 3);
  for (; at < end; at += 8) {
    const result = load<u64>(at);
    if (<i64>result > 0) {
      store<u64>(ids, result);
      ids += (<usize>(result >> narrowCountShift)) << 1;
      continue;
    }
    if (result === missing) break;
    const kept = keptAddress() + ((<usize>keptOffset(result)) << 2);
    const count = keptCount(result);
    for (let i: u32 = 0; i < count; i++, ids += 2) store<u16>(ids, load<u16>(kept + (i << 2)));
  }
  idsEnd = ids;
  return <u32>((at - results) >> 3);
}

/** The same for ids of 32 bits. */
export function emitWide(word: u32, wordCount: u32): u32 {
  let ids = idsEnd;
  let at = results + (word << 3);
  const end = results + (wordCount << 3);
  for (; at < end; at += 8) {
    const result = load<u64>(at);
    if (<i64>result > 0) {
      store<u64>(ids, result & wideIdsMask);
      ids += (<usize>(result >> wideCountShift)) << 2;
      continue;
    }
    if (result === missing) break;
    const kept = keptAddress() + ((<usize>keptOffset(result)) << 2);
    const bytes = (<usize>keptCount(result)) << 2;
    memory.copy(ids, kept, bytes);
    ids += bytes;
  }
  idsEnd = ids;
  return <u32>((at - results) >> 3);
}

/** Writes one id. */
export function emitId(id: i32, isNarrow: bool): void {
  if (isNarrow) store<u16>(idsEnd, <u16>id);
  else store<i32>(idsEnd, id);
  idsEnd += isNarrow ? 2 : 4;
}

/** Writes the `count` ids of 32 bits at `ids`. */
export function emitIds(ids: usize, count: u32, isNarrow: bool): void {
  if (isNarrow) {
    for (let i: u32 = 0; i < count; i++, idsEnd += 2) store<u16>(idsEnd, load<u16>(ids + (i << 2)));
  } else {
    memory.copy(idsEnd, ids, (<usize>count) << 2);
    idsEnd += (<usize>count) << 2;
  }
}
