import { closeSync, existsSync, fstatSync, readFileSync, readSync } from "node:fs";
import { zlib } from "../corpus/content.ts";
import type { KeptField } from "../corpus/records/kept-fields.ts";
import { UserError } from "../errors.ts";
import { openRegularFile, statOf, withRegularFile } from "../runtime/system-error.ts";
import { baseOf, type IdFormat, idFormatOf, llmcHeadBytes, llmcHeads, megatronTypes } from "./id-formats.ts";
import { type IdDocuments, readNumbers } from "./id-reader.ts";
import { type IdType, idBytes, npyMagic } from "./id-writers.ts";

// The files of ids of the programs that train models, as `bpe encode` writes them, and as far as other programs write the same.

/** A file of ids with its documents. */
export type FormattedIds = {
  readonly format: IdFormat;
  /** All that is read. */
  readonly paths: readonly string[];
  /** Fields of records that are beside the ids. */
  readonly keptFields?: readonly KeptField[] | undefined;
  /** The ids in order, with the ends of documents among them; a document may go on in the next. */
  read(): Generator<IdDocuments>;
};

/** What the file is, by its ending, its beginning and what is beside it; undefined for bare ids. `needed`: their type, if nothing says it. */
export function formattedIdsAt(path: string, needed: IdType): FormattedIds | undefined {
  if (path === "-" || statOf(path)?.isFile() !== true) return undefined;
  const at = (name: IdFormat["name"]) => {
    const format = idFormatOf(name, "")!;
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
  /** Where documents end; of ids alone it is not known. */
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
      const fd = openRegularFile(path);
      try {
        const endByte = fstatSync(fd).size;
        const idCount = (endByte - startByte) / idBytes(type);
        const said = ends?.at(-1) ?? (ends === undefined ? idCount : 0);
        if (said !== idCount)
          throw damaged(path, `it has ${idCount} ids of ${type}, and its documents have ${said}`);
        let first = 0;
        let done = 0;
        for (const ids of readNumbers(fd, path, startByte, endByte, type)) {
          let last = first;
          while (ends !== undefined && last < ends.length && ends[last]! <= done + ids.length) last++;
          const inChunk = Uint32Array.from(ends?.subarray(first, last) ?? [], (end) => end - done);
          yield { ids, ends: inChunk, kept: [] };
          [first, done] = [last, done + ids.length];
        }
        // Without any id there may be empty documents.
        const rest = (ends?.length ?? 0) - first;
        if (rest > 0) yield { ids: new Uint16Array(0), ends: new Uint32Array(rest), kept: [] };
      } finally {
        closeSync(fd);
      }
    },
  };
}

const damaged = (path: string, what: string, hint?: string) =>
  new UserError(`"${path}" is damaged: ${what}`, hint === undefined ? {} : { hint });

const otherHint = "only what bpe encode writes can be read; else save the ids as .npy";

const bytesAt = (path: string) => withRegularFile(path, (fd) => readFileSync(fd));

/** The layout of an `.idx` is told where it is written. */
function megatronOf(path: string): Layout {
  const index = bytesAt(path);
  const view = new DataView(index.buffer, index.byteOffset, index.byteLength);
  if (index.toString("latin1", 0, 9) !== "MMIDIDX\0\0" || index.length < 34)
    throw damaged(path, "it does not begin like an index of Megatron");
  const code = index[17];
  const type = (Object.keys(megatronTypes) as IdType[]).find((type) => megatronTypes[type] === code);
  if (type === undefined)
    throw new UserError(`"${path}" has ids of type ${code}, neither uint16 nor int32`, { hint: otherHint });
  const count = Number(view.getBigUint64(18, true));
  const documentCount = Number(view.getBigUint64(26, true)) - 1;
  if (documentCount !== count)
    throw new UserError(`"${path}" has ${count} sequences in ${documentCount} documents`, {
      hint: otherHint,
    });
  const startsAt = 34 + 4 * count;
  if (index.length !== startsAt + 8 * count + 8 * (count + 1))
    throw damaged(path, `it has ${index.length} bytes`);
  const ends = new Float64Array(count);
  for (let d = 0, start = 0; d < count; d++) {
    const isNext = Number(view.getBigInt64(startsAt + 8 * d, true)) === start * idBytes(type);
    const isOne = Number(view.getBigInt64(startsAt + 8 * count + 8 * d, true)) === d;
    if (!isNext || !isOne)
      throw new UserError(
        `"${path}": sequence ${d} is not document ${d}, or does not follow the one before`,
        { hint: otherHint },
      );
    start += view.getInt32(34 + 4 * d, true);
    ends[d] = start;
  }
  return { type, ends };
}

function datatroveOf(path: string, needed: IdType): Layout {
  const index = bytesAt(`${path}.index`);
  if (index.length % 8 !== 0) throw damaged(`${path}.index`, `it has ${index.length} bytes`);
  const view = new DataView(index.buffer, index.byteOffset, index.byteLength);
  const ends = Float64Array.from({ length: index.length / 8 }, (_, d) =>
    Number(view.getBigUint64(8 * d, true)),
  );
  checkRising(ends, `${path}.index`);
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
    throw new UserError(`"${path}" line ${d + 1} is not as bpe encode writes it: "${row.slice(0, 80)}"`, {
      hint: otherHint,
    });
  }
  checkRising(ends, path);
  return ends;
}

function checkRising(ends: Float64Array, path: string): void {
  const wrong = ends.findIndex((end, d) => !(Number.isSafeInteger(end) && end >= (ends[d - 1] ?? 0)));
  if (wrong >= 0) throw damaged(path, `document ${wrong} ends at id ${ends[wrong]}, before it begins`);
}

function headOf(path: string): Uint8Array {
  const head = new Uint8Array(12);
  return withRegularFile(path, (fd) => head.subarray(0, readSync(fd, head, 0, head.length, 0)));
}

const isNpy = (path: string) =>
  statOf(path) !== undefined && npyMagic.every((byte, i) => headOf(path)[i] === byte);

/** The type of ids behind a head of llm.c that is right; undefined: there is none. */
function llmcTypeOf(path: string): IdType | undefined {
  const head = headOf(path);
  if (head.length < 12) return undefined;
  const [magic, version, count] = new Int32Array(head.buffer, 0, 3);
  const type = (Object.keys(llmcHeads) as IdType[]).find(
    (type) => `${llmcHeads[type]}` === `${magic},${version}`,
  );
  if (type === undefined) return undefined;
  return statOf(path)!.size === llmcHeadBytes + count! * idBytes(type) ? type : undefined;
}

function parquetAt(path: string): FormattedIds {
  // Loading it takes some 10 ms.
  const { keptFieldsOf, readParquetIds } =
    require("./read-parquet-ids.ts") as typeof import("./read-parquet-ids.ts");
  return {
    format: idFormatOf("parquet", "")!,
    paths: [path],
    keptFields: keptFieldsOf(path),
    read: () => readParquetIds(path),
  };
}
