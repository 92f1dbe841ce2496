import { endCountMax, textStart } from "../regions";
import {
  blockBytes,
  dropEnds,
  endCount,
  finishDocument,
  keepPosition,
  pos,
  scanTo,
  shiftText,
  startDocument,
} from "../scan/scanner";
import { findToken, foundLength } from "../special-token-search";
import { beginIds, emitId, idsEnd } from "./emit";
import { encodePretokens, idBytes } from "./encode-words";
import { reserveTo, workAddress } from "./encoding-memory";
import { EncodingModel, findTokenAt, indexTokens, TokenTable, tokenId } from "./model-layout";

/**
 * Texts to ids, for tokenizers that only do this: find added tokens in the text as it is, cut the text between them into
 * pretokens by the pattern's automaton, and encode these.
 */

/** The most that one call encodes: no signal is served while it runs. */
const sliceBytes: i32 = 1 << 20;

let addedTokens: TokenTable = changetype<TokenTable>(0);
/** Where the search for added tokens goes on. */
let searchPos: i32 = 0;
let isDone: bool = false;

/** Takes the added tokens; the id of a token that is to stay text is below 0. False without room. */
export function useAddedTokens(model: EncodingModel): bool {
  addedTokens = model.addedTokens;
  return indexTokens(addedTokens);
}

/** A text begins at the start of the text's region. */
export function startEncoding(): void {
  startDocument(0);
  searchPos = 0;
}

/** The text has moved: every position is smaller by `delta`. */
export function moveText(delta: i32): void {
  shiftText(delta);
  searchPos -= delta;
}

/**
 * Encodes the text from the position where the last call stopped.
 *
 * @param end added tokens are looked for that end here or before
 * @param sureEnd tokens that begin before it are certain: more text cannot make them longer
 * @param lastStop the text behind the last token is encoded up to here
 * @param lastLimit bytes before it may be looked at: more than lastStop + 3, or the text's end
 * @param endsText whether the text ends at `lastStop`
 * @returns the number of ids at `idsAddress`, or -1 without room for them; `isTextDone` tells whether that is all
 */
export function encodeText(end: i32, sureEnd: i32, lastStop: i32, lastLimit: i32, endsText: bool): i32 {
  const pausePos = pos + sliceBytes;
  const room = beginSlice(min(lastLimit, pausePos + blockBytes) - keepPosition() + 8);
  if (room === 0) return -1;
  isDone = true;
  for (;;) {
    // One block at a time: its text and its words stay in the first caches.
    const blockEnd = min(pos + blockBytes, sureEnd);
    const token = nextToken(blockEnd, end);
    const isFound = token < blockEnd;
    const stop = isFound ? token : min(blockEnd, lastStop);
    if (stop > pos) scanTo(stop, isFound ? token : lastLimit);
    const isLast = !isFound && pos >= lastStop;
    if (isFound || (isLast && endsText)) finishDocument(stop);
    if (!encodeEnds(room)) return -1;
    if (isLast) break;
    if (isFound) {
      emitId(tokenId(addedTokens, foundToken), idBytes() === 2);
      searchPos = token + foundLength;
      startDocument(searchPos);
    }
    if (pos >= pausePos) {
      isDone = false;
      break;
    }
  }
  return idCount();
}

/**
 * Encodes many short texts at once. They stand end to end from the start of the text's region on; the position where each of
 * them ends is at `endsPos`, a u32 each. Returns what `encodeText` returns: the ids of all texts, with nothing between them.
 */
export function encodeTexts(endsPos: i32, textCount: u32): i32 {
  const textEnds = textStart + endsPos;
  const room = beginSlice(textCount === 0 ? 8 : load<i32>(textEnds + ((textCount - 1) << 2)) + 8);
  if (room === 0) return -1;
  startDocument(0);
  searchPos = 0;
  for (let text: u32 = 0; text < textCount; text++) {
    if (!scanWholeText(load<i32>(textEnds + (text << 2)), room)) return -1;
  }
  if (!encodeEnds(room)) return -1;
  startDocument(0);
  return idCount();
}

/** Scans a text from `pos` to its end. Its pretokens wait for those of the next text, unless there are many or a token comes. */
function scanWholeText(end: i32, room: usize): bool {
  for (;;) {
    if (endCount + blockBytes + 128 > endCountMax && !encodeEnds(room)) return false;
    const blockEnd = min(pos + blockBytes, end);
    const stop = nextToken(blockEnd, end);
    const isFound = stop < blockEnd;
    if (stop > pos) scanTo(stop, isFound ? stop : end);
    if (!isFound && pos < end) continue;
    finishDocument(stop);
    if (!isFound) break;
    if (!encodeEnds(room)) return false;
    emitId(tokenId(addedTokens, foundToken), idBytes() === 2);
    searchPos = stop + foundLength;
    startDocument(searchPos);
  }
  return true;
}

/** Whether the last call has encoded all that it was asked for. */
export function isTextDone(): bool {
  return isDone;
}

/**
 * Encodes a pretoken that ends at `rangeEnd`. The character behind it settles that, and is not encoded. Returns what
 * `encodeText` returns.
 */
export function encodeLookahead(rangeEnd: i32, limit: i32): i32 {
  const room = beginSlice(limit - keepPosition() + 8);
  if (room === 0) return -1;
  if (pos === rangeEnd) {
    scanTo(rangeEnd + 1, limit);
    if (!encodeEnds(room)) return -1;
  }
  return idCount();
}

/** The index of the token that `nextToken` found last. */
let foundToken: u32 = 0;

/**
 * Position of the next added token that begins before `stop` and ends at `end` or before, or `stop`. A token that is to stay
 * text takes its place all the same: the search goes on behind it.
 */
function nextToken(stop: i32, end: i32): i32 {
  while (searchPos < stop) {
    const found = findToken(searchPos, stop, end);
    searchPos = found;
    if (found === stop) break;
    foundToken = <u32>findTokenAt(addedTokens, textStart + found, foundLength);
    if (tokenId(addedTokens, foundToken) >= 0) return found;
    searchPos = found + foundLength;
  }
  return stop;
}

/** Makes room for the ids of so many bytes; returns the address behind it, or 0 without room. */
function beginSlice(textBytes: i32): usize {
  const end = <u64>workAddress() + <u64>textBytes * idBytes() + 64;
  if (!reserveTo(end)) return 0;
  beginIds(workAddress());
  return <usize>end;
}

function encodeEnds(room: usize): bool {
  if (endCount === 1) return true;
  if (!encodePretokens(endCount, room)) return false;
  dropEnds();
  return true;
}

function idCount(): i32 {
  return <i32>((idsEnd - workAddress()) / idBytes());
}
