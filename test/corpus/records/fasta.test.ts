import { describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { cutIntoRanges } from "../../../src/corpus/cut-into-ranges.ts";
import { findInputs } from "../../../src/corpus/find-inputs.ts";
import { type Input, openInput, wholeRange } from "../../../src/corpus/input.ts";
import { FileSource } from "../../../src/corpus/range-reader.ts";
import { LineReader } from "../../../src/corpus/records/line-reader.ts";
import { compilePattern, patterns } from "../../../src/pattern/pattern.ts";
import { countCorpus } from "../../../src/pipeline/count-corpus.ts";
import { runToEnd } from "../../../src/runtime/turns.ts";
import { plainCutting } from "../../../src/text/cutting.ts";
import { WordCounter } from "../../../src/words/word-counter.ts";
import { put, scratch } from "../../binary.ts";
import { inOrder } from "../../naive.ts";
import { rounds } from "../../rounds.ts";
import { countingTexts } from "../../text/counting-texts.ts";
import { entriesOf, randomOf } from "../../words/generators.ts";
import { chunksOf } from "../made-chunks.ts";

const directory = scratch();
const options = { pattern: compilePattern(patterns.none.sources), specialTokens: [] };
const asFasta = { format: "fasta" } as const;

/** Records of FASTA in all the ways in which people write them. */
function made(seed: number, recordCount: number): string {
  const random = randomOf(seed);
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
  return random(2) === 0 ? text : text.trimEnd();
}

/** The naive twin: the sequences of a text. */
function sequencesOf(text: string): string[] {
  const records = `\n${text}`.split("\n>").slice(1);
  return records.map((record) => record.split("\n").slice(1).join("").replace(/\s/g, ""));
}

function expected(text: string) {
  const words = new Map<string, number>();
  for (const each of sequencesOf(text)) if (each !== "") words.set(each, (words.get(each) ?? 0) + 1);
  return { words: inOrder(words), documentCount: [...words.values()].reduce((sum, count) => sum + count, 0) };
}

describe("FASTA", () => {
  test("gives the sequences, each a document, to any number of workers, packed or not", async () => {
    const text = made(1, 2000);
    const { words, documentCount } = expected(text);
    const paths = [put(directory, "many.fa", text), put(directory, "many.fa.gz", gzipSync(text))];
    for (const path of paths) {
      const inputs = findInputs([path], asFasta);
      for (const workerCount of [1, 2, 7]) {
        const work = countCorpus(
          { cutting: plainCutting(options.pattern), inputs, workerCount, rangeSizeBytes: 500 },
          () => {},
        );
        const { counter, statistics } = await work;
        expect(entriesOf(counter.words.toWordTable())).toEqual(words);
        expect(statistics[0]!.documentCount).toBe(documentCount);
      }
    }
  });

  test("is cut between records at every wished size, and read through windows of every size", () => {
    for (let seed = 2; seed < 2 + rounds(7); seed++) {
      const text = made(seed, 6);
      const bytes = Buffer.from(text);
      const inputs = findInputs([put(directory, "few.fa", text)], asFasta);
      const [input] = inputs as [Input];
      const { words, documentCount } = expected(text);
      for (let rangeSizeBytes = 1; rangeSizeBytes < 60; rangeSizeBytes += 2) {
        const counter = new WordCounter();
        const tasks = countingTexts({ ...options, inputs, windowBytes: rangeSizeBytes }, counter);
        let found = 0;
        for (const range of cutIntoRanges(input, wholeRange(input, 0), { ...options, rangeSizeBytes })) {
          if (range === undefined) continue;
          expect(range.startByte === 0 || bytes[range.startByte] === 0x3e).toBeTrue();
          found += runToEnd(tasks.take({ ...range, kind: "range", endsInput: false }))!.documentCount;
        }
        tasks.close();
        expect(entriesOf(counter.toWordTable())).toEqual(words);
        expect(found).toBe(documentCount);
      }
    }
  });

  test("may come in pieces of any size", () => {
    const text = made(33, 8);
    const bytes = Buffer.from(text);
    const [file] = findInputs([put(directory, "pieces.fa", text)], asFasta) as [Input];
    const stream = { ...file, isStream: true, sizeBytes: 0 };
    const { words } = expected(text);
    for (let sizeBytes = 1; sizeBytes <= bytes.length; sizeBytes++) {
      const counter = new WordCounter();
      const tasks = countingTexts({ ...options, inputs: [stream], windowBytes: 16 }, counter);
      for (const piece of chunksOf(bytes, sizeBytes)) {
        runToEnd(tasks.take(piece));
      }
      expect(entriesOf(counter.toWordTable())).toEqual(words);
    }
  });

  test("a sequence longer than the window makes it grow", () => {
    const long = "ACGT".repeat(50_000);
    const path = put(directory, "long.fa", `>a\nA\n>long\n${long.replace(/.{70}/g, "$&\n")}\n>b\nC`);
    expect(textsOf(path, 1 << 10)).toEqual(["A", long, "C"]);
  });

  test("a line that is wrong is named with its number and what is wrong", () => {
    const cases = [
      ["ACGT\n", 1, "a sequence without a header"],
      ["\n ACGT\n>x\nA\n", 2, "a sequence without a header"],
      [">x\nAC\n;old\nA\n", 3, "a comment of old FASTA"],
      [">x\nAC\n>y\nAé\n", 4, "byte 0xc3 is no letter of a sequence"],
      ["\ufeff>x\nAC\n", 1, "byte 0xef is no letter of a sequence"],
      [">x\nA\0C", 2, "byte 0x00 is no letter of a sequence"],
    ] as const;
    for (const [text, line, what] of cases) {
      const path = put(directory, "wrong.fa", text);
      for (const windowBytes of [1, 7, 1000]) {
        expect(() => textsOf(path, windowBytes)).toThrow(`"${path}" line ${line}: ${what}`);
      }
    }
  });
});

function textsOf(path: string, windowBytes: number): string[] {
  const [input] = findInputs([path], { ...asFasta, binary: "text" }) as [Input];
  const reader = new LineReader(windowBytes);
  const texts: string[] = [];
  for (const _ of reader.read(new FileSource(openInput(input), input), wholeRange(input, 0), input)) {
    const { text, ends, count } = reader.batch;
    for (let r = 0; r < count; r++) {
      texts.push(Buffer.from(text.bytes.subarray(ends[r - 1] ?? 0, ends[r]!)).toString());
    }
  }
  return texts;
}
