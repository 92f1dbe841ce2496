import { ascii, byteCharacters, bytesOf } from "#bytes";
import { type kernels, scaled } from "#runtime";
import { keptBytesMax, kernelArrays, type TokenBytes, type Vocabulary, vocabularies } from "#tokenizer";
import { Chunk } from "./output-file.ts";

/**
 * Rows of a vocabulary's files, in chunks. The kernel writes most rows (src/kernel/vocabulary-rows.ts). It stops at
 * long tokens, whose bytes are not kept in memory, and at ids that are neither bytes nor learned tokens. Those rows are
 * written here, by `append`. A chunk is valid until the next chunk of any file is requested.
 */

/** ASCII text before, between and after the two parts of a row, at most 24 bytes each. */
type Separators = readonly [before: string, between: string, after: string];

/** Yields the merges in the order learned: the left and the right half. */
export function mergeRows(
  vocabulary: Vocabulary,
  separators: Separators,
  spelling: Spelling,
): Generator<Uint8Array> {
  const { mergeCount, left, right, tokenBytes } = vocabulary;
  const [before, between, after] = separators;
  return rows(vocabulary, mergeCount, {
    separators,
    spelling,
    write: (kernel, first, to, limit) =>
      kernel.writeMerges(first, mergeCount, tableOffsets.separators, tableOffsets.spelling, to, limit),
    append: (chunk, merge) => {
      chunk.ascii(before);
      appendToken(chunk, tokenBytes, left[merge]!, spelling);
      chunk.ascii(between);
      appendToken(chunk, tokenBytes, right[merge]!, spelling);
      chunk.ascii(after);
    },
  });
}

/** Yields the ids as HF's files have them, ascending: a token inside a JSON string, and its id. */
export function idRows(
  vocabulary: Vocabulary,
  separators: Separators,
  rowCount = vocabulary.size,
): Generator<Uint8Array> {
  const { entries, specialTokens, tokenBytes } = vocabulary;
  const [before, between, after] = separators;
  return rows(vocabulary, rowCount, {
    separators,
    spelling: jsonSpelling,
    write: (kernel, first, to, limit) =>
      kernel.writeIds(first, rowCount, tableOffsets.separators, tableOffsets.spelling, to, limit),
    append: (chunk, id) => {
      const entry = entries[id]!;
      const key =
        specialTokens[vocabularies.specialOfEntry(entry)] ??
        vocabularies.otherOfEntry(vocabulary, entry)?.key;
      if (vocabularies.isSpecialEntry(entry) && key === undefined) return;
      chunk.ascii(before);
      if (vocabularies.isSpecialEntry(entry)) chunk.text(JSON.stringify(key).slice(1, -1));
      else appendToken(chunk, tokenBytes, entry, jsonSpelling);
      chunk.ascii(between);
      chunk.decimal(id);
      chunk.ascii(after);
    },
  });
}

/** Drops the first byte, which is the comma before the first row. */
export function* withoutFirstByte(rows: Iterable<Uint8Array>): Generator<Uint8Array> {
  let skippedBytes = 1;
  for (const chunk of rows) {
    yield chunk.subarray(skippedBytes);
    skippedBytes = 0;
  }
}

/** Returns the line end that the last line of a file lacks, or "". */
export const lineEnd = (file: Uint8Array) =>
  file.length === 0 || file.at(-1) === ascii.lineFeed ? "" : "\n";

type RowKind = {
  readonly separators?: Separators;
  readonly spelling?: Spelling;
  /** The 64 base64 digits in ASCII. */
  readonly base64Digits?: Uint8Array;
  /** Makes the kernel write rows from `first` on. Returns the first row that it did not write. */
  readonly write: (kernel: kernels.Kernel["exports"], first: number, to: number, limit: number) => number;
  /** Appends a row that the kernel did not write, if there is one: an id without a token has none. */
  readonly append: (chunk: Chunk, row: number) => void;
};

/** Yields the rows [0, rowCount) of one kind, in chunks. */
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
 *   separators    3 * 32          the separators of the current kind of rows
 *   spelling      4 * 256         the spelling of the current kind of rows
 *   digits        64              the base64 digits
 *   (later)       any             kept, starts, lengths, lefts, rights, entries (src/tokenizer/vocabulary.ts), at the
 *                                 addresses that src/tokenizer/kernel-arrays.ts chooses
 *   bufferStart   bufferBytes     rows
 *   (after it)    rowBytesMax     the end of a row that begins in the buffer
 */
export const tableOffsets = { separators: 64, spelling: 256, digits: 1280 };
const bufferBytes = scaled(1 << 18, 512);
const separatorTextMax = 24;
/**
 * The size of the longest row that the kernel writes: two kept tokens, each byte of which is spelled as two bytes, and
 * three separators. The kernel writes a row in full even if it begins at the buffer's end.
 */
const rowBytesMax = 2 * 2 * keptBytesMax + 3 * separatorTextMax;
/**
 * Fewer bytes from the kernel are not yielded at once, but gathered first: the rows at which the kernel stops may be
 * close together.
 */
const worthYieldingBytes = scaled(1 << 14, 64);

type Loaded = { readonly vocabulary: Vocabulary; readonly arrays: kernelArrays.KernelArrays };

/**
 * The vocabulary in the kernel's memory. A thread has only one such kernel, so loading another vocabulary replaces it.
 */
let loaded: Loaded | undefined;

/** Copies the vocabulary into the kernel's memory, unless it is still there. */
function load(vocabulary: Vocabulary): kernelArrays.KernelArrays {
  if (loaded?.vocabulary === vocabulary && loaded.arrays.areStillThere) return loaded.arrays;
  const { left, right, entries, tokenBytes } = vocabulary;
  const { kept, starts, lengths } = tokenBytes;
  const arrays = kernelArrays.put([kept, starts, lengths, left, right, entries], bufferBytes + rowBytesMax);
  arrays.kernel.exports.useVocabulary(...(arrays.addresses as Addresses));
  loaded = { vocabulary, arrays };
  return arrays;
}

type Addresses = Parameters<kernels.Kernel["exports"]["useVocabulary"]>;

/**
 * Copies the separators, the spelling and the base64 digits of a kind of rows into the kernel's memory, which may still
 * have the tables of another file.
 */
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
  memory.set(texts, tableOffsets.separators);
  if (spelling !== undefined) memory.set(bytesOf(spelling), tableOffsets.spelling);
  if (base64Digits !== undefined) memory.set(base64Digits, tableOffsets.digits);
}

const separatorBytes = 32;
const separatorText = 8;

/**
 * Spelling: how each of the 256 bytes is written in a file, as UTF-8.
 *
 *   BITS     MEANING
 *   0-7      the first byte written
 *   8-15     the second byte written, or 0
 *   16-31    the number of bytes written: 1 or 2
 *
 * Byte 97 is "a", 0x10061; byte 32 is "Ġ" = C4 A0, 0x2a0c4.
 */
type Spelling = Uint32Array;

/** The spelling in byte-to-character form, as in merges.txt. */
export const plainSpelling: Spelling = makeSpelling([]);

/**
 * The spelling in byte-to-character form inside a JSON string. Only the quote and the backslash are escaped, because
 * none of the characters is a control character.
 */
export const jsonSpelling: Spelling = makeSpelling(['"', "\\"]);

/** Appends a token in the given spelling. */
export function appendToken(chunk: Chunk, tokens: TokenBytes, token: number, spelling: Spelling): void {
  chunk.reserve(2 * tokens.lengths[token]!);
  if (tokens.isKept(token)) {
    const start = tokens.starts[token]!;
    const end = start + tokens.lengths[token]!;
    chunk.length = spell(tokens.kept, start, end, spelling, chunk.bytes, chunk.length);
    return;
  }
  tokens.forEachPart(token, (partStart, partEnd) => {
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
    // If the byte is spelled as one byte, the next byte written overwrites this second one.
    to[toPos + 1] = written >> 8;
    toPos += written >> 16;
  }
  return toPos;
}

/** Makes a spelling. The characters are below U+0800, so they have at most two bytes in UTF-8. */
function makeSpelling(escaped: readonly string[]): Spelling {
  const spelling = new Uint32Array(byteCharacters.characters.length);
  for (let byte = 0; byte < spelling.length; byte++) {
    const codePoint = byteCharacters.characters[byte]!.charCodeAt(0);
    spelling[byte] =
      codePoint < 0x80
        ? codePoint | (1 << 16)
        : packTwoBytes(0xc0 | (codePoint >> 6), 0x80 | (codePoint & 63));
  }
  for (const character of escaped) {
    const byte = character.charCodeAt(0);
    spelling[byte] = packTwoBytes("\\".charCodeAt(0), byte);
  }
  return spelling;
}

function packTwoBytes(first: number, second: number): number {
  return first | (second << 8) | (2 << 16);
}
