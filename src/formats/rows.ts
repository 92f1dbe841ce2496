import { bytesOf, byteToCharacter, lineFeed } from "#bytes";
import { type KernelExports, scaled } from "#runtime";
import {
  areThere,
  forEachPart,
  isSpecialEntry,
  keptBytesMax,
  notKept,
  otherOfEntry,
  type PutArrays,
  putArrays,
  specialOfEntry,
  type TokenBytes,
  type Vocabulary,
} from "#tokenizer";
import { Chunk } from "./output-file.ts";

/**
 * The rows of a vocabulary's files, each a merge or an id, in chunks. A chunk is valid until the next one, of any file, is
 * asked for. The kernel writes most rows (src/kernel/vocabulary-rows.ts). It stops at special tokens and at tokens whose
 * bytes are not kept; their rows are written here.
 */

/** ASCII text before, between and behind the two parts of a row, at most 24 bytes each. */
type Separators = readonly [before: string, between: string, behind: string];

/** The merges in the order learned: left half and right half. */
export function mergeRows(
  vocabulary: Vocabulary,
  separators: Separators,
  spelling: Spelling,
): Generator<Uint8Array> {
  const { mergeCount, left, right, tokenBytes } = vocabulary;
  const [before, between, behind] = separators;
  return rows(vocabulary, mergeCount, {
    separators,
    spelling,
    write: (kernel, first, to, limit) =>
      kernel.writeMerges(first, mergeCount, places.separators, places.spelling, to, limit),
    append: (chunk, merge) => {
      chunk.ascii(before);
      appendToken(chunk, tokenBytes, left[merge]!, spelling);
      chunk.ascii(between);
      appendToken(chunk, tokenBytes, right[merge]!, spelling);
      chunk.ascii(behind);
    },
  });
}

/** The ids, ascending, as in HF's files: the token inside a JSON string, and its id. */
export function idRows(
  vocabulary: Vocabulary,
  separators: Separators,
  rowCount = vocabulary.size,
): Generator<Uint8Array> {
  const { entries, specialTokens, tokenBytes } = vocabulary;
  const [before, between, behind] = separators;
  return rows(vocabulary, rowCount, {
    separators,
    spelling: jsonSpelling,
    write: (kernel, first, to, limit) =>
      kernel.writeIds(first, rowCount, places.separators, places.spelling, to, limit),
    append: (chunk, id) => {
      const entry = entries[id]!;
      const key = specialTokens[specialOfEntry(entry)] ?? otherOfEntry(vocabulary, entry)?.key;
      if (isSpecialEntry(entry) && key === undefined) return;
      chunk.ascii(before);
      if (isSpecialEntry(entry)) chunk.text(JSON.stringify(key).slice(1, -1));
      else appendToken(chunk, tokenBytes, entry, jsonSpelling);
      chunk.ascii(between);
      chunk.decimal(id);
      chunk.ascii(behind);
    },
  });
}

/** Rows that begin with a comma, without that of the first row. */
export function* withoutFirstByte(rows: Iterable<Uint8Array>): Generator<Uint8Array> {
  let skippedBytes = 1;
  for (const chunk of rows) {
    yield chunk.subarray(skippedBytes);
    skippedBytes = 0;
  }
}

/** What ends the last line of a file, if nothing does. */
export const lineEnd = (file: Uint8Array) => (file.length === 0 || file.at(-1) === lineFeed ? "" : "\n");

type RowKind = {
  readonly separators?: Separators;
  readonly spelling?: Spelling;
  /** 64 ASCII characters. */
  readonly base64Digits?: Uint8Array;
  /** Has the kernel write rows from `first` on; returns the first that it has not written. */
  readonly write: (kernel: KernelExports, first: number, to: number, limit: number) => number;
  /** Appends a row that the kernel stops at. */
  readonly append: (chunk: Chunk, row: number) => void;
};

/** Rows 0 to `rowCount` of one kind, in chunks. */
export function* rows(vocabulary: Vocabulary, rowCount: number, kind: RowKind): Generator<Uint8Array> {
  const { write, append } = kind;
  const chunk = new Chunk();
  for (let row = 0; row < rowCount; ) {
    const { kernel, end: bufferStart } = load(vocabulary);
    const memory = new Uint8Array(kernel.memory.buffer);
    placeTables(memory, kind);
    const next = write(kernel.exports, row, bufferStart, bufferStart + bufferBytes);
    if (next === row) {
      append(chunk, row++);
    } else {
      const written = memory.subarray(bufferStart, kernel.exports.rowsEnd());
      row = next;
      if (chunk.length === 0 && written.length >= worthYieldingBytes) yield written;
      else chunk.append(written);
    }
    if (chunk.isFull) yield chunk.take();
  }
  if (chunk.length > 0) yield chunk.take();
}

/**
 * The memory of the kernel that writes rows. src/kernel/vocabulary-rows.ts says what each structure holds.
 *
 *   ADDRESS       SIZE            MEANING
 *   separators    3 * 32          of the file that is being written
 *   spelling      4 * 256         the same
 *   digits        64              of base64
 *   (behind it)   any             kept, starts, lengths, lefts, rights, entries (src/tokenizer/vocabulary.ts)
 *   bufferStart   bufferBytes     rows
 *   (behind it)   rowBytesMax     the last row
 */
export const places = { separators: 64, spelling: 256, digits: 1280 };
const bufferBytes = scaled(1 << 18, 512);
const separatorTextMax = 24;
/** Two kept tokens, each byte written as two, and three separators, the last one written in full. */
const rowBytesMax = 2 * 2 * keptBytesMax + 3 * separatorTextMax;
/** Fewer bytes are gathered in a chunk: the rows that the kernel stops at may be close together. */
const worthYieldingBytes = scaled(1 << 14, 64);

type Loaded = { readonly vocabulary: Vocabulary; readonly arrays: PutArrays };

/** One for the process. If two vocabularies are written in turns, each chunk loads its own again. */
let loaded: Loaded | undefined;

/** The kernel, with the vocabulary in its memory. */
function load(vocabulary: Vocabulary): PutArrays {
  if (loaded?.vocabulary === vocabulary && areThere(loaded.arrays)) return loaded.arrays;
  const { left, right, entries, tokenBytes } = vocabulary;
  const { kept, starts, lengths } = tokenBytes;
  const arrays = putArrays([kept, starts, lengths, left, right, entries], bufferBytes + rowBytesMax);
  arrays.kernel.exports.useVocabulary(...(arrays.addresses as Addresses));
  loaded = { vocabulary, arrays };
  return arrays;
}

type Addresses = Parameters<KernelExports["useVocabulary"]>;

/** Puts the form of the rows into the kernel's memory: that of another file may be there. */
function placeTables(memory: Uint8Array, kind: RowKind): void {
  const { separators = ["", "", ""], spelling, base64Digits } = kind;
  const table = new Uint32Array((3 * separatorBytes) / 4);
  const texts = new Uint8Array(table.buffer);
  separators.forEach((text, i) => {
    table[(i * separatorBytes) / 4] = text.length;
    for (let pos = 0; pos < text.length; pos++) {
      texts[i * separatorBytes + separatorText + pos] = text.charCodeAt(pos);
    }
  });
  memory.set(texts, places.separators);
  if (spelling !== undefined) memory.set(bytesOf(spelling), places.spelling);
  if (base64Digits !== undefined) memory.set(base64Digits, places.digits);
}

const separatorBytes = 32;
const separatorText = 8;

/**
 * Spelling: how each of the 256 bytes is written in a file, as UTF-8.
 *
 *   BITS     MEANING
 *   0-7      the first byte written
 *   8-15     the second one, or 0
 *   16-31    how many they are: 1 or 2
 *
 * Byte 97 is "a", 0x10061; byte 32 is "Ġ" = C4 A0, 0x2a0c4.
 */
type Spelling = Uint32Array;

/** In byte-to-character form, as merges.txt has it. */
export const plainSpelling: Spelling = makeSpelling([]);

/** The same inside a JSON string. Only the quote and the backslash need escaping: no character here is a control. */
export const jsonSpelling: Spelling = makeSpelling(['"', "\\"]);

/** Appends a token in the spelling given. */
export function appendToken(chunk: Chunk, tokens: TokenBytes, token: number, spelling: Spelling): void {
  chunk.reserve(2 * tokens.lengths[token]!);
  const start = tokens.starts[token]!;
  if (start !== notKept) {
    const end = start + tokens.lengths[token]!;
    chunk.length = spell(tokens.kept, start, end, spelling, chunk.bytes, chunk.length);
    return;
  }
  forEachPart(tokens, token, (partStart, partEnd) => {
    chunk.length = spell(tokens.kept, partStart, partEnd, spelling, chunk.bytes, chunk.length);
  });
}

function spell(
  from: Uint8Array,
  start: number,
  end: number,
  spelling: Spelling,
  to: Uint8Array,
  toPos: number,
): number {
  for (let pos = start; pos < end; pos++) {
    const written = spelling[from[pos]!]!;
    to[toPos] = written;
    // The next byte overwrites it if this one is written as one.
    to[toPos + 1] = written >> 8;
    toPos += written >> 16;
  }
  return toPos;
}

/** Every character is below U+0800: one or two bytes of UTF-8. */
function makeSpelling(escaped: readonly string[]): Spelling {
  const spelling = new Uint32Array(byteToCharacter.length);
  for (let byte = 0; byte < spelling.length; byte++) {
    const codePoint = byteToCharacter[byte]!.charCodeAt(0);
    spelling[byte] =
      codePoint < 0x80 ? codePoint | (1 << 16) : two(0xc0 | (codePoint >> 6), 0x80 | (codePoint & 63));
  }
  for (const character of escaped) {
    const byte = character.charCodeAt(0);
    spelling[byte] = two("\\".charCodeAt(0), byte);
  }
  return spelling;
}

function two(first: number, second: number): number {
  return first | (second << 8) | (2 << 16);
}
