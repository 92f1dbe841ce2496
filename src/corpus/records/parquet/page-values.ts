import type { CompressionCodec } from "hyparquet";
import { deltaBinaryUnpack } from "hyparquet/src/delta.js";
import { decompressPage } from "./decompress-page.ts";
import type { Page } from "./page-headers.ts";
import { NullValue } from "./parquet-errors.ts";
import { decodeRleBitPacked } from "./rle-bit-packed.ts";

/**
 * PageValues: where the texts of a page, or of a dictionary, are.
 *
 *   FIELD    TYPE         LENGTH   MEANING
 *   bytes    Uint8Array            the page, decompressed
 *   starts   Int32Array   count    value v is bytes[starts[v] .. ends[v])
 *   ends     Int32Array   count
 *
 * Several v may name one value of a dictionary, in any order.
 */
export type PageValues = {
  readonly bytes: Uint8Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
};

export function dictionaryValues({ header }: Page, packed: Uint8Array, codec: CompressionCodec): PageValues {
  const page = decompressPage(packed, codec, header.uncompressed_page_size);
  const count = header.dictionary_page_header!.num_values;
  if (!(count >= 0 && 4 * count <= page.length)) throw new Error(`a dictionary says it has ${count} values`);
  return plainValues(page, 0, count);
}

/** Called with the bytes that values will take, where the page holds them in fewer; may throw. */
export type ClaimValues = (bytes: number) => void;

/** The values of a page. Throws `NullValue` if a row has none, and any error if the page is damaged. */
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
  if (definition_level_encoding !== "RLE") throw new Error(`levels as ${definition_level_encoding}`);
  const levelsEnd = 4 + viewOf(page).getUint32(0, true);
  if (levelsEnd > page.length) throw new Error("the levels of a page are longer than the page");
  checkLevels(page, 4, levelsEnd, num_values);
  return decode(page, levelsEnd, encoding, num_values, dictionary, claim);
}

/** A definition level says of each row whether it has a value: 1 or 0. Throws `NullValue` at a 0. */
function checkLevels(bytes: Uint8Array, start: number, end: number, count: number): void {
  const levels = new Int32Array(count);
  if (!decodeRleBitPacked(bytes, start, end, 1, levels)) throw new Error("the levels of a page end early");
  const index = levels.indexOf(0);
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
      if (dictionary === undefined) throw new Error("a page refers to a dictionary, and there is none");
      return dictionaryIndexValues(page, start, count, dictionary);
    case "DELTA_LENGTH_BYTE_ARRAY":
    case "DELTA_BYTE_ARRAY":
      return deltaValues(page, start, count, encoding === "DELTA_BYTE_ARRAY", claim);
    default:
      throw new Error(`texts as ${encoding}`);
  }
}

const viewOf = (bytes: Uint8Array) => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** PLAIN: each value follows its length, four bytes. */
function plainValues(page: Uint8Array, start: number, count: number): PageValues {
  if (4 * count > page.length - start) throw new Error("a page has fewer values than it says");
  const view = viewOf(page);
  const starts = new Int32Array(count);
  const ends = new Int32Array(count);
  let pos = start;
  for (let v = 0; v < count; v++) {
    if (pos + 4 > page.length) throw new Error("a page has fewer values than it says");
    const end = pos + 4 + view.getUint32(pos, true);
    if (end > page.length) throw new Error("a value is longer than its page");
    starts[v] = pos + 4;
    ends[v] = end;
    pos = end;
  }
  return { bytes: page, starts, ends };
}

/** RLE_DICTIONARY: the bit width of the indices in a byte, then the indices into the dictionary. */
function dictionaryIndexValues(
  page: Uint8Array,
  start: number,
  count: number,
  dictionary: PageValues,
): PageValues {
  const indices = new Int32Array(count);
  // Indices of width 0 are all 0, and nothing has to follow.
  const bitWidth = page[start] ?? 0;
  if (bitWidth > 0 && !decodeRleBitPacked(page, start + 1, page.length, bitWidth, indices)) {
    throw new Error("a page has fewer values than it says");
  }
  const starts = new Int32Array(count);
  const ends = new Int32Array(count);
  for (let v = 0; v < count; v++) {
    const index = indices[v]!;
    // A damaged page may have indices of 32 bits, which come out negative.
    if (index < 0 || index >= dictionary.starts.length)
      throw new Error(`a page refers to value ${index >>> 0} of its dictionary`);
    starts[v] = dictionary.starts[index]!;
    ends[v] = dictionary.ends[index]!;
  }
  return { bytes: dictionary.bytes, starts, ends };
}

/**
 * DELTA_LENGTH_BYTE_ARRAY: the lengths of all values as delta-packed integers, then the bytes of all values.
 * DELTA_BYTE_ARRAY (`sharesPrefixes`): before these come the lengths of the prefixes that each value shares with the one
 * before it.
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
  if (reader.offset + restCount > page.length) throw new Error("a page has fewer values than it says");
  if (byteCount > valueBytesMax) throw new Error(`the values of a page have ${byteCount} bytes`);
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
        throw new Error("a value shares more with the one before than that has");
      }
      bytes.copyWithin(pos, starts[v - 1]!, starts[v - 1]! + shared[v]!);
    }
    bytes.set(page.subarray(offset, offset + rest[v]!), restPos);
    starts[v] = pos;
    pos = restPos + rest[v]!;
    ends[v] = pos;
    offset += rest[v]!;
  }
  return { bytes, starts, ends };
}

/** Positions are 31-bit integers. */
const valueBytesMax = 2 ** 31 - 1;
