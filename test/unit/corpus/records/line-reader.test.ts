import { describe, expect, test } from "bun:test";
import { crc32, gzipSync } from "node:zlib";
import { cutIntoRanges } from "../../../../src/corpus/cut-into-ranges.ts";
import { findInputs } from "../../../../src/corpus/find-inputs.ts";
import { type Input, openInput, wholeRange } from "../../../../src/corpus/input.ts";
import type { InputOptions } from "../../../../src/corpus/inspect-input.ts";
import { FileSource } from "../../../../src/corpus/range-reader.ts";
import { LineReader } from "../../../../src/corpus/records/line-reader.ts";
import { patterns } from "../../../../src/pattern/named-patterns.ts";
import * as compiledPatterns from "../../../../src/pattern/pattern.ts";
import type { UserError } from "../../../../src/runtime/errors.ts";
import { runToEnd } from "../../../../src/runtime/slices.ts";
import * as cuttings from "../../../../src/text/cutting.ts";
import { textCutting } from "../../../../src/text/cutting.ts";
import { countCorpus } from "../../../../src/words/count-corpus.ts";
import { WordCounter } from "../../../../src/words/word-counter.ts";
import { put, scratch } from "../../../binary.ts";
import { inOrder, naiveWords } from "../../../naive.ts";
import { randomNumbers } from "../../../random.ts";
import { places, rounds } from "../../../rounds.ts";
import { countingTexts } from "../../text/counting-texts.ts";
import { entriesOf } from "../../words/generators.ts";
import { chunksOf } from "../made-chunks.ts";

const directory = scratch();

const gpt2 = compiledPatterns.compile(patterns.gpt2.sources);
const specialTokens = ["<|end|>", "<|endless|>"];

const snippets = [
  "it's ",
  " 日本語",
  "\n\n",
  "don",
  "'t",
  "<|end|>",
  "<|end",
  "|>",
  "less|>",
  "😀é",
  "   ",
  "12345",
  '"\\/',
];

/** Returns texts, and a file with a record for each. */
function madeJson(seed: number, recordCount: number) {
  const random = randomNumbers(seed);
  const texts = Array.from({ length: recordCount }, () =>
    Array.from({ length: random(8) }, () => snippets[random(snippets.length)]).join(""),
  );
  const lines = texts.map((text, i) => {
    const gaps = ["\n", "\r\n", "\n\n", " \t\r\n\n"][random(4)];
    const record = random(2) === 0 ? { text } : { id: i, meta: { text: "inner", tags: [i] }, text, z: null };
    const json = JSON.stringify(record);
    return (random(2) === 0 ? json : json.replace(/[^ -~]/g, escaped)) + gaps;
  });
  const mark = random(2) === 0 ? "\ufeff" : "";
  return { texts, content: (mark + lines.join("")).replace(/\s+$/, random(2) === 0 ? "" : "\n") };
}

const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Returns sequences, and a FASTA file that contains them in a random layout. */
function madeFasta(seed: number, recordCount: number) {
  const random = randomNumbers(seed);
  const pick = (choices: readonly string[]) => choices[random(choices.length)]!;
  const line = () =>
    Array.from({ length: random(9) }, () => pick(["A", "c", "G", "t", "N", "-", "*", " ", "\t"])).join("");
  const record = () => {
    const header = `>${pick(["", "seq", "a > b", "é|x ;", " "])}`;
    const lines = Array.from({ length: random(4) }, line);
    const end = pick(["\n", "\r\n"]);
    return [header, ...lines].map((each) => each + end).join("");
  };
  const text =
    pick(["", "\n", " \r\n"]) + Array.from({ length: recordCount }, record).join(pick(["", "\n\n"]));
  const content = random(2) === 0 ? text : text.trimEnd();
  const records = `\n${content}`.split("\n>").slice(1);
  const texts = records.map((record) => record.split("\n").slice(1).join("").replace(/\s/g, ""));
  return { texts, content };
}

/**
 * A format with records in lines. `documentsOf` and `wordsOf` are simple code that cuts a text into documents and
 * words.
 */
type Lines = {
  readonly name: string;
  readonly options: InputOptions;
  readonly made: (seed: number, recordCount: number) => { texts: string[]; content: string };
  readonly documentsOf: (text: string) => string[];
  readonly wordsOf: (text: string) => Iterable<[string, number]>;
  readonly counting: { readonly pattern: typeof gpt2; readonly specialTokens: string[] };
  readonly isCut: (bytes: Uint8Array, pos: number) => boolean;
};

const formats: readonly Lines[] = [
  {
    name: "lines.jsonl",
    options: {},
    made: madeJson,
    documentsOf: (text) => text.split(/<\|end(?:less)?\|>/),
    wordsOf: (text) => naiveWords(text, specialTokens),
    counting: { pattern: gpt2, specialTokens },
    isCut: (bytes, pos) => bytes[pos - 1] === 0x0a,
  },
  {
    name: "sequences.fa",
    options: { inputFormat: "fasta" },
    made: madeFasta,
    documentsOf: (text) => [text],
    wordsOf: (text) => (text === "" ? [] : [[text, 1]]),
    counting: { pattern: compiledPatterns.compile(patterns.none.sources), specialTokens: [] },
    isCut: (bytes, pos) => bytes[pos] === 0x3e,
  },
];

describe.each(formats)("records of $name", ({ name, options, made, documentsOf, wordsOf, ...format }) => {
  const { counting, isCut } = format;
  const cutting = cuttings.plain(counting.pattern, counting.specialTokens);

  /** Returns the words and the number of documents of the texts, each counted separately. */
  function expected(texts: readonly string[]) {
    const words = new Map<string, number>();
    for (const text of texts) {
      for (const [word, count] of wordsOf(text)) words.set(word, (words.get(word) ?? 0) + count);
    }
    const documentCount = texts.flatMap(documentsOf).filter((part) => part !== "").length;
    return { words: inOrder(words), documentCount };
  }

  test("are counted as separate texts, with any number of workers, compressed or not", async () => {
    const { texts, content } = made(1, 800);
    const { words, documentCount } = expected(texts);
    const textBytes = Buffer.byteLength(texts.join(""));
    for (const path of [put(directory, name, content), put(directory, `${name}.gz`, gzipSync(content))]) {
      const inputs = findInputs([path], options);
      for (const workerCount of [1, 2, 7]) {
        const work = countCorpus({ cutting, inputs, workerCount, rangeSizeBytes: 700 }, () => {});
        const { counter, statistics } = await work;
        expect(entriesOf(counter.words.toWordTable())).toEqual(words);
        expect(statistics).toEqual([
          {
            textBytes,
            documentCount,
            invalidByteCount: 0,
            firstInvalidByte: -1,
            crc32: crc32(texts.join("")),
          },
        ]);
      }
    }
    // The JavaScript engine limits the total size of all WebAssembly memories, and threads that have ended release
    // theirs only a moment later. So the test gives them time to do that.
    await Bun.sleep(300);
    Bun.gc(true);
  });

  test("are cut between records at every requested size, and read through windows of every size", () => {
    for (let seed = 2; seed < 2 + rounds(7); seed++) {
      const { texts, content } = made(seed, 6);
      const bytes = Buffer.from(content);
      const inputs = findInputs([put(directory, name, content)], options);
      const [input] = inputs as [Input];
      const { words, documentCount } = expected(texts);
      for (const place of places(80, seed)) {
        const rangeSizeBytes = place + 1;
        const counter = new WordCounter();
        const tasks = countingTexts({ ...counting, inputs, windowBytes: rangeSizeBytes }, counter);
        let found = 0;
        const places = { ...textCutting(cutting), rangeSizeBytes };
        for (const range of cutIntoRanges(input, wholeRange(input, 0), places)) {
          if (range === undefined) continue;
          expect(range.startByte === 0 || isCut(bytes, range.startByte)).toBeTrue();
          found += runToEnd(tasks.take({ ...range, kind: "range", endsInput: false }))!.documentCount;
        }
        tasks.close();
        expect(entriesOf(counter.toWordTable())).toEqual(words);
        expect(found).toBe(documentCount);
      }
    }
  });

  test("may come in pieces of any size", () => {
    const { texts, content } = made(33, 6);
    const bytes = Buffer.from(content);
    const [file] = findInputs([put(directory, name, content)], options) as [Input];
    const stream = { ...file, isStream: true, sizeBytes: 0 };
    const { words, documentCount } = expected(texts);
    for (const place of places(bytes.length, 0)) {
      const sizeBytes = place + 1;
      const counter = new WordCounter();
      const tasks = countingTexts({ ...counting, inputs: [stream], windowBytes: 16 }, counter);
      for (const piece of chunksOf(bytes, sizeBytes)) {
        expect(runToEnd(tasks.take(piece))?.documentCount).toBe(piece.endsInput ? documentCount : undefined);
      }
      expect(entriesOf(counter.toWordTable())).toEqual(words);
    }
  });
});

function textsOf(path: string, windowBytes?: number, startByte = 0, options: InputOptions = {}): string[] {
  const [input] = findInputs([path], { binary: "text", ...options }) as [Input];
  const reader = new LineReader(windowBytes);
  const texts: string[] = [];
  const range = { ...wholeRange(input, 0), startByte };
  for (const _ of reader.read(new FileSource(openInput(input), input), range, input)) {
    const { text, ends, count } = reader.batch;
    for (let r = 0; r < count; r++) {
      texts.push(Buffer.from(text.bytes.subarray(ends[r - 1] ?? 0, ends[r]!)).toString());
    }
  }
  return texts;
}

test("a record longer than the window enlarges it", () => {
  const text = "long ".repeat(100_000);
  const lines = put(directory, "long.jsonl", `{"text":"a"}\n${JSON.stringify({ text })}\n{"text":"b"}`);
  expect(textsOf(lines, 1 << 10)).toEqual(["a", text, "b"]);
  const long = "ACGT".repeat(50_000);
  const path = put(directory, "long.fa", `>a\nA\n>long\n${long.replace(/.{70}/g, "$&\n")}\n>b\nC`);
  expect(textsOf(path, 1 << 10, 0, { inputFormat: "fasta" })).toEqual(["A", long, "C"]);
});

test("an error about a record without the field lists its fields", () => {
  const hintOf = (line: string) => {
    const path = put(directory, "fields.jsonl", `{"text":"good"}\n${line}\n{"other":"x"}`);
    try {
      textsOf(path, 20);
    } catch (error) {
      return (error as UserError).hint;
    }
    throw new Error(`${line} is read`);
  };
  const expected = (has: string) =>
    `use --text-field to name the field that contains the text (${has}), or correct this record; to read JSON as plain text, use --input-format text`;
  expect(hintOf('{"content":"x","n":1,"t\\u0069tle":"é"}')).toBe(
    expected("fields of this record that are strings: content, title"),
  );
  expect(hintOf('{"text":["x"],"body":"x"}')).toBe(expected("fields of this record that are strings: body"));
  expect(hintOf('{"n":1}')).toBe(
    "correct or remove this record: none of its fields is a string; to read JSON as plain text, use --input-format text",
  );
  const many = Object.fromEntries(Array.from({ length: 23 }, (_, i) => [`f${i}`, ""]));
  expect(hintOf(JSON.stringify(many))).toEndWith(
    ", f19, and 3 more), or correct this record; to read JSON as plain text, use --input-format text",
  );
});

describe("a wrong line is named with its number and the reason", () => {
  const cases: [line: string | Uint8Array, what: string][] = [
    ['{"text":"x"', "not valid JSON"],
    ["plain text", "not valid JSON"],
    ['["text"]', "not a JSON object"],
    ["5", "not a JSON object"],
    ['{"content":"x"}', 'no field "text"'],
    ['{"text":null}', 'the field "text" is not a string'],
    ['{"text":["x"]}', 'the field "text" is not a string'],
    ['{"text":"\\ud800"}', 'the field "text" has half of a surrogate pair'],
    [Buffer.from('{"text":"caf\xe9"}', "latin1"), "not valid UTF-8"],
    [Buffer.from([...Buffer.from('{"text":"'), 0xed, 0xa0, 0x80, 0x22, 0x7d]), "not valid UTF-8"],
    ["\ufeff{}", "not valid JSON"],
  ];
  for (const [line, what] of cases) {
    test(`${what}: ${Buffer.from(line).toString()}`, () => {
      const good = '{"text":"good"}\n';
      // A blank line counts as a line, so the wrong one is line 4.
      const content = [Buffer.from(`${good}\n${good}`), Buffer.from(line), Buffer.from(`\n${good}`)];
      const path = put(directory, "wrong.jsonl", Buffer.concat(content));
      for (const windowBytes of [1, 20, 40, 1000]) {
        expect(() => textsOf(path, windowBytes)).toThrow(`line 4 of "${path}": ${what}`);
        expect(() => textsOf(path, windowBytes, good.length)).toThrow(`line 4 of "${path}": ${what}`);
      }
      const last = put(directory, "wrong-last.jsonl", Buffer.concat(content.slice(0, 2)));
      expect(() => textsOf(last)).toThrow(`line 4 of "${last}": ${what}`);
    });
  }

  test("even if a worker finds it far into the file", async () => {
    const good = '{"text":"good"}\n'.repeat(10_000);
    const inputs = findInputs([put(directory, "far.jsonl", `${good}{"text":3}\n${good}`)]);
    const counting = countCorpus(
      { cutting: cuttings.plain(gpt2), inputs, workerCount: 2, rangeSizeBytes: 5000 },
      () => {},
    );
    await expect(counting).rejects.toThrow(/line 10001 of ".*": the field "text" is not a string/);
  });

  test("noise ends in an error, never in a crash", () => {
    const random = randomNumbers(7);
    for (let run = 0; run < 20; run++) {
      const noise = Uint8Array.from({ length: 50_000 }, () => random(256));
      expect(() => textsOf(put(directory, "noise.jsonl", noise))).toThrow(/line \d+ of ".*": not valid/);
    }
  });

  test("of FASTA", () => {
    const cases = [
      ["ACGT\n", 1, "the sequence has no header"],
      ["\n ACGT\n>x\nA\n", 2, "the sequence has no header"],
      [">x\nAC\n;old\nA\n", 3, "a line that begins with ; is an old FASTA comment"],
      [">x\nAC\n>y\nAé\n", 4, "byte 0xc3 is not a letter of a sequence"],
      ["\ufeff>x\nAC\n", 1, "byte 0xef is not a letter of a sequence"],
      [">x\nA\0C", 2, "byte 0x00 is not a letter of a sequence"],
    ] as const;
    for (const [text, line, what] of cases) {
      const path = put(directory, "wrong.fa", text);
      for (const windowBytes of [1, 7, 1000]) {
        expect(() => textsOf(path, windowBytes, 0, { inputFormat: "fasta" })).toThrow(
          `line ${line} of "${path}": ${what}`,
        );
      }
    }
  });
});
