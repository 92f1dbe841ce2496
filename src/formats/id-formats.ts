import { bytesOf, grown } from "../bytes/arrays.ts";
import { bytes, grouped } from "../bytes/quantities.ts";
import { zlib } from "../corpus/content.ts";
import type { KeptColumns } from "../corpus/records/kept-fields.ts";
import { UserError } from "../errors.ts";
import type { ByteSink } from "../runtime/file-calls.ts";
import {
  BinaryWriter,
  HeadedWriter,
  type IdType,
  type IdWriter,
  idBytes,
  type idFormatNames,
  npyWriter,
} from "./id-writers.ts";

// The files of ids that the programs which train models read, each with the layout of that program.

/** One of them. */
export type IdFormat = {
  readonly name: (typeof idFormatNames)[number];
  /** What each of its files ends in: that of the ids, then those that say where documents are. */
  readonly endings: readonly [string, ...string[]];
  /** Whether its files say where documents are. */
  readonly hasDocuments?: boolean;
  /** Whether they leave out those that are empty. */
  readonly omitsEmpty?: boolean;
  /** Whether they hold fields of records, too. */
  readonly keepsFields?: boolean;
  /** More ids do not fit a file. */
  readonly idCountMax?: number;
  /** The type of ids that its readers expect of a tokenizer, if it is not that of .npy; `idLimit`: above every id. */
  readonly typeFor?: (idLimit: number) => IdType;
  /** Takes ids, and where documents end; in the order of the endings. */
  open(files: readonly ByteSink[], type: IdType, kept?: KeptColumns): IdWriter;
};

/** Sizes are fields of 32 bits, with a sign. */
const int32Max = 2 ** 31 - 1;

/** Rows of Parquet. Loading it takes some milliseconds, for a format that few runs write. */
const rows: Omit<IdFormat, "name" | "endings"> = {
  hasDocuments: true,
  keepsFields: true,
  typeFor: () => "uint32",
  open([file], _type, kept) {
    const { ParquetIds } = require("./parquet-ids.ts") as typeof import("./parquet-ids.ts");
    return new ParquetIds(file!, kept);
  },
};

export const idFormats: readonly IdFormat[] = [
  { name: "npy", endings: [".npy"], open: ([ids], type) => npyWriter(ids!, type) },
  {
    name: "bin",
    endings: [".bin"],
    open: ([ids], type) => new BinaryWriter(ids!, type),
  },
  { ...rows, name: "parquet", endings: [".parquet"] },
  // For `bpe ids join` alone: the first and the last row may be pieces of documents.
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
      new IndexedWriter(new BinaryWriter(ids!, type), (ends, idCount) => {
        index!.write(bytesOf(BigUint64Array.from(withoutEmpty(ends), BigInt)));
        facts!.write(new TextEncoder().encode(datatroveFacts(idCount, type)));
      }),
  },
  {
    name: "llmc",
    endings: [".bin"],
    idCountMax: int32Max,
    open: ([ids], type) => new HeadedWriter(ids!, type, (idCount) => llmcHead(type, idCount)),
  },
];

/** The format of that name; without one, the first whose files of ids end so. */
export const idFormatOf = (name: string | undefined, path: string): IdFormat | undefined =>
  idFormats.find((format) => (name === undefined ? path.endsWith(format.endings[0]) : format.name === name));

/** A path without what the format's files end in. */
export function baseOf(path: string, { endings }: IdFormat): string {
  const ending = endings.find((each) => path.endsWith(each) && path.length > each.length);
  return ending === undefined ? path : path.slice(0, -ending.length);
}

/** Raw ids, and where documents end: known as a whole behind the last. */
class IndexedWriter implements IdWriter {
  private ends = new Float64Array(1 << 10);
  private endCount = 0;

  constructor(
    private readonly ids: BinaryWriter,
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

  drained(): Promise<void> | undefined {
    return this.ids.drained();
  }

  finish(): void {
    this.writeIndex(this.ends.subarray(0, this.endCount), this.idCount);
  }

  private endAt(end: number): void {
    if (this.endCount === this.ends.length) this.ends = grown(this.ends);
    this.ends[this.endCount++] = end;
  }
}

/**
 * The programs whose files these are write no empty document. OLMo-core refuses one that begins where the ids end, and datatrove
 * counts places wrongly behind one.
 */
const withoutEmpty = (ends: Float64Array) => ends.filter((end, d) => end > (d === 0 ? 0 : ends[d - 1]!));

const indexed = (
  ids: ByteSink,
  index: ByteSink,
  type: IdType,
  chunksOf: (ends: Float64Array) => Iterable<Uint8Array>,
) =>
  new IndexedWriter(new BinaryWriter(ids, type), (ends) => {
    for (const chunk of chunksOf(ends)) index.write(chunk);
  });

/** Megatron takes 16 bits below this many ids. */
const megatronNarrowLimit = 65_500;
/** Its numbers of numpy's types. Its ids of 32 bits have a sign, which no id needs. */
export const megatronTypes = { uint16: 8, uint32: 4 } as const;

/**
 * `.idx`: magic, version, type, the number of sequences and of documents and one; then the length of each sequence in ids
 * (32 bits), where it begins in bytes, and the sequence at which each document begins, with a last one for the end (64
 * bits). Here each document is one sequence.
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
  const width = idBytes(type);
  yield bytesOf(BigInt64Array.from(ends, (_, d) => BigInt(startOf(d) * width)));
  yield bytesOf(BigInt64Array.from({ length: count + 1 }, (_, d) => BigInt(d)));
}

function lengthOf(idCount: number): number {
  if (idCount <= int32Max) return idCount;
  throw new UserError(
    `a document of ${grouped(idCount)} ids does not fit this format: it may have ${grouped(int32Max)}`,
    { hint: "cut it into records, or name the special token that ends documents: --document-end" },
  );
}

const rowsInChunk = 1 << 15;

/**
 * `.csv.gz`: a line for each document, with where it begins and ends in ids; its number; no source; its number again,
 * where dolma has the line of a record. Each chunk is gzip for itself, and all of them are one file.
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

/** The tokenizer and the size of an id; the number of ids, for programs and for people. */
const datatroveFacts = (idCount: number, type: IdType) =>
  `bpe|${idBytes(type)}\n${idCount}\n${bytes(idCount).replace("B", "T")}`;

/** llm.c's numbers for ids of 16 bits (its GPT-2) and of 32 (its Llama 3): the magic of the file, and its version. */
export const llmcHeads = { uint16: [20240520, 1], uint32: [20240801, 7] } as const;
export const llmcHeadBytes = 256 * 4;

/** 256 words: magic, version, the number of ids. */
function llmcHead(type: IdType, idCount: number): Uint8Array {
  const head = new Int32Array(llmcHeadBytes / 4);
  head.set([...llmcHeads[type], idCount]);
  return bytesOf(head);
}
