import { listPieces, listsPieces, startPieces } from "./encode/lifted-pieces";
import { blockBytes, dropEnds, endCount, finishDocument, pos, scanTo, startDocument } from "./scan/scanner";
import { findToken, foundLength } from "./special-token-search";
import { countPretokens } from "./words/word-tables";

// Counts the text document by document, or lists its pretokens as sequences of ids (encode/lifted-pieces.ts). Special tokens
// end documents.

let isInsideDocument: bool = false;
let documentCount: u64 = 0;

/** How much is counted in one call at most: during a call no signal is served. */
const sliceBytes: i32 = 1 << 20;
/** As many pieces as these bytes may have are listed. */
const listedSliceBytes: i32 = 1 << 16;

/** Begins to count at `at`; with `isInside` that is inside a document which is counted in another range. */
export function startCounting(at: i32, isInside: bool): void {
  startDocument(at);
  isInsideDocument = isInside;
}

/**
 * Counts the words of the documents from `pos` on.
 *
 * @param end special tokens must end by it
 * @param sureEnd special tokens that begin before it are certain: more text cannot make them longer
 * @param lastStop end of the text to count after the last special token
 * @param lastLimit end of the text that may be read there
 * @param endsDocument whether the last document ends at `lastStop`
 * @returns 1: all is done; 0: call again, the slice was full; -1: a table has no room
 */
export function countDocuments(
  end: i32,
  sureEnd: i32,
  lastStop: i32,
  lastLimit: i32,
  endsDocument: bool,
): i32 {
  const pausePos = pos + (listsPieces() ? listedSliceBytes : sliceBytes);
  if (listsPieces()) startPieces();
  for (;;) {
    // A block at a time: it stays in the first caches from the search for tokens until it is counted.
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

/** The next character settles a pretoken that ends at `rangeEnd`, the current position. That character is not counted. */
export function countLookahead(rangeEnd: i32, limit: i32): bool {
  if (pos !== rangeEnd) return true;
  if (listsPieces()) startPieces();
  scanTo(rangeEnd + 1, limit);
  return countEnds();
}

/** How many documents began. */
export function documents(): f64 {
  return <f64>documentCount;
}

/** Whether the current position is inside a document. */
export function isInside(): bool {
  return isInsideDocument;
}

function countEnds(): bool {
  if (endCount === 1) return true;
  if (!(listsPieces() ? listPieces(endCount) : countPretokens(endCount - 1))) return false;
  dropEnds();
  return true;
}
