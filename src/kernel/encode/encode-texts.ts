import { textStart } from "../regions";
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
import { EncodingModel } from "./model-layout";
import { findTokenAt, indexTokens, TokenTable, tokenId } from "./token-index";

/**
 * Texts to ids: added tokens are found in the text as it is, what is between them is cut into pretokens by the pattern's
 * automaton, and these are encoded. For tokenizers that do nothing else with a text.
 */

/** So much is encoded in one call at most: while it runs, no signal is served. */
const sliceBytes: i32 = 1 << 20;

let addedTokens: TokenTable = changetype<TokenTable>(0);
/** Added tokens that begin before it are known. */
let searchPos: i32 = 0;
let isDone: bool = false;

/** Takes the ids of the added tokens; those of tokens that are to stay text are below 0. */
export function useAddedTokens(model: EncodingModel): bool {
  addedTokens = model.addedTokens;
  return indexTokens(addedTokens);
}

/** A text begins at the start of the text's region. */
export function startEncoding(): void {
  startDocument(0);
  searchPos = 0;
}

/** The text has moved: every position falls by `delta`. */
export function moveText(delta: i32): void {
  shiftText(delta);
  searchPos -= delta;
}

/**
 * Encodes the text from where encoding stands.
 *
 * @param end added tokens that end by it are looked for
 * @param sureEnd those that begin before it are certain: no more text can make them longer
 * @param lastStop up to there the text behind the last token is encoded
 * @param lastLimit what may be looked at there: behind lastStop + 3, or the text's end
 * @param endsText whether the text ends at `lastStop`
 * @returns the number of ids at `idsAddress`, or -1 where there is no room for them; `isTextDone` says if that is all
 */
export function encodeText(end: i32, sureEnd: i32, lastStop: i32, lastLimit: i32, endsText: bool): i32 {
  const pausePos = pos + sliceBytes;
  const room = beginSlice(min(lastLimit, pausePos + blockBytes) - keepPosition() + 8);
  if (room === 0) return -1;
  isDone = true;
  for (;;) {
    // A block at a time: it stays in the first caches from the search for tokens to its ids.
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

/** Whether the last call has encoded all that it was asked to. */
export function isTextDone(): bool {
  return isDone;
}

/**
 * A pretoken that ends at `rangeEnd`, where encoding stands, is settled by the next character, which is not encoded; returns as
 * `encodeText` does.
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
 * Position of the next added token that begins before `stop` and ends by `end`, or `stop`. What is to stay text takes its
 * place all the same: the search goes on behind it.
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

/** Makes room for the ids of so many bytes; returns the address behind them, or 0 where there is none. */
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
