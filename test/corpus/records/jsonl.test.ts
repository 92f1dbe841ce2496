import { describe, expect, test } from "bun:test";
import { cutIntoRanges } from "../../../src/corpus/cut-into-ranges.ts";
import { findInputs } from "../../../src/corpus/find-inputs.ts";
import { type Input, openInput, wholeRange } from "../../../src/corpus/input.ts";
import { FileSource } from "../../../src/corpus/range-reader.ts";
import { LineReader } from "../../../src/corpus/records/line-reader.ts";
import { compilePattern, patterns } from "../../../src/pattern/pattern.ts";
import { countCorpus } from "../../../src/pipeline/count-corpus.ts";
import { runToEnd } from "../../../src/runtime/turns.ts";
import { plainCutting, textCutting } from "../../../src/text/cutting.ts";
import { WordCounter } from "../../../src/words/word-counter.ts";
import { put, scratch } from "../../binary.ts";
import { inOrder, naiveWords } from "../../naive.ts";
import { rounds } from "../../rounds.ts";
import { countingTexts } from "../../text/counting-texts.ts";
import { entriesOf, randomOf } from "../../words/generators.ts";
import { chunksOf } from "../made-chunks.ts";

const directory = scratch();

const gpt2 = compilePattern(patterns.gpt2.sources);
const specialTokens = ["<|end|>", "<|endless|>"];
const options = { pattern: gpt2, specialTokens };
const cutting = plainCutting(gpt2, specialTokens);

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

/** Texts that begin and end with what could join across their ends, and the file that holds them. */
function made(seed: number, recordCount: number) {
  const random = randomOf(seed);
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
  return { texts, jsonl: (mark + lines.join("")).replace(/\s+$/, random(2) === 0 ? "" : "\n") };
}

const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** The words and documents of the texts, each by itself. */
function expected(texts: readonly string[]) {
  const words = new Map<string, number>();
  let documentCount = 0;
  for (const text of texts) {
    for (const [word, count] of naiveWords(text, specialTokens))
      words.set(word, (words.get(word) ?? 0) + count);
    documentCount += text.split(/<\|end(?:less)?\|>/).filter((part) => part !== "").length;
  }
  return { words: inOrder(words), documentCount };
}

describe("lines of JSON", () => {
  test("are counted as texts that nothing crosses, by any number of workers", async () => {
    const { texts, jsonl } = made(1, 2000);
    const inputs = findInputs([put(directory, "many.jsonl", jsonl)]);
    const { words, documentCount } = expected(texts);
    for (const workerCount of [1, 2, 7]) {
      const { counter, statistics } = await countCorpus(
        { cutting, inputs, workerCount, rangeSizeBytes: 1000 },
        () => {},
      );
      expect(entriesOf(counter.words.toWordTable())).toEqual(words);
      expect(statistics).toEqual([
        {
          textBytes: Buffer.byteLength(texts.join("")),
          documentCount,
          invalidByteCount: 0,
          firstInvalidByte: -1,
        },
      ]);
    }
  });

  test("are cut between lines at every wished size, and read through windows of every size", () => {
    for (let seed = 2; seed < 2 + rounds(5); seed++) {
      const { texts, jsonl } = made(seed, 6);
      const inputs = findInputs([put(directory, "few.jsonl", jsonl)]);
      const [input] = inputs as [Input];
      const { words, documentCount } = expected(texts);
      for (let rangeSizeBytes = 1; rangeSizeBytes < 80; rangeSizeBytes += 3) {
        const counter = new WordCounter();
        const tasks = countingTexts({ ...options, inputs, windowBytes: rangeSizeBytes }, counter);
        let found = 0;
        const places = { ...textCutting(cutting), rangeSizeBytes };
        for (const range of cutIntoRanges(input, wholeRange(input, 0), places)) {
          if (range === undefined) continue;
          found += runToEnd(tasks.take({ ...range, kind: "range", endsInput: false }))!.documentCount;
        }
        tasks.close();
        expect(entriesOf(counter.toWordTable())).toEqual(words);
        expect(found).toBe(documentCount);
      }
    }
  });

  test("may come in pieces of any size", () => {
    const { texts, jsonl } = made(33, 5);
    const bytes = Buffer.from(jsonl);
    const [file] = findInputs([put(directory, "pieces.jsonl", jsonl)]) as [Input];
    const stream = { ...file, isStream: true, sizeBytes: 0 };
    const { words, documentCount } = expected(texts);
    for (let sizeBytes = 1; sizeBytes <= bytes.length; sizeBytes++) {
      const counter = new WordCounter();
      const tasks = countingTexts({ ...options, inputs: [stream], windowBytes: 16 }, counter);
      for (const piece of chunksOf(bytes, sizeBytes)) {
        expect(runToEnd(tasks.take(piece))?.documentCount).toBe(piece.endsInput ? documentCount : undefined);
      }
      expect(entriesOf(counter.toWordTable())).toEqual(words);
    }
  });

  test("longer than the window make it grow", () => {
    const text = "long ".repeat(100_000);
    const path = put(directory, "long.jsonl", `{"text":"a"}\n${JSON.stringify({ text })}\n{"text":"b"}`);
    expect(textsOf(path, 1 << 10)).toEqual(["a", text, "b"]);
  });
});

function textsOf(path: string, windowBytes?: number, startByte = 0): string[] {
  const [input] = findInputs([path], { binary: "text" }) as [Input];
  const reader = new LineReader(windowBytes);
  const texts: string[] = [];
  const source = new FileSource(openInput(input), input);
  const range = { ...wholeRange(input, 0), startByte };
  for (const _ of reader.read(source, range, input)) {
    const { text, ends, count } = reader.batch;
    for (let r = 0; r < count; r++) {
      texts.push(Buffer.from(text.bytes.subarray(r === 0 ? 0 : ends[r - 1]!, ends[r]!)).toString());
    }
  }
  return texts;
}

describe("a line that is wrong is named with its number and what is wrong", () => {
  const cases: [line: string | Uint8Array, what: string][] = [
    ['{"text":"x"', "not valid JSON"],
    ["plain text", "not valid JSON"],
    ['["text"]', "not a JSON object"],
    ["5", "not a JSON object"],
    ['{"content":"x"}', 'no field "text"'],
    ['{"text":null}', 'the field "text" is not a string'],
    ['{"text":["x"]}', 'the field "text" is not a string'],
    ['{"text":"\\ud800"}', 'the field "text" has half a surrogate pair'],
    [Buffer.from('{"text":"caf\xe9"}', "latin1"), "not valid UTF-8"],
    [Buffer.from([...Buffer.from('{"text":"'), 0xed, 0xa0, 0x80, 0x22, 0x7d]), "not valid UTF-8"],
    ["\ufeff{}", "not valid JSON"],
  ];
  for (const [line, what] of cases) {
    test(`${what}: ${Buffer.from(line).toString()}`, () => {
      const good = '{"text":"good"}\n';
      // A blank line is a line.
      const content = [Buffer.from(`${good}\n${good}`), Buffer.from(line), Buffer.from(`\n${good}`)];
      const path = put(directory, "wrong.jsonl", Buffer.concat(content));
      for (const windowBytes of [1, 20, 40, 1000]) {
        expect(() => textsOf(path, windowBytes)).toThrow(`"${path}" line 4: ${what}`);
        expect(() => textsOf(path, windowBytes, good.length)).toThrow(`"${path}" line 4: ${what}`);
      }
      const last = put(directory, "wrong-last.jsonl", Buffer.concat(content.slice(0, 2)));
      expect(() => textsOf(last)).toThrow(`"${last}" line 4: ${what}`);
    });
  }

  test("also where a worker finds it far into the file", async () => {
    const good = '{"text":"good"}\n'.repeat(10_000);
    const inputs = findInputs([put(directory, "far.jsonl", `${good}{"text":3}\n${good}`)]);
    const counting = countCorpus({ cutting, inputs, workerCount: 2, rangeSizeBytes: 5000 }, () => {});
    await expect(counting).rejects.toThrow('line 10001: the field "text" is not a string');
  });

  test("noise ends in an error, never in a crash", () => {
    const random = randomOf(7);
    for (let run = 0; run < 20; run++) {
      const noise = Uint8Array.from({ length: 50_000 }, () => random(256));
      expect(() => textsOf(put(directory, "noise.jsonl", noise))).toThrow(/line \d+: not valid/);
    }
  });
});
