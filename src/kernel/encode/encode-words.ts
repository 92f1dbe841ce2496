import { blockBytes, endsStart, reserveTable, reserveTo, textStart, workAddress } from "../regions";
import {
  cutMiddleWords,
  findLong,
  findMiddle,
  findShort,
  hashLong,
  middleBytesMax,
  middleTailKey,
  recordOf,
  recordValue,
  shortBytesMax,
  shortKey,
} from "../words/word-slots";
import {
  beginGroup,
  endPretoken,
  groupBytesMax,
  hasLateMerges,
  mergeAllRanks,
  mergeLate,
} from "./late-merges";
import { mergeWord, noRoom, wordIds } from "./merge-word";
import { EncodingModel, tokenLengths } from "./model-layout";
import {
  beginCuts,
  cutEndsAddress,
  cutsPretokens,
  lineEndsAddress,
  lineEndsEnd,
  nextCuts,
} from "./never-merged";
import {
  batchWordsMax,
  beginIds,
  cachedBytesMax,
  emitIds,
  emitNarrow,
  emitWide,
  idsEnd,
  keepIds,
  keepLong,
  long,
  lookUpLong,
  lookUpMiddle,
  lookUpShort,
  middle,
  missing,
  packedResult,
  reserveWords,
  results,
  short,
} from "./word-cache";

/**
 * Encodes pretokens in batches: looks up all words of a batch in the cache, then writes their ids in order. A word that
 * the cache lacks is merged when its ids are written. JavaScript calls these functions in this order:
 *
 *   beginModel     build-model.ts: lays out the memory; returns the address for the model
 *   useModel       builds the tables, once JavaScript has written the model there
 *   …              the tables of a pattern and of added tokens are set up
 *   setTextBytes   reserves memory for the text; called again for a longer text
 *   encodeWords    encodes, once the text and the ends are in their regions. The ids are at `idsAddress`, which is
 *                  `workAddress` of regions.ts
 */
let isNarrow: bool = false;

export function useWords(model: EncodingModel): void {
  isNarrow = model.isNarrow !== 0;
}

/**
 * Encodes the pretokens [ends[i], ends[i + 1]) for i from 0 to `endCount` - 2, where `endCount` is two or more. Returns
 * the number of ids at `idsAddress`, or -1 if memory runs out.
 */
export function encodeWords(endCount: u32): i32 {
  const textBytes = load<u32>(endsStart + ((endCount - 1) << 2)) - load<u32>(endsStart);
  const room = <u64>workAddress() + <u64>textBytes * idBytes() + 64;
  if (!reserveTo(room)) return -1;
  beginIds(workAddress());
  if (!encodePretokens(endCount, <usize>room)) return -1;
  return <i32>((idsEnd - workAddress()) / idBytes());
}

/** Returns the size in bytes of an id at `idsAddress`: 2 or 4. */
export function idBytes(): u32 {
  return isNarrow ? 2 : 4;
}

/**
 * Appends the ids of the `endCount - 1` pretokens in `ends`, with all merges made. The memory from `room` on is free.
 * Returns false if memory runs out.
 */
export function encodePretokens(endCount: u32, room: usize): bool {
  if (!hasLateMerges()) return encodeCut(0, endCount, room);
  for (let first: u32 = 0; first + 1 < endCount; ) {
    const count = groupCount(first, endCount);
    beginGroup();
    if (!encodeCut(first, count, room) || !mergeLate(room)) return false;
    first += count - 1;
  }
  return true;
}

/**
 * Returns the number of ends, from index `first` on, of the next group of pretokens, whose late merges
 * (late-merges.ts) are made together.
 */
function groupCount(first: u32, endCount: u32): u32 {
  const start = load<u32>(endsStart + (first << 2));
  let last = endCount - 1;
  // Usually one group has room for all pretokens of a block, the text that is scanned at a time. But the first pretoken
  // may have begun in an earlier block, and have any size.
  while (last > first + 1 && load<u32>(endsStart + (last << 2)) - start > groupBytesMax) last--;
  return last - first + 1;
}

/**
 * Appends the ids of the pretokens between `endCount` ends, from index `first` on. All merges except the late ones are
 * made. Returns false if memory runs out.
 */
function encodeCut(first: u32, endCount: u32, room: usize): bool {
  if (!cutsPretokens()) return encodeEnds(endsStart + (first << 2), endCount, room);
  beginCuts(first, endCount);
  for (let count = nextCuts(); count > 0; count = nextCuts()) {
    const isEncoded = hasLateMerges()
      ? encodeLines(cutEndsAddress(), count, room)
      : encodeEnds(cutEndsAddress(), count, room);
    if (!isEncoded) return false;
  }
  return true;
}

/**
 * Merges the first `length` bytes of the text as one word, by all merges. Returns the number of ids at
 * `wordIdsAddress`, or -1 if memory runs out.
 */
export function mergeText(length: u32): i32 {
  const count = mergeWord(textStart, length, workAddress());
  if (count === noRoom) return -1;
  const leftCount = hasLateMerges() ? mergeAllRanks(wordIds, count) : count;
  return leftCount === noRoom ? -1 : <i32>leftCount;
}

/** Returns the address of the ids, 32 bits each, of the word that `mergeText` merged. */
export function wordIdsAddress(): usize {
  return wordIds;
}

/**
 * Appends the ids of the words between `endCount` ends: takes them from the word cache, and merges the words that the
 * cache lacks. Returns false if memory runs out.
 */
function encodeEnds(ends: usize, endCount: u32, room: usize): bool {
  for (let left = endCount - 1; left > 0; ) {
    const wordCount = min(left, batchWordsMax);
    lookUp(ends, wordCount);
    if (!emitTo(ends, 0, wordCount, room)) return false;
    ends += wordCount << 2;
    left -= wordCount;
  }
  return true;
}

/** Does the same as `encodeEnds`, and notes where pretokens end, because late merges do not cross these ends. */
function encodeLines(ends: usize, endCount: u32, room: usize): bool {
  let lineEnd = lineEndsAddress();
  for (let first: u32 = 0; first + 1 < endCount; first += batchWordsMax) {
    const batch = ends + (first << 2);
    const wordCount = min(endCount - 1 - first, batchWordsMax);
    lookUp(batch, wordCount);
    let word: u32 = 0;
    for (; lineEnd < lineEndsEnd; lineEnd += 2) {
      const stop = load<u16>(lineEnd) - first;
      if (stop > wordCount) break;
      if (!emitTo(batch, word, stop, room)) return false;
      endPretoken();
      word = stop;
    }
    if (!emitTo(batch, word, wordCount, room)) return false;
  }
  return true;
}

/** Looks up the words of a batch. */
function lookUp(ends: usize, wordCount: u32): void {
  reserveWords(wordCount);
  const longerCount = lookUpShort(short, ends, wordCount);
  if (longerCount === 0) return;
  const longCount = cutMiddleWords(middle, ends, longerCount);
  lookUpMiddle(middle, longerCount, longCount);
  lookUpLong(ends, longCount);
}

/** Appends the ids of the words [word, stop) of a batch that was looked up. Returns false if memory runs out. */
function emitTo(ends: usize, word: u32, stop: u32, room: usize): bool {
  word = emit(word, stop);
  while (word < stop) {
    const start = load<u32>(ends + (word << 2));
    const length = load<u32>(ends + (word << 2), 4) - start;
    const result = resolve(textStart + start, length, room);
    if (result !== missing) store<u64>(results + (word << 3), result);
    else if (unkeptCount === noRoom) return false;
    else {
      emitIds(wordIds, unkeptCount, isNarrow);
      word++;
    }
    word = emit(word, stop);
  }
  return true;
}

function emit(word: u32, wordCount: u32): u32 {
  return isNarrow ? emitNarrow(word, wordCount) : emitWide(word, wordCount);
}

/** If `resolve` has just returned `missing`, this is the number of ids at `wordIds`, or `noRoom`. */
let unkeptCount: u32 = 0;

/**
 * Returns the result of a word that was missing when its batch was looked up. If the word has been cached since then,
 * takes the result from the cache; otherwise merges the word, and caches it if there is room. Returns `missing` if the
 * word is too long for the cache, if there is no room to keep its ids, or if memory runs out; `unkeptCount` is then the
 * number of its ids at `wordIds`, or `noRoom`.
 */
function resolve(start: usize, length: u32, room: usize): u64 {
  if (length <= shortBytesMax) {
    const key = shortKey(start, length);
    const slot = findShort(short, key);
    if (load<u64>(slot) !== 0) return load<u64>(slot, 8);
    const result = merge(start, length, room);
    if (result === missing) return missing;
    store<u64>(slot, key);
    store<u64>(slot, result, 8);
    short.usedCount++;
    return result;
  }
  if (length <= middleBytesMax) {
    const head = load<u64>(start);
    const tailKey = middleTailKey(start, length);
    const slot = findMiddle(middle, head, tailKey);
    if (load<u64>(slot) !== 0) return load<u64>(slot, 16);
    const result = merge(start, length, room);
    if (result === missing) return missing;
    store<u64>(slot, tailKey);
    store<u64>(slot, head, 8);
    store<u64>(slot, result, 16);
    middle.usedCount++;
    return result;
  }
  if (length > cachedBytesMax) {
    unkeptCount = mergeWord(start, length, room);
    return missing;
  }
  const hash = hashLong(start, length);
  const slot = findLong(long, start, length, hash);
  if (load<u64>(slot) !== 0) return recordValue(recordOf(long, slot));
  const result = merge(start, length, room);
  if (result !== missing) keepLong(slot, hash, start, length, result);
  return result;
}

function merge(start: usize, length: u32, room: usize): u64 {
  unkeptCount = mergeWord(start, length, room);
  if (unkeptCount === noRoom) return missing;
  const result = packedResult(wordIds, unkeptCount, isNarrow);
  return result === missing ? keepIds(wordIds, unkeptCount, isNarrow) : result;
}

/**
 * Lists pretokens as sequences of ids, for learning superwords. The ids of the pretokens of one call of `takeText`
 * (text-loop.ts) are contiguous at `idsAddress`:
 *
 *   ARRAY       TYPE   LENGTH             MEANING
 *   pieceEnds   u32    pieceEndsMax       in bytes from `idsAddress`: the ids of pretoken i begin at pieceEnds[i], and
 *                                         end at pieceEnds[i + 1]
 *   lengths     u32    idLimit            the number of bytes of each id's token (model-layout.ts)
 *   idCounts    f64    idLimit            the occurrences of each id so far
 */
let pieceEnds: usize = 0;
let lengths: usize = 0;
let idCounts: usize = 0;
let pieceCount: u32 = 0;

/**
 * One call of `takeText` lists the pretokens of a slice of this many bytes of text. It also lists those of the rest of
 * the block in which the slice ends.
 */
export const liftedSliceBytes: i32 = isSmallScale ? 64 : 1 << 16;
/** The length of `pieceEnds`: enough for a slice and a block, even if every pretoken has a single byte. */
const pieceEndsMax: u32 = 2 * liftedSliceBytes;
if (liftedSliceBytes < 2 * blockBytes) ERROR("there is room for the pretokens of a slice and of a block");

/**
 * Sets up the lists for a model whose merges create only pairs of higher rank, as `tokenLengths` requires. Returns
 * false if memory runs out.
 */
export function beginPieces(modelHead: usize): bool {
  const model = changetype<EncodingModel>(modelHead);
  pieceEnds = reserveTable(4 * pieceEndsMax);
  lengths = tokenLengths(model);
  idCounts = reserveTable(8 * <usize>model.idLimit);
  return pieceEnds !== 0 && lengths !== 0 && idCounts !== 0;
}

/** Discards the pretokens that the last call listed. */
export function startPieces(): void {
  beginIds(workAddress());
  pieceCount = 0;
  store<u32>(pieceEnds, 0);
}

/** Lists the `endCount - 1` pretokens of `ends`. Returns false if `pieceEnds` is full or memory runs out. */
export function listPieces(endCount: u32): bool {
  const textBytes = load<u32>(endsStart + ((endCount - 1) << 2)) - load<u32>(endsStart);
  const room = <u64>idsEnd + <u64>textBytes * idBytes() + 64;
  if (pieceCount + endCount > pieceEndsMax || !reserveTo(room)) return false;
  const firstId = idsEnd;
  if (!encodePretokens(endCount, <usize>room)) return false;
  if (idBytes() === 2) findEnds<u16>(firstId, endCount);
  else findEnds<u32>(firstId, endCount);
  return true;
}

/**
 * Stores where the ids of each pretoken end, which is where the lengths of their tokens add up to the length of the
 * pretoken. Also counts how often each id occurs.
 */
function findEnds<T>(firstId: usize, endCount: u32): void {
  const start = workAddress();
  let textEnd = load<u32>(endsStart);
  let id = firstId;
  let pieceEnd = pieceEnds + (pieceCount << 2);
  for (let i: u32 = 1; i < endCount; i++) {
    const end = load<u32>(endsStart + (i << 2));
    while (textEnd < end) {
      const token = <usize>load<T>(id);
      textEnd += load<u32>(lengths + (token << 2));
      const count = idCounts + (token << 3);
      store<f64>(count, load<f64>(count) + 1);
      id += sizeof<T>();
    }
    assert(textEnd === end, "no token crosses the end of a pretoken");
    pieceEnd += 4;
    store<u32>(pieceEnd, <u32>(id - start));
  }
  pieceCount += endCount - 1;
}

/** Returns the address of `pieceEnds`. */
export function pieceEndsAddress(): usize {
  return pieceEnds;
}

/** Returns the address of the counts of ids. */
export function idCountsAddress(): usize {
  return idCounts;
}

export function listedPieceCount(): u32 {
  return pieceCount;
}
