import { findToken, openSearch, sizeOfToken } from "../token-search";
import { given } from "./cut-windows";
import { early } from "./sections";

/**
 * Finds occurrences of early tokens (sections.ts), including those that overlap, because which of them counts depends
 * on earlier text that the caller may not know.
 */

/** Begins the search in the `byteCount` bytes that were written to `windowAddress` (cut-windows.ts). */
export function openOccurrences(byteCount: i32): void {
  openSearch(early.search, given, byteCount);
}

/**
 * Returns the position of the first token that begins at or after `from` and ends by `limit`; `limit` if there is none.
 * Until the next `openOccurrences`, `from` must not be lower than any earlier `from` or result.
 */
export function findOccurrence(from: i32, limit: i32): i32 {
  return findToken(early.search, from, limit, limit);
}

/** Returns the size in bytes of the longest token at the position that was found last. */
export function occurrenceBytes(): i32 {
  return sizeOfToken(early.search, early.search.found);
}
