import { reserveTable } from "../regions";
import {
  areTokensSpecial,
  findToken,
  flagsOfToken,
  lstripFlag,
  newSearch,
  openSearch,
  rstripFlag,
  singleWordFlag,
  sizeOfToken,
  specialFlag,
  TokenSearch,
} from "../token-search";
import { wordRangesOf, wordsOf } from "./description";
import { clearEdges, Edges, edgePosition, keepsSpecialAfter, moveEdges, newEdges } from "./edges";
import {
  characterAfter,
  characterBefore,
  isUnfinished,
  isWhiteSpace,
  noCharacter,
  sizeOf,
  wholeEnd,
} from "./utf8";

/**
 * Finds added tokens in a text that arrives in pieces: from the left, the longest at each place, not overlapping. A match that
 * does not count (a special token that stays text, a `single_word` token that touches a word) still consumes its text:
 * the search continues after it, as in HF. `lstrip` and `rstrip` tokens also take the white space before and after them.
 *
 * A *group* is a set of tokens that are searched together, with a buffer of text:
 *
 *   0 ... first ....... done ....... searchPos ... length
 *         context       waits, searched            waits
 *
 * Text before `done` has been given out. Up to four bytes of the section before it stay, because the character before a token
 * may decide whether the token counts. If some token has `lstrip`, [done, spaceEnd) is white space that waits for a token after it.
 *
 * Segments of a text (edges.ts) are searched one after the other, each for the tokens that end by its end. Tokens that look at
 * their neighbours look across edges.
 *
 * Why the text given out is certain: a token is the longest, and the first from the left, if no longer one begins at or before its
 * position. So all tokens that begin before `sureEnd` are known once it is followed by as many bytes as the longest token has,
 * and four more if a token looks at its neighbours.
 *
 * Why the work is linear: text is searched when as many bytes are new as the longest token has, so each byte is searched at most
 * twice, and by the automaton four times. The search for the start of white space reads it once, up to `spaceEnd`. Bytes are
 * moved when the buffer is half full, and half of them is no longer needed.
 */
@unmanaged
export class Group {
  search: TokenSearch;
  /** Properties of its tokens. */
  looksAround: u32;
  stripsLeft: u32;
  stripsRight: u32;
  areAllSpecial: u32;
  /** Whether its tokens are searched in this text, and whether special ones stay text. */
  isSearched: u32;
  keepsSpecial: u32;
  /** Text is given out in whole characters. */
  keepsCharacters: u32;
  description: usize;
  /** Where segments end. */
  edges: Edges;

  start: usize;
  capacity: usize;
  length: i32;
  first: i32;
  done: i32;
  searchPos: i32;
  spaceEnd: i32;
  /** 1: the section begins at `first`. */
  isWhole: u32;
  /** 1: the last token also takes the white space that follows. */
  isSkipping: u32;

  /** An item (`nextItem`): white space of this size belongs to the last token; then text [from, to). */
  skippedBytes: u32;
  from: i32;
  to: i32;
  /** Then comes this token, with white space of this size before it. */
  token: u32;
  spaceBytes: u32;
}

/** The most bytes of a character, which may decide whether a token next to it counts. */
const contextBytes: i32 = 4;
/** Loads may reach this far beyond the text. */
const paddingBytes: usize = 64;

/** Makes a group of `count` tokens; null if there is no room. */
export function newGroup(description: usize, records: usize, count: u32, contents: usize): Group | null {
  const address = reserveTable(offsetof<Group>());
  const search = newSearch(records, count, contents);
  const edges = newEdges();
  if (address === 0 || search === null || edges === null) return null;
  memory.fill(address, 0, offsetof<Group>());
  const group = changetype<Group>(address);
  group.search = search;
  group.description = description;
  group.edges = edges;
  group.areAllSpecial = u32(areTokensSpecial(search));
  for (let token: u32 = 0; token < count; token++) {
    const flags = flagsOfToken(search, token);
    if ((flags & (lstripFlag | rstripFlag | singleWordFlag)) !== 0) group.looksAround = 1;
    if ((flags & lstripFlag) !== 0) group.stripsLeft = 1;
    if ((flags & rstripFlag) !== 0) group.stripsRight = 1;
  }
  return group;
}

/** Sets whether special tokens of the next text, or of its first segment, stay text. The buffer must be empty. */
export function openGroup(group: Group, keepsSpecial: bool, hasSegments: bool): void {
  group.keepsSpecial = u32(keepsSpecial);
  const findsNone = keepsSpecial && group.areAllSpecial && !hasSegments;
  group.isSearched = u32(group.search.count > 0 && !findsNone);
  clearEdges(group.edges);
  group.length = 0;
  endSection(group);
}

/** Ends a section and begins the next one. Text given out stays in the buffer until `makeRoom`. */
export function endSection(group: Group): void {
  group.first = group.done = group.searchPos = group.spaceEnd = group.length;
  group.isWhole = 1;
  group.isSkipping = 0;
}

/** The number of waiting bytes. */
export function waitingIn(group: Group): u32 {
  return group.length - group.done;
}

/** Whether `byteCount` more bytes would fill more than half of the buffer. */
export function isHalfFull(group: Group, byteCount: u32): bool {
  return (<u64>group.length + byteCount + paddingBytes) << 1 > group.capacity;
}

/**
 * Forgets text that is no longer needed, if it is half of the buffer's. Returns by how much positions have decreased.
 */
export function shrink(group: Group): u32 {
  const context = group.done - contextBytes;
  if (context > group.first) {
    group.first = context;
    group.isWhole = 0;
  }
  const dropped = group.first;
  if (dropped << 1 < group.length) return 0;
  memory.copy(group.start, group.start + dropped, group.length - dropped);
  group.length -= dropped;
  group.first = 0;
  group.done -= dropped;
  group.searchPos -= dropped;
  group.spaceEnd -= dropped;
  moveEdges(group.edges, dropped);
  return dropped;
}

/** Makes room for `byteCount` more bytes; returns false if there is none. */
export function makeRoom(group: Group, byteCount: u32): bool {
  const needed = <u64>group.length + byteCount + paddingBytes;
  if (needed <= group.capacity) return true;
  // Twice the size needed, so that moving takes linear time.
  const start: usize = needed > 1 << 29 ? 0 : reserveTable((<usize>needed) << 1);
  if (start === 0) return false;
  memory.copy(start, group.start, group.length);
  group.start = start;
  group.capacity = (<usize>needed) << 1;
  return true;
}

/** Begins to give out the certain part of the text; returns false if nothing is certain yet. */
export function beginItems(group: Group, atEnd: bool): bool {
  const hasEdge = group.edges.next < group.edges.count;
  if (!atEnd && !hasEdge && sureEndOf(group) < group.searchPos + group.search.longestBytes) return false;
  openSearch(group.search, group.start, group.length);
  return true;
}

function sureEndOf(group: Group): i32 {
  return group.length - (group.search.longestBytes - 1 + (group.looksAround ? contextBytes : 0));
}

/**
 * Gives out the text up to the next token, and that token, and returns true; or the certain text without a token:
 * false.
 */
export function nextItem(group: Group, atEnd: bool): bool {
  const search = group.search;
  const done = group.isSkipping ? skipSpace(group, atEnd) : group.done;
  group.skippedBytes = done - group.done;
  group.from = done;
  let searchPos = max(group.searchPos, done);
  let sureEnd: i32 = 0;
  while (true) {
    const segmentEnd = passEdges(group, searchPos);
    sureEnd = max(sureEnd, sureEndIn(group, segmentEnd, atEnd));
    while (!group.isSkipping && searchPos < sureEnd) {
      const pos = findToken(search, searchPos, sureEnd, segmentEnd);
      searchPos = pos;
      if (pos >= sureEnd) break;
      const end = pos + sizeOfToken(search, search.found);
      searchPos = end;
      const flags = flagsOfToken(search, search.found);
      if (!counts(group, flags, pos, end)) continue;
      group.to = (flags & lstripFlag) !== 0 ? spaceStart(group, done, pos) : pos;
      group.token = search.found;
      group.spaceBytes = pos - group.to;
      group.done = group.searchPos = end;
      group.isSkipping = u32((flags & rstripFlag) !== 0);
      return true;
    }
    if (group.isSkipping || sureEnd < segmentEnd || segmentEnd === group.length) break;
    searchPos = max(searchPos, segmentEnd);
  }
  if (atEnd) group.isSkipping = 0;
  let stop = max(done, sureEnd);
  if (group.stripsLeft && !atEnd) {
    while (stop > done && (load<u8>(group.start + stop) & 0xc0) === 0x80) stop--;
    const start = spaceStart(group, done, stop);
    group.spaceEnd = stop;
    stop = start;
  }
  if (group.keepsCharacters && !atEnd) stop = wholeBefore(group, stop);
  group.to = group.done = stop;
  group.searchPos = searchPos;
  return false;
}

/**
 * The search is at `searchPos`: what is known of the segment there counts from now on. Returns where it ends, as far as
 * is known.
 */
function passEdges(group: Group, searchPos: i32): i32 {
  const edges = group.edges;
  for (; edges.next < edges.count; edges.next++) {
    const edge = edgePosition(edges, edges.next);
    if (edge > searchPos) return edge;
    group.keepsSpecial = keepsSpecialAfter(edges, edges.next);
  }
  return group.length;
}

/** Tokens of a segment that begin before this position are certain. At its end none is longer. */
function sureEndIn(group: Group, segmentEnd: i32, atEnd: bool): i32 {
  const isWhole =
    group.edges.next < group.edges.count && (!group.looksAround || segmentEnd + contextBytes <= group.length);
  return atEnd || isWhole ? segmentEnd : min(segmentEnd, sureEndOf(group));
}

/** The end of the whole characters before `stop` that have not been given out. */
export function wholeBefore(group: Group, stop: i32): i32 {
  return <i32>(wholeEnd(group.start + group.done, group.start + stop) - group.start);
}

function counts(group: Group, flags: u32, pos: i32, end: i32): bool {
  if (group.keepsSpecial && (flags & specialFlag) !== 0) return false;
  if ((flags & singleWordFlag) === 0) return true;
  const start = group.start;
  const isStart = group.isWhole && pos === group.first;
  if (!isStart && isWordCharacter(group, characterBefore(start + group.first, start + pos))) return false;
  return !isWordCharacter(group, characterAfter(start + end, start + group.length));
}

/** Whether the character is in `\w` of Rust's `regex`. */
function isWordCharacter(group: Group, character: i32): bool {
  if (character === noCharacter) return false;
  const ranges = wordsOf(group.description);
  let low: u32 = 0;
  let high = wordRangesOf(group.description);
  while (low < high) {
    const middle = (low + high) >> 1;
    if (load<u32>(ranges + (middle << 3)) <= <u32>character) low = middle + 1;
    else high = middle;
  }
  return low > 0 && <u32>character <= load<u32>(ranges + ((low - 1) << 3), 4);
}

/** Position after the white space from `done` on. Skipping ends when the end of the white space is known. */
function skipSpace(group: Group, atEnd: bool): i32 {
  const stop = group.start + group.length;
  let pos = group.start + group.done;
  while (pos < stop) {
    const character = characterAfter(pos, stop);
    if (!isWhiteSpace(character)) {
      group.isSkipping = u32(!atEnd && character === noCharacter && isUnfinished(pos, stop));
      break;
    }
    pos += sizeOf(character);
  }
  return <i32>(pos - group.start);
}

/** Start of the white space that ends at `end`, not before `done`. No byte of it is read twice. */
function spaceStart(group: Group, done: i32, end: i32): i32 {
  const known = max(done, group.spaceEnd);
  const first = group.start + group.first;
  while (end > known) {
    group.search.readBytes++;
    const character = characterBefore(first, group.start + end);
    if (!isWhiteSpace(character)) return end;
    end -= sizeOf(character);
  }
  return done;
}
