import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { parquetMetadata, parquetReadObjects, parquetSchema } from "hyparquet";
import { parquetWriteBuffer } from "hyparquet-writer";
import { findInputs } from "../../../../src/corpus/find-inputs.ts";
import type * as keptField from "../../../../src/corpus/records/kept-fields.ts";
import { encodeIntoFiles } from "../../../../src/encode/id-files.ts";
import * as tokenizerFiles from "../../../../src/formats/load-tokenizer.ts";
import * as idFormats from "../../../../src/ids/id-formats.ts";
import { put, scratch } from "../../../binary.ts";
import { rounds } from "../../../rounds.ts";
import { refusalOf } from "../../../thrown.ts";
import { writeTokenizer } from "../../tokenizer/made-tokenizer.ts";

const parts = await tokenizerFiles.load(writeTokenizer("gpt2"));
const format = idFormats.of("parquet", "")!;

type Asked = { workerCount?: number; rangeSizeBytes?: number; shardSize?: number };

function encode(
  paths: readonly string[],
  base: string,
  keptFields: readonly keptField.Field[],
  asked: Asked = {},
) {
  const { workerCount = 1, rangeSizeBytes = 300, shardSize } = asked;
  const encoding = { inputs: findInputs(paths), parts, workerCount, rangeSizeBytes, type: "uint32" as const };
  const files = { base, format, shardSize, documentEnd: undefined, keptFields };
  return encodeIntoFiles({ ...encoding, report() {} }, parts, files, () => () => {});
}

const bufferOf = (path: string) => new Uint8Array(readFileSync(path)).buffer;
const rowsOf = (path: string) => parquetReadObjects({ file: bufferOf(path) });
const columnsOf = (path: string) =>
  parquetSchema(parquetMetadata(bufferOf(path))).children.map(
    ({ element: { name, type, repetition_type } }) => [name, type, repetition_type].join(" "),
  );

async function keep(lines: readonly string[], fields: readonly keptField.Field[]) {
  const home = scratch();
  const path = put(home, "a.jsonl", lines.map((line) => `${line}\n`).join(""));
  await encode([path], join(home, "kept"), fields);
  const rows = await rowsOf(join(home, "kept.parquet"));
  return rows.map(({ input_ids: _, ...kept }) => kept);
}
const refusal = async (lines: readonly string[], fields: readonly keptField.Field[]) =>
  (await refusalOf(keep(lines, fields))).message.replace(/"[^"]*a\.jsonl"/, "a.jsonl");

const id = [{ name: "id" }];

/**
 * Returns a number as JSON. -0 keeps its sign. A whole number beyond ±(2^53 - 1) gets an exponent, because the digits
 * that JavaScript would write for it are inexact.
 */
const numberOf = (value: number) =>
  Object.is(value, -0)
    ? "-0.0"
    : Number.isInteger(value) && !Number.isSafeInteger(value)
      ? value.toExponential()
      : JSON.stringify(value);

describe("kept fields", () => {
  test("are those of their record, whatever the threads, the cuts and the shards", async () => {
    const record = fc.record({
      text: fc.constantFrom("low", "", "newest widest ".repeat(20), "é漢"),
      id: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      url: fc.option(fc.string({ unit: "grapheme" })),
      score: fc.oneof(fc.constant(-0), fc.double({ noNaN: true, noDefaultInfinity: true })),
      isGood: fc.boolean(),
      meta: fc.oneof(fc.constant(null), fc.dictionary(fc.string({ maxLength: 3 }), fc.integer())),
    });
    const fields = [
      { name: "url" },
      { name: "id" },
      { name: "isGood" },
      { name: "meta" },
      { name: "score", kind: "double" as const },
    ];
    await fc.assert(
      fc.asyncProperty(fc.array(record, { minLength: 1, maxLength: 60 }), async (records) => {
        const home = scratch();
        const lines = records.map(
          ({ id, score, ...rest }) =>
            `{"id": ${id}, "score": ${numberOf(score)}, ${JSON.stringify(rest).slice(1)}\n`,
        );
        const half = lines.length >> 1;
        const paths = [lines.slice(0, half), lines.slice(half)].map((some, i) =>
          put(home, `${i}.jsonl`, some.join("")),
        );
        const wanted = records.map(({ url, id, isGood, meta, score }) => {
          return { url, id, isGood, meta: meta && JSON.stringify(meta), score };
        });
        await encode(paths, join(home, "one"), fields);
        await encode(paths, join(home, "many"), fields, { workerCount: 2, rangeSizeBytes: 90 });
        const [one, many] = ["one", "many"].map((name) => join(home, `${name}.parquet`)) as [string, string];
        expect(readFileSync(one).equals(readFileSync(many))).toBe(true);
        const read = (await rowsOf(one)).map(({ input_ids: _, ...kept }) => kept);
        expect(read).toEqual(wanted);
        await encode(paths, join(home, "shards"), fields, { shardSize: 9, rangeSizeBytes: 200 });
        const shards = readdirSync(home)
          .filter((name) => /^shards_.*parquet$/.test(name))
          .sort();
        const rows = await Promise.all(shards.map((name) => rowsOf(join(home, name))));
        expect(rows.flat().map(({ input_ids: _, ...kept }) => kept)).toEqual(wanted);
        expect(new Set(shards.map((name) => columnsOf(join(home, name)).join())).size).toBe(1);
      }),
      { numRuns: rounds(12) },
    );
  });

  test("of Parquet are those of their row, however the columns are cut into pages and groups", async () => {
    const home = scratch();
    const count = 900;
    const data = <T>(value: (row: number) => T) => Array.from({ length: count }, (_, row) => value(row));
    const isNull = (row: number) => row % 7 === 3;
    const columns = {
      text: data((row) => "low lower ".repeat(row % 5)),
      id: data((row) => (isNull(row) ? null : BigInt(row) * 10n ** 15n)),
      small: data((row) => row - 5),
      url: data((row) => (row % 50 < 3 ? `https://é/${row % 4}` : null)),
      score: data((row) => row / 3),
      isGood: data((row) => row % 2 === 0),
    };
    const types = {
      text: "STRING",
      id: "INT64",
      small: "INT32",
      url: "STRING",
      score: "DOUBLE",
      isGood: "BOOLEAN",
    } as const;
    const columnData = Object.entries(columns).map(([name, data]) => ({
      name,
      data,
      type: types[name as keyof typeof types],
    }));
    const buffer = parquetWriteBuffer({ columnData, rowGroupSize: 250, pageSize: 300 });
    const path = put(home, "a.parquet", new Uint8Array(buffer));
    const { text: _, ...kept } = columns;
    const fields = Object.keys(kept).map((name) => ({ name }));
    for (const workerCount of [1, 2]) {
      await encode([path, path.replace(home, `${home}/.`)], join(home, "kept"), fields, { workerCount });
      const rows = await rowsOf(join(home, "kept.parquet"));
      const wanted = data((row) => ({
        ...{ id: kept.id[row], small: BigInt(kept.small[row]!), url: kept.url[row] },
        ...{ score: kept.score[row], isGood: kept.isGood[row] },
      }));
      expect(rows.map(({ input_ids: _, ...rest }) => rest)).toEqual([...wanted, ...wanted]);
      expect(columnsOf(join(home, "kept.parquet")).slice(1)).toEqual([
        ...["id INT64 OPTIONAL", "small INT64 OPTIONAL", "url BYTE_ARRAY OPTIONAL"],
        ...["score DOUBLE OPTIONAL", "isGood BOOLEAN OPTIONAL"],
      ]);
    }
  });

  test("are exactly as written", async () => {
    const lines = [
      '{"text": "low", "id": 9007199254740993, "\\u0075rl": "\\u00e9\\n", "url": "last", "x": 1}',
      '{"id": -0, "text": "low", "url": null, "x": 1.50}',
      '{"id": null, "url": "", "text": "low", "x": [1, {"a": "é"}]}',
    ];
    const fields: keptField.Field[] = [{ name: "id" }, { name: "url" }, { name: "x", kind: "text" }];
    expect(await keep(lines, fields)).toEqual([
      { id: 9007199254740993n, url: "last", x: "1" },
      { id: 0n, url: null, x: "1.50" },
      { id: null, url: "", x: '[1, {"a": "é"}]' },
    ]);
    expect(
      await keep(['{"text":"a","s":3}', '{"text":"a","s":-0.0}'], [{ name: "s", kind: "double" }]),
    ).toEqual([{ s: 3 }, { s: -0 }]);
    // The text itself is a field, too.
    expect(await keep(['{"text":"a\\tb"}'], [{ name: "text" }])).toEqual([{ text: "a\tb" }]);
  });

  test("that do not fit into a column are refused", async () => {
    expect(await refusal(['{"text":"a"}'], id)).toBe('line 1 of a.jsonl: no field "id"');
    expect(await refusal(['{"text":"a","id":"\\ud800"}'], id)).toMatch(
      /^line 1 of a\.jsonl: the field "id" has half of a surrogate pair/,
    );
    const pairs = [
      ["1", '"x"', 'the value "x" does not fit into a column of 64-bit integers'],
      ['"x"', "1", "the value 1 does not fit into a column of text"],
      ["1", "1.5", "the value 1.5 does not fit into a column of 64-bit integers"],
      [
        "null",
        "9223372036854775808",
        "the value 9223372036854775808 does not fit into a column of 64-bit integers",
      ],
      [
        "0.5",
        "9007199254740993",
        "the value 9007199254740993 does not fit into a column of 64-bit floating-point numbers",
      ],
      ["true", "0", "the value 0 does not fit into a column of booleans"],
    ] as const;
    for (const [first, second, message] of pairs) {
      const lines = [first, second].map((id) => `{"text":"a","id":${id}}`);
      expect(await refusal(lines, id)).toBe(`--keep-field "id": ${message}`);
    }
  });

  test("of Parquet that are not text, numbers or booleans are refused", async () => {
    const home = scratch();
    const columnData = [
      { name: "text", data: ["low"], type: "STRING" as const },
      { name: "day", data: [new Date(0)], type: "TIMESTAMP" as const },
    ];
    const path = put(home, "a.parquet", new Uint8Array(parquetWriteBuffer({ columnData })));
    const refused = (name: string) => refusalOf(encode([path], join(home, "kept"), [{ name }]));
    const message = async (name: string) => (await refused(name)).message;
    expect(await message("day")).toEndWith(
      'a.parquet": column "day" contains values of the type TIMESTAMP_MILLIS, but --keep-field takes only text, booleans, integers, and numbers of the types FLOAT and DOUBLE',
    );
    expect((await refused("day")).hint).toEndWith(
      "columns of text, numbers or booleans; this file has these: text",
    );
    expect(await message("id")).toEndWith('a.parquet" has no column "id"');
    expect(readdirSync(home)).toEqual(["a.parquet"]);
  });

  test("do not exist in plain text", async () => {
    const home = scratch();
    const paths = [put(home, "a.jsonl", '{"text":"low","id":1}\n'), put(home, "b.txt", "low lower")];
    const { message } = await refusalOf(encode(paths, join(home, "kept"), id));
    expect(message).toBe(`"${paths[1]}" is read as plain text, which has no fields for --keep-field`);
    expect(readdirSync(home).sort()).toEqual(["a.jsonl", "b.txt"]);
  });

  test("that have no value so far are text in all shards", async () => {
    const home = scratch();
    const lines = ["null", "null", '"x"'].map((id) => `{"text":"low lower","id":${id}}\n`);
    const path = put(home, "a.jsonl", lines.join(""));
    await encode([path], join(home, "kept"), id, { shardSize: 1 });
    for (const n of [0, 1, 2])
      expect(columnsOf(join(home, `kept_0000${n}.parquet`))[1]).toBe("id BYTE_ARRAY OPTIONAL");
    put(home, "a.jsonl", lines.join("").replace('"x"', "5"));
    const { message } = await refusalOf(encode([path], join(home, "other"), id, { shardSize: 1 }));
    expect(message).toBe('--keep-field "id": the value 5 does not fit into a column of text');
  });
});
