import {
  beginPieces,
  encodePretokens,
  idBytes,
  liftedSliceBytes,
  listPieces,
  startPieces,
} from "./encode/encode-words";
import { beginIds, emitId, idsEnd } from "./encode/word-cache";
import { markPretokens, markSpecialToken } from "./learned-ids";
import { masksLookAhead } from "./masks/scan-masks";
import { blockBytes, endsStart, reserveTo, textStart, workAddress } from "./regions";
import { readsOn } from "./scan/annotate";
import {
  clearFirstInvalid,
  cutPieces,
  dropEnds,
  endCount,
  finishDocument,
  hasNextAutomaton,
  pos,
  readsAnnotations,
  scanTo,
  shiftText,
  startDocument,
} from "./scan/scanner";
import { contentsOf, recordsOf, tokenCountOf } from "./text/description";
import {
  areTokensSpecial,
  findToken,
  flagsOfToken,
  idOfToken,
  newSearch,
  openSearch,
  sizeOfToken,
  specialFlag,
  TokenSearch,
} from "./token-search";
import { countPretokens } from "./words/word-tables";

/** Finds added tokens, cuts the text between them into pretokens, and passes these to the taker. */

/**
 * The takers of pretokens, which count them as words, encode them, list them as sequences of ids (to learn superwords),
 * or mark where they start.
 */
const countsWords: u32 = 0;
const encodesWords: u32 = 1;
const liftsPieces: u32 = 2;
const marksStarts: u32 = 3;
let taker: u32 = countsWords;

/** The added tokens that are searched for while a text is cut. */
let addedTokens: TokenSearch = changetype<TokenSearch>(0);
let findsTokens: bool = false;
/** Whether special tokens stay text. Even then, no other token is found inside a special token. */
let keepsSpecial: bool = false;
let areAllSpecial: bool = false;
/** The length in bytes of the token that was found last. */
export let foundLength: i32 = 0;

/**
 * A call of `takeText` stops soon after this many bytes, because no signal is handled during the call. If it lists
 * pretokens as ids, it stops after `liftedSliceBytes` instead.
 */
const sliceBytes: i32 = isSmallScale ? 64 : 1 << 20;

let isInsideDocument: bool = false;
let documentCount: u64 = 0;
/**
 * The position where the search for tokens continues. It may be after `pos`, because the search runs ahead of the scan.
 */
let searchPos: i32 = 0;

/** The current call ends when the scan has reached this position. */
let pausePos: i32 = 0;

/**
 * Tokens are searched for up to this many bytes beyond a block, the text that is scanned at a time. Masks read ahead,
 * at most that far, and must not mistake a token for text.
 */
const searchedAfterBlock: i32 = 2 * masksLookAhead;

/** Look-aheads may need text far beyond a block. For these, tokens are searched for in steps of this many bytes. */
const aheadBytes: i32 = isSmallScale ? 32 : 1 << 17;
/** Tokens have been searched for up to this position, so that look-aheads may read the text before it. */
let aheadPos: i32 = 0;
/** The current call ends when `aheadPos` reaches this position. */
let aheadPausePos: i32 = 0;

/** Sets up the instance to encode, which includes emitting the ids of added tokens. */
export function takeToEncode(): void {
  taker = encodesWords;
}

/**
 * Sets up the search for the tokens of a description (text/description.ts), which must stay in memory. Returns false if
 * memory runs out, or if the tokens are too large (`newSearch`).
 */
export function useTokens(description: usize): bool {
  const records = recordsOf(description);
  const search = newSearch(records, tokenCountOf(description), contentsOf(description));
  if (search === null) return false;
  addedTokens = search;
  areAllSpecial = areTokensSpecial(search);
  lookForTokens(true, false);
  return true;
}

/** Sets, for the following texts, whether tokens are searched for, and whether special tokens stay text. */
export function lookForTokens(areFound: bool, areSpecialKept: bool): void {
  const isSearched = areFound && !(areSpecialKept && areAllSpecial);
  findsTokens = isSearched && changetype<usize>(addedTokens) !== 0;
  keepsSpecial = areSpecialKept;
}

/** Starts the search for tokens in a new text. Bytes before `limit` may be read. */
export function searchText(limit: i32): void {
  if (findsTokens) openSearch(addedTokens, textStart, limit);
}

/** Sets up the instance to list pretokens as sequences of ids. Returns false if memory runs out. */
export function useLiftedPieces(modelHead: usize): bool {
  taker = liftsPieces;
  return beginPieces(modelHead);
}

/** Sets up the instance to mark where pretokens start (learned-ids.ts). */
export function takeToMark(): void {
  taker = marksStarts;
}

/** Begins a text at `at`. `isInside`: the text continues a document that began in another range. */
export function openText(at: i32, isInside: bool): void {
  startDocument(at);
  searchPos = at;
  aheadPos = at;
  isInsideDocument = isInside;
}

/** Lowers all positions by `delta`, because the text has moved to the front by that many bytes. */
export function moveText(delta: i32): void {
  shiftText(delta);
  searchPos -= delta;
  aheadPos -= delta;
}

/**
 * Processes the text from the position where the last call stopped.
 *
 * @param end tokens must not end after this position
 * @param sureEnd tokens that begin before this position are final: more text cannot make them longer
 * @param lastStop the end of the text to process after the last token
 * @param lastLimit bytes before this position may be read: at least lastStop + 4, or the text's end
 * @param endsText whether the text ends at `lastStop`
 * @returns 1: all is done, or a look-ahead needs text that has not arrived; 0: more is left, call again;
 *   -1: memory ran out
 */
export function takeText(end: i32, sureEnd: i32, lastStop: i32, lastLimit: i32, endsText: bool): i32 {
  beginSlice();
  clearFirstInvalid();
  pausePos = pos + (taker === liftsPieces ? liftedSliceBytes : sliceBytes);
  aheadPausePos = max(aheadPos, pos) + sliceBytes;
  return takeTo(end, sureEnd, lastStop, lastLimit, endsText);
}

/**
 * Reads the character at `rangeEnd` if the scan has stopped there, because that character may settle a pretoken that
 * ends there. The character itself belongs to the next range. Returns 1, or -1 if memory ran out.
 */
export function lookAhead(rangeEnd: i32, limit: i32): i32 {
  beginSlice();
  if (pos === rangeEnd) scanTo(rangeEnd + 1, limit, limit < rangeEnd + 4);
  return takeEnds() ? 1 : -1;
}

/** Returns the number of documents that have begun and have at least one byte. */
export function documents(): f64 {
  return <f64>documentCount;
}

/** Whether the current position is inside a document. */
export function isInside(): bool {
  return isInsideDocument;
}

/** Returns the number of ids that the last call wrote to `idsAddress` (`workAddress` of regions.ts). */
export function idCount(): i32 {
  return <i32>((idsEnd - workAddress()) / idBytes());
}

function takeTo(end: i32, sureEnd: i32, lastStop: i32, lastLimit: i32, endsText: bool): i32 {
  do {
    // Takes one block at a time, so that the block stays in the L1 and L2 caches until its pretokens are taken.
    const blockEnd = min(pos + blockBytes, sureEnd);
    const searched = readsAnnotations()
      ? searchAhead(blockEnd, sureEnd)
      : min(blockEnd + searchedAfterBlock, sureEnd);
    const token = nextToken(searched, end);
    const isFound = token < blockEnd;
    const stop = isFound ? token : min(blockEnd, lastStop);
    if (stop > pos) {
      if (!isInsideDocument) {
        isInsideDocument = true;
        documentCount++;
      }
      // The document ends at a token, or at `lastLimit` if no more text follows.
      const isEnd = token < searched || (searched === sureEnd && (endsText || lastLimit < lastStop + 4));
      scanTo(stop, token < searched ? token : searched < sureEnd ? searched : lastLimit, isEnd);
      if (pos < stop) {
        if (!takeEnds()) return -1;
        if (readsOn || aheadPos >= aheadPausePos) return 0;
        if (aheadPos === sureEnd) return 1;
        aheadPos = min(aheadPos + aheadBytes, sureEnd);
        continue;
      }
    }
    const isLast = !isFound && pos >= lastStop;
    // Subtle: a block may end inside the document's last character, which is then read whole. So `pos` is compared with
    // the document's end, not with `stop`.
    assert(!(isFound || (isLast && endsText)) || pos === (isFound ? token : lastStop));
    if (isFound || (isLast && endsText)) finishDocument();
    if ((isFound || endCount > 1) && !takeEnds()) return -1;
    if (isLast) return 1;
    if (isFound) {
      if (taker === encodesWords && !emitToken()) return -1;
      if (taker === marksStarts)
        markSpecialToken(token, foundLength, idOfToken(addedTokens, addedTokens.found));
      openText(token + foundLength, false);
    }
  } while (pos < pausePos);
  return 0;
}

/**
 * Returns the position up to which tokens are searched for, so that look-aheads may read that far. It is at least four
 * bytes after the block, but never after `sureEnd`.
 */
function searchAhead(blockEnd: i32, sureEnd: i32): i32 {
  if (aheadPos < blockEnd + 4) aheadPos = min(blockEnd + aheadBytes, sureEnd);
  return aheadPos;
}

/**
 * Returns the position of the next token that begins before `stop` and ends by `end`; `stop` if there is none. A
 * special token that stays text is skipped, so no token is found inside it.
 */
function nextToken(stop: i32, end: i32): i32 {
  if (!findsTokens) return stop;
  while (searchPos < stop) {
    const found = nextOccurrence(searchPos, stop, end);
    searchPos = found;
    if (found === stop) break;
    if (!keepsSpecial || (flagsOfToken(addedTokens, addedTokens.found) & specialFlag) === 0) return found;
    searchPos = found + foundLength;
  }
  return stop;
}

/**
 * Returns the first position in [from, stop) where a token begins that ends by `limit`; `stop` if there is none. Sets
 * `foundLength`.
 */
export function nextOccurrence(from: i32, stop: i32, limit: i32): i32 {
  if (!findsTokens) return stop;
  const found = findToken(addedTokens, from, stop, limit);
  if (found === stop) return stop;
  foundLength = sizeOfToken(addedTokens, addedTokens.found);
  // Only in a damaged image can a token have such a length.
  if (foundLength <= 0 || foundLength > limit - found) unreachable();
  return found;
}

/** Emits the id of the token that was found. Returns false if memory runs out. */
function emitToken(): bool {
  if (!reserveTo(<u64>idsEnd + 64)) return false;
  emitId(idOfToken(addedTokens, addedTokens.found), idBytes() === 2);
  return true;
}

function beginSlice(): void {
  if (taker === encodesWords) beginIds(workAddress());
  else if (taker === liftsPieces) startPieces();
}

/**
 * Passes the settled ends to the pattern's next automaton, if there is one, else to the taker. Returns false if memory
 * runs out.
 */
function takeEnds(): bool {
  if (endCount === 1) return true;
  let isTaken: bool;
  if (hasNextAutomaton()) isTaken = cutPieces(takeEnds);
  else if (taker === countsWords) isTaken = countPretokens(endCount - 1);
  else if (taker === encodesWords) isTaken = encodeEnds();
  else if (taker === marksStarts) isTaken = markPretokens(endCount);
  else isTaken = listPieces(endCount);
  if (isTaken) dropEnds();
  return isTaken;
}

function encodeEnds(): bool {
  const textBytes = load<u32>(endsStart + ((endCount - 1) << 2)) - load<u32>(endsStart);
  const room = <u64>idsEnd + <u64>textBytes * idBytes() + 64;
  return reserveTo(room) && encodePretokens(endCount, <usize>room);
}
