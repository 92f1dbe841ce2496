import { fixedEnd, reserveTable, reserveTo } from "../regions";
import { givenId, givenIdsMax, idLimit, tokenAddress, tokenSize } from "./decode";
import { changeEvent, spaceEvent, strippedEvent, tokenEvent } from "./sections";
import { characterAfter, characterBefore, isWhiteSpace, sizeOf } from "./utf8";

/**
 * Offsets: the start and the end of each token in a text.
 *
 * Definitions. In *bytes*, tokens follow each other without gaps. The length of a token is the number of its bytes,
 * with these exceptions:
 *
 *   - An added token covers the text that it matched, and the white space that it strips.
 *   - A space that was inserted before a section has no bytes in the text.
 *   - A mark (U+2581, encode/first-characters.ts), three bytes in the text, is one space in a token.
 *   - A stretch that normalization changed has its length in the text. An end inside it is mapped in proportion.
 *
 * In *characters*, as HF defines them, a token covers each character of which it has at least one byte. Spaces that the
 * post-processor trims are not covered.
 *
 * How they are computed. The *normalized text* is the text after normalization, with added tokens but without inserted
 * spaces. Callers make sure that the vocabulary has every byte, so the tokens cover all of the normalized text. A
 * token's position there is the sum of the sizes of the tokens before it. The difference between this position and the
 * token's position in the text changes only at `change` events (sections.ts).
 *
 * These arrays follow the tables of decode.ts, and are laid out for each text:
 *
 *   ARRAY    TYPE     LENGTH        MEANING
 *   notes    u32[4]   noteCount     the events of the text (sections.ts), except `text` and `end`: the kind and three
 *                                   numbers. In all but `change` events, the host has replaced the third number by the
 *                                   number of ids before the event. `endOffsets` replaces the notes by u32[2] for each
 *                                   change: its start and end in the text
 *   starts   u32      idCount + 1   the start of each token in bytes, and the end of the last one
 *   spans    u32[2]   idsMax        the start and end of each token of the last `placeIds` (idsMax: decode.ts)
 *   text     u8       byteCount     the text, or its beginning
 */
let notes: usize = 0;
let notesEnd: usize = 0;
export let starts: usize = 0;
let spans: usize = 0;
export let text: usize = 0;
export let textBytes: u32 = 0;
export let idCount: u32 = 0;
export let changeCount: u32 = 0;

/** The current position in the normalized text, which includes added tokens, but no inserted spaces. */
let position: u32 = 0;
/** The address of the next note of a token or a space. */
let nextNote: usize = 0;
/** The address of the next note of a change. */
let nextChange: usize = 0;
/** The start in the text of the last change that begins before `position`. */
let changeStart: u32 = 0;
/** The end of that change in the text. */
let changeEnd: u32 = 0;
/** The start of that change in the normalized text. */
let changeTo: u32 = 0;
/** The end of that change in the normalized text. */
let changeToEnd: u32 = 0;
/** The number of ids placed. */
let placedCount: u32 = 0;
/** The number of characters that begin before the byte at position `counted`. */
let characters: u32 = 0;
let counted: u32 = 0;

/** The number of post-processor steps that trim spaces from offsets. */
let trimCount: u32 = 0;
/**
 * Whether a token at the start of the text that begins with exactly one space keeps it. Two or more spaces are all
 * trimmed.
 */
let trimKeepsOne: bool = false;
/** Whether a mark in the text matches a space in a token. */
let hasMarks: bool = false;
/** The address of an array with a bit for each id, which is set for the ids of added tokens. */
let added: usize = 0;

/** Sets up the trimming of offsets. Returns the address of `added`, which the caller fills in; 0 if memory runs out. */
export function useTrims(count: u32, keepsOne: bool): usize {
  trimCount = count;
  trimKeepsOne = keepsOne;
  added = reserveTable((idLimit >> 3) + 1);
  return added;
}

/** Lets marks in the text match spaces in tokens from now on. */
export function useMarks(): void {
  hasMarks = true;
}

/** Starts a text, or a prefix of one, and reserves its arrays. Returns false if memory runs out. */
export function beginOffsets(byteCount: u32, noteCount: u32, ids: u32): bool {
  const startsAt = ((fixedEnd + 63) & ~63) + ((<u64>noteCount) << 4);
  const spansAt = startsAt + 4 * (<u64>ids + 2);
  const textAt = (spansAt & ~7) + 8 * <u64>min(ids, givenIdsMax()) + 8;
  if (!reserveTo(textAt + byteCount + 8)) return false;
  notes = (fixedEnd + 63) & ~63;
  starts = notesEnd = <usize>startsAt;
  spans = <usize>spansAt & ~7;
  text = <usize>textAt;
  textBytes = byteCount;
  idCount = ids;
  nextNote = nextChange = notes;
  position = placedCount = counted = characters = 0;
  changeStart = changeEnd = changeTo = changeToEnd = changeCount = 0;
  store<u32>(starts, 0);
  return true;
}

export function notesAddress(): usize {
  return notes;
}

export function spansAddress(): usize {
  return spans;
}

export function placedTextAddress(): usize {
  return text;
}

/**
 * Computes the spans of the next `count` ids, which the host has written (decode.ts). Returns false if an id is not
 * below `idLimit`.
 */
export function placeIds(count: u32, inCharacters: bool): bool {
  if (count > idCount - placedCount) unreachable();
  for (let i: u32 = 0; i < count; i++) {
    const id = givenId(i);
    if (id >= idLimit) return false;
    const start = load<u32>(starts + (placedCount << 2));
    const isFound = passToken(id);
    const end = inText(position);
    store<u32>(starts + (placedCount << 2), end, 4);
    placedCount++;
    const span = spans + (i << 3);
    store<u32>(span, start);
    store<u32>(span, end, 4);
    if (inCharacters) countCharacters(span, id, isFound);
  }
  return true;
}

/** Ends the text, and reduces the notes to the changes. Returns the end of the last token. */
export function endOffsets(): u32 {
  let to = notes;
  for (let at = notes; at < notesEnd; at += 16) {
    if (load<u32>(at) !== changeEvent) continue;
    const start = load<u32>(at, 4);
    const end = load<u32>(at, 8);
    store<u32>(to, start);
    store<u32>(to, end, 4);
    to += 8;
  }
  changeCount = <u32>((to - notes) >> 3);
  return load<u32>(starts + (placedCount << 2));
}

/** Moves `position` to the end of the next token. Returns whether it is an added token found in the text. */
function passToken(id: u32): bool {
  let spaceBytes: u32 = 0;
  for (; nextNote < notesEnd; nextNote += 16) {
    const kind = load<u32>(nextNote);
    if (kind !== tokenEvent && kind !== spaceEvent) continue;
    if (load<u32>(nextNote, 12) > placedCount) break;
    if (kind === spaceEvent) spaceBytes = 1;
    else {
      position += load<u32>(nextNote, 8);
      for (nextNote += 16; nextNote < notesEnd && load<u32>(nextNote) !== tokenEvent; nextNote += 16) {
        if (load<u32>(nextNote) === spaceEvent) break;
        if (load<u32>(nextNote) === strippedEvent) position += load<u32>(nextNote, 4);
      }
      return true;
    }
  }
  const size = tokenSize(id);
  const skipped = min(size, spaceBytes);
  if (hasMarks) position = endInText(tokenAddress(id) + skipped, tokenAddress(id) + size);
  else position += size - skipped;
  return false;
}

const space: u32 = 0x20;

/**
 * Returns `position`, moved past bytes [from, to) of a token. A space of the token may be a mark in the text. (Models
 * with marks do not normalize, so `position` is one in the text, too.)
 */
function endInText(from: usize, to: usize): u32 {
  let at = position;
  for (; from < to; from++) {
    const isMark =
      load<u8>(from) === space &&
      at + 3 <= textBytes &&
      load<u16>(text + at) === 0x96e2 &&
      load<u8>(text + at, 2) === 0x81;
    at += isMark ? 3 : 1;
  }
  return at;
}

/** Maps a position in the normalized text to one in the text. Positions must not decrease from call to call. */
function inText(at: u32): u32 {
  for (; nextChange < notesEnd; nextChange += 16) {
    if (load<u32>(nextChange) !== changeEvent) continue;
    const to = load<u32>(nextChange, 4) - changeEnd + changeToEnd;
    if (to >= at) break;
    changeStart = load<u32>(nextChange, 4);
    changeEnd = load<u32>(nextChange, 8);
    changeTo = to;
    changeToEnd = to + load<u32>(nextChange, 12);
  }
  if (at >= changeToEnd) return changeEnd + (at - changeToEnd);
  const share = (<u64>(at - changeTo) * (changeEnd - changeStart)) / (changeToEnd - changeTo);
  return changeStart + max<u32>(1, <u32>share);
}

/**
 * Converts a span from bytes to characters, and trims spaces. `isFound`: the id is an added token that was found in the
 * text, so its spaces are counted in the text.
 */
function countCharacters(span: usize, id: u32, isFound: bool): void {
  const startByte = load<u32>(span);
  const endByte = min(load<u32>(span, 4), textBytes);
  // The span includes the character that contains `startByte`, even if it begins before that byte.
  countTo(min(startByte + 1, textBytes));
  let start = max(characters, 1) - 1;
  countTo(endByte);
  let end = characters;
  if (trimCount > 0) {
    if (isFound) countSpaces(text + startByte, text + endByte, true);
    else {
      const isAdded = ((<u32>load<u8>(added + (id >> 3)) >> (id & 7)) & 1) !== 0;
      countSpaces(tokenAddress(id), tokenAddress(id) + tokenSize(id), isAdded);
    }
    for (let step: u32 = 0; step < trimCount; step++) {
      const keepsOne = start === 0 && trimKeepsOne && spacesBefore === 1;
      if (!keepsOne) start = min(start + spacesBefore, end);
      if (spacesAfter > 0 && end >= spacesAfter) end = max(end - spacesAfter, start);
    }
  }
  store<u32>(span, start);
  store<u32>(span, end, 4);
}

function countTo(end: u32): void {
  for (; counted < end; counted++) characters += u32((load<u8>(text + counted) & 0xc0) !== 0x80);
}

/** The number of spaces at the start of a token's spelling. */
let spacesBefore: u32 = 0;
/** The number of spaces at the end of the spelling. If it has only spaces, both numbers are equal. */
let spacesAfter: u32 = 0;

/**
 * Counts the spaces at both ends of [from, to). If `isText`, the bytes are those of the text or of an added token; any
 * white space counts as a space, and so does `spelledSpace`. Otherwise the bytes are those of an ordinary token, and
 * only 0x20 counts, because HF spells other white space, such as tabs, as letters.
 */
function countSpaces(from: usize, to: usize, isText: bool): void {
  spacesBefore = spacesAfter = 0;
  for (; from < to; spacesBefore++) {
    const character = isText ? characterAfter(from, to) : <i32>load<u8>(from);
    if (!isSpace(character, isText)) break;
    from += isText ? <usize>sizeOf(character) : 1;
  }
  if (from === to) spacesAfter = spacesBefore;
  for (; from < to; spacesAfter++) {
    const character = isText ? characterBefore(from, to) : <i32>load<u8>(to - 1);
    if (!isSpace(character, isText)) break;
    to -= isText ? <usize>sizeOf(character) : 1;
  }
}

/** GPT-2's character for a space (Ġ), with which the content of an added token may begin or end. */
const spelledSpace: i32 = 0x120;

function isSpace(character: i32, isText: bool): bool {
  return isText ? character === spelledSpace || isWhiteSpace(character) : character === 0x20;
}
