import { closeSync, fstatSync, openSync, readSync, writeSync } from "node:fs";
import { bytesOf, schema } from "#bytes";
import type { RangeStatistics } from "#corpus";
import { host, scaled } from "#runtime";
import { rename, trustedFiles } from "#store";
import * as cacheDirectory from "./cache-directory.ts";
import type { CountsOptions } from "./counts-format.ts";
import * as countsFormat from "./counts-format.ts";
import * as sortedWords from "./sorted-words.ts";
import type { WordTable } from "./word-table.ts";

/**
 * An entry: the words of one content as a counts file (counts-format.ts), followed by its statistics.
 *
 *   PART       SIZE          MEANING
 *   counts     countsBytes   a counts file
 *   about      size          JSON (`About`)
 *   size       4             bytes of `about`
 *   checksum   8             xxHash64 of `about`
 *   magic      4             "bpee"
 *
 * Words are written while their input is counted, and the statistics are known only at its end. So the statistics come
 * last.
 */
type About = schema.Checked<typeof aboutFields>;
const aboutFields = schema.object({
  id: cacheDirectory.entryIdCheck,
  findings: cacheDirectory.statisticsCheck,
  countsBytes: schema.wholeNumber(),
  /**
   * The checksum of the counts, hexadecimal: xxHash64 of 1 MB blocks, each seeded with the hash of the
   * previous block.
   */
  checksum: schema.text,
});

const entryMagic = new TextEncoder().encode("bpee");
const tailBytes = 16;
/** The maximum size of `about`: an id and a few numbers. */
const aboutBytesMax = 4096;
const blockBytes = scaled(1 << 20, 64);

/** Turns a counts file of this run into an entry, and moves it to `path`, which must be on the same file system. */
export function makeEntry(
  countsPath: string,
  path: string,
  id: cacheDirectory.EntryId,
  statistics: RangeStatistics,
): void {
  const fd = openSync(countsPath, "r+");
  try {
    const countsBytes = fstatSync(fd).size;
    const about: About = {
      id,
      findings: statistics,
      countsBytes,
      checksum: checksumOf(countsPath, fd, countsBytes),
    };
    const payload = new TextEncoder().encode(JSON.stringify(about));
    const tail = new Uint8Array(payload.length + tailBytes);
    tail.set(payload);
    const view = new DataView(tail.buffer, payload.length);
    view.setUint32(0, payload.length, true);
    view.setBigUint64(4, host.xxHash64(payload), true);
    tail.set(entryMagic, payload.length + 12);
    const written = writeSync(fd, tail, 0, tail.length, countsBytes);
    if (written < tail.length) throw Object.assign(new Error("short write"), { code: "ENOSPC" });
    // Until now the file was private to its run. From now on, other users may use it as far as the umask permits.
    trustedFiles.settlePermissions(fd, 0o666, null);
  } finally {
    closeSync(fd);
  }
  rename(countsPath, path);
}

/** Reads the whole entry and returns its statistics. Throws `DamagedFile` if anything differs from what was written. */
export function verifyEntry(path: string, id: cacheDirectory.EntryId): RangeStatistics {
  return cacheDirectory.withFile(path, (fd) => {
    const about = readAbout(path, fd);
    if (about.id !== id || checksumOf(path, fd, about.countsBytes) !== about.checksum)
      throw new cacheDirectory.DamagedFile(path);
    return about.findings;
  });
}

/**
 * Opens an entry to read its words. If the entry is damaged, this function or the reader throws `DamagedFile` or a
 * `countsFormat.FileError`.
 */
function openEntry(path: string, options: CountsOptions): { reader: countsFormat.Reader; close: () => void } {
  const fd = trustedFiles.open(path);
  try {
    const { countsBytes } = readAbout(path, fd);
    let pos = 0;
    const read = (into: Uint8Array) => {
      try {
        const size = readSync(fd, into, 0, Math.min(into.length, countsBytes - pos), pos);
        pos += size;
        return size;
      } catch (error) {
        throw cacheDirectory.withPath(path, error);
      }
    };
    const reader = new countsFormat.Reader(path, read, countsBytes);
    if (!countsFormat.hasOptions(reader.header, options) || sortedWords.tableOverflows(reader.totals))
      throw new cacheDirectory.DamagedFile(path);
    return { reader, close: () => closeSync(fd) };
  } catch (error) {
    closeSync(fd);
    throw cacheDirectory.withPath(path, error);
  }
}

function readAbout(path: string, fd: number): About {
  const { size: fileBytes } = fstatSync(fd);
  if (fileBytes < tailBytes) throw new cacheDirectory.DamagedFile(path);
  const tail = fill(path, fd, new Uint8Array(tailBytes), fileBytes - tailBytes);
  const view = new DataView(tail.buffer);
  const size = view.getUint32(0, true);
  const isEntry = entryMagic.every((byte, i) => tail[12 + i] === byte);
  if (!isEntry || size > aboutBytesMax || size > fileBytes - tailBytes)
    throw new cacheDirectory.DamagedFile(path);
  const payload = fill(path, fd, new Uint8Array(size), fileBytes - tailBytes - size);
  if (host.xxHash64(payload) !== view.getBigUint64(4, true)) throw new cacheDirectory.DamagedFile(path);
  const about = cacheDirectory.parseChecked(path, new TextDecoder().decode(payload), aboutFields);
  if (about.countsBytes !== fileBytes - tailBytes - size) throw new cacheDirectory.DamagedFile(path);
  return about;
}

function checksumOf(path: string, fd: number, sizeBytes: number): string {
  let checksum = 0n;
  const block = new Uint8Array(Math.min(blockBytes, sizeBytes));
  for (let done = 0; done < sizeBytes; ) {
    const size = Math.min(block.length, sizeBytes - done);
    checksum = host.xxHash64(fill(path, fd, block.subarray(0, size), done), checksum);
    done += size;
  }
  return checksum.toString(16);
}

/**
 * A sum: the words of many entries with their counts added up, sorted by the words' bytes. It has the memory layout of
 * a word table, so it is read by copying. Numbers are little-endian.
 *
 *   PART       SIZE                   MEANING
 *   magic      8                      "bpesum", 0, version
 *   size       8                      bytes of the header
 *   checksum   8                      xxHash64 of the header
 *   header     size                   JSON (`SumHeader`), with the xxHash64 of each of the arrays
 *   counts     8 * wordCount          Float64: the count of each word
 *   starts     4 * (wordCount + 1)    Uint32: the start of each word in `bytes`, and the end of the last word
 *   bytes      byteCount              the words, concatenated
 */
type SumHeader = schema.Checked<typeof headerFields>;

type Stated = { readonly [Key in keyof SumHeader]: Readonly<SumHeader[Key]> };

/** An entry in a sum, how often it was added, and its statistics. */
export type SumTerm = readonly [id: cacheDirectory.EntryId, times: number, statistics: RangeStatistics];

const headerFields = schema.object({
  ...countsFormat.optionFields,
  wordCount: schema.wholeNumber(),
  byteCount: schema.wholeNumber(),
  /** The xxHash64 of counts, starts and bytes, in hexadecimal. */
  checksums: schema.tuple(schema.text, schema.text, schema.text),
  terms: schema.list<SumTerm>(
    schema.tuple(cacheDirectory.entryIdCheck, schema.wholeNumber(1), cacheDirectory.statisticsCheck),
  ),
});

const sumMagic = Uint8Array.of(...new TextEncoder().encode("bpesum"), 0, 1);
const headBytes = 24;
/** The maximum size of a header, which has about 200 bytes for each entry. */
const headerBytesMax = 1 << 30;

const hexOf = (array: Float64Array | Uint32Array | Uint8Array) => host.xxHash64(bytesOf(array)).toString(16);

export function sumFileParts(
  table: WordTable,
  options: CountsOptions,
  terms: readonly SumTerm[],
): Uint8Array[] {
  const { wordCount, counts, starts, bytes } = table;
  const { patterns, specialTokens, normalization, isLinewise } = options;
  const header = {
    patterns,
    specialTokens,
    normalization: normalization ?? undefined,
    isLinewise,
    wordCount,
    byteCount: bytes.length,
    checksums: [hexOf(counts), hexOf(starts), hexOf(bytes)],
    terms,
  } satisfies Stated;
  const headerBytes = new TextEncoder().encode(JSON.stringify(header));
  const head = new Uint8Array(headBytes);
  head.set(sumMagic);
  const view = new DataView(head.buffer);
  view.setBigUint64(8, BigInt(headerBytes.length), true);
  view.setBigUint64(16, host.xxHash64(headerBytes), true);
  return [head, headerBytes, bytesOf(counts), bytesOf(starts), bytes];
}

export function readSumHeader(path: string): SumHeader {
  return cacheDirectory.withFile(path, (fd) => readHeader(path, fd).header);
}

export function readSum(path: string): WordTable {
  return cacheDirectory.withFile(path, (fd) => {
    const { header, endByte } = readHeader(path, fd);
    const { wordCount, byteCount, checksums } = header;
    if (fstatSync(fd).size !== endByte + 12 * wordCount + 4 + byteCount)
      throw new cacheDirectory.DamagedFile(path);
    const counts = new Float64Array(wordCount);
    const starts = new Uint32Array(wordCount + 1);
    const bytes = new Uint8Array(byteCount);
    let offsetByte = endByte;
    for (const [i, array] of [counts, starts, bytes].entries()) {
      fill(path, fd, bytesOf(array), offsetByte);
      offsetByte += array.byteLength;
      if (hexOf(array) !== checksums[i]) throw new cacheDirectory.DamagedFile(path);
    }
    const table = { wordCount, bytes, starts, counts };
    if (!sortedWords.isValidTable(table)) throw new cacheDirectory.DamagedFile(path);
    return table;
  });
}

function readHeader(path: string, fd: number): { header: SumHeader; endByte: number } {
  const head = fill(path, fd, new Uint8Array(headBytes), 0);
  const view = new DataView(head.buffer);
  const size = Number(view.getBigUint64(8, true));
  if (!sumMagic.every((byte, i) => head[i] === byte) || size > headerBytesMax)
    throw new cacheDirectory.DamagedFile(path);
  if (headBytes + size > fstatSync(fd).size) throw new cacheDirectory.DamagedFile(path);
  const payload = fill(path, fd, new Uint8Array(size), headBytes);
  if (host.xxHash64(payload) !== view.getBigUint64(16, true)) throw new cacheDirectory.DamagedFile(path);
  const header = cacheDirectory.parseChecked(path, new TextDecoder().decode(payload), headerFields);
  // No content may be listed twice.
  if (new Set(header.terms.map(([id]) => id)).size < header.terms.length)
    throw new cacheDirectory.DamagedFile(path);
  return { header, endByte: headBytes + size };
}

function fill(path: string, fd: number, into: Uint8Array, offsetByte: number): Uint8Array {
  for (let done = 0; done < into.length; ) {
    const size = readSync(fd, into, done, Math.min(into.length - done, 1 << 30), offsetByte + done);
    if (size === 0) throw new cacheDirectory.DamagedFile(path);
    done += size;
  }
  return into;
}

/**
 * How many entries are added in one pass. There is a limit, because each entry is an open file, with one of its frames
 * (counts-format.ts) in memory.
 */
const entriesAtOnce = scaled(64, 1);

/** Adds up entries, sorted by the words' bytes. Yields between slices of some milliseconds. */
export function* sumOfEntries(
  paths: readonly string[],
  options: CountsOptions,
): Generator<undefined, WordTable> {
  // Each table in `tables` has at least twice as many words as the next one. A table that breaks this rule is merged
  // with the one before. So if tables share few words, a word is copied only about log2(table count) times.
  const tables: WordTable[] = [];
  for (let first = 0; first < paths.length; first += entriesAtOnce) {
    tables.push(yield* sumAtOnce(paths.slice(first, first + entriesAtOnce), options));
    const isLast = first + entriesAtOnce >= paths.length;
    while (tables.length > 1 && (isLast || tables.at(-2)!.wordCount < 2 * tables.at(-1)!.wordCount)) {
      const [before, last] = tables.splice(-2);
      tables.push(sortedWords.addTable(before!, last!));
      yield;
    }
  }
  return tables[0] ?? sortedWords.emptyTable;
}

function* sumAtOnce(paths: readonly string[], options: CountsOptions): Generator<undefined, WordTable> {
  const opened: ReturnType<typeof openEntry>[] = [];
  try {
    for (const path of paths) opened.push(openEntry(path, options));
    const summands = opened.map(({ reader }): sortedWords.Summand => ({ words: reader, times: 1 }));
    return yield* sortedWords.wordTableOfSum(new sortedWords.SumOfWords(summands));
  } finally {
    for (const { close } of opened) close();
  }
}
