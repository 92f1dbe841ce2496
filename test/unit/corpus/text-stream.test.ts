import { describe, expect, test } from "bun:test";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { JsonLinesStream } from "../../../src/corpus/json-lines-stream.ts";
import { DecompressedStream } from "../../../src/corpus/text-stream.ts";
import { UserError } from "../../../src/runtime/errors.ts";
import { yieldToEventLoop } from "../../../src/runtime/slices.ts";
import { randomNumbers } from "../../random.ts";
import { readAll, streamOf } from "./byte-streams.ts";

const seed = 8;
const random = randomNumbers(seed);

/**
 * Returns the lines into which the stream converts the JSON, read in steps of `stepBytes`, or the message of its error.
 */
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

/** Returns the objects of the lines, or undefined if the stream failed or a line is not an object. */
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

test("an array of records, and concatenated records, become lines, in any layout", async () => {
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

test("a changed byte is an error, of the stream or of a line, if it is one to JSON.parse", async () => {
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
    // If the changed byte turns the first bracket into white space, the text becomes records with commas between them.
    // This must be an error as well.
    expect({ seed, run, json, records: objectsOf(await linesOf(json)) }).toEqual({
      seed,
      run,
      json,
      records: expected,
    });
  }
  expect(wrongCount).toBeGreaterThan(500);
});

test("errors around the records are reported with the number of the record", async () => {
  const cases: [string, string][] = [
    ['[{"a":1},\n{"a":2}', "ends in the middle of its JSON"],
    ['[{"a":1},', "ends in the middle of its JSON"],
    ['{"a":"x', "ends in the middle of its JSON"],
    ['[{"a":1},]', "record 2 is not a JSON object"],
    ['[{"a":1},,{"a":1}]', "record 2 is not a JSON object"],
    ['[{"a":1},{"a":2},5]', "record 3 is not a JSON object"],
    ["[[]]", "record 1 is not a JSON object"],
    ['[{"a":1} {"a":2}]', "record 1 is followed by neither a comma nor ]"],
    ['{"a":1}{"a":2}', "record 1 is not followed by white space"],
    ['[{"a":1}] x', "record 1 is the last of the array, but more follows the array"],
    ['[{"a":"line\nfeed"}]', "record 1 is not valid JSON"],
    ["text", "record 1 is not a JSON object"],
  ];
  for (const [json, message] of cases) {
    for (const stepBytes of [1, 3, 100])
      expect(await linesOf(json, stepBytes)).toContain(message.replace(/^record \d+/, `$& of "corpus"`));
  }
  expect(await linesOf("")).toEqual([""]);
  expect(objectsOf(await linesOf(" [ ] \n"))).toEqual([]);
});

const pick = randomNumbers(11);
const packers = { gzip: gzipSync, zstd: zstdCompressSync } as const;
const skippable = (content: number[]) =>
  Buffer.from([0x53, 0x2a, 0x4d, 0x18, content.length, 0, 0, 0, ...content]);

async function unpack(compression: "gzip" | "zstd", packed: Uint8Array, step?: number, room?: number) {
  const stream = new DecompressedStream(streamOf(packed, step), "corpus", compression);
  try {
    return (await readAll(stream, room)).toString("latin1");
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return error.message;
  } finally {
    stream.close();
  }
}

const text = Array.from({ length: 300 }, () => "lorem ipsum dolor".slice(pick(10))).join(" ");
const noise = Buffer.from(Array.from({ length: 500 }, () => pick(256)));

for (const compression of ["gzip", "zstd"] as const) {
  const pack = (content: string | Uint8Array) => packers[compression](Buffer.from(content as string));

  describe(compression, () => {
    test("any number of members, read in steps of any size into buffers of any size, gives the whole text", async () => {
      const packed = Buffer.concat([pack(text), pack(""), pack("second"), pack(noise), pack("end")]);
      const whole = `${text}second${noise.toString("latin1")}end`;
      for (const step of [1, 2, 3, 7, 64, 1000, packed.length]) {
        for (const room of [1, 10, 1 << 16])
          expect(await unpack(compression, packed, step, room)).toBe(whole);
      }
    });

    test("input cut at any byte ends within a member, and nowhere else", async () => {
      const first = pack(text);
      const packed = Buffer.concat([first, pack(noise.subarray(0, 40))]);
      for (let size = 1; size < packed.length; size++) {
        const found = await unpack(compression, packed.subarray(0, size), 1 + pick(100));
        if (size === first.length) expect(found).toBe(text);
        else expect(found).toBe(`"corpus" ends in the middle of its ${compression} data`);
      }
    });

    test("content after the last member is an error", async () => {
      for (const step of [1, 5, 1000]) {
        for (const garbage of ["garbage", "\u0001\u0000\u0000\u0000", "\u0000\u0000garbage"]) {
          const found = await unpack(compression, Buffer.concat([pack(text), Buffer.from(garbage)]), step);
          expect(found).toMatch(/^"corpus" (has damaged|ends in the middle)/);
        }
      }
    });

    test("random bytes are an error or a text, never anything else", async () => {
      const whole = pack(text);
      for (let round = 0; round < 300; round++) {
        const packed = Buffer.from(whole);
        for (let flips = 1 + pick(3); flips > 0; flips--) packed[pick(packed.length)] = pick(256);
        expect(typeof (await unpack(compression, packed, 1 + pick(500)))).toBe("string");
      }
    });

    test("a text of 50 MB passes through little memory", async () => {
      const packed = pack(Buffer.alloc(50e6, "all the same "));
      const stream = new DecompressedStream(streamOf(packed), "corpus", compression);
      const room = new Uint8Array(1 << 20);
      let sizeBytes = 0;
      for (let n = await stream.read(room, 0); n > 0; n = await stream.read(room, 0)) sizeBytes += n;
      expect([sizeBytes, stream.inputBytes]).toEqual([50e6, packed.length]);
      stream.close();
    });

    test("only a few chunks of the input are read ahead", async () => {
      const packed = pack(Buffer.from(Uint8Array.from({ length: 8e6 }, () => pick(256))));
      const stream = new DecompressedStream(streamOf(packed), "corpus", compression);
      expect(await stream.read(new Uint8Array(1000), 0)).toBe(1000);
      for (let turn = 0; turn < 50; turn++) await Bun.sleep(1);
      expect(stream.inputBytes).toBeLessThan(2e6);
      stream.close();
    });

    test("a stream can be closed at any moment", async () => {
      const packed = pack(Buffer.alloc(10e6, text));
      for (let turns = 0; turns < 20; turns++) {
        const stream = new DecompressedStream(streamOf(packed), "corpus", compression);
        const room = new Uint8Array(1000);
        stream.read(room, 0).catch(() => {});
        for (let turn = 0; turn < turns; turn++) await yieldToEventLoop();
        stream.close();
      }
    });
  });
}

test("the end of a text is not mistaken for the sentinel", async () => {
  const sentinel = zstdCompressSync("the end");
  for (const step of [1, 4, 1000]) {
    expect(await unpack("zstd", Buffer.concat([zstdCompressSync("the end"), sentinel]), step)).toBe(
      "the endthe end",
    );
    expect(await unpack("zstd", Buffer.concat([sentinel, sentinel.subarray(0, -1)]), step)).toMatch(
      /ends in the/,
    );
  }
});

test("zeros after a gzip file are padding, and an error after a zstd file", async () => {
  for (const step of [1, 7, 1000]) {
    const zeros = Buffer.alloc(600);
    expect(await unpack("gzip", Buffer.concat([gzipSync(text), zeros]), step)).toBe(text);
    expect(await unpack("zstd", Buffer.concat([zstdCompressSync(text), zeros]), step)).toMatch(/has damaged/);
  }
});

test("skippable frames are skipped", async () => {
  const packed = Buffer.concat([
    skippable([1, 2, 3]),
    zstdCompressSync("a"),
    skippable([]),
    zstdCompressSync("b"),
    skippable([7]),
  ]);
  for (const step of [1, 4, 1000]) expect(await unpack("zstd", packed, step)).toBe("ab");
  expect(await unpack("zstd", packed.subarray(0, -1))).toMatch(/ends in the middle/);
});

test("complete zstd data that needs more than the data to be decompressed has its own error", async () => {
  const block = [0x11, 0, 0, ...Buffer.from("hi")];
  const window = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, ...block]);
  expect(await unpack("zstd", window)).toMatch(/a window of more than 128 MB \(as by zstd --long=28\)/);
  const dictionary = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x21, 7, 2, ...block]);
  expect(await unpack("zstd", dictionary)).toMatch(/was compressed by zstd with a dictionary/);
});
