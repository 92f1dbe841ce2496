import { expect, spyOn, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { parquetWriteBuffer } from "hyparquet-writer";
import * as utf8 from "../../../src/bytes/utf8-characters.ts";
import { findInputs } from "../../../src/corpus/find-inputs.ts";
import * as tasks from "../../../src/corpus/task.ts";
import {
  countTokens,
  type EncodedTask,
  encodeCorpus,
  TaskEncoder,
} from "../../../src/encoding/encode-corpus.ts";
import { Tokenizer } from "../../../src/library/tokenizer.ts";
import { textCutting } from "../../../src/text/cutting.ts";
import { TextEncoding } from "../../../src/tokenizer/text-encoding.ts";
import type { EncodingParts } from "../../../src/tokenizer/tokenizer-parts.ts";
import { scratch } from "../../binary.ts";
import { randomNumbers } from "../../random.ts";
import { rounds, turns } from "../../rounds.ts";
import { madeText } from "./made-merges.ts";
import { specialTokens, writeTokenizer } from "./made-tokenizer.ts";

const seed = Number(process.env.TEST_SEED ?? 3);
const random = randomNumbers(seed);

const gpt2 = (await Tokenizer.load(writeTokenizer("gpt2"))).parts;
const falcon = (await Tokenizer.load(writeTokenizer("falcon"))).parts;
const flags = { special: false, normalized: false, lstrip: false, rstrip: false, singleWord: false };
const wordy: EncodingParts = {
  ...gpt2,
  normalization: "NFC",
  addsPrefixSpace: true,
  addedTokens: [
    ...gpt2.addedTokens,
    { ...flags, id: 300, content: "<mask>", lstrip: true, rstrip: true },
    { ...flags, id: 301, content: "word", singleWord: true },
    { ...flags, id: 302, content: "normé", normalized: true },
  ],
};

/**
 * A tokenizer whose texts may be cut only at added tokens that are found before normalization. The other added tokens
 * are searched for in the normalized text.
 */
const normal: EncodingParts = {
  ...gpt2,
  normalization: "NFKC",
  addsPrefixSpace: true,
  addedTokens: [
    ...gpt2.addedTokens,
    { ...flags, id: 300, content: "<mask>", normalized: true, lstrip: true, rstrip: true },
    { ...flags, id: 301, content: "word", normalized: true, singleWord: true },
    { ...flags, id: 302, content: "normé", normalized: true },
  ],
};

const pieces = [
  ...specialTokens,
  "<mask>",
  "word",
  "norme\u0301",
  " ",
  "  ",
  "\n",
  "\u3000",
  "e\u0301",
  "the low",
  "漢字",
  "a",
];

function madeBytes(): Uint8Array {
  const text = Array.from({ length: random(30) }, (_, n) =>
    random(3) === 0 ? madeText(seed + n, 5) : pieces[random(pieces.length)]!,
  ).join("");
  const bytes = Buffer.from(text);
  if (random(3) === 0 && bytes.length > 0) bytes[random(bytes.length)] = random(256);
  return bytes;
}

function encodeAll(encoding: TextEncoding, bytes: Uint8Array, chunkBytes: () => number): number[] {
  for (let start = 0; start < bytes.length; ) {
    const end = Math.min(bytes.length, start + chunkBytes());
    encoding.push(bytes, start, end);
    start = end;
  }
  encoding.end();
  return [...encoding.out.flush()];
}

test("neither the pieces in which a text arrives nor the text before it matter", () => {
  for (const parts of [gpt2, falcon, wordy, { ...gpt2, isNarrow: false }]) {
    const whole = new TextEncoding(parts);
    const inParts = new TextEncoding(parts);
    for (let round = 0; round < rounds(40); round++) {
      const bytes = madeBytes();
      const chunkMax = 1 + random(20);
      const expected = encodeAll(whole, bytes, () => bytes.length);
      const found = encodeAll(inParts, bytes, () => 1 + random(chunkMax));
      expect({ seed, round, found }).toEqual({ seed, round, found: expected });
    }
  }
});

test("ids of 16 and of 32 bits are the same", () => {
  const narrow = new TextEncoding(gpt2);
  const wide = new TextEncoding({ ...gpt2, isNarrow: false });
  for (let round = 0; round < rounds(25); round++) {
    const bytes = madeBytes();
    expect(encodeAll(wide, bytes, () => 100)).toEqual(encodeAll(narrow, bytes, () => 100));
  }
});

test("ranges, cut wherever the plan cuts, give the ids of the whole", async () => {
  const path = join(scratch(), "corpus.txt");
  for (const parts of [gpt2, falcon, normal]) {
    for (let round = 0; round < rounds(8); round++) {
      const bytes = Buffer.concat(Array.from({ length: 20 }, madeBytes));
      writeFileSync(path, bytes);
      const inputs = findInputs([path], { binary: "text" });
      const expected = encodeAll(new TextEncoding(parts), bytes, () => bytes.length);
      const encoder = new TaskEncoder({ inputs, parts });
      const plan = tasks.plan(
        inputs,
        {
          ...textCutting(parts),
          rangeSizeBytes: 1 + random(60),
          probeSizeBytes: 16,
        },
        new tasks.ChunkBuffers(),
      );
      const found: number[] = [];
      let rangeCount = 0;
      for await (const range of plan) {
        rangeCount++;
        for (const _ of encoder.take(range)) found.push(...encoder.encoding.out.flush());
        found.push(...encoder.encoding.out.flush());
      }
      encoder.close();
      expect({ seed, round, found }).toEqual({ seed, round, found: expected });
      if (bytes.length > 500) expect(rangeCount).toBeGreaterThan(1);
    }
  }
});

test("several threads write the output of a single thread", async () => {
  const directory = scratch();
  const paths = ["a", "b", "c"].map((name, n) => {
    const path = join(directory, name);
    writeFileSync(
      path,
      name === "b" ? "" : Array.from({ length: 25 }, (_, k) => madeText(100 * n + k, 2000)).join("<|end|>"),
    );
    return path;
  });
  const packed = paths.map((path) => {
    writeFileSync(`${path}.gz`, gzipSync(readFileSync(path)));
    return `${path}.gz`;
  });
  const encodeWith = async (workerCount: number, parts: EncodingParts, names = paths) => {
    const inputs = findInputs(names);
    const found: number[] = [];
    const sink = {
      write: (ids: Uint16Array | Uint32Array) => {
        for (const id of ids) found.push(id);
      },
      endInput: () => found.push(-1),
    };
    await encodeCorpus(
      {
        inputs,
        parts,
        workerCount,
        rangeSizeBytes: 20_000,
        chunkSizeBytes: 10_000,
      },
      sink,
      () => {},
    );
    return found;
  };
  for (const [turn, parts] of [gpt2, wordy, normal].entries()) {
    const expected = await encodeWith(1, parts);
    expect(expected.filter((id) => id === -1).length).toBe(3);
    for (const workers of turns([5, 2], turn))
      expect(Bun.deepEquals(await encodeWith(workers, parts), expected)).toBe(true);
    for (const workerCount of [1, 2])
      expect(Bun.deepEquals(await encodeWith(workerCount, parts, packed), expected)).toBe(true);
  }
}, 600_000);

/** For each format, a file with the texts, and the texts that are its documents. */
const files: Record<string, (texts: readonly string[]) => [content: Uint8Array, texts: readonly string[]]> = {
  txt: (texts) => [Buffer.from(texts.join("")), [texts.join("")]],
  "txt.gz": (texts) => [gzipSync(texts.join("")), [texts.join("")]],
  jsonl: (texts) => [Buffer.from(texts.map((text) => `${JSON.stringify({ text })}\n`).join("")), texts],
  "jsonl.gz": (texts) => [gzipSync(texts.map((text) => JSON.stringify({ text })).join("\n")), texts],
  json: (texts) => [Buffer.from(JSON.stringify(texts.map((text) => ({ text })))), texts],
  parquet: (texts) => [
    new Uint8Array(
      parquetWriteBuffer({
        columnData: [{ name: "text", data: [...texts], type: "STRING" as const }],
        rowGroupSize: 7,
      }),
    ),
    texts,
  ],
};

test("the token counts of files are those of encoding each of their texts", async () => {
  const directory = scratch();
  const kinds = Object.keys(files);
  for (let round = 0; round < rounds(12); round++) {
    const parts = [gpt2, falcon, wordy, normal, { ...normal, specialTokensAsText: true }][round % 5]!;
    const encoding = new TextEncoding(parts);
    const expected: EncodedTask[] = [];
    const paths = Array.from({ length: 1 + random(6) }, (_, n) => {
      const kind = kinds[random(kinds.length)]!;
      const given = Array.from({ length: 1 + random(12) }, () =>
        Buffer.from(madeBytes()).toString().replaceAll("\0", ""),
      );
      const [content, texts] = files[kind]!(given);
      const idCount = texts.reduce(
        (sum, text) => sum + encodeAll(encoding, Buffer.from(text), () => 1 << 20).length,
        0,
      );
      const textBytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
      const recordCount = kind.startsWith("txt") ? 0 : texts.length;
      expected.push({ idCount, textBytes, invalidByteCount: 0, recordCount });
      const path = join(directory, `${n}.${kind}`);
      writeFileSync(path, content);
      return path;
    });
    for (const workerCount of [1, 3]) {
      const inputs = findInputs(paths, { mayBeEmpty: true });
      const sizes = { rangeSizeBytes: 1 + random(300), chunkSizeBytes: 1 + random(300) };
      const found = await countTokens({ inputs, parts, workerCount, ...sizes }, () => {});
      expect({ seed, round, workerCount, found }).toEqual({ seed, round, workerCount, found: expected });
    }
  }
}, 600_000);

test("where no ids are wanted none are stored, and no thread sends any", () => {
  const path = join(scratch(), "text");
  writeFileSync(path, madeText(1, 50_000));
  const inputs = findInputs([path]);
  const range = { inputIndex: 0, startByte: 0, endByte: inputs[0]!.sizeBytes, startsInside: false };
  const task = { kind: "range", ...range, endsInside: false, endsInput: true } as const;
  const [counting, encoding] = [false, true].map(
    (keepsIds) => new TaskEncoder({ inputs, parts: gpt2, keepsIds }),
  );
  const totals = [counting!, encoding!].map((encoder) => {
    const work = encoder.take(task);
    for (let step = work.next(); ; step = work.next()) {
      if (encoder === counting) expect(encoder.encoding.out.isEmpty).toBe(true);
      if (step.done) return step.value.idCount;
    }
  });
  expect(counting!.output).toBe(undefined);
  expect(totals).toEqual([encoding!.encoding.out.count, encoding!.encoding.out.count]);
  for (const encoder of [counting!, encoding!]) encoder.close();
});

test("the main thread encodes, except with a tokenizer that takes long to set up", async () => {
  const file = join(scratch(), "text");
  writeFileSync(file, "a <|token 7|>b");
  const many = Array.from({ length: 30_000 }, (_, n) => ({
    ...flags,
    id: 400 + n,
    content: `<|token ${n}|>`,
  }));
  const take = spyOn(TaskEncoder.prototype, "take");
  for (const [parts, takenHere] of [
    [gpt2, 1],
    [{ ...gpt2, addedTokens: many }, 0],
  ] as const) {
    take.mockClear();
    const found: number[] = [];
    const sink = { write: (ids: Uint16Array | Uint32Array) => void found.push(...ids), endInput() {} };
    const options = { inputs: findInputs([file]), parts, workerCount: 1 };
    await encodeCorpus(options, sink, () => {});
    expect(take).toHaveBeenCalledTimes(takenHere);
    if (takenHere === 0) expect(found).toContain(407);
  }
  take.mockRestore();
});

test("a byte that is not UTF-8 is counted once, wherever the text is cut, with any number of workers", async () => {
  const file = join(scratch(), "invalid");
  const length = 60_000;
  const some = [0xff, 0x80, 0xc3, 0xe2, 0x82, 0xac, 0xa9, 0x61, 0x20, 0x0a];
  const mixed = Uint8Array.from({ length }, (_, pos) => (pos % 7 < 4 ? 0xff : some[random(some.length)]!));
  const deepseek = (await Tokenizer.load(writeTokenizer("deepseek-v3"))).parts;
  for (const bytes of [new Uint8Array(length).fill(0xff), mixed]) {
    writeFileSync(file, bytes);
    let expected = 0;
    for (let pos = 0; pos < length; ) {
      const characterLength = utf8.characterLengthAt(bytes, pos, length);
      if (characterLength === 0) expected++;
      pos += Math.max(1, characterLength);
    }
    for (const parts of [gpt2, falcon, deepseek, wordy]) {
      for (const [workerCount, rangeSizeBytes] of [
        [1, length],
        [1, 997],
        [2, 4001],
      ] as const) {
        const options = { parts, workerCount, rangeSizeBytes };
        const sink = { write() {}, endInput() {} };
        const { invalidByteCount } = await encodeCorpus(
          { ...options, inputs: findInputs([file]), chunkSizeBytes: 1000 },
          sink,
          () => {},
        );
        expect({ rangeSizeBytes, invalidByteCount }).toEqual({ rangeSizeBytes, invalidByteCount: expected });
      }
    }
  }
}, 600_000);

test("the cache is cleared when it is full, without an effect on ids", () => {
  const encoding = new TextEncoding(gpt2);
  const first = encodeAll(encoding, Buffer.from(madeText(1, 500)), () => 1000);
  // Encodes more distinct short words than the table of the cache can store.
  for (let n = 0; n < 14; n++) {
    let words = "";
    for (let k = 0; k < 40_000; k++)
      words += ` ${(n * 40_000 + k).toString(26).replace(/[0-9]/g, (digit) => "qrstuvwxyz"[Number(digit)]!)}`;
    encodeAll(encoding, Buffer.from(words), () => 100_000);
  }
  expect(encodeAll(encoding, Buffer.from(madeText(1, 500)), () => 1000)).toEqual(first);
});
