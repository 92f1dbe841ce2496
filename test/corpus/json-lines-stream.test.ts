import { expect, test } from "bun:test";
import { JsonLinesStream } from "../../src/corpus/text-stream.ts";
import { randomOf } from "../words/generators.ts";
import { readAll, streamOf } from "./byte-streams.ts";

const seed = 8;
const random = randomOf(seed);

/** The lines that the stream makes of the JSON, taken `stepBytes` at a time; the message if it is an error. */
async function linesOf(json: string, stepBytes = 1 + random(40)): Promise<string[] | string> {
  const stream = new JsonLinesStream(streamOf(Buffer.from(json), stepBytes), "corpus");
  try {
    const text = (await readAll(stream)).toString();
    expect(Buffer.byteLength(text)).toBe(Buffer.byteLength(json));
    return text.replace(/^\ufeff/, "").split("\n");
  } catch (error) {
    return (error as Error).message;
  }
}

const isObject = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value);

/** The objects of the lines; undefined where anything is wrong with them. */
function objectsOf(lines: string[] | string): unknown[] | undefined {
  if (typeof lines === "string") return undefined;
  try {
    const values = lines.filter((line) => line.trim() !== "").map((line) => JSON.parse(line));
    return values.every(isObject) ? values : undefined;
  } catch {
    return undefined;
  }
}

function madeValue(depth: number): unknown {
  const kind = random(depth > 2 ? 4 : 7);
  if (kind === 0) return '"\\]}[{,\n\t é😀'.repeat(random(3));
  if (kind < 4) return [random(99), true, null][kind - 1];
  if (kind === 4) return Array.from({ length: random(4) }, () => madeValue(depth + 1));
  return madeObject(depth + 1);
}
const madeObject = (depth: number): object =>
  Object.fromEntries(Array.from({ length: random(4) }, (_, i) => [`k${i}`, madeValue(depth)]));

test("an array of records, and records one behind the other, become lines, however they are set", async () => {
  for (let run = 0; run < 300; run++) {
    const records = Array.from({ length: random(6) }, () => madeObject(0));
    const indent = [undefined, 1, "\t"][random(3)];
    const mark = random(5) === 0 ? "\ufeff" : "";
    const array = mark + JSON.stringify(records, null, indent).replaceAll("\n", ["\n", "\r\n"][random(2)]!);
    const lines = await linesOf(array);
    expect({ seed, run, records: objectsOf(lines) }).toEqual({ seed, run, records });
    if (records.length > 0) expect((lines as string[]).length).toBe(records.length);
    const separator = ["\n", " ", "\r\n\r\n"][random(3)]!;
    const sequence = records.map((record) => JSON.stringify(record, null, indent)).join(separator);
    expect(objectsOf(await linesOf(mark + sequence))).toEqual(records);
  }
});

test("a byte that is changed is an error, of the stream or of a line, where it is one to JSON.parse", async () => {
  let wrongCount = 0;
  for (let run = 0; run < 2000; run++) {
    const bytes = Buffer.from(JSON.stringify([madeObject(0), madeObject(0), madeObject(0)], null, random(2)));
    const at = random(bytes.length);
    bytes[at] = Buffer.from('[]{},:"\\ \n1a')[random(12)]!;
    const json = bytes.toString();
    let expected: unknown[] | undefined;
    try {
      const value = JSON.parse(json);
      if (Array.isArray(value) && value.every(isObject)) expected = value;
    } catch {
      wrongCount++;
    }
    // The brackets of the array may become white space: then it is three records with commas between.
    expect({ seed, run, json, records: objectsOf(await linesOf(json)) }).toEqual({
      seed,
      run,
      json,
      records: expected,
    });
  }
  expect(wrongCount).toBeGreaterThan(500);
});

test("what is wrong around the records is named with the number of the record", async () => {
  const cases: [string, string][] = [
    ['[{"a":1},\n{"a":2}', "ends in the middle of its JSON"],
    ['[{"a":1},', "ends in the middle of its JSON"],
    ['{"a":"x', "ends in the middle of its JSON"],
    ['[{"a":1},]', "record 2 is not a JSON object"],
    ['[{"a":1},,{"a":1}]', "record 2 is not a JSON object"],
    ['[{"a":1},{"a":2},5]', "record 3 is not a JSON object"],
    ["[[]]", "record 1 is not a JSON object"],
    ['[{"a":1} {"a":2}]', "record 1 is followed by something else"],
    ['{"a":1}{"a":2}', "record 1 is followed by something else"],
    ['[{"a":1}] x', "record 1 is followed by something else behind its array"],
    ['[{"a":"line\nfeed"}]', "record 1 is not valid JSON"],
    ["text", "record 1 is not a JSON object"],
  ];
  for (const [json, message] of cases) {
    for (const stepBytes of [1, 3, 100])
      expect(await linesOf(json, stepBytes)).toContain(`"corpus" ${message}`);
  }
  expect(await linesOf("")).toEqual([""]);
  expect(objectsOf(await linesOf(" [ ] \n"))).toEqual([]);
});
