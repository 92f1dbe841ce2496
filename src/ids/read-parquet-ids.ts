import { closeSync } from "node:fs";
import { corpusInputs, type Input, inspection, type keptField, parquet, rangeReader } from "#corpus";
import { UserError } from "#runtime";
import type { IdDocuments } from "./id-reader.ts";

/** Reads a file that `ParquetIds` wrote, one row group at a time. */
export function* readParquetIds(path: string): Generator<IdDocuments> {
  const { source, metadata, fields } = openParquetIds(path);
  const memory = new rangeReader.TextMemory();
  try {
    const columns = fields.length > 0 ? new parquet.KeptColumnReader(source, fields, memory) : undefined;
    let row = 0;
    for (const { columns: chunks, num_rows } of metadata.row_groups) {
      const group = parquet.readAsParquet(path, () => idsOf(source, chunks[0]!.meta_data!, Number(num_rows)));
      const kept: keptField.Value[] = [];
      const end = row + group.ends.length;
      columns?.read(source, row, end, kept);
      yield { ...group, kept };
      row = end;
    }
  } finally {
    closeSync(source.fd);
  }
}

/** Returns the fields of the corpus's records that the file stores next to the ids; undefined if it stores none. */
export function keptFieldsOf(path: string): readonly keptField.Field[] | undefined {
  const { source, fields } = openParquetIds(path);
  closeSync(source.fd);
  return fields.length > 0 ? fields : undefined;
}

const kinds: Readonly<Record<string, keptField.Kind>> = {
  BYTE_ARRAY: "text",
  INT64: "int",
  DOUBLE: "double",
  BOOLEAN: "bool",
};

function openParquetIds(path: string) {
  const input: Input = inspection.inspectInput(path, { inputFormat: "parquet" });
  const source = new rangeReader.FileSource(corpusInputs.openInput(input), input);
  try {
    const metadata = parquet.readAsParquet(path, () =>
      parquet.readMetadata(source, new rangeReader.TextMemory()),
    );
    const [ids, ...others] = parquet.topLevel(metadata.schema);
    const fields = others.map(({ name, type = "" }): keptField.Field => ({ name, kind: kinds[type] }));
    if (metadata.created_by === "bpe" && ids?.name === "input_ids") return { source, metadata, fields };
    throw new UserError(
      `"${path}" was not written by bpe encode; ids are read only from Parquet files that bpe encode wrote`,
      {
        hint: 'save the ids as .npy, which does not keep where documents end: numpy.save("ids.npy", numpy.concatenate(COLUMN))',
      },
    );
  } catch (error) {
    closeSync(source.fd);
    throw error;
  }
}

/**
 * Reads the ids of a row group. The row group is one page. It begins with Parquet's levels, which say where each row
 * begins. The ids follow, as plain 32-bit numbers.
 */
function idsOf(
  source: rangeReader.FileSource,
  { data_page_offset, total_compressed_size }: { data_page_offset: bigint; total_compressed_size: bigint },
  rowCount: number,
) {
  const startByte = Number(data_page_offset);
  const { header, dataByte, endByte } = parquet.pageAt(
    source,
    startByte,
    startByte + Number(total_compressed_size),
  );
  const v2 = header.data_page_header_v2;
  if (v2 === undefined || v2.encoding !== "PLAIN") throw new Error("the ids of a row group are not one page");
  const { num_values: valueCount, repetition_levels_byte_length, definition_levels_byte_length } = v2;
  const levelsEnd = repetition_levels_byte_length + definition_levels_byte_length;
  const idCount = valueCount - v2.num_nulls;
  const page = rangeReader.readFully(source, dataByte, endByte);
  if (page.length !== levelsEnd + 4 * idCount || idCount < 0) throw new Error("a page has the wrong size");
  const repetitions = new Int32Array(valueCount);
  const definitions = new Int32Array(valueCount);
  const areWhole =
    parquet.decodeRleBitPacked(page, 0, repetition_levels_byte_length, 1, repetitions) &&
    parquet.decodeRleBitPacked(page, repetition_levels_byte_length, levelsEnd, 1, definitions);
  const starts: number[] = [];
  let count = 0;
  for (let v = 0; v < valueCount; v++) {
    if (repetitions[v] === 0) starts.push(count);
    count += definitions[v]!;
  }
  const isRight = areWhole && count === idCount && starts.length === rowCount;
  if (!isRight || (valueCount > 0 && repetitions[0] !== 0)) throw new Error("the levels of a page are wrong");
  const ids = new Uint32Array(idCount);
  new Uint8Array(ids.buffer).set(page.subarray(levelsEnd));
  return { ids, ends: Uint32Array.from([...starts.slice(1), count].slice(0, rowCount)) };
}
