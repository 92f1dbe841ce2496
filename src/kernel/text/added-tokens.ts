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
 * Finds added tokens in a text that arrives in pieces: from left to right, the longest at each position, without
 * overlaps. A match that does not count (a special token that stays text, a `single_word` token next to a word
 * character) still consumes its text: as in HF, the search continues after it. Tokens with `lstrip` or `rstrip` also
 * consume the white space before or after them.
 *
 * A *group* is a set of tokens that are searched for together, and a buffer with these positions:
 *
 *   0 ... first ....... done ....... searchPos ... length
 *         context       waits, searched            waits
 *
 * Text before `done` has been emitted. When it is removed from the buffer, up to four bytes before `done` stay, because
 * the character before a token may decide whether the token counts. If some token has `lstrip`, [done, spaceEnd) is
 * white space that a following token may still consume.
 *
 * Segments of a text (edges.ts) are searched one after the other; a match must not cross the end of its segment.
 * Whether a token touches a word, and which white space it strips, also depends on text beyond the edge.
 *
 * Why no token is emitted too early: more text can only replace a match by a longer one at the same position. So all
 * tokens that begin before `sureEnd` are final if n - 1 bytes follow `sureEnd`, where n is the size of the longest
 * token. If some token depends on the text next to it, four more bytes must follow.
 *
 * Why the work is linear: unless a segment or the text ends, a search waits for at least as many new bytes as the
 * longest token has. So usually at most two searches cover a byte. Each of them reads it at most twice
 * (token-search.ts). White space before a token is read once: `spaceEnd` marks what has been read.
 */
@unmanaged
export class Group {
  search: TokenSearch;
  /** Whether some token depends on the text next to it: has `lstrip`, `rstrip` or `single_word`. */
  looksAround: u32;
  /** Whether some token has `lstrip`. */
  stripsLeft: u32;
  /** Whether some token has `rstrip`. */
  stripsRight: u32;
  areAllSpecial: u32;
  /** Whether tokens are searched for in this text. */
  isSearched: u32;
  /** Whether special tokens stay text at the current position. */
  keepsSpecial: u32;
  /** 1: text is emitted in whole characters. */
  keepsCharacters: u32;
  description: usize;
  /** The edges between segments. */
  edges: Edges;

  start: usize;
  capacity: usize;
  length: i32;
  first: i32;
  done: i32;
  searchPos: i32;
  spaceEnd: i32;
  /** 1: the section begins at `first`; 0: earlier bytes of it have been removed. */
  isWhole: u32;
  /** 1: the last token also strips the white space from `done` on. */
  isSkipping: u32;

  /** The item that `nextItem` found begins with this many bytes of white space, which the previous token strips. */
  skippedBytes: u32;
  /** The text of the item is [from, to). */
  from: i32;
  to: i32;
  /** The token that ends the item. */
  token: u32;
  /** The number of bytes of white space before `token` that it strips. */
  spaceBytes: u32;
}

/** The maximum size of a character, which may decide whether a token next to it counts. */
const contextBytes: i32 = 4;
/** Loads may reach this far beyond the text. */
const paddingBytes: usize = 64;

/** Creates a group of `count` tokens; returns null if memory runs out, or if they are too large (`newSearch`). */
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

/**
 * Begins a text, with an empty buffer. `keepsSpecial`: special tokens stay text, with `hasSegments` only up to the
 * first edge.
 */
export function openGroup(group: Group, keepsSpecial: bool, hasSegments: bool): void {
  group.keepsSpecial = u32(keepsSpecial);
  const findsNone = keepsSpecial && group.areAllSpecial && !hasSegments;
  group.isSearched = u32(group.search.count > 0 && !findsNone);
  clearEdges(group.edges);
  group.length = 0;
  endSection(group);
}

/** Ends a section and begins the next one. Text that was emitted stays valid until `makeRoom` or `shrink`. */
export function endSection(group: Group): void {
  group.first = group.done = group.searchPos = group.spaceEnd = group.length;
  group.isWhole = 1;
  group.isSkipping = 0;
}

/** Returns the number of waiting bytes. */
export function waitingIn(group: Group): u32 {
  return group.length - group.done;
}

/** Whether the buffer would be more than half full with `byteCount` more bytes. */
export function isHalfFull(group: Group, byteCount: u32): bool {
  return (<u64>group.length + byteCount + paddingBytes) << 1 > group.capacity;
}

/** Removes unneeded text, if it is at least half of the buffer's content. Returns by how much positions decreased. */
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

/** Reserves memory for `byteCount` more bytes; returns false if memory runs out, or the buffer would exceed 1 GiB. */
export function makeRoom(group: Group, byteCount: u32): bool {
  const needed = <u64>group.length + byteCount + paddingBytes;
  if (needed <= group.capacity) return true;
  // Allocates twice the needed size, so that all moves together take linear time.
  const start: usize = needed > 1 << 29 ? 0 : reserveTable((<usize>needed) << 1);
  if (start === 0) return false;
  memory.copy(start, group.start, group.length);
  group.start = start;
  group.capacity = (<usize>needed) << 1;
  return true;
}

/** Prepares to emit final text. Returns false if too little new text has arrived for a search. */
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
 * Finds the next item: the text up to a token, and this token. Returns false if no token is left; then the item is the
 * rest of the text that is final.
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
 * Passes the edges up to `searchPos`. Returns the end of the segment there, or the end of the buffer if the segment's
 * end has not arrived.
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

/**
 * Returns the position before which the tokens of a segment are final. This is the end of the segment once it has
 * arrived, because no match extends beyond it. With `looksAround`, `contextBytes` bytes after the end must have
 * arrived, too.
 */
function sureEndIn(group: Group, segmentEnd: i32, atEnd: bool): i32 {
  const isWhole =
    group.edges.next < group.edges.count && (!group.looksAround || segmentEnd + contextBytes <= group.length);
  return atEnd || isWhole ? segmentEnd : min(segmentEnd, sureEndOf(group));
}

/**
 * Returns `stop`, or, if the text before it ends inside a character that further bytes can complete, the start of that
 * character.
 */
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

/** Returns the end of the white space from `done` on. Clears `isSkipping` if that end is known. */
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

/** Returns the start of the white space that ends at `end`, but at least `done`. Reads no byte twice. */
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
