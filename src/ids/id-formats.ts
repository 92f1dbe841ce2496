import { closeSync, existsSync, fstatSync, readFileSync, readSync } from "node:fs";
import { bytesOf, formatBytes, groupDigits, grow, showValue } from "#bytes";
import { type keptField, zlib } from "#corpus";
import { type ByteSink, files, scaled, UserError } from "#runtime";
import { type IdDocuments, readNumbers } from "./id-reader.ts";
import type { IdType } from "./id-writers.ts";
import * as idWriters from "./id-writers.ts";

// Formats of files of ids, most of them for training programs. `openFormattedIds` reads files that `bpe encode` wrote
// in these formats, except npy, bin and part, and others that have the same layout.

/** A format of files of ids. */
export type IdFormat = {
  readonly name: (typeof idWriters.formatNames)[number];
  /** The endings of its files. The first file has the ids, and the other files describe them. */
  readonly endings: readonly [string, ...string[]];
  /** Whether the files say where documents are. */
  readonly hasDocuments?: boolean;
  /** Whether documents without ids are left out. */
  readonly omitsEmpty?: boolean;
  /** Whether the files also store fields of records. */
  readonly keepsFields?: boolean;
  /** The largest number of ids in a file. */
  readonly idCountMax?: number;
  /**
   * Returns the id type that readers of this format expect for a tokenizer whose ids are below `idLimit`. If left out,
   * the type is chosen as for .npy.
   */
  readonly typeFor?: (idLimit: number) => IdType;
  /** Opens a writer of ids and ends of documents. `files` are in the order of the endings. */
  open(files: readonly ByteSink[], type: IdType, kept?: keptField.Columns): idWriters.IdWriter;
};

/** The largest value of a size that is stored as a signed 32-bit field. */
const int32Max = 2 ** 31 - 1;

/**
 * What the formats `parquet` and `part` have in common. Their writer is loaded on first use, because loading takes some
 * milliseconds, and few runs write Parquet.
 */
const rows: Omit<IdFormat, "name" | "endings"> = {
  hasDocuments: true,
  keepsFields: true,
  typeFor: () => "uint32",
  open([file], _type, kept) {
    const { ParquetIds } = require("./parquet-ids.ts") as typeof import("./parquet-ids.ts");
    return new ParquetIds(file!, kept);
  },
};

export const entries: readonly IdFormat[] = [
  { name: "npy", endings: [".npy"], open: ([ids], type) => idWriters.npyWriter(ids!, type) },
  {
    name: "bin",
    endings: [".bin"],
    open: ([ids], type) => new idWriters.BinaryWriter(ids!, type),
  },
  { ...rows, name: "parquet", endings: [".parquet"] },
  // A format for `bpe ids join` alone: the first and the last row may be parts of documents.
  { ...rows, name: "part", endings: [".part"] },
  {
    name: "megatron",
    hasDocuments: true,
    endings: [".bin", ".idx"],
    typeFor: (idLimit) => (idLimit < megatronNarrowLimit ? "uint16" : "uint32"),
    open: ([ids, index], type) => indexed(ids!, index!, type, (ends) => megatronIndex(ends, type)),
  },
  {
    name: "olmo",
    hasDocuments: true,
    omitsEmpty: true,
    endings: [".npy", ".csv.gz"],
    open: ([ids, index], type) => indexed(ids!, index!, type, olmoIndex),
  },
  {
    name: "datatrove",
    hasDocuments: true,
    omitsEmpty: true,
    endings: [".ds", ".ds.index", ".ds.metadata"],
    open: ([ids, index, facts], type) =>
      new IndexedWriter(new idWriters.BinaryWriter(ids!, type), (ends, idCount) => {
        index!.write(bytesOf(BigUint64Array.from(withoutEmpty(ends), BigInt)));
        facts!.write(new TextEncoder().encode(datatroveFacts(idCount, type)));
      }),
  },
  {
    name: "llmc",
    endings: [".bin"],
    idCountMax: int32Max,
    open: ([ids], type) => new idWriters.HeadedWriter(ids!, type, (idCount) => llmcHead(type, idCount)),
  },
];

/**
 * Returns the format with this name. Without a name, returns the first format whose files of ids end like the path.
 * Returns undefined if there is none.
 */
export const of = (name: string | undefined, path: string): IdFormat | undefined =>
  entries.find((format) => (name === undefined ? path.endsWith(format.endings[0]) : format.name === name));

/** Removes the ending of the format's files from a path. */
export function baseOf(path: string, { endings }: IdFormat): string {
  const ending = endings.find((each) => path.endsWith(each) && path.length > each.length);
  return ending === undefined ? path : path.slice(0, -ending.length);
}

/** Writes raw ids. At the end, passes the ends of documents to `writeIndex`. */
class IndexedWriter implements idWriters.IdWriter {
  private ends = new Float64Array(scaled(1 << 10, 4));
  private endCount = 0;

  constructor(
    private readonly ids: idWriters.BinaryWriter,
    private readonly writeIndex: (ends: Float64Array, idCount: number) => void,
  ) {}

  get idCount(): number {
    return this.ids.idCount;
  }

  write(ids: Uint16Array | Uint32Array, documentEnds?: Uint32Array): void {
    const before = this.idCount;
    this.ids.write(ids);
    for (const end of documentEnds ?? []) this.endAt(before + end);
  }

  endInput(): void {
    this.endAt(this.idCount);
  }

  drain(): Promise<void> | undefined {
    return this.ids.drain();
  }

  finish(): void {
    this.writeIndex(this.ends.subarray(0, this.endCount), this.idCount);
  }

  private endAt(end: number): void {
    if (this.endCount === this.ends.length) this.ends = grow(this.ends);
    this.ends[this.endCount++] = end;
  }
}

/**
 * Removes documents without ids, given the ends of documents. OLMo-core refuses an empty document at the end of a file,
 * and datatrove miscounts the positions after an empty document.
 */
const withoutEmpty = (ends: Float64Array) => ends.filter((end, d) => end > (d === 0 ? 0 : ends[d - 1]!));

const indexed = (
  ids: ByteSink,
  index: ByteSink,
  type: IdType,
  chunksOf: (ends: Float64Array) => Iterable<Uint8Array>,
) =>
  new IndexedWriter(new idWriters.BinaryWriter(ids, type), (ends) => {
    for (const chunk of chunksOf(ends)) index.write(chunk);
  });

/** For vocabularies below this size, Megatron uses 16-bit ids. */
const megatronNarrowLimit = 65_500;
/**
 * Megatron's codes of numpy types. Its 32-bit ids are signed, which makes no difference, because ids are below 2^31.
 */
const megatronTypes = { uint16: 8, uint32: 4 } as const;

/**
 * Yields the content of `.idx`. First come magic, version, type, the number of sequences, and the number of documents
 * plus one. Three lists follow: the length of each sequence in ids (32 bits each), the start of each sequence in bytes
 * (64 bits each), and the first sequence of each document, with one more entry for the end (64 bits each). Here, each
 * document is one sequence.
 */
function* megatronIndex(ends: Float64Array, type: IdType): Generator<Uint8Array> {
  const count = ends.length;
  const head = new DataView(new ArrayBuffer(34));
  "MMIDIDX\0\0".split("").forEach((character, i) => {
    head.setUint8(i, character.charCodeAt(0));
  });
  head.setBigUint64(9, 1n, true);
  head.setUint8(17, megatronTypes[type]);
  head.setBigUint64(18, BigInt(count), true);
  head.setBigUint64(26, BigInt(count + 1), true);
  yield bytesOf(head);
  const startOf = (d: number) => (d === 0 ? 0 : ends[d - 1]!);
  yield bytesOf(Int32Array.from(ends, (end, d) => lengthOf(end - startOf(d))));
  const width = idWriters.idBytes(type);
  yield bytesOf(BigInt64Array.from(ends, (_, d) => BigInt(startOf(d) * width)));
  yield bytesOf(BigInt64Array.from({ length: count + 1 }, (_, d) => BigInt(d)));
}

function lengthOf(idCount: number): number {
  if (idCount <= int32Max) return idCount;
  throw new UserError(
    `a document has ${groupDigits(idCount)} ids, but megatron allows at most ${groupDigits(int32Max)} per document`,
    { hint: idWriters.shorterDocuments },
  );
}

const rowsInChunk = scaled(1 << 15, 2);

/**
 * Yields the content of `.csv.gz`, with a line for each document that has ids: its start and end in ids, its number, an
 * empty source, and its number once more. Files of dolma have the number of the record's line in that last field. Each
 * chunk is a complete gzip member.
 */
function* olmoIndex(all: Float64Array): Generator<Uint8Array> {
  const ends = withoutEmpty(all);
  for (let from = 0; from === 0 || from < ends.length; from += rowsInChunk) {
    let rows = "";
    for (let d = from; d < Math.min(ends.length, from + rowsInChunk); d++)
      rows += `${d === 0 ? 0 : ends[d - 1]},${ends[d]},${d},,${d}\r\n`;
    yield zlib().gzipSync(rows);
  }
}

/**
 * Returns three lines. The first has `bpe`, in place of the tokenizer's name, and the size of an id in bytes. The
 * second has the exact number of ids. The third has this number in a form for people.
 */
const datatroveFacts = (idCount: number, type: IdType) =>
  `bpe|${idWriters.idBytes(type)}\n${idCount}\n${formatBytes(idCount).replace("B", "T")}`;

/** llm.c's magic numbers and versions: its GPT-2 has 16-bit ids, its Llama 3 has 32-bit ids. */
const llmcHeads = { uint16: [20240520, 1], uint32: [20240801, 7] } as const;
const llmcHeadBytes = 256 * 4;

/** Returns a head of 256 32-bit numbers: magic, version, the number of ids, and zeros. */
function llmcHead(type: IdType, idCount: number): Uint8Array {
  const head = new Int32Array(llmcHeadBytes / 4);
  head.set([...llmcHeads[type], idCount]);
  return bytesOf(head);
}

/** A file of ids in one of the formats above, except `part` and plain .npy and .bin. */
export type FormattedIds = {
  readonly format: IdFormat;
  /** The paths of all files of the format, including those that are missing or not read. */
  readonly paths: readonly string[];
  /** The fields of records that the file stores. */
  readonly keptFields?: readonly keptField.Field[] | undefined;
  /**
   * Yields the ids in order, with the ends of documents, if the format stores these. A document may continue in the ids
   * that are yielded next.
   */
  read(): Generator<IdDocuments>;
};

/**
 * Finds out the format of a file of ids by its ending, its head and its companion files. Returns undefined if these
 * show none of the formats above, and also for `part` and for plain .npy and .bin. Throws a UserError if a companion
 * file is missing, or if a file is damaged or has a layout that `bpe encode` does not write. `needed` is the id type of
 * files that do not state one.
 */
export function openFormattedIds(path: string, needed: IdType): FormattedIds | undefined {
  if (path === "-" || files.stat(path)?.isFile() !== true) return undefined;
  const at = (name: IdFormat["name"]) => {
    const format = of(name, "")!;
    return { format, base: baseOf(path, format) };
  };
  if (path.endsWith(".parquet")) return parquetAt(path);
  if (path.endsWith(".ds")) return rawIds(at("datatrove"), ".ds", datatroveOf(path, needed));
  const { base } = at("megatron");
  if (/\.(bin|idx)$/.test(path) && existsSync(`${base}.idx`))
    return rawIds(at("megatron"), ".bin", megatronOf(`${base}.idx`));
  if (path.endsWith(".bin")) {
    const type = llmcTypeOf(path);
    return type && rawIds(at("llmc"), ".bin", { type, startByte: llmcHeadBytes });
  }
  const olmo = at("olmo");
  const index = `${olmo.base}.csv.gz`;
  const isOlmo = /\.(npy|csv\.gz)$/.test(path) && existsSync(index) && !isNpy(`${olmo.base}.npy`);
  return isOlmo ? rawIds(olmo, ".npy", { type: needed, ends: olmoEnds(index) }) : undefined;
}

type Layout = {
  readonly type: IdType;
  readonly startByte?: number;
  /** The ends of documents; undefined if the format does not store them (llmc). */
  readonly ends?: Float64Array;
};

function rawIds(
  { format, base }: { format: IdFormat; base: string },
  ending: string,
  layout: Layout,
): FormattedIds {
  const { type, startByte = 0, ends } = layout;
  const path = base + ending;
  return {
    format,
    paths: format.endings.map((ending) => base + ending),
    *read() {
      const fd = files.openRegular(path);
      try {
        const endByte = fstatSync(fd).size;
        const idCount = (endByte - startByte) / idWriters.idBytes(type);
        const said = ends?.at(-1) ?? (ends === undefined ? idCount : 0);
        if (said !== idCount)
          throw damagedFileError(
            path,
            `it has ${idCount} ids of ${type}, but its documents have ${said} in all`,
          );
        let first = 0;
        let done = 0;
        for (const ids of readNumbers(fd, path, startByte, endByte, type)) {
          let last = first;
          while (ends !== undefined && last < ends.length && ends[last]! <= done + ids.length) last++;
          const inChunk = Uint32Array.from(ends?.subarray(first, last) ?? [], (end) => end - done);
          yield { ids, ends: inChunk, kept: [] };
          [first, done] = [last, done + ids.length];
        }
        // Documents remain only if the file has no ids: then all of them are empty.
        const rest = (ends?.length ?? 0) - first;
        if (rest > 0) yield { ids: new Uint16Array(0), ends: new Uint32Array(rest), kept: [] };
      } finally {
        closeSync(fd);
      }
    },
  };
}

const damagedFileError = (
  path: string,
  what: string,
  hint = "copy the files again, or encode the text again",
) => new UserError(`"${path}" is damaged: ${what}`, { hint });

const otherHint =
  "save the ids as .npy instead; bpe reads files of this format only if bpe encode wrote them";

const bytesAt = (path: string) => files.withRegular(path, (fd) => readFileSync(fd));

const megatronMagic = new TextEncoder().encode("MMIDIDX\0\0");

function megatronOf(path: string): Layout {
  const index = bytesAt(path);
  const view = new DataView(index.buffer, index.byteOffset, index.byteLength);
  if (Buffer.compare(index.subarray(0, 9), megatronMagic) !== 0 || index.length < 34)
    throw damagedFileError(path, "it does not begin like an index of Megatron");
  const code = index[17];
  const type = (Object.keys(megatronTypes) as IdType[]).find((type) => megatronTypes[type] === code);
  if (type === undefined)
    throw new UserError(
      `"${path}" has ids of Megatron's type ${code}, but only 4 (int32) and 8 (uint16) can be read`,
      { hint: otherHint },
    );
  const count = Number(view.getBigUint64(18, true));
  const documentCount = Number(view.getBigUint64(26, true)) - 1;
  if (documentCount !== count)
    throw new UserError(
      `"${path}" has ${count} sequences in ${documentCount} documents; only files with one sequence per document can be read`,
      {
        hint: otherHint,
      },
    );
  const startsAt = 34 + 4 * count;
  const wantedBytes = startsAt + 8 * count + 8 * (count + 1);
  if (index.length !== wantedBytes)
    throw damagedFileError(path, `it has ${index.length} bytes instead of ${wantedBytes}`);
  const ends = new Float64Array(count);
  for (let d = 0, start = 0; d < count; d++) {
    const isNext = Number(view.getBigInt64(startsAt + 8 * d, true)) === start * idWriters.idBytes(type);
    const isOne = Number(view.getBigInt64(startsAt + 8 * count + 8 * d, true)) === d;
    if (!isNext || !isOne)
      throw new UserError(
        isOne
          ? `"${path}": sequence ${d + 1} does not begin where the sequence before it ends`
          : `"${path}": sequence ${d + 1} is not document ${d + 1}; only files with one sequence per document can be read`,
        { hint: otherHint },
      );
    start += view.getInt32(34 + 4 * d, true);
    ends[d] = start;
  }
  return { type, ends };
}

function datatroveOf(path: string, needed: IdType): Layout {
  const index = bytesAt(`${path}.index`);
  if (index.length % 8 !== 0)
    throw damagedFileError(`${path}.index`, `it has ${index.length} bytes, not a multiple of 8`);
  const view = new DataView(index.buffer, index.byteOffset, index.byteLength);
  const ends = Float64Array.from({ length: index.length / 8 }, (_, d) =>
    Number(view.getBigUint64(8 * d, true)),
  );
  checkAscending(ends, `${path}.index`);
  const facts = `${path}.metadata`;
  const size = existsSync(facts) ? /\|([24])\n/.exec(bytesAt(facts).toString())?.[1] : undefined;
  return { type: size === undefined ? needed : size === "2" ? "uint16" : "uint32", ends };
}

function olmoEnds(path: string): Float64Array {
  const rows = zlib().gunzipSync(bytesAt(path)).toString().split("\r\n").slice(0, -1);
  const ends = new Float64Array(rows.length);
  for (const [d, row] of rows.entries()) {
    ends[d] = Number(row.split(",")[1]);
    if (row === `${d === 0 ? 0 : ends[d - 1]},${ends[d]},${d},,${d}`) continue;
    throw new UserError(`line ${d + 1} of "${path}" is ${showValue(row)}, which bpe encode would not write`, {
      hint: otherHint,
    });
  }
  checkAscending(ends, path);
  return ends;
}

function checkAscending(ends: Float64Array, path: string): void {
  const wrong = ends.findIndex((end, d) => !(Number.isSafeInteger(end) && end >= (ends[d - 1] ?? 0)));
  if (wrong >= 0)
    throw damagedFileError(path, `document ${wrong + 1} ends at position ${ends[wrong]}, before it begins`);
}

function headOf(path: string): Uint8Array {
  const head = new Uint8Array(12);
  return files.withRegular(path, (fd) => head.subarray(0, readSync(fd, head, 0, head.length, 0)));
}

const isNpy = (path: string) =>
  files.stat(path) !== undefined && idWriters.npyMagic.every((byte, i) => headOf(path)[i] === byte);

/** Returns the id type that an llm.c head states; undefined if the file has no such head, or not the size it states. */
function llmcTypeOf(path: string): IdType | undefined {
  const head = headOf(path);
  if (head.length < 12) return undefined;
  const [magic, version, count] = new Int32Array(head.buffer, 0, 3);
  const type = (Object.keys(llmcHeads) as IdType[]).find(
    (type) => `${llmcHeads[type]}` === `${magic},${version}`,
  );
  if (type === undefined) return undefined;
  return files.stat(path)!.size === llmcHeadBytes + count! * idWriters.idBytes(type) ? type : undefined;
}

function parquetAt(path: string): FormattedIds {
  // Loading this code takes some 10 ms.
  const { keptFieldsOf, readParquetIds } =
    require("./read-parquet-ids.ts") as typeof import("./read-parquet-ids.ts");
  return {
    format: of("parquet", "")!,
    paths: [path],
    keptFields: keptFieldsOf(path),
    read: () => readParquetIds(path),
  };
}
