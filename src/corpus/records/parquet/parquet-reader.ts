import { isUtf8 } from "node:buffer";
import type { CompressionCodec } from "hyparquet";
import { deltaBinaryUnpack } from "hyparquet/src/delta.js";
import { copyBytes } from "#bytes";
import { scaled } from "#runtime";
import type { Input } from "../../input.ts";
import { type FileSource, readFully, TextMemory } from "../../range-reader.ts";
import { releaseText } from "../../text-memory.ts";
import { RecordBatch } from "../record-batch.ts";
import { KeptColumnReader } from "./kept-columns.ts";
import {
  decompressPage,
  NullValue,
  type Page,
  type PageGroup,
  pageAt,
  pageMemoryBytes,
  pageName,
  readAsParquet,
  readRowsAsParquet,
  rowError,
  smallerPages,
  valueCountOf,
} from "./plan-pages.ts";

/** The maximum bytes of text in a batch, unless one text is longer. */
const batchSizeBytes = scaled(1 << 20, 64);
/** The maximum rows in a batch. A page may have many millions of empty texts. */
const batchRowsMax = scaled(1 << 16, 3);

/** Reads pages of the column with the texts. Each value is the text of a record. */
export class ParquetReader {
  /** The current offset in the file, for errors. */
  offsetByte = 0;
  /** The dictionary that was read last. Consecutive page groups mostly use the same one. */
  private dictionary: { path: string; startByte: number; values: PageValues } | undefined;
  private keptColumns: KeptColumnReader | undefined;

  constructor(
    private readonly batchBytes = batchSizeBytes,
    private readonly memory = new TextMemory(),
    readonly batch = new RecordBatch(),
  ) {}

  /** Reads the texts of a page group into `batch`. Yields how many of the group's bytes are done. */
  *read(
    source: FileSource,
    group: PageGroup,
    { textField, keptFields = [] }: Pick<Input, "textField" | "keptFields">,
  ): Generator<number, void> {
    const { path } = source;
    if (keptFields.length > 0 && this.keptColumns?.path !== path)
      this.keptColumns = new KeptColumnReader(source, keptFields, this.memory);
    let row = group.firstRow;
    const nameText = () => pageName(path, row);
    const dictionaryPage =
      group.dictionaryByte < 0 ? undefined : pageAt(source, group.dictionaryByte, group.chunkEndByte);
    const dictionaryBytes = dictionaryPage === undefined ? 0 : memoryOfPage(dictionaryPage, group);
    if (this.claim(dictionaryBytes, nameText)) yield 0;
    const dictionary = this.dictionaryOf(source, group, dictionaryPage);
    for (this.offsetByte = group.startByte; this.offsetByte < group.endByte; ) {
      const page = pageAt(source, this.offsetByte, group.chunkEndByte);
      const valueCount = valueCountOf(page.header);
      if (valueCount > 0) {
        // `neededBytes` does not include the batch. The size of a batch depends on the lengths of the texts, so memory
        // for a large batch is claimed below, when these lengths are known.
        const neededBytes = dictionaryBytes + memoryOfPage(page, group);
        if (this.claim(neededBytes, nameText)) yield this.offsetByte - group.startByte;
        const claimValues = (bytes: number) => void this.claim(neededBytes + bytes, nameText);
        const values = readRowsAsParquet(path, row, textField, () => {
          const packed = readFully(source, page.dataByte, page.endByte);
          return pageValues(page, packed, group, dictionary, claimValues);
        });
        for (let v = 0; v < valueCount; ) {
          const { end, byteCount } = this.batchFrom(values, v);
          if (byteCount > this.batchBytes && this.claim(neededBytes + byteCount, nameText)) {
            yield this.offsetByte - group.startByte;
          }
          this.fill(values, v, end, byteCount);
          this.checkTexts(path, row + v, textField);
          if (keptFields.length > 0) this.keptColumns!.read(source, row + v, row + end, this.batch.kept);
          v = end;
          if (v < valueCount) yield this.offsetByte - group.startByte;
        }
        // Large arrays are freed at once, because pages with many rows would leave garbage faster than it is collected.
        releaseText(values.starts);
        releaseText(values.ends);
        row += valueCount;
      }
      this.offsetByte = page.endByte;
      if (valueCount > 0) yield this.offsetByte - group.startByte;
    }
  }

  /**
   * Claims memory for a page and for what is decoded from it. Returns true if the caller of `read` should free other
   * memory before the claimed memory is allocated. In that case the batch, which has been processed, is emptied.
   */
  private claim(bytes: number, nameText: () => string): boolean {
    const needsRoom = this.memory.claim(bytes, nameText, smallerPages);
    if (needsRoom) this.batch.restart(0);
    return needsRoom;
  }

  private dictionaryOf(source: FileSource, group: PageGroup, page: Page | undefined): PageValues | undefined {
    const { dictionaryByte: startByte, codec } = group;
    const { path } = source;
    if (page === undefined) return undefined;
    if (this.dictionary?.path !== path || this.dictionary.startByte !== startByte) {
      const values = readAsParquet(path, () => {
        return dictionaryValues(page, readFully(source, page.dataByte, page.endByte), codec);
      });
      this.dictionary = { path, startByte, values };
    }
    return this.dictionary.values;
  }

  private batchFrom({ starts, ends }: PageValues, first: number): { end: number; byteCount: number } {
    let byteCount = 0;
    let end = first;
    for (const endMax = Math.min(starts.length, first + batchRowsMax); end < endMax; end++) {
      const longer = byteCount + ends[end]! - starts[end]!;
      if (longer > this.batchBytes && end > first) break;
      byteCount = longer;
    }
    return { end, byteCount };
  }

  private fill({ bytes, starts, ends }: PageValues, first: number, end: number, byteCount: number): void {
    const { batch } = this;
    batch.restart(byteCount);
    for (let v = first; v < end; v++) batch.append(bytes, starts[v]!, ends[v]!);
  }

  /**
   * Checks that each text is valid UTF-8. That is so if the joined texts are valid, and no text begins inside a
   * character.
   */
  private checkTexts(path: string, firstRow: number, textField: string): void {
    const { text, ends, count, byteCount } = this.batch;
    let isValid = isUtf8(text.bytes.subarray(0, byteCount));
    for (let r = 0; r < count - 1; r++)
      isValid &&= ends[r] === byteCount || (text.bytes[ends[r]!]! & 0xc0) !== 0x80;
    if (isValid) return;
    for (let r = 0; ; r++) {
      if (isUtf8(text.bytes.subarray(r === 0 ? 0 : ends[r - 1]!, ends[r]!))) continue;
      throw rowError(
        path,
        firstRow + r,
        `the column "${textField}" is not valid UTF-8`,
        "write the column again as UTF-8 text",
      );
    }
  }
}

/** Returns the memory of a page and its values, in bytes. */
const memoryOfPage = ({ header, dataByte, endByte }: Page, { codec, isOptional }: PageGroup) =>
  pageMemoryBytes(endByte - dataByte, codec, header.uncompressed_page_size) +
  // A value counts as 12 bytes: its start, its end and its index in a dictionary, four bytes each. An optional value
  // also has a level.
  (valueCountOf(header) + (header.dictionary_page_header?.num_values ?? 0)) * (isOptional ? 16 : 12);

/**
 * PageValues: the positions of the texts of a page or a dictionary.
 *
 *   FIELD    TYPE         LENGTH   MEANING
 *   bytes    Uint8Array            the bytes that contain the texts
 *   starts   Int32Array   count    value v is bytes[starts[v] .. ends[v])
 *   ends     Int32Array   count
 *
 * If a page refers to a dictionary, `bytes` are the bytes of the dictionary, and several values may be at one position.
 */
type PageValues = {
  readonly bytes: Uint8Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
};

function dictionaryValues({ header }: Page, packed: Uint8Array, codec: CompressionCodec): PageValues {
  const page = decompressPage(packed, codec, header.uncompressed_page_size);
  const count = header.dictionary_page_header!.num_values;
  if (!(count >= 0 && 4 * count <= page.length))
    throw new Error(`a dictionary page claims ${count} values, which do not fit into it`);
  return plainValues(page, 0, count);
}

/**
 * Called if decoded values need memory in addition to that of the page, as in delta encodings. `bytes` is the size of
 * these values. May throw.
 */
type ClaimValues = (bytes: number) => void;

/**
 * Decodes the values of a page. Throws `NullValue` if a row has no value, and errors of any kind if the page is
 * damaged.
 */
export function pageValues(
  { header }: Page,
  packed: Uint8Array,
  { codec, isOptional }: { readonly codec: CompressionCodec; readonly isOptional: boolean },
  dictionary: PageValues | undefined,
  claim: ClaimValues = () => {},
): PageValues {
  const v2 = header.data_page_header_v2;
  if (v2 !== undefined) {
    const levelsEnd = v2.repetition_levels_byte_length + v2.definition_levels_byte_length;
    if (!(v2.repetition_levels_byte_length >= 0 && levelsEnd <= packed.length)) {
      throw new Error("the levels of a page are longer than the page");
    }
    if (isOptional) checkLevels(packed, v2.repetition_levels_byte_length, levelsEnd, v2.num_values);
    const data = packed.subarray(levelsEnd);
    const sizeBytes = header.uncompressed_page_size - levelsEnd;
    const values = v2.is_compressed ? decompressPage(data, codec, sizeBytes) : data;
    return decode(values, 0, v2.encoding, v2.num_values, dictionary, claim);
  }
  const { num_values, encoding, definition_level_encoding } = header.data_page_header!;
  const page = decompressPage(packed, codec, header.uncompressed_page_size);
  if (!isOptional) return decode(page, 0, encoding, num_values, dictionary, claim);
  if (definition_level_encoding !== "RLE") throw new Error("a page has levels in an unknown encoding");
  const levelsEnd = 4 + viewOf(page).getUint32(0, true);
  if (levelsEnd > page.length) throw new Error("the levels of a page are longer than the page");
  checkLevels(page, 4, levelsEnd, num_values);
  return decode(page, levelsEnd, encoding, num_values, dictionary, claim);
}

/** Checks the definition levels: 1 for a row with a value, else 0. Throws `NullValue` at a 0. */
function checkLevels(bytes: Uint8Array, start: number, end: number, count: number): void {
  const levels = new Int32Array(count);
  if (!decodeRleBitPacked(bytes, start, end, 1, levels))
    throw new Error("a page has fewer levels than values");
  const index = levels.indexOf(0);
  releaseText(levels);
  if (index >= 0) throw new NullValue(index);
}

function decode(
  page: Uint8Array,
  start: number,
  encoding: string,
  count: number,
  dictionary: PageValues | undefined,
  claim: ClaimValues,
): PageValues {
  switch (encoding) {
    case "PLAIN":
      return plainValues(page, start, count);
    case "PLAIN_DICTIONARY":
    case "RLE_DICTIONARY":
      if (dictionary === undefined) throw new Error("a page refers to a dictionary, but there is none");
      return dictionaryIndexValues(page, start, count, dictionary);
    case "DELTA_LENGTH_BYTE_ARRAY":
    case "DELTA_BYTE_ARRAY":
      return deltaValues(page, start, count, encoding === "DELTA_BYTE_ARRAY", claim);
    default:
      throw new Error(`a page has texts in an unknown encoding${encoding ? `, ${encoding}` : ""}`);
  }
}

const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** Reads values in PLAIN encoding: the length of a value in four bytes, then the value. */
function plainValues(page: Uint8Array, start: number, count: number): PageValues {
  if (4 * count > page.length - start) throw new Error("a page has fewer values than it claims");
  const view = viewOf(page);
  const starts = new Int32Array(count);
  const ends = new Int32Array(count);
  let pos = start;
  for (let v = 0; v < count; v++) {
    if (pos + 4 > page.length) throw new Error("a page has fewer values than it claims");
    const end = pos + 4 + view.getUint32(pos, true);
    if (end > page.length) throw new Error("a value is longer than its page");
    starts[v] = pos + 4;
    ends[v] = end;
    pos = end;
  }
  return { bytes: page, starts, ends };
}

/**
 * Reads values in RLE_DICTIONARY encoding: a byte with the bit width of the indices, then the indices into the
 * dictionary.
 */
function dictionaryIndexValues(
  page: Uint8Array,
  start: number,
  count: number,
  dictionary: PageValues,
): PageValues {
  const indices = new Int32Array(count);
  // If the width is 0, all indices are 0, and no data needs to follow.
  const bitWidth = page[start] ?? 0;
  if (bitWidth > 0 && !decodeRleBitPacked(page, start + 1, page.length, bitWidth, indices)) {
    throw new Error("a page has fewer values than it claims");
  }
  const starts = new Int32Array(count);
  const ends = new Int32Array(count);
  for (let v = 0; v < count; v++) {
    const index = indices[v]!;
    // In a damaged page, an index of four bytes may have its top bit set, and is then read as a negative number.
    if (index < 0 || index >= dictionary.starts.length)
      throw new Error(`a page refers to value ${index >>> 0} of its dictionary, which does not exist`);
    starts[v] = dictionary.starts[index]!;
    ends[v] = dictionary.ends[index]!;
  }
  releaseText(indices);
  return { bytes: dictionary.bytes, starts, ends };
}

/**
 * Reads values in one of two encodings. DELTA_LENGTH_BYTE_ARRAY has the lengths of all values, delta-packed, and then
 * the bytes of all values. DELTA_BYTE_ARRAY (`sharesPrefixes`) begins with the lengths of the prefixes that values
 * share with the previous value, and leaves out these prefixes.
 */
function deltaValues(
  page: Uint8Array,
  start: number,
  count: number,
  sharesPrefixes: boolean,
  claim: ClaimValues,
): PageValues {
  const shared = new Int32Array(count);
  const rest = new Int32Array(count);
  const reader = { view: viewOf(page), offset: start };
  if (count > 0 && sharesPrefixes) deltaBinaryUnpack(reader, count, shared);
  if (count > 0) deltaBinaryUnpack(reader, count, rest);

  let byteCount = 0;
  let restCount = 0;
  for (let v = 0; v < count; v++) {
    if (shared[v]! < 0 || rest[v]! < 0) throw new Error("a value has a negative length");
    byteCount += shared[v]! + rest[v]!;
    restCount += rest[v]!;
  }
  if (reader.offset + restCount > page.length) throw new Error("a page has fewer values than it claims");
  if (byteCount > valueBytesMax)
    throw new Error(`the values of a page have ${byteCount} bytes; the limit is ${valueBytesMax}`);
  claim(byteCount);

  const bytes = new Uint8Array(byteCount);
  const starts = new Int32Array(count);
  const ends = new Int32Array(count);
  let { offset } = reader;
  let pos = 0;
  for (let v = 0; v < count; v++) {
    const restPos = pos + shared[v]!;
    if (shared[v]! > 0) {
      if (v === 0 || shared[v]! > ends[v - 1]! - starts[v - 1]!) {
        throw new Error("a value claims a shared prefix that is longer than the previous value");
      }
      bytes.copyWithin(pos, starts[v - 1]!, starts[v - 1]! + shared[v]!);
    }
    starts[v] = pos;
    pos = copyBytes(page, offset, offset + rest[v]!, bytes, restPos);
    ends[v] = pos;
    offset += rest[v]!;
  }
  return { bytes, starts, ends };
}

/** The maximum size of a page's values. Positions are 31-bit integers. */
const valueBytesMax = 2 ** 31 - 1;

/**
 * Decodes `out.length` integers of Parquet's RLE/bit-packing hybrid, which is a sequence of runs. A run begins with a
 * header, a varint, whose lowest bit tells its kind:
 *
 *   0   RLE: one value follows, in as many whole bytes as `bitWidth` needs; it is repeated header >> 1 times
 *   1   bit-packed: header >> 1 groups follow, of eight values of `bitWidth` bits each, lowest bits first
 *
 * The last group may have more values than are needed. Returns false if there are too few values, if a header has more
 * than five bytes, or if `bitWidth` is above 31.
 */
export function decodeRleBitPacked(
  bytes: Uint8Array,
  start: number,
  end: number,
  bitWidth: number,
  out: Int32Array,
): boolean {
  if (bitWidth > 31) return false;
  const valueBytes = (bitWidth + 7) >> 3;
  let pos = start;
  for (let count = 0; count < out.length; ) {
    let header = 0;
    let shift = 0;
    for (let byte = 0x80; byte >= 0x80; shift += 7) {
      if (pos >= end || shift > 28) return false;
      byte = bytes[pos++]!;
      header |= (byte & 0x7f) << shift;
    }
    const length = header >>> 1;
    if (length === 0) continue;
    if ((header & 1) === 0) {
      if (pos + valueBytes > end) return false;
      let value = 0;
      for (let i = 0; i < valueBytes; i++) value |= bytes[pos++]! << (8 * i);
      const runEnd = Math.min(out.length, count + length);
      out.fill(value, count, runEnd);
      count = runEnd;
    } else {
      const wantedCount = Math.min(out.length - count, 8 * length);
      if (pos + Math.ceil((wantedCount * bitWidth) / 8) > end) return false;
      unpackBits(bytes, pos, bitWidth, out, count, wantedCount);
      count += wantedCount;
      pos += length * bitWidth;
    }
  }
  return true;
}

function unpackBits(
  bytes: Uint8Array,
  start: number,
  bitWidth: number,
  out: Int32Array,
  from: number,
  count: number,
): void {
  let pos = start;
  let bitPos = 0;
  for (let i = 0; i < count; i++) {
    let value = 0;
    for (let bitCount = 0; bitCount < bitWidth; ) {
      const taken = Math.min(8 - bitPos, bitWidth - bitCount);
      value |= ((bytes[pos]! >> bitPos) & ((1 << taken) - 1)) << bitCount;
      bitCount += taken;
      bitPos += taken;
      if (bitPos === 8) {
        bitPos = 0;
        pos++;
      }
    }
    out[from + i] = value;
  }
}
