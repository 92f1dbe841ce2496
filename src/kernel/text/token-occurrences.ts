import { findToken, openSearch, sizeOfToken } from "../token-search";
import { given } from "./cut-windows";
import { early } from "./sections";

/**
 * Finds occurrences of early tokens (sections.ts), including those that overlap: which of them counts depends on
 * earlier text.
 */

/** Begins the search in the `byteCount` bytes that were written to `windowAddress`. */
export function openOccurrences(byteCount: i32): void {
  openSearch(early.search, given, byteCount);
}

/**
 * Returns the position of the first token from `from` on that ends by `limit`, or `limit`. Until the next
 * `openOccurrences`, `from` must not be lower than any earlier `from` or result.
 */
export function findOccurrence(from: i32, limit: i32): i32 {
  return findToken(early.search, from, limit, limit);
}

/** Returns the size in bytes of the longest token at the position that was found last. */
export function occurrenceBytes(): i32 {
  return sizeOfToken(early.search, early.search.found);
}
