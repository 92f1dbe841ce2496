import { layOutTextModule, reserveTable } from "../regions";
import { idOfToken, recordBytes, sizeOfToken } from "../token-search";
import {
  beginItems,
  endSection,
  Group,
  isHalfFull,
  makeRoom,
  newGroup,
  nextItem,
  openGroup,
  shrink,
  waitingIn,
  wholeBefore,
} from "./added-tokens";
import {
  contentsOf,
  earlyCountOf,
  evenSpacedFlag,
  flagsOf,
  isDescription,
  linewiseFlag,
  markFlag,
  onlyFirstFlag,
  prefixSpaceFlag,
  recordsOf,
  stepCountOf,
  stepsOf,
  tokenCountOf,
} from "./description";
import { addEdge, areEdgesFull, clearEdges, Edges, edgePosition, keepsSpecialAfter, newEdges } from "./edges";
import {
  factsOf,
  inputAddress,
  keepNormalized,
  logAddress,
  loggedCount,
  normalize,
  normalizedAddress,
  openNormalization,
  unnormalizedBytes,
  useNormalization,
} from "./normalize";

/**
 * Sections: a text that arrives in pieces is cut at added tokens. A *section* is the text between two of these, which
 * the pattern then cuts. As in HF, the steps are: early added tokens are found in the given text; the text between them
 * is normalized; late added tokens are found in the result; and, if the flags of description.ts ask for it, a space is
 * put before each remaining section.
 *
 * A text may come in segments (edges.ts). In the normalized text, an edge is at the end of the normalized form of the
 * text before it. If a stretch that is normalized as a whole spans two segments, special tokens in the stretch stay
 * text.
 *
 * Callers call `beginSections` and `useSections` once. `openText` begins a text; it may be omitted if the text has no
 * segments, has the same flags as the previous one, and does not continue a section. For each piece, call
 * `pieceAddress` and then `takePiece`; between two segments, `endSegment`. The last `takePiece` ends the text. Each
 * `takePiece` produces events, in order:
 *
 *   KIND        NUMBERS                       MEANING
 *   0 text      offset, size                  bytes of the section, at this offset from `sectionBytes`
 *   1 end                                     the end of a section that is not empty
 *   2 token     id, size, address             an added token, together with the white space before it that it strips
 *   3 stripped  size, address                 white space that the last token strips after itself
 *   4 space                                   a space is put here, which is not in the text
 *   5 change    start, end, new size          bytes [start, end) of the text became this many bytes. Only if requested,
 *                                             or if late tokens are searched for within segments
 *
 * Sizes of late tokens, and of their white space, are those in the normalized text. Events and bytes are valid until
 * the next call. A buffer that grows moves to the end of the used memory.
 */
const textEvent: u32 = 0;
const endEvent: u32 = 1;
export const tokenEvent: u32 = 2;
export const strippedEvent: u32 = 3;
export const spaceEvent: u32 = 4;
export const changeEvent: u32 = 5;
const eventBytes: u32 = 16;

/** Flags of `openText`. */
const specialAsText: u32 = 1;
const notesChanges: u32 = 2;
const comesInSegments: u32 = 4;
const continuesSection: u32 = 8;

let description: usize = 0;
/** Finds early tokens. Its buffer receives the pieces. */
export let early: Group = changetype<Group>(0);
/** Finds late tokens. Its buffer has the sections if `usesLate`; otherwise the buffer of `early` has them. */
export let late: Group = changetype<Group>(0);
export let normalizes: bool = false;
export let addsSpace: bool = false;
export let isLinewise: bool = false;
let evenIfSpaced: bool = false;
let onlyFirst: bool = false;
let knowsMark: bool = false;

let usesLate: bool = false;
/** The position in the text of the first byte of the buffer of `early`. */
let textBase: u32 = 0;
/** The position in the text where the part that is being normalized begins. */
let normalizedFrom: u32 = 0;
let isNormalizing: bool = false;
/** Whether late tokens are searched for within segments. */
let hasLateEdges: bool = false;
/** Edges in the part of the text that is being normalized, as positions in that part. */
let waitingEdges: Edges = changetype<Edges>(0);
/** The number of bytes so far of the part that is being normalized. */
let inputBytes: i32 = 0;
/** The number of normalized bytes of this part that were emitted. */
let givenBytes: i32 = 0;
/** The number of bytes of the part whose normalized form was emitted. */
let givenInputBytes: i32 = 0;
/** Whether bytes of the current section have been emitted. */
let hasBytes: bool = false;
/**
 * Whether the section (or the line, if `isLinewise`) has begun, so that no space is put before its next bytes. Valid
 * only if `addsSpace`.
 */
let isInside: bool = false;
/** Whether nothing has been emitted since the start of the text; false after a safe cut. Valid only if `addsSpace`. */
let isAtStart: bool = false;

let eventsStart: usize = 0;
let eventsCapacity: u32 = 0;
let eventsSize: u32 = 0;

export { factsOf };

/** Returns the address for a description of `byteCount` bytes (description.ts); 0 if memory runs out. */
export function beginSections(byteCount: u32): usize {
  description = layOutTextModule() ? reserveTable(byteCount) : 0;
  return description;
}

/**
 * Reads the description, and sets up search and normalization. Returns 1; 0 if memory runs out; -1 if the description
 * is invalid.
 */
export function useSections(byteCount: u32): i32 {
  if (!isDescription(description, byteCount)) return -1;
  const records = recordsOf(description);
  const contents = contentsOf(description);
  const earlyCount = earlyCountOf(description);
  const lateCount = tokenCountOf(description) - earlyCount;
  const first = newGroup(description, records, earlyCount, contents);
  const second = newGroup(description, records + earlyCount * recordBytes, lateCount, contents);
  const edges = newEdges();
  if (first === null || second === null || edges === null) return 0;
  early = first;
  late = second;
  waitingEdges = edges;
  const steps = stepCountOf(description);
  normalizes = steps > 0;
  if (normalizes && !useNormalization(stepsOf(description), steps)) return 0;
  addsSpace = (flagsOf(description) & prefixSpaceFlag) !== 0;
  isLinewise = (flagsOf(description) & linewiseFlag) !== 0;
  evenIfSpaced = (flagsOf(description) & evenSpacedFlag) !== 0;
  onlyFirst = (flagsOf(description) & onlyFirstFlag) !== 0;
  knowsMark = (flagsOf(description) & markFlag) !== 0;
  early.keepsCharacters = late.keepsCharacters = u32(knowsMark);
  openText(0);
  return 1;
}

/**
 * Begins a text and discards the previous one. With `specialAsText`, special tokens stay text; if there are several
 * segments, only in the first. With `continuesSection`, the text follows a safe cut (safe-cuts.ts), so it gets no space
 * at its start.
 */
export function openText(flags: u32): void {
  const hasSegments = (flags & comesInSegments) !== 0;
  openGroup(early, (flags & specialAsText) !== 0, hasSegments);
  openGroup(late, (flags & specialAsText) !== 0, hasSegments);
  hasLateEdges = hasSegments && late.isSearched !== 0;
  clearEdges(waitingEdges);
  if (normalizes) openNormalization((flags & notesChanges) !== 0 || hasLateEdges);
  usesLate = normalizes || late.isSearched;
  textBase = 0;
  inputBytes = givenBytes = givenInputBytes = 0;
  isNormalizing = hasBytes = false;
  isInside = (flags & continuesSection) !== 0;
  isAtStart = !isInside;
}

/** Returns the address where the caller writes the next `byteCount` bytes of the text; 0 if memory runs out. */
export function pieceAddress(byteCount: u32): usize {
  eventsSize = 0;
  if (usesLate && isHalfFull(late, 0)) shrink(late);
  if (isHalfFull(early, byteCount)) {
    textBase += shrink(early);
    if (!makeRoom(early, byteCount)) return 0;
  }
  return early.start + early.length;
}

/** Ends a segment. In the next one, special tokens stay text if `keepsSpecial`. Returns false if memory runs out. */
export function endSegment(keepsSpecial: bool): bool {
  return addEdge(early.edges, early.length, u32(keepsSpecial));
}

/**
 * Processes the `byteCount` bytes that were written to `pieceAddress`. `end` is 0 if more text follows, 1 if the text
 * ends, and 2 if a part ends at a safe cut; then the last section gets no `end` event. Returns the number of events, or
 * -1 if memory runs out.
 */
export function takePiece(byteCount: u32, end: u32): i32 {
  early.length += byteCount;
  if (!takeEarly(end !== 0)) return -1;
  if (end !== 0) {
    if (!endGiven(end === 1)) return -1;
    isAtStart = true;
    endSection(early);
    clearEdges(early.edges);
    textBase = -early.length;
  }
  return eventsSize / eventBytes;
}

export function eventsAddress(): usize {
  return eventsStart;
}

export function sectionBytes(): usize {
  return usesLate ? late.start : early.start;
}

/** Returns the number of bytes in all buffers that cannot be emitted before more text arrives. */
export function waitingBytes(): u32 {
  return waitingIn(early) + (usesLate ? waitingIn(late) : 0) + unnormalizedBytes();
}

/** Returns an upper bound of the memory, in bytes, that processing the waiting bytes takes. */
export function waitingNeed(): f64 {
  // Sorting a run of combining marks takes up to 16 times its size. `waitingBytes` includes it once, so 15 times are
  // added.
  return <f64>waitingBytes() + 15.0 * <f64>unnormalizedBytes();
}

/** Returns, for tests, how much the token searches have read (`TokenSearch.readBytes`). */
export function readBytes(): f64 {
  return <f64>early.search.readBytes + <f64>late.search.readBytes;
}

function takeEarly(atEnd: bool): bool {
  if (!early.isSearched) {
    const from = early.done;
    const to = knowsMark && !atEnd ? wholeBefore(early, early.length) : early.length;
    early.done = early.searchPos = to;
    return takeText(from, to, atEnd);
  }
  if (!beginItems(early, atEnd)) return true;
  while (true) {
    const hasToken = nextItem(early, atEnd);
    if (!noteSkipped(early) || !takeText(early.from, early.to, hasToken || atEnd)) return false;
    if (!hasToken) return true;
    if (!endGiven(true) || !noteToken(early)) return false;
  }
}

/**
 * Processes bytes [from, to) of the buffer of `early`, which are text between early tokens. `ends`: an early token or
 * the end of the text follows.
 */
function takeText(from: i32, to: i32, ends: bool): bool {
  const size = <u32>(to - from);
  if (!moveEdgesOn(from, to)) return false;
  if (!normalizes) {
    if (size > 0 && !takeNormalized(early.start + from, size)) return false;
  } else if (size > 0 || (ends && isNormalizing)) {
    if (!isNormalizing) normalizedFrom = textBase + from;
    isNormalizing = !ends;
    inputBytes += size;
    const address = inputAddress(size);
    if (address === 0) return false;
    memory.copy(address, early.start + from, size);
    if (!takeMade(normalize(size, ends))) return false;
  }
  if (!ends || !usesLate) return true;
  if (late.isSearched && !takeLate(true)) return false;
  endSection(late);
  if (hasLateEdges) endEdges();
  return true;
}

/**
 * Removes the edges up to `to` from `early`, because text [from, to) leaves it. With `hasLateEdges`, adds them to
 * `waitingEdges` or, if nothing is normalized, to `late.edges`. An edge before `from` is moved to `from`.
 */
function moveEdgesOn(from: i32, to: i32): bool {
  const edges = early.edges;
  for (; edges.first < edges.count && edgePosition(edges, edges.first) <= to; edges.first++) {
    if (!early.isSearched) edges.next = edges.first + 1;
    if (!hasLateEdges) continue;
    const offset = max(edgePosition(edges, edges.first), from) - from;
    const keepsSpecial = keepsSpecialAfter(edges, edges.first);
    const isAdded = normalizes
      ? addEdge(waitingEdges, inputBytes + offset, keepsSpecial)
      : addEdge(late.edges, late.length + offset, keepsSpecial);
    if (!isAdded) return false;
  }
  return true;
}

/** Moves the waiting edges in the newly normalized text, which has `size` bytes, to `late.edges`. */
function moveWaitingEdges(size: i32): bool {
  const inputEnd = inputBytes - <i32>unnormalizedBytes();
  const log = logAddress();
  const logEnd = log + (loggedCount() << 4);
  let entry = log;
  // What is added to a position in the input to get its position in `late`. It changes after each changed stretch.
  let lead = late.length - givenInputBytes;
  for (; waitingEdges.first < waitingEdges.count; waitingEdges.first++) {
    const position = edgePosition(waitingEdges, waitingEdges.first);
    if (position > inputEnd) break;
    const keepsSpecial = keepsSpecialAfter(waitingEdges, waitingEdges.first);
    for (; entry < logEnd && load<i32>(entry, 4) <= position; entry += 16)
      lead = late.length + load<i32>(entry, 12) - givenBytes - load<i32>(entry, 4);
    if (areEdgesFull(late.edges)) keepNormalized();
    if (entry < logEnd && load<i32>(entry) < position) {
      const start = late.length + load<i32>(entry, 8) - givenBytes;
      const end = late.length + load<i32>(entry, 12) - givenBytes;
      if (!addEdge(late.edges, start, 1)) return false;
      if (areEdgesFull(late.edges)) keepNormalized();
      if (!addEdge(late.edges, end, keepsSpecial)) return false;
    } else if (!addEdge(late.edges, position + lead, keepsSpecial)) return false;
  }
  waitingEdges.next = waitingEdges.first;
  givenBytes += size;
  givenInputBytes = inputEnd;
  return true;
}

/**
 * Ends a section of `late`. The last edge in that section decides whether special tokens stay text in the next section.
 */
function endEdges(): void {
  const edges = waitingEdges.first < waitingEdges.count ? waitingEdges : late.edges;
  if (edges.first < edges.count) late.keepsSpecial = keepsSpecialAfter(edges, edges.count - 1);
  clearEdges(late.edges);
  clearEdges(waitingEdges);
  inputBytes = givenBytes = givenInputBytes = 0;
}

function takeMade(byteCount: i32): bool {
  if (byteCount < 0) return false;
  if (hasLateEdges && !moveWaitingEdges(byteCount)) return false;
  const log = logAddress();
  for (let at = log, end = log + (loggedCount() << 4); at < end; at += 16) {
    const newSize = load<u32>(at, 12) - load<u32>(at, 8);
    if (!note(changeEvent, normalizedFrom + load<u32>(at), normalizedFrom + load<u32>(at, 4), newSize))
      return false;
  }
  return byteCount === 0 || takeNormalized(normalizedAddress(), byteCount);
}

function takeNormalized(address: usize, size: u32): bool {
  if (!usesLate) return giveText(address, size);
  if (normalizes) keepNormalizedFor(size);
  if (!makeRoom(late, size)) return false;
  const to = late.start + late.length;
  memory.copy(to, address, size);
  late.length += size;
  if (late.isSearched) return takeLate(false);
  late.done = late.searchPos = late.length;
  return giveText(to, size);
}

/** Protects the normalized text if the buffer of `late` has to grow, so that the new buffer does not overwrite it. */
function keepNormalizedFor(size: u32): void {
  if (<usize>late.length + size + 64 > late.capacity) keepNormalized();
}

function takeLate(atEnd: bool): bool {
  if (!beginItems(late, atEnd)) return true;
  while (true) {
    const hasToken = nextItem(late, atEnd);
    if (!noteSkipped(late)) return false;
    if (late.from < late.to && !giveText(late.start + late.from, <u32>(late.to - late.from))) return false;
    if (!hasToken) break;
    if (!endGiven(true) || !noteToken(late)) return false;
  }
  late.edges.first = late.edges.next;
  return true;
}

/** Ends the current section. With `ends`, emits its `end` event if bytes of it were emitted. */
function endGiven(ends: bool): bool {
  const isNoted = ends && hasBytes;
  hasBytes = isInside = false;
  return !isNoted || note(endEvent, 0, 0, 0);
}

const space: u32 = 0x20;
const lineFeed: u32 = 0x0a;

/** Emits bytes of a section, and the space before the section or before each of its lines, if one is wanted. */
function giveText(address: usize, size: u32): bool {
  hasBytes = true;
  if (!addsSpace) return noteText(address, size);
  for (const end = address + size; address < end; ) {
    if (!isInside && wantsSpace(address, end) && !note(spaceEvent, 0, 0, 0)) return false;
    isInside = true;
    isAtStart = false;
    let stop = end;
    if (isLinewise) {
      for (stop = address; stop < end && isInside; stop++) isInside = load<u8>(stop) !== lineFeed;
    }
    if (!noteText(address, <u32>(stop - address))) return false;
    address = stop;
  }
  return true;
}

/**
 * Whether a space is put before a section or line that begins with these bytes. With `knowsMark`, a mark (U+2581)
 * counts as a space, and the bytes end with a whole character, so a mark is never divided.
 */
function wantsSpace(address: usize, end: usize): bool {
  if (onlyFirst && !isAtStart) return false;
  if (evenIfSpaced) return true;
  if (load<u8>(address) === space) return false;
  return !(knowsMark && address + 3 <= end && load<u16>(address) === 0x96e2 && load<u8>(address, 2) === 0x81);
}

/** Emits a `text` event, or extends the last one if it is adjacent. */
function noteText(address: usize, size: u32): bool {
  const offset = <u32>(address - sectionBytes());
  if (eventsSize > 0) {
    const last = eventsStart + eventsSize - eventBytes;
    if (load<u32>(last) === textEvent && load<u32>(last, 4) + load<u32>(last, 8) === offset) {
      store<u32>(last, load<u32>(last, 8) + size, 8);
      return true;
    }
  }
  return note(textEvent, offset, size, 0);
}

function noteSkipped(group: Group): bool {
  const size = group.skippedBytes;
  return size === 0 || note(strippedEvent, size, <u32>(group.start + group.from) - size, 0);
}

function noteToken(group: Group): bool {
  const isSpaced = isAtStart && addsSpace && evenIfSpaced && onlyFirst;
  if (isSpaced && (!note(spaceEvent, 0, 0, 0) || !note(endEvent, 0, 0, 0))) return false;
  isAtStart = false;
  const size = <u32>sizeOfToken(group.search, group.token) + group.spaceBytes;
  return note(tokenEvent, idOfToken(group.search, group.token), size, <u32>(group.start + group.to));
}

/** Emits an event; returns false if memory runs out, or the events would exceed 1 GiB. */
function note(kind: u32, a: u32, b: u32, c: u32): bool {
  if (eventsSize === eventsCapacity) {
    keepNormalized();
    const capacity = max(2 * eventsCapacity, leastEvents * eventBytes);
    const start: usize = capacity > 1 << 30 ? 0 : reserveTable(capacity);
    if (start === 0) return false;
    memory.copy(start, eventsStart, eventsSize);
    eventsStart = start;
    eventsCapacity = capacity;
  }
  const at = eventsStart + eventsSize;
  store<u32>(at, kind);
  store<u32>(at, a, 4);
  store<u32>(at, b, 8);
  store<u32>(at, c, 12);
  eventsSize += eventBytes;
  return true;
}

const leastEvents: u32 = isSmallScale ? 2 : 64;
