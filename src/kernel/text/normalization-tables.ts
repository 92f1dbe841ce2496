import { fixedEnd, keepUpTo, reserveTable, reserveTo } from "../regions";
import { changeWords, normalizationData } from "./normalization-data";

/**
 * The effect of a list of normalization steps on each character, unpacked from Unicode's data.
 *
 *   ARRAY        TYPE       LENGTH         MEANING
 *   targets      u32        targetMax      what the last character read from `normalizationData` becomes; after that,
 *                                          code points of earlier characters
 *   tries        u16        trieLength     for each of four tries: the number of the block for each 128 code points
 *   changes      u32        changeWords+1  for each replacement of a character: its number of code points, then these
 *                                          code points. Word 0 is unused
 *   pairs        u32[3]     pairSlots      (first, second, composite), at a hash of the first two; composite 0: empty
 *                                          slot
 *   blocks       u16[128]   blockCount     values of the tries. Block 0 has only zeros, and all tries share it
 *
 *   TRIE         VALUE OF A CODE POINT
 *   facts        bits 0 to 7: rank of its combining class among all classes, from 1 on; 0: a starter.
 *                bits 8 to 11: constants below
 *   canonical    index in `changes` of its full canonical decomposition, or 0
 *   compatible   likewise of its full compatibility decomposition, if it is different
 *   lower        likewise of its lower case, except for ASCII
 *
 * Hangul syllables follow the formula of the Unicode Standard, section 3.12; only `facts` has entries for them.
 *
 * `normalizationData` is the packed form, a sequence of numbers:
 *
 *   classes      the number of runs; for each run of consecutive marks of one class: the gap to the previous run, the
 *                run's length, the class's rank
 *   canonical, compatible, lower
 *                the number of characters; then, in ascending order, an entry for each character, or one for several
 *                characters whose entries would be equal:
 *                  - its code point minus that of the previous character
 *                  - bit 0: NFC leaves the character unchanged; bit 1: the entry is for several characters, and the
 *                    next number says how many; other bits: the number of code points that the character becomes
 *                  - for each code point that it becomes: the difference from the code point at the same place in what
 *                    an earlier character becomes, in zigzag coding. The earlier character is the nearest one in the
 *                    list that has a code point at this place. Without one, the difference is from 0
 */
const targetMax: u32 = 32;

/** Steps, numbered as in `stepNames` of src/text/normalization.ts. */
export const nfc: u32 = 0;
export const nfd: u32 = 1;
export const nfkc: u32 = 2;
export const nfkd: u32 = 3;
export const lowercase: u32 = 4;

export const classMask: u32 = 0xff;
/**
 * Some step changes the character, whatever is next to it. ASCII letters lack this bit and `decomposesBit`, because
 * normalize.ts converts them to lower case itself.
 */
export const changesBit: u32 = 1 << 8;
/** The character may be composed with a character before it. */
export const joinsBit: u32 = 1 << 9;
/**
 * There is no boundary before the character (normalize.ts): it is a mark, may be composed with a character before it,
 * or becomes text that begins with such a character.
 */
export const noBoundaryBit: u32 = 1 << 10;
/** The character has a decomposition or lower case that some step may use. */
export const decomposesBit: u32 = 1 << 11;

const firstSyllable: u32 = 0xac00;
const syllableCount: u32 = 11172;
const firstLeading: u32 = 0x1100;
const leadingCount: u32 = 19;
const firstVowel: u32 = 0x1161;
const vowelCount: u32 = 21;
/** The code point before the first trailing consonant, because the formula uses index 0 for no trailing consonant. */
const noTrailing: u32 = 0x11a7;
const trailingCount: u32 = 28;

const trieLength: u32 = 0x110000 >> 7;
const pairSlotBits: u32 = 11;
const pairSlots: u32 = 1 << pairSlotBits;
const pairBytes: u32 = 12;
const blockBytes: u32 = 256;

export let stepsStart: usize = 0;
let targets: usize = 0;
let facts: usize = 0;
let canonical: usize = 0;
let compatible: usize = 0;
let lower: usize = 0;
let changes: usize = 0;
let changeCount: u32 = 1;
let pairs: usize = 0;
let blocks: usize = 0;
let blockCount: u32 = 1;
/** Whether a step converts the text to lower case. */
export let lowers: bool = false;

/**
 * Unpacks the tables for the `count` steps at `steps`, a byte each, which must stay in memory. Returns false if memory
 * runs out.
 */
export function makeTables(steps: usize, count: u32): bool {
  stepsStart = steps;
  targets = reserveTable(4 * targetMax + 4 * 2 * trieLength + 4 * (changeWords + 1) + pairBytes * pairSlots);
  if (targets === 0) return false;
  facts = targets + 4 * targetMax;
  canonical = facts + 2 * trieLength;
  compatible = canonical + 2 * trieLength;
  lower = compatible + 2 * trieLength;
  changes = lower + 2 * trieLength;
  pairs = changes + 4 * (changeWords + 1);
  blocks = (fixedEnd + 63) & ~63;
  if (!reserveTo(<u64>blocks + blockBytes)) return false;
  let kinds: u32 = 0;
  for (let i: u32 = 0; i < count; i++) kinds |= 1 << load<u8>(steps + i);
  const composes = (kinds & ((1 << nfc) | (1 << nfkc))) !== 0;
  const onlyDecomposes = (kinds & ((1 << nfd) | (1 << nfkd))) !== 0;
  const isCompatible = (kinds & ((1 << nfkc) | (1 << nfkd))) !== 0;
  lowers = (kinds & (1 << lowercase)) !== 0;
  pos = normalizationData;
  const isMade =
    readClasses() &&
    readCanonical(composes || onlyDecomposes, onlyDecomposes) &&
    readChanges(compatible, isCompatible) &&
    readChanges(lower, lowers) &&
    (!onlyDecomposes || setBits(firstSyllable, syllableCount, changesBit | decomposesBit));
  if (!isMade) return false;
  markBoundaries();
  if (!composes) clearJoins();
  keepUpTo(blocks + blockCount * blockBytes);
  return true;
}

/** Returns the facts about a character: its value in the trie `facts`. */
export function factsOf(codePoint: u32): u32 {
  return lookUp(facts, codePoint);
}

/**
 * Returns the address of the entry in `changes` that says what a character becomes in a step. Returns 0 if there is no
 * entry, as for Hangul syllables and ASCII letters.
 */
export function changeBy(step: u32, codePoint: u32): usize {
  let index: u32 = 0;
  if (step === lowercase) index = lookUp(lower, codePoint);
  else {
    if (step === nfkc || step === nfkd) index = lookUp(compatible, codePoint);
    if (index === 0) index = lookUp(canonical, codePoint);
  }
  return index === 0 ? 0 : changes + (index << 2);
}

/** Returns the index of a Hangul syllable; `syllableCount` or more if the character is not one. */
export function syllableOf(codePoint: u32): u32 {
  return codePoint - firstSyllable;
}

export function isSyllable(syllable: u32): bool {
  return syllable < syllableCount;
}

/** Writes the two or three letters (jamo) of a Hangul syllable, given by its index. Returns their number. */
export function writeLetters(syllable: u32, to: usize): u32 {
  const trailing = syllable % trailingCount;
  store<u32>(to, firstLeading + syllable / (vowelCount * trailingCount));
  store<u32>(to, firstVowel + ((syllable / trailingCount) % vowelCount), 4);
  if (trailing === 0) return 2;
  store<u32>(to, noTrailing + trailing, 8);
  return 3;
}

/** Returns the primary composite of two characters, or 0. */
export function compositeOf(first: u32, second: u32): u32 {
  const leading = first - firstLeading;
  const vowel = second - firstVowel;
  if (leading < leadingCount && vowel < vowelCount)
    return firstSyllable + (leading * vowelCount + vowel) * trailingCount;
  const syllable = first - firstSyllable;
  const trailing = second - noTrailing;
  if (syllable < syllableCount && syllable % trailingCount === 0 && trailing - 1 < trailingCount - 1)
    return first + trailing;
  return load<u32>(pairSlotOf(first, second), 8);
}

/** Returns the address of the slot with a pair, or of the empty slot where it belongs. */
function pairSlotOf(first: u32, second: u32): usize {
  let slot = ((first * 0x9e3779b1) ^ (second * 0x85ebca6b)) >> (32 - pairSlotBits);
  let at = pairs + slot * pairBytes;
  while (load<u32>(at, 8) !== 0 && (load<u32>(at) !== first || load<u32>(at, 4) !== second)) {
    slot = (slot + 1) & (pairSlots - 1);
    at = pairs + slot * pairBytes;
  }
  return at;
}

function lookUp(trie: usize, codePoint: u32): u32 {
  const block = <u32>load<u16>(trie + ((codePoint >> 7) << 1));
  return load<u16>(blocks + block * blockBytes + ((codePoint & 127) << 1));
}

/**
 * Returns the address of a character's value in a trie, to write to. If the character is in the shared block 0,
 * allocates a block for it first. Returns 0 if memory runs out.
 */
function ownValue(trie: usize, codePoint: u32): usize {
  const entry = trie + ((codePoint >> 7) << 1);
  if (load<u16>(entry) === 0) {
    if (!reserveTo(blocks + (blockCount + 1) * blockBytes)) return 0;
    store<u16>(entry, <u16>blockCount);
    blockCount++;
  }
  return blocks + <u32>load<u16>(entry) * blockBytes + ((codePoint & 127) << 1);
}

/** Sets bits in the facts about `count` characters from `codePoint` on. Returns false if memory runs out. */
function setBits(codePoint: u32, count: u32, bits: u32): bool {
  for (const end = codePoint + count; codePoint < end; codePoint++) {
    const at = ownValue(facts, codePoint);
    if (at === 0) return false;
    store<u16>(at, <u16>(load<u16>(at) | bits));
  }
  return true;
}

/** The address where `normalizationData` is being read. */
let pos: usize = 0;

function readNumber(): u32 {
  let byte = <u32>load<u8>(pos++);
  let number = byte & 127;
  for (let shift: u32 = 7; byte >= 128; shift += 7) {
    byte = <u32>load<u8>(pos++);
    number |= (byte & 127) << shift;
  }
  return number;
}

function readClasses(): bool {
  let codePoint: u32 = 0;
  for (let count = readNumber(); count > 0; count--) {
    codePoint += readNumber();
    const length = readNumber();
    if (!setBits(codePoint, length, readNumber())) return false;
    codePoint += length;
  }
  return true;
}

/** The character of the entry that was read last from a list of changes. */
let codePoint: u32 = 0;
/** The number of code points that it becomes, which are in `targets`. */
let targetCount: u32 = 0;
/** Whether NFC leaves that character unchanged. */
let staysInNfc: bool = false;
/** The number of characters of the list that have not been read yet. */
let entriesLeft: u32 = 0;
/** How many of the next entries have the same gap and the same differences as the last one. */
let repeatsLeft: u32 = 0;
/** The difference between the code point of an entry and that of the previous one. */
let gap: u32 = 0;
/** The address of the differences of the last entry. Entries that repeat it read them again. */
let differencesPos: usize = 0;

function beginEntries(): void {
  memory.fill(targets, 0, 4 * targetMax);
  codePoint = 0;
  repeatsLeft = 0;
  entriesLeft = readNumber();
}

/** Reads the next entry of a list. Returns false at the end. */
function readEntry(): bool {
  if (entriesLeft === 0) return false;
  entriesLeft--;
  if (repeatsLeft > 0) pos = differencesPos;
  else {
    gap = readNumber();
    const head = readNumber();
    targetCount = head >> 2;
    staysInNfc = (head & 1) !== 0;
    repeatsLeft = (head & 2) !== 0 ? readNumber() : 1;
    differencesPos = pos;
  }
  repeatsLeft--;
  codePoint += gap;
  for (let at = targets, end = targets + (targetCount << 2); at < end; at += 4) {
    const zigzag = readNumber();
    store<u32>(at, load<u32>(at) + ((zigzag >> 1) ^ (0 - (zigzag & 1))));
  }
  return true;
}

/**
 * Reads the pairs that compose and, with `isUsed`, the canonical decompositions. `changesAll`: some step also changes
 * characters that NFC leaves unchanged. Returns false if memory runs out.
 */
function readCanonical(isUsed: bool, changesAll: bool): bool {
  const start = pos;
  if (!setBits(firstVowel, vowelCount, joinsBit)) return false;
  if (!setBits(noTrailing + 1, trailingCount - 1, joinsBit)) return false;
  // To find the pair of a decomposition, all its characters but the last are composed. That needs the pairs of shorter
  // decompositions, so shorter decompositions are read first.
  for (let length: u32 = 2; length <= 4; length++) {
    pos = start;
    for (beginEntries(); readEntry(); ) {
      if (targetCount !== length || !staysInNfc) continue;
      let first = load<u32>(targets);
      for (let i: u32 = 1; i < length - 1; i++) first = compositeOf(first, load<u32>(targets + (i << 2)));
      const second = load<u32>(targets + ((length - 1) << 2));
      const at = pairSlotOf(first, second);
      store<u32>(at, first);
      store<u32>(at, second, 4);
      store<u32>(at, codePoint, 8);
      if (!setBits(second, 1, joinsBit)) return false;
    }
  }
  pos = start;
  for (beginEntries(); readEntry(); )
    if (isUsed && !keepEntry(canonical, decomposesBit | (changesAll || !staysInNfc ? changesBit : 0)))
      return false;
  return true;
}

function readChanges(trie: usize, isUsed: bool): bool {
  for (beginEntries(); readEntry(); )
    if (isUsed && !keepEntry(trie, decomposesBit | changesBit)) return false;
  return true;
}

function keepEntry(trie: usize, bits: u32): bool {
  const at = ownValue(trie, codePoint);
  if (at === 0 || !setBits(codePoint, 1, bits)) return false;
  store<u16>(at, <u16>changeCount);
  store<u32>(changes + (changeCount << 2), targetCount);
  memory.copy(changes + ((changeCount + 1) << 2), targets, targetCount << 2);
  changeCount += 1 + targetCount;
  return true;
}

function markBoundaries(): void {
  for (let row: u32 = 0; row < trieLength; row++) {
    if (load<u16>(facts + (row << 1)) === 0) continue;
    for (let codePoint = row << 7; codePoint < (row + 1) << 7; codePoint++) {
      const found = factsOf(codePoint);
      let reachesBack = found & (classMask | joinsBit);
      if ((found & changesBit) !== 0) {
        let change = changeBy(nfkd, codePoint);
        if (change === 0) change = changeBy(lowercase, codePoint);
        if (change !== 0) reachesBack |= factsOf(load<u32>(change, 4)) & (classMask | joinsBit);
      }
      if (reachesBack === 0) continue;
      const at = ownValue(facts, codePoint);
      store<u16>(at, <u16>(found | noBoundaryBit));
    }
  }
}

/** Clears the bits about composition, which matter only if a step composes. */
function clearJoins(): void {
  for (let row: u32 = 0; row < trieLength; row++) {
    if (load<u16>(facts + (row << 1)) === 0) continue;
    for (let codePoint = row << 7; codePoint < (row + 1) << 7; codePoint++) {
      let found = factsOf(codePoint);
      if ((found & joinsBit) === 0) continue;
      found &= ~joinsBit;
      if ((found & (classMask | changesBit)) === 0) found &= ~noBoundaryBit;
      store<u16>(ownValue(facts, codePoint), <u16>found);
    }
  }
}
