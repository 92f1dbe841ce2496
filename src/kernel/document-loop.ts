import { blockBytes, dropEnds, endCount, finishDocument, pos, scanTo, startDocument } from "./scan/scanner";
import { findToken, foundLength } from "./special-token-search";
import { countPretokens } from "./words/word-tables";

/** The text is counted document by document; special tokens end them. */
let isInsideDocument: bool = false;
let documentCount: u64 = 0;

/** So much is counted in one call at most: while it runs, no signal is served. */
const sliceBytes: i32 = 1 << 20;

/** Counting begins at `at`; with `isInside` in the middle of a document, which is counted elsewhere. */
export function startCounting(at: i32, isInside: bool): void {
  startDocument(at);
  isInsideDocument = isInside;
}

/**
 * Counts the words of documents from where counting stands.
 *
 * @param end special tokens that end by it are looked for
 * @param sureEnd those that begin before it are certain: no more text can make them longer
 * @param lastStop up to there the text behind the last token is counted
 * @param lastLimit what may be looked at there
 * @param endsDocument whether the last document ends at `lastStop`
 * @returns 1 when all is done, 0 when there is more to it than is done at a time, -1 where a table has no room
 */
export function countDocuments(
  end: i32,
  sureEnd: i32,
  lastStop: i32,
  lastLimit: i32,
  endsDocument: bool,
): i32 {
  const pausePos = pos + sliceBytes;
  for (;;) {
    // A block at a time: it stays in the first caches from the search for tokens to the last count.
    const blockEnd = min(pos + blockBytes, sureEnd);
    const token = pos < blockEnd ? findToken(pos, blockEnd, end) : blockEnd;
    const isFound = token < blockEnd;
    const stop = isFound ? token : min(blockEnd, lastStop);
    if (stop > pos && !isInsideDocument) {
      isInsideDocument = true;
      documentCount++;
    }
    if (stop > pos) scanTo(stop, isFound ? token : lastLimit);
    const isLast = !isFound && pos >= lastStop;
    if (isFound || (isLast && endsDocument)) finishDocument(stop);
    if (!countEnds()) return -1;
    if (isLast) break;
    if (isFound) {
      isInsideDocument = false;
      startDocument(token + foundLength);
    }
    if (pos >= pausePos) return 0;
  }
  return 1;
}

/** A pretoken that ends at `rangeEnd`, where counting stands, is settled by the next character, which is not counted. */
export function countLookahead(rangeEnd: i32, limit: i32): bool {
  if (pos !== rangeEnd) return true;
  scanTo(rangeEnd + 1, limit);
  return countEnds();
}

/** Documents that began. */
export function documents(): f64 {
  return <f64>documentCount;
}

/** Whether counting stands inside a document. */
export function isInside(): bool {
  return isInsideDocument;
}

function countEnds(): bool {
  if (endCount === 1) return true;
  if (!countPretokens(endCount - 1)) return false;
  dropEnds();
  return true;
}
