import { fstatSync, readSync } from "node:fs";
import { type Checked, fieldsOf, listOf, text, tupleOf, wholeNumber } from "../bytes/schema.ts";
import type { RangeStatistics } from "../count/range-counter.ts";
import { xxHash64 } from "../runtime/host.ts";
import type { CountsOptions } from "../words/counts-format.ts";
import { optionFields } from "../words/counts-writer.ts";
import {
  addTable,
  emptyTable,
  isSound,
  type Summand,
  SumOfWords,
  wordTableOfSum,
} from "../words/sorted-words.ts";
import type { WordTable } from "../words/word-table.ts";
import { openEntry } from "./cache-entries.ts";
import { type EntryId, entryIdCheck } from "./cache-names.ts";
import { Damaged, parseChecked, statisticsCheck, withFile } from "./checked-files.ts";

/**
 * A sum: the words of many entries together. It is a word table as it lies in memory, in ascending order of the words'
 * bytes, so reading it is copying. Numbers are little-endian.
 *
 *   PART       SIZE                   MEANING
 *   magic      8                      "bpesum", 0, version
 *   size       8                      bytes of the header
 *   checksum   8                      xxHash64 of the header
 *   header     size                   JSON (`SumHeader`), with the xxHash64 of each of the arrays
 *   counts     8 * wordCount          Float64
 *   starts     4 * (wordCount + 1)    Uint32
 *   bytes      byteCount
 */
export type SumHeader = Checked<typeof headerFields>;

type Stated = { readonly [Key in keyof SumHeader]: Readonly<SumHeader[Key]> };

/** An entry in a sum, how often it was added, and its statistics. */
export type SumTerm = readonly [id: EntryId, times: number, statistics: RangeStatistics];

const headerFields = fieldsOf({
  ...optionFields,
  wordCount: wholeNumber(),
  byteCount: wholeNumber(),
  /** xxHash64 of counts, starts and bytes, hexadecimal. */
  checksums: tupleOf(text, text, text),
  terms: listOf<SumTerm>(tupleOf(entryIdCheck, wholeNumber(1), statisticsCheck)),
});

const magic = Uint8Array.of(...new TextEncoder().encode("bpesum"), 0, 1);
const headBytes = 24;
/** Memory for an eighth more words. */
const spareBits = 3;
/** A header has some 150 bytes for each entry. */
const headerBytesMax = 1 << 30;

const hashOf = (bytes: Uint8Array) => xxHash64(bytes);
const hexOf = (array: Float64Array | Uint32Array | Uint8Array) => hashOf(bytesOf(array)).toString(16);
const bytesOf = (array: Float64Array | Uint32Array | Uint8Array) =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength);

/** The file of a sum in parts, which are views of the table. */
export function sumFileParts(
  table: WordTable,
  options: CountsOptions,
  terms: readonly SumTerm[],
): Uint8Array[] {
  const { wordCount, counts, starts, bytes } = table;
  const { patterns, specialTokens, isLinewise } = options;
  const header = {
    patterns,
    specialTokens,
    isLinewise,
    wordCount,
    byteCount: bytes.length,
    checksums: [hexOf(counts), hexOf(starts), hexOf(bytes)],
    terms,
  } satisfies Stated;
  const headerBytes = new TextEncoder().encode(JSON.stringify(header));
  const head = new Uint8Array(headBytes);
  head.set(magic);
  const view = new DataView(head.buffer);
  view.setBigUint64(8, BigInt(headerBytes.length), true);
  view.setBigUint64(16, hashOf(headerBytes), true);
  return [head, headerBytes, bytesOf(counts), bytesOf(starts), bytes];
}

/** Reads the header alone: it says which entries are in the sum. */
export function readSumHeader(path: string): SumHeader {
  return withFile(path, (fd) => readHeader(path, fd).header);
}

/** Reads a sum into memory that has room for more words. */
export function readSum(path: string): { header: SumHeader; table: WordTable } {
  return withFile(path, (fd) => {
    const { header, endByte } = readHeader(path, fd);
    const { wordCount, byteCount, checksums } = header;
    if (fstatSync(fd).size !== endByte + 12 * wordCount + 4 + byteCount) throw new Damaged(path);
    // Words will be added to it. Pages that are never written cost nothing.
    const counts = new Float64Array(wordCount + (wordCount >> spareBits)).subarray(0, wordCount);
    const starts = new Uint32Array(wordCount + (wordCount >> spareBits) + 1).subarray(0, wordCount + 1);
    const bytes = new Uint8Array(byteCount + (byteCount >> spareBits)).subarray(0, byteCount);
    let offsetByte = endByte;
    for (const [i, array] of [counts, starts, bytes].entries()) {
      fill(path, fd, bytesOf(array), offsetByte);
      offsetByte += array.byteLength;
      if (hexOf(array) !== checksums[i]) throw new Damaged(path);
    }
    const table = { wordCount, bytes, starts, counts };
    if (!isSound(table)) throw new Damaged(path);
    return { header, table };
  });
}

function readHeader(path: string, fd: number): { header: SumHeader; endByte: number } {
  const head = fill(path, fd, new Uint8Array(headBytes), 0);
  const view = new DataView(head.buffer);
  const size = Number(view.getBigUint64(8, true));
  if (!magic.every((byte, i) => head[i] === byte) || size > headerBytesMax) throw new Damaged(path);
  if (headBytes + size > fstatSync(fd).size) throw new Damaged(path);
  const payload = fill(path, fd, new Uint8Array(size), headBytes);
  if (hashOf(payload) !== view.getBigUint64(16, true)) throw new Damaged(path);
  const header = parseChecked(path, new TextDecoder().decode(payload), headerFields);
  // A content may be listed only once.
  if (new Set(header.terms.map(([id]) => id)).size < header.terms.length) throw new Damaged(path);
  return { header, endByte: headBytes + size };
}

function fill(path: string, fd: number, into: Uint8Array, offsetByte: number): Uint8Array {
  for (let done = 0; done < into.length; ) {
    const size = readSync(fd, into, done, Math.min(into.length - done, 1 << 30), offsetByte + done);
    if (size === 0) throw new Damaged(path);
    done += size;
  }
  return into;
}

/** Entries added up in one pass, each an open file with a frame in memory. Above 8 the number hardly matters. */
const entriesAtOnce = 64;

/** The sum of entries, in ascending order of its words' bytes. Yields between slices of some milliseconds. */
export function* sumOfEntries(
  paths: readonly string[],
  options: CountsOptions,
): Generator<undefined, WordTable> {
  // Tables of falling size. Two of one size are joined at once, so each word is copied only log2(table count) times.
  const tables: WordTable[] = [];
  const joinLast = () => {
    const [last, before] = [tables.pop()!, tables.pop()!];
    tables.push(addTable(before, last));
  };
  for (let first = 0; first < paths.length; first += entriesAtOnce) {
    tables.push(yield* sumAtOnce(paths.slice(first, first + entriesAtOnce), options));
    while (tables.length > 1 && tables.at(-2)!.wordCount < 2 * tables.at(-1)!.wordCount) {
      joinLast();
      yield;
    }
  }
  while (tables.length > 1) {
    joinLast();
    yield;
  }
  return tables[0] ?? emptyTable;
}

function* sumAtOnce(paths: readonly string[], options: CountsOptions): Generator<undefined, WordTable> {
  const opened: ReturnType<typeof openEntry>[] = [];
  try {
    for (const path of paths) opened.push(openEntry(path, options));
    const summands = opened.map(({ reader }): Summand => ({ words: reader, sign: 1 }));
    return yield* wordTableOfSum(new SumOfWords(summands));
  } finally {
    for (const { close } of opened) close();
  }
}
