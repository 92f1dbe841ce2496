import { writeEnds } from "../masks/mask-operators";
import { endsStart, reserveTable, textStart } from "../regions";
import { middleBytesMax } from "../words/word-slots";
import { asked, beginSureCuts, sureCuts } from "./ascii-cuts";
import { addFragments } from "./characters";
import { beginsWithCharacters, canBePartedByBytes, mayHaveMark, mayTouchMark } from "./first-characters";
import { droppedByte, EncodingModel, TokenTable, tokenId, tokenLength, tokenStart } from "./model-layout";
import { firstByteOf, lastByteOf, mayTouchWhole, touchesWhole, wholeTokenCount } from "./whole-tokens";

/**
 * Never-merged cuts. A pretoken may be cut at a position that no token can cross. Its parts together have the same ids
 * as the whole, and are found in the word cache far more often. Such positions are
 *   - between two bytes that are adjacent in no token (`adjacency` of the model), and
 *   - between two characters whose bytes fit no *join*: the bytes where the halves of a merge meet (see `joins`).
 *
 * Only tokens of late merges may cross a cut, because those merges are made later, in the ids of all parts
 * (late-merges.ts).
 *
 * There is no cut where a *whole token* begins or ends: a token that merging does not produce (whole-tokens.ts).
 *
 * If pretokens are words, only long ones are cut, and only next to non-ASCII bytes: shorter words occur repeatedly, so
 * looking for cuts would cost more than it saves. If pretokens are lines (`cutsAscii`), they are cut between ASCII
 * bytes, too.
 *
 *   ARRAY        TYPE      LENGTH             MEANING
 *   places       u8        65536              at right << 8 | left: whether there is a cut between these bytes:
 *                                             `never`, `always` or `byContext`; `unknown`: not computed yet
 *   isWholeEdge  u8        512                1 at b if a whole token begins with byte b, and at 256 + b if one ends
 *                                             with b
 *   pairAnswers  u16       2^pairAnswerBits   cache for two characters of three bytes each: low 15 bits of their hash
 *                                             << 1 | may be cut. A free slot is 0, which also means "not cut" for a
 *                                             pair whose 15 bits are 0; this changes no id
 *   answers      u32,u32   2^answerBits       cache for other pairs of characters: the three bytes before the
 *                                             position; the three bytes after it << 1 | may be cut. In a free slot,
 *                                             all bits are set
 *   finer        u32       finerEndsMax       the ends of pretokens and the cuts, as many at a time as fit
 *   lineEnds     u16       finerEndsMax       if `cutsByMasks`: the indices in `finer` where pretokens end, without
 *                                             the end of the last one
 */
let places: usize = 0;
let isWholeEdge: usize = 0;
let adjacency: usize = 0;
let pairAnswers: usize = 0;
let answers: usize = 0;
let finer: usize = 0;
let lineEnds: usize = 0;

const never: u32 = 0;
/**
 * There is a cut. The value is also the size in bytes of an element of `finer`: adding it to the address of the next
 * element appends the cut without a branch.
 */
const always: u32 = 4;
const unknown: u32 = 1;
/** The two bytes next to the position do not suffice to decide whether there is a cut. */
const byContext: u32 = 2;
/** The bits of the values that need a closer look: `unknown` and `byContext`. */
const undecided: u32 = unknown | byContext;

/**
 * The number of bits of a hash that a slot of `pairAnswers` stores. The slot's index is the other bits, so both
 * together identify the pair of characters.
 */
const pairTagBits: u32 = 15;
/** 2^17 slots, because Chinese text has many pairs of characters. */
const pairAnswerBits: u32 = 32 - pairTagBits;
const answerBits: u32 = isSmallScale ? 2 : 16;
const finerEndsMax: u32 = isSmallScale ? 140 : 1 << 13;
/**
 * The number of elements of `finer` that 64 positions need: 64 ends, and three that `writeEnds` may write after them.
 */
const blockEndsMax: u32 = 67;

/** A value of the model's `cutPlaces`: pretokens are also cut between ASCII characters. */
const everywhere: u32 = 2;
let cutsAscii: bool = false;
/** Whether there are late merges (late-merges.ts), so that pretokens are lines. */
let cutsLines: bool = false;
/** Whether 64 positions are decided at a time (ascii-cuts.ts), in a module with SIMD. */
let cutsByMasks: bool = false;
/** Whether cuts inside a character are forbidden. */
let keepsCharacters: bool = false;

/**
 * The minimum length in bytes of a pretoken that is cut. Pretokens that are lines (`cutsLines`), and all that
 * `nextLineCuts` cuts, may be shorter.
 */
let cutBytesMin: u32 = isSmallScale ? 1 : middleBytesMax + 1;

/** Sets `cutBytesMin`, for tests. */
export function limitCuts(bytesMin: u32): void {
  cutBytesMin = bytesMin;
}

/** Lays out the tables, unless the model has no `joins`. Returns false if memory runs out. */
export function useCuts(model: EncodingModel): bool {
  if (model.joins === 0) return true;
  cutsLines = model.lateRank < model.mergeCount;
  cutsAscii = model.cutPlaces === everywhere || cutsLines;
  places = reserveTable(65536);
  isWholeEdge = reserveTable(512);
  pairAnswers = reserveTable(2 << pairAnswerBits);
  answers = reserveTable(8 << answerBits);
  finer = reserveTable(4 * finerEndsMax);
  cutsByMasks = cutsLines || (cutsAscii && wholeTokenCount() === 0 && endsWordsBeforeSpaces(model));
  if (cutsByMasks) lineEnds = reserveTable(2 * finerEndsMax);
  if (finer === 0 || (cutsByMasks && lineEnds === 0)) return false;
  memory.fill(places, <u8>unknown, 65536);
  memory.fill(answers, 255, 8 << answerBits);
  adjacency = model.adjacency;
  keepsCharacters = beginsWithCharacters(model);
  for (let token: u32 = 0; token < wholeTokenCount(); token++) {
    store<u8>(isWholeEdge + firstByteOf(token), 1);
    store<u8>(isWholeEdge + 256 + lastByteOf(token), 1);
  }
  return true;
}

/** Whether it is certain that no merge crosses a position between a visible ASCII character and a following space. */
function endsWordsBeforeSpaces(model: EncodingModel): bool {
  if (beginsWithCharacters(model)) return false;
  for (let left = space + 1; left < del; left++)
    if (load<u8>(model.adjacency + ((left << 8) | space)) !== 0) return false;
  return true;
}

/** Whether pretokens are cut. */
export function cutsPretokens(): bool {
  return finer !== 0;
}

/** Returns whether there is a cut between two bytes: `never`, `always` or `byContext`. */
function placeOf(left: u32, right: u32): u32 {
  const place = <u32>load<u8>(places + ((right << 8) | left));
  return place !== unknown ? place : findPlace(left, right);
}

function findPlace(left: u32, right: u32): u32 {
  let place = never;
  if (keepsCharacters && ((right & 0xc0) === 0x80 || mayTouchMark(left, right))) {
    if (left >= 0x80 && right >= 0xc0) place = byContext;
  } else if (cutsAscii || (left | right) >= 0x80) {
    const isJoined = load<u8>(adjacency + ((left << 8) | right)) !== 0;
    const isEdge = load<u8>(isWholeEdge + right) !== 0 || load<u8>(isWholeEdge + 256 + left) !== 0;
    if (!isJoined) place = isEdge ? byContext : always;
    // The position is between two characters if the right byte is a lead byte: c0 or more.
    else if (left >= 0x80 && right >= 0xc0) place = byContext;
  }
  store<u8>(places + ((right << 8) | left), place);
  return place;
}

// How far cutting has come between two calls of `nextCuts`: the ends before index `next` are done, and so are the bytes
// before `pos`. The next pretoken to cut ends at ends[nextCut].
let next: u32 = 0;
let nextCut: u32 = 0;
let endCount: u32 = 0;
let pos: u32 = 0;
/** The address of the ends that the last `nextCuts` returned. */
let cutEnds: usize = 0;
/** The end of `lineEnds`. */
export let lineEndsEnd: usize = 0;

/** Begins to cut the pretokens between the `count` ends from index `first` on. `count` is at least 2. */
export function beginCuts(first: u32, count: u32): void {
  next = first + 1;
  endCount = first + count;
  pos = endAt(first);
  if (ASC_FEATURE_SIMD) {
    if (cutsByMasks) return;
  }
  nextCut = findPretokenToCut(next);
}

/**
 * Lists the next positions at `cutEndsAddress`: where the first part starts, then the ends of pretokens and the cuts
 * inside them, ascending. Returns how many positions these are; 0 after the last pretoken.
 */
export function nextCuts(): u32 {
  if (next === endCount) return 0;
  lineEndsEnd = lineEnds;
  if (ASC_FEATURE_SIMD) {
    if (cutsByMasks) return nextLineCuts();
  }
  if (nextCut === endCount && pos === endAt(next - 1)) {
    // No more cuts: returns the remaining ends unchanged.
    cutEnds = endsStart + ((next - 1) << 2);
    const count = endCount - next + 1;
    next = endCount;
    return count;
  }
  cutEnds = finer;
  store<u32>(finer, pos);
  let count: u32 = 1;
  while (next < endCount && count < finerEndsMax) {
    if (next < nextCut) {
      const copied = min(nextCut - next, finerEndsMax - count);
      memory.copy(finer + (count << 2), endsStart + (next << 2), copied << 2);
      count += copied;
      next += copied;
      pos = endAt(next - 1);
      continue;
    }
    const end = endAt(next);
    count = cutPretoken(endAt(next - 1), end, count);
    if (count === finerEndsMax) break;
    if (cutsLines && next + 1 < endCount) listLineEnd(count);
    store<u32>(finer + (count++ << 2), end);
    pos = end;
    next++;
    nextCut = findPretokenToCut(next);
  }
  return count;
}

/**
 * Does the same as `nextCuts`, 64 positions at a time, if `cutsByMasks`. Every pretoken is cut, whatever its length.
 */
function nextLineCuts(): u32 {
  const last = endAt(endCount - 1);
  const full = finer + 4 * (finerEndsMax - blockEndsMax);
  cutEnds = finer;
  store<u32>(finer, pos);
  let cut = finer + 4;
  let at = pos + 1;
  beginSureCuts();
  for (; next < endCount && cut <= full; at += 64) {
    let ends: u64 = 0;
    for (let end = endAt(next); end < at + 64; end = endAt(next)) {
      ends |= (<u64>1) << (end - at);
      if (++next === endCount) break;
    }
    const sure = sureCuts(textStart + at);
    const inside = last - at < 64 ? ((<u64>1) << (last - at)) - 1 : -1;
    const cuts = ((sure | findCuts(at, asked & inside & ~ends)) & inside) | ends;
    for (let end = ends; end !== 0; end &= end - 1) {
      listLineEnd(<u32>((cut - finer) >> 2) + <u32>popcnt(cuts & (end - 1) & ~end));
    }
    cut = writeEnds(cut, at, cuts);
  }
  if (next === endCount) lineEndsEnd -= 2;
  pos = load<u32>(cut - 4);
  return <u32>((cut - finer) >> 2);
}

/** Notes that a pretoken ends at an index in `finer`. */
function listLineEnd(index: u32): void {
  store<u16>(lineEndsEnd, <u16>index);
  lineEndsEnd += 2;
}

/**
 * Looks up the positions whose bits are set in `asked`, and returns the bits of those where there is a cut. Bit i is
 * that of position `at` + i.
 */
function findCuts(at: u32, asked: u64): u64 {
  const text = textStart + at - 1;
  const known = places;
  let cuts: u64 = 0;
  for (; asked !== 0; asked &= asked - 1) {
    const i = ctz(asked);
    const place = <u32>load<u8>(known + <usize>load<u16>(text + <usize>i));
    if ((place & undecided) === 0) cuts |= (<u64>(place >> 2)) << i;
    else if (isCutInLine(at + <u32>i)) cuts |= (<u64>1) << i;
  }
  return cuts;
}

/** Whether there is a cut before byte `at`, which is inside a pretoken. That pretoken ends at ends[next] or earlier. */
function isCutInLine(at: u32): bool {
  let end = min(next, endCount - 1);
  while (endAt(end - 1) > at) end--;
  return isCut(endAt(end - 1), at, endAt(end));
}

/** Returns the index of the end of the next pretoken to cut, from `index` on; `endCount` if there is none. */
function findPretokenToCut(index: u32): u32 {
  if (cutsLines) return index;
  const stop = endsStart + (endCount << 2);
  const bytesMin = cutBytesMin;
  let at = endsStart + (index << 2);
  let start = load<u32>(at - 4);
  for (; at < stop; at += 4) {
    const end = load<u32>(at);
    if (end - start >= bytesMin && (cutsAscii || findNonAscii(start, end) < end)) break;
    start = end;
  }
  return <u32>((at - endsStart) >> 2);
}

export function cutEndsAddress(): usize {
  return cutEnds;
}

export function lineEndsAddress(): usize {
  return lineEnds;
}

function endAt(index: u32): u32 {
  return load<u32>(endsStart + (index << 2));
}

/**
 * Returns the position of the first byte of [from, stop) that is not ASCII; `stop` if there is none. Reads up to 15
 * bytes after `stop`.
 */
function findNonAscii(from: u32, stop: u32): u32 {
  for (let at = from; at < stop; at += 16) {
    const first = load<u64>(textStart + at) & highBits;
    const second = load<u64>(textStart + at, 8) & highBits;
    if ((first | second) === 0) continue;
    const found = at + <u32>(first !== 0 ? ctz(first) >> 3 : 8 + (ctz(second) >> 3));
    return min(found, stop);
  }
  return stop;
}

const highBits: u64 = 0x8080808080808080;

/**
 * Appends the cuts after `pos` in the pretoken [start, end) to `finer`, which has `count` elements, and advances `pos`.
 * Returns the new number of elements. If that is `finerEndsMax`, there may be more cuts.
 */
function cutPretoken(start: u32, end: u32, count: u32): u32 {
  const text = textStart;
  const known = places;
  const cutsEnd = finer + 4 * finerEndsMax;
  // Unless `cutsAscii`, cuts are next to non-ASCII bytes: skips to the first such byte.
  let at = cutsAscii ? pos + 1 : max(pos + 1, findNonAscii(pos, end));
  let cut = finer + (count << 2);
  while (at < end && cut < cutsEnd) {
    // Up to `stop`, the cuts fit into `finer` even if there is one before each byte.
    const stop = min(end, at + <u32>((cutsEnd - cut) >> 2));
    // Looks up four positions at a time: in ASCII, the two bytes next to a position nearly always decide.
    for (; cutsAscii && at + 4 <= stop; at += 4) {
      const bytes = load<u64>(text + at - 1);
      const place0 = <u32>load<u8>(known + <usize>(bytes & 0xffff));
      const place1 = <u32>load<u8>(known + <usize>((bytes >> 8) & 0xffff));
      const place2 = <u32>load<u8>(known + <usize>((bytes >> 16) & 0xffff));
      const place3 = <u32>load<u8>(known + <usize>((bytes >> 24) & 0xffff));
      if (((place0 | place1 | place2 | place3) & undecided) !== 0) break;
      store<u32>(cut, at);
      cut += place0;
      store<u32>(cut, at + 1);
      cut += place1;
      store<u32>(cut, at + 2);
      cut += place2;
      store<u32>(cut, at + 3);
      cut += place3;
    }
    for (const next = cutsAscii ? min(stop, at + 4) : stop; at < next; at++) {
      // Reads both bytes in one load; the left byte is the lowest one.
      const place = <u32>load<u8>(known + <usize>load<u16>(text + at - 1));
      store<u32>(cut, at);
      if ((place & undecided) === 0) cut += place;
      else if (isCut(start, at, end)) cut += 4;
    }
  }
  // If `finer` is full, at - 1 is the last cut, and the next call continues there. If `finer` is not full, the caller
  // sets `pos`.
  pos = at - 1;
  return <u32>((cut - finer) >> 2);
}

/** Whether there is a cut before `at` in the pretoken [start, end). */
function isCut(start: u32, at: u32, end: u32): bool {
  const left = <u32>load<u8>(textStart + at - 1);
  const right = <u32>load<u8>(textStart + at);
  const place = placeOf(left, right);
  // Between two non-ASCII characters, `mayPart` looks at more bytes. In all other cases, `byContext` means that a whole
  // token may begin or end here, so there is no cut.
  if (place === byContext && right >= 0xc0 && left >= 0x80) return mayPart(start, at, end);
  return place === always;
}

/** Whether the pretoken [start, end) may be cut between the characters on both sides of `at`. */
function mayPart(start: u32, at: u32, end: u32): bool {
  const here = textStart + at;
  // Bytes from E0 to EF begin characters of three bytes. Subtle: the left character is looked for only inside the
  // pretoken. A pretoken of two or more bytes is valid UTF-8, but the text before it may not be.
  const areThreeBytes = load<u8>(here) >> 4 === 0xe && at - start >= 3 && load<u8>(here - 3) >> 4 === 0xe;
  const answer = areThreeBytes ? answerForPair(here) : answerFor(here, at);
  if (answer !== byContext) return answer === 1;
  return !touchesWhole(textStart + start, here, textStart + end);
}

/** Like `answerFor`, for two characters of three bytes each. These six bytes alone decide the answer. */
function answerForPair(here: usize): u32 {
  const characters = (threeByteCharacter(here - 3) << 16) | threeByteCharacter(here);
  const hash = characters * 0x9e3779b1;
  const slot = pairAnswers + ((hash >> (32 - pairAnswerBits)) << 1);
  const tag = hash & ((1 << pairTagBits) - 1);
  const known = <u32>load<u16>(slot);
  if (known >> 1 === tag) return known & 1;
  const answer = findAnswer(threeBytes(here - 3), threeBytes(here));
  if (answer !== byContext) store<u16>(slot, (tag << 1) | answer);
  return answer;
}

/** Returns the 16 payload bits of a character of three bytes. */
function threeByteCharacter(at: usize): u32 {
  return ((<u32>load<u8>(at) & 15) << 12) | ((<u32>load<u8>(at, 1) & 63) << 6) | (<u32>load<u8>(at, 2) & 63);
}

/**
 * Returns 1 if the three bytes on each side of `here` allow a cut. Returns 0 if they do not, or if fewer than three
 * bytes precede `here`. Returns `byContext` if more bytes must be compared, because a whole token may begin or end at
 * `here`. May read bytes outside the pretoken. These can only prevent a cut, which changes no id.
 */
function answerFor(here: usize, at: u32): u32 {
  if (at < 3) return 0;
  const left = threeBytes(here - 3);
  const right = threeBytes(here);
  const hash = (left * 0x9e3779b1 + right) * 0x85ebca77;
  const slot = answers + ((hash >> (32 - answerBits)) << 3);
  const known = load<u32>(slot, 4);
  if (load<u32>(slot) === left && known >> 1 === right) return known & 1;
  const answer = findAnswer(left, right);
  if (answer !== byContext) {
    store<u32>(slot, left);
    store<u32>(slot, (right << 1) | answer, 4);
  }
  return answer;
}

/** Computes what `answerFor` returns for the three bytes on each side, without the cache. */
function findAnswer(left: u32, right: u32): u32 {
  if (mayHaveMark(left, right) || fitsJoin(left, right)) return 0;
  return mayTouchWhole(left, right) ? byContext : 1;
}

function threeBytes(at: usize): u32 {
  return ((<u32>load<u8>(at)) << 16) | ((<u32>load<u8>(at, 1)) << 8) | load<u8>(at, 2);
}

/**
 * Joins: the bytes around the point where the two halves of a merge meet. A merge can cross a position in a text only
 * if the bytes on both sides equal those of some join. So where no join fits, no token crosses.
 *
 * A join has three bytes on each side, or fewer if a half is shorter. A merge adds one join, where its halves meet; the
 * joins inside the halves come from the merges that made them. A whole token (whole-tokens.ts) is not made by merges,
 * so it adds a join for every position inside it.
 *
 *   ARRAY   TYPE   LENGTH       MEANING
 *   joins   u32    2^joinBits   a Bloom filter of the joins between non-ASCII characters: two bits for each, in the
 *                               u32 selected by the top bits of its hash; at most two joins per u32 on average. A
 *                               false positive prevents a cut and changes no id
 *
 * A join is hashed by its two *edges*, the left half's last bytes and the right half's first bytes. An edge is up to
 * three bytes, the first one highest, and their number << 24. "é" is c3 a9. The join of "é" and "é" has the edges 2 <<
 * 24 | c3a9 and 2 << 24 | c3a9.
 */
let joins: usize = 0;
let joinBits: u32 = 0;

const multiplier0: u32 = 0x9e3779b1;
const multiplier1: u32 = 0x85ebca77;

const contextBytes: u32 = 3;
const bytesMask: u32 = 0xffffff;

/** Reserves memory for the joins of all merges and whole tokens. Returns false if memory runs out. */
export function reserveJoins(model: EncodingModel): bool {
  const whole = model.wholeTokens;
  const wholeBytes = whole.count === 0 ? 0 : load<u32>(whole.starts + (whole.count << 2));
  const joinCount = <u64>model.mergeCount + wholeBytes;
  joinBits = 1;
  while ((<u64>2) << joinBits < joinCount) joinBits++;
  joins = reserveTable((<usize>4) << joinBits);
  model.joins = joins;
  return joins !== 0;
}

/**
 * Adds the joins of whole tokens and of all merges that are not late; with `mayBeLate`, it first finds the late merges.
 * Returns false, and adds no joins, if `findEdges` returns false. `firsts` and `lasts` are scratch for the edges of
 * each id.
 */
export function addJoins(model: EncodingModel, firsts: usize, lasts: usize, mayBeLate: bool): bool {
  if (!findEdges(model, firsts, lasts)) return false;
  if (mayBeLate) findLateRank(model, firsts, lasts);
  for (let rank: u32 = 0; rank < model.lateRank; rank++) {
    const leftEdge = load<u32>(lasts + (load<i32>(model.lefts + (rank << 2)) << 2));
    const rightEdge = load<u32>(firsts + (load<i32>(model.rights + (rank << 2)) << 2));
    if (leftEdge === 0 || rightEdge === 0) continue;
    addJoin(model.adjacency, leftEdge, rightEdge);
    addFragments(rank, leftEdge, rightEdge);
  }
  const whole = model.wholeTokens;
  for (let token: u32 = 0; token < whole.count; token++) {
    const start = tokenStart(whole, token);
    const length = tokenLength(whole, token);
    for (let i: u32 = 1; i < length; i++) {
      const before = min(i, contextBytes);
      const left = edgeOf(start + i - before, before);
      addJoin(model.adjacency, left, edgeOf(start + i, min(length - i, contextBytes)));
    }
  }
  return true;
}

const space: u32 = 0x20;
const del: u32 = 0x7f;

/** Sets `lateRank` of the model to the lowest rank whose merge crosses the end of a word into a space. */
function findLateRank(model: EncodingModel, firsts: usize, lasts: usize): void {
  for (let rank: u32 = 0; rank < model.mergeCount; rank++) {
    const left = load<u32>(lasts + (load<i32>(model.lefts + (rank << 2)) << 2));
    const right = load<u32>(firsts + (load<i32>(model.rights + (rank << 2)) << 2));
    // Skips left halves that end in white space or a control character. Also skips those that end in a non-ASCII byte,
    // because even ordinary tokenizers merge Unicode's spaces with a following space.
    if ((left & 255) <= space || (left & 255) >= del || firstByte(right) !== space) continue;
    model.lateRank = rank;
    return;
  }
}

/** Returns the first byte of an edge. */
function firstByte(edge: u32): u32 {
  return (edge & bytesMask) >> (8 * ((edge >> 24) - 1));
}

function edgeOf(start: usize, length: u32): u32 {
  let edge: u32 = 0;
  for (let i: u32 = 0; i < length; i++) edge = (edge << 8) | load<u8>(start + i);
  return edge | (length << 24);
}

/**
 * Writes the edges of the token of each id; 0 if merging cannot make the id. Returns false if the bytes of a text do
 * not determine which ids are adjacent. There are three such cases: bytes share an id (but if merging begins with
 * characters, they may share the id of the unknown token); merging begins with bytes, and some byte has no id; or
 * unknown tokens are fused.
 */
function findEdges(model: EncodingModel, firsts: usize, lasts: usize): bool {
  memory.fill(firsts, 0, <usize>4 * model.idLimit);
  memory.fill(lasts, 0, <usize>4 * model.idLimit);
  const isFirst = beginsWithCharacters(model);
  if (isFirst && !canBePartedByBytes(model)) return false;
  for (let byte: u32 = 0; byte < 256; byte++) {
    const id = load<i32>(model.byteIds + (byte << 2));
    // No merge contains the unknown token, or a byte without an id.
    if (isFirst && (id === droppedByte || id === model.unknownId)) continue;
    if (id === droppedByte || load<u32>(firsts + (id << 2)) !== 0) return false;
    store<u32>(firsts + (id << 2), (1 << 24) | byte);
    store<u32>(lasts + (id << 2), (1 << 24) | byte);
  }
  findEdgesOfCharacters(model.characters, firsts, lasts);
  // A merge may be listed before the merges that make its halves. So the loop repeats until all edges are known, or a
  // pass finds no new ones.
  for (let isOpen = true, isNew = true; isOpen && isNew; ) {
    isOpen = false;
    isNew = false;
    for (let rank: u32 = 0; rank < model.mergeCount; rank++) {
      const id = load<i32>(model.mergedIds + (rank << 2));
      if (load<u32>(firsts + (id << 2)) !== 0) continue;
      const left = load<i32>(model.lefts + (rank << 2)) << 2;
      const right = load<i32>(model.rights + (rank << 2)) << 2;
      if (load<u32>(firsts + left) === 0 || load<u32>(firsts + right) === 0) {
        isOpen = true;
        continue;
      }
      store<u32>(firsts + (id << 2), joinFirst(load<u32>(firsts + left), load<u32>(firsts + right)));
      store<u32>(lasts + (id << 2), joinLast(load<u32>(lasts + left), load<u32>(lasts + right)));
      isNew = true;
    }
  }
  return true;
}

/**
 * Writes the edges of the tokens of characters. If the mark U+2581 has the id of a space (first-characters.ts), that id
 * keeps the edges of the space.
 */
function findEdgesOfCharacters(characters: TokenTable, firsts: usize, lasts: usize): void {
  for (let token: u32 = 0; token < characters.count; token++) {
    const at = (<u32>tokenId(characters, token)) << 2;
    if (load<u32>(firsts + at) !== 0) continue;
    const start = tokenStart(characters, token);
    const length = tokenLength(characters, token);
    const count = min(length, contextBytes);
    store<u32>(firsts + at, edgeOf(start, count));
    store<u32>(lasts + at, edgeOf(start + length - count, count));
  }
}

/** Returns the first bytes of the token that two halves make, given the first bytes of each half, all as edges. */
function joinFirst(left: u32, right: u32): u32 {
  const leftCount = left >> 24;
  const takenCount = min(contextBytes - leftCount, right >> 24);
  if (takenCount === 0) return left;
  const taken = (right & bytesMask) >> (8 * ((right >> 24) - takenCount));
  return ((left & bytesMask) << (8 * takenCount)) | taken | ((leftCount + takenCount) << 24);
}

/** Returns the last bytes of the token that two halves make, given the last bytes of each half, all as edges. */
function joinLast(left: u32, right: u32): u32 {
  const rightCount = right >> 24;
  const takenCount = min(contextBytes - rightCount, left >> 24);
  if (takenCount === 0) return right;
  const taken = left & ((1 << (8 * takenCount)) - 1);
  return (taken << (8 * rightCount)) | (right & bytesMask) | ((rightCount + takenCount) << 24);
}

function addJoin(adjacency: usize, left: u32, right: u32): void {
  const last = left & 255;
  const first = firstByte(right);
  const at = adjacency + ((last << 8) | first);
  const sizes: u32 = (1 << ((left >> 24) - 1)) | (1 << (2 + (right >> 24)));
  store<u8>(at, load<u8>(at) | <u8>sizes);
  // Only joins between two non-ASCII characters are looked up. In these, the right byte is a lead byte.
  if (last < 0x80 || first < 0xc0) return;
  const hash = hashOf(left, right);
  store<u32>(wordOf(hash), load<u32>(wordOf(hash)) | bitsOf(hash));
}

function hashOf(left: u32, right: u32): u32 {
  return (left * multiplier0 + right) * multiplier1;
}

function wordOf(hash: u32): usize {
  return joins + ((hash >> (32 - joinBits)) << 2);
}

function bitsOf(hash: u32): u32 {
  return (1 << ((hash >> 4) & 31)) | (1 << ((hash >> 9) & 31));
}

/**
 * Whether some join fits a position. `left` is the three bytes before the position, the last one lowest; `right` is the
 * three bytes after it, the first one highest.
 */
function fitsJoin(left: u32, right: u32): bool {
  const sizes = <u32>load<u8>(adjacency + (((left & 255) << 8) | (right >> 16)));
  for (let leftCount = contextBytes; leftCount > 0; leftCount--) {
    if (((sizes >> (leftCount - 1)) & 1) === 0) continue;
    const leftEdge = (left & ((1 << (8 * leftCount)) - 1)) | (leftCount << 24);
    for (let rightCount = contextBytes; rightCount > 0; rightCount--) {
      if (((sizes >> (2 + rightCount)) & 1) === 0) continue;
      const rightEdge = (right >> (8 * (contextBytes - rightCount))) | (rightCount << 24);
      if (hasJoin(leftEdge, rightEdge)) return true;
    }
  }
  return false;
}

function hasJoin(left: u32, right: u32): bool {
  const hash = hashOf(left, right);
  return (~load<u32>(wordOf(hash)) & bitsOf(hash)) === 0;
}
