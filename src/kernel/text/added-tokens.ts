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
import { characterAfter, characterBefore, isUnfinished, isWhiteSpace, noCharacter, sizeOf } from "./utf8";

/**
 * Finds added tokens in a text that arrives in pieces: from the left, the longest at each place, not overlapping. A match that
 * does not count (a special token that stays text, a `single_word` token that touches a word) takes its place all the same:
 * the search continues after it, as in HF. `lstrip` and `rstrip` tokens also take the white space before and after them.
 *
 * A *group* is the tokens that are looked for together, with a buffer of text:
 *
 *   0 ... first ....... done ....... searchPos ... length
 *         context       waits, searched            waits
 *
 * What is before `done` has been given out. Of the section up to four bytes of it stay, because the character before a token
 * may decide whether it counts. Where some token has `lstrip`, [done, spaceEnd) is white space, which waits for a token after it.
 *
 * Where the text has segments (edges.ts), they are searched one after the other, each with the tokens that end by its end. What
 * looks at its neighbours looks across edges.
 *
 * Why what is given out is certain: a token is longest, and the first from the left, if no longer one begins at or before its
 * place. So all tokens that begin before `sureEnd` are known, once as many bytes follow as the longest token has, and four more
 * where a token looks at its neighbours.
 *
 * Why the work is linear: text is searched when as many bytes are new as the longest token has, so each is searched twice at
 * most, and by the automaton twice as often. White space is read once by the search for its start: what was read is up to
 * `spaceEnd`. Bytes are moved when the buffer is half full, and half of them is no longer needed.
 */
@unmanaged
export class Group {
  search: TokenSearch;
  /** Properties of its tokens. */
  looksAround: u32;
  stripsLeft: u32;
  areAllSpecial: u32;
  /** Whether its tokens are looked for in this text, and special ones stay text. */
  isSearched: u32;
  keepsSpecial: u32;
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

  /** An item (`nextItem`): so much white space belongs to the last token; then text [from, to). */
  skippedBytes: u32;
  from: i32;
  to: i32;
  /** Then comes this token, with so much white space before it. */
  token: u32;
  spaceBytes: u32;
}

/** The most bytes of a character, which may decide whether a token next to it counts. */
const contextBytes: i32 = 4;
/** Loads may reach so far beyond the text. */
const paddingBytes: usize = 64;

/** A group of `count` tokens; null without room. */
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
  }
  return group;
}

/** The next text, or its first segment, has its special tokens as text, or not. Nothing of a text before is in the buffer. */
export function openGroup(group: Group, keepsSpecial: bool, hasSegments: bool): void {
  group.keepsSpecial = u32(keepsSpecial);
  const findsNone = keepsSpecial && group.areAllSpecial && !hasSegments;
  group.isSearched = u32(group.search.count > 0 && !findsNone);
  clearEdges(group.edges);
  group.length = 0;
  endSection(group);
}

/** A section ends, and the next one begins. What was given out stays in the buffer until `makeRoom`. */
export function endSection(group: Group): void {
  group.first = group.done = group.searchPos = group.spaceEnd = group.length;
  group.isWhole = 1;
  group.isSkipping = 0;
}

/** How many bytes wait. */
export function waitingIn(group: Group): u32 {
  return group.length - group.done;
}

/** Whether `byteCount` more bytes would fill more than half of the buffer. */
export function isHalfFull(group: Group, byteCount: u32): bool {
  return (<u64>group.length + byteCount + paddingBytes) << 1 > group.capacity;
}

/** Forgets what is no longer needed, if it is half of the text there. Returns by how much positions are less now. */
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

/** Makes room for `byteCount` bytes after those that are there; false without room. */
export function makeRoom(group: Group, byteCount: u32): bool {
  const needed = <u64>group.length + byteCount + paddingBytes;
  if (needed <= group.capacity) return true;
  // Twice as much as is needed: so moving takes linear time.
  const start: usize = needed > 1 << 29 ? 0 : reserveTable((<usize>needed) << 1);
  if (start === 0) return false;
  memory.copy(start, group.start, group.length);
  group.start = start;
  group.capacity = (<usize>needed) << 1;
  return true;
}

/** Begins to give out what is certain of the text that is there; false if that is nothing yet. */
export function beginItems(group: Group, atEnd: bool): bool {
  const hasEdge = group.edges.next < group.edges.count;
  if (!atEnd && !hasEdge && sureEndOf(group) < group.searchPos + group.search.longestBytes) return false;
  openSearch(group.search, group.start, group.length);
  return true;
}

function sureEndOf(group: Group): i32 {
  return group.length - (group.search.longestBytes - 1 + (group.looksAround ? contextBytes : 0));
}

/** Gives out the text up to the next token, and that token: true; or what is certain of the text without one: false. */
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
  group.to = group.done = stop;
  group.searchPos = searchPos;
  return false;
}

/** The search is at `searchPos`: what is known of the segment there counts from now on. Returns where it ends, as far as is known. */
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

function counts(group: Group, flags: u32, pos: i32, end: i32): bool {
  if (group.keepsSpecial && (flags & specialFlag) !== 0) return false;
  if ((flags & singleWordFlag) === 0) return true;
  const start = group.start;
  const isStart = group.isWhole && pos === group.first;
  if (!isStart && isWordCharacter(group, characterBefore(start + group.first, start + pos))) return false;
  return !isWordCharacter(group, characterAfter(start + end, start + group.length));
}

/** Whether it is in `\w` of Rust's `regex`. */
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

/** Position after the white space from `done` on. Skipping is over where its end has come. */
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
