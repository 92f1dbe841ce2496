import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { parquetReadObjects } from "hyparquet";

// Reads files of ids like the programs for which the files are written. Each reader returns the ids of each document,
// or all ids as one document if the format does not mark where documents end.

type Documents = number[][];

function idsAt(bytes: Uint8Array, width: number): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const at = (i: number) => (width === 2 ? view.getUint16(2 * i, true) : view.getUint32(4 * i, true));
  return Array.from({ length: bytes.length / width }, (_, i) => at(i));
}

function cutAt(ids: readonly number[], ends: readonly number[]): Documents {
  if ((ends.at(-1) ?? 0) !== ids.length) throw new Error("the last document does not end with the ids");
  return ends.map((end, d) => ids.slice(ends[d - 1] ?? 0, end));
}

/** Reads the index in the layout of Megatron-LM's `_IndexReader`. */
function megatron(base: string, _width: number): Documents {
  const index = readFileSync(`${base}.idx`);
  if (index.toString("latin1", 0, 9) !== "MMIDIDX\0\0" || index.readBigUInt64LE(9) !== 1n)
    throw new Error("the index has another head");
  const width = { 8: 2, 4: 4 }[index[17]!]!;
  const count = Number(index.readBigUInt64LE(18));
  const documents = Number(index.readBigUInt64LE(26));
  const pointers = 34 + 4 * count;
  if (index.length !== pointers + 8 * count + 8 * documents) throw new Error("the index has another size");
  const bin = readFileSync(`${base}.bin`);
  const sequences = Array.from({ length: count }, (_, s) => {
    const start = Number(index.readBigInt64LE(pointers + 8 * s));
    return idsAt(bin.subarray(start, start + width * index.readInt32LE(34 + 4 * s)), width);
  });
  const firstOf = (d: number) => Number(index.readBigInt64LE(pointers + 8 * count + 8 * d));
  return Array.from({ length: documents - 1 }, (_, d) => sequences.slice(firstOf(d), firstOf(d + 1)).flat());
}

function olmo(base: string, width: number): Documents {
  const rows = gunzipSync(readFileSync(`${base}.csv.gz`))
    .toString()
    .split("\r\n")
    .slice(0, -1);
  const spans = rows.map((row) => row.split(",").map(Number) as [number, number]);
  const ids = idsAt(readFileSync(`${base}.npy`), width);
  if (spans.some(([start], d) => start !== (spans[d - 1]?.[1] ?? 0)))
    throw new Error("a gap between documents");
  return cutAt(
    ids,
    spans.map(([, end]) => end),
  );
}

function datatrove(base: string, width: number): Documents {
  const index = readFileSync(`${base}.ds.index`);
  const ids = idsAt(readFileSync(`${base}.ds`), width);
  const facts = readFileSync(`${base}.ds.metadata`, "utf8").split("\n");
  if (facts[0] !== `bpe|${width}` || facts[1] !== `${ids.length}`) throw new Error("the facts are of others");
  const ends = Array.from({ length: index.length / 8 }, (_, d) => Number(index.readBigUInt64LE(8 * d)));
  return cutAt(ids, ends);
}

/** Returns all ids as one document, because llm.c's files have no documents. */
function llmc(base: string, _width: number): Documents {
  const file = readFileSync(`${base}.bin`);
  const head = [0, 4, 8].map((at) => file.readInt32LE(at)).join();
  const width = head.startsWith("20240520,1,") ? 2 : 4;
  const ids = idsAt(file.subarray(1024), width);
  if (![`20240520,1,${ids.length}`, `20240801,7,${ids.length}`].includes(head))
    throw new Error("another head");
  return [ids];
}

async function parquet(base: string, _width: number, ending = "parquet"): Promise<Documents> {
  const file = readFileSync(`${base}.${ending}`);
  const rows = await parquetReadObjects({ file: new Uint8Array(file).buffer });
  return rows.map(({ input_ids: ids }) => ids as number[]);
}

export const readIdFiles = {
  npy: (base: string, width: number): Documents => [idsAt(readFileSync(`${base}.npy`).subarray(128), width)],
  bin: (base: string, width: number): Documents => [idsAt(readFileSync(`${base}.bin`), width)],
  parquet: (base: string, width: number): Promise<Documents> => parquet(base, width),
  part: (base: string, width: number): Promise<Documents> => parquet(base, width, "part"),
  megatron,
  olmo,
  datatrove,
  llmc,
} as const;
