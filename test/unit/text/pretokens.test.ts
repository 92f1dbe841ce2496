import { afterAll, describe, expect, test } from "bun:test";
import * as utf8 from "../../../src/bytes/utf8-characters.ts";
import type { CompiledPattern } from "../../../src/pattern/compiled-pattern.ts";
import { cutText } from "../../../src/pattern/cut-text.ts";
import { buildFourByteTables } from "../../../src/pattern/four-byte-tables.ts";
import { patterns } from "../../../src/pattern/named-patterns.ts";
import * as compiledPatterns from "../../../src/pattern/pattern.ts";
import { readKernel } from "../../../src/runtime/embedded.ts";
import { UserError } from "../../../src/runtime/errors.ts";
import * as kernels from "../../../src/runtime/kernel.ts";
import { isSmallScale } from "../../../src/runtime/scale.ts";
import { runToEnd } from "../../../src/runtime/slices.ts";
import { Pretokens } from "../../../src/text/pretokens.ts";
import * as textParts from "../../../src/text/text-part.ts";
import { WordCounter } from "../../../src/words/word-counter.ts";
import { inOrder } from "../../naive.ts";
import { pick, randomNumbers } from "../../random.ts";
import { rounds, turns } from "../../rounds.ts";
import { chunksOf, stream } from "../corpus/made-chunks.ts";
import { digitForms, digitText } from "../pattern/digit-forms.ts";
import { longText, randomBytes } from "../pattern/naive.ts";
import { triedPatterns } from "../pattern/names.ts";
import { randomPattern, randomText } from "../pattern/random-patterns.ts";
import { randomText as classesText } from "../pattern/texts.ts";
import { bytesOf, entriesOf } from "../words/generators.ts";
import { countingTexts } from "./counting-texts.ts";
import { findNaively } from "./naive-tokens.ts";

const seed = 20261122;
const encoded = (text: string) => new TextEncoder().encode(text);
const textBytesMax = 1 << 20;
/** The flag of special tokens (src/kernel/token-search.ts). In these tests, tokens with this flag stay in the text. */
const specialFlag = 8;
/** Marks tokens whose length in bytes is 3 modulo 4 as special. */
const found = (tokens: readonly Uint8Array[]) =>
  tokens.map((bytes) => ({ bytes, id: 0, flags: bytes.length % 4 === 3 ? specialFlag : 0 }));

/** A counter, and the `Pretokens` that find pretokens for it. */
type Way = { readonly counter: WordCounter; readonly pretokens: Pretokens };
/** The pattern for `countingTexts`. Any pattern will do, because texts are cut by that of the given `Pretokens`. */
const anyPattern = compiledPatterns.compile(patterns.none.sources);

/** Returns everything that counting a text reports: words and findings. */
function told({ counter, pretokens }: Way, bytes: Uint8Array, windowBytes: number) {
  const texts = countingTexts({ inputs: [stream], pattern: anyPattern, pretokens, windowBytes }, counter);
  const found = chunksOf(bytes, bytes.length).map((chunk) => runToEnd(texts.take(chunk)));
  const words = entriesOf(counter.toWordTable());
  counter.clear();
  return { words, found };
}

function kernelWay(pattern: CompiledPattern, tokens: readonly Uint8Array[] = []): Way {
  const counter = new WordCounter(textBytesMax);
  const pretokens = new Pretokens(pattern.automata, found(tokens), counter);
  return { counter, pretokens };
}

/** Counts a text in simple JavaScript, document by document. Returns what `told` returns. */
type Twin = (bytes: Uint8Array) => ReturnType<typeof told>;

const naiveTwin =
  ({ pattern }: Case, tokens: readonly Uint8Array[] = []): Twin =>
  (bytes) =>
    naivelyTold(pattern, bytes, tokens);

function naivelyTold(pattern: CompiledPattern, bytes: Uint8Array, tokens: readonly Uint8Array[]) {
  const words = new Map<string, number>();
  let documentCount = 0;
  let invalidByteCount = 0;
  let firstInvalidByte = -1;
  const document = (start: number, end: number) => {
    if (start === end) return;
    documentCount++;
    const content = Buffer.from(bytes.subarray(start, end));
    cutText(pattern, content).reduce((from, to) => {
      const word = content.toString("latin1", from, to);
      words.set(word, (words.get(word) ?? 0) + 1);
      return to;
    }, 0);
    const invalid = invalidPlaces(content);
    invalidByteCount += invalid.length;
    if (firstInvalidByte < 0 && invalid.length > 0) firstInvalidByte = start + invalid[0]!;
  };
  let startByte = 0;
  for (const [pos, length] of findNaively(tokens, bytes)) {
    const [token] = found([bytes.subarray(pos, pos + length)]);
    if (token!.flags === specialFlag) continue;
    document(startByte, pos);
    startByte = pos + length;
  }
  document(startByte, bytes.length);
  return {
    words: inOrder(words),
    // An empty stream has no chunk.
    found: chunksOf(bytes, bytes.length).map(({ endByte: textBytes }) => ({
      textBytes,
      documentCount,
      invalidByteCount,
      firstInvalidByte,
    })),
  };
}

/** Returns the positions of bytes that are not part of valid UTF-8. */
function invalidPlaces(bytes: Uint8Array): number[] {
  const places: number[] = [];
  for (let pos = 0; pos < bytes.length; ) {
    const length = utf8.characterLengthAt(bytes, pos, bytes.length);
    if (length === 0) places.push(pos);
    pos += length || 1;
  }
  return places;
}

function expectSame(
  ways: readonly Way[],
  twin: Twin,
  bytes: Uint8Array,
  windowBytes: number,
  note: string,
): void {
  const wanted = twin(bytes);
  for (const [way, kernel] of ways.entries()) {
    const found = told(kernel, bytes, windowBytes);
    if (Bun.deepEquals(found, wanted)) continue;
    const text = Buffer.from(bytes).toString("hex");
    expect({ note, way, windowBytes, text, found }).toEqual({ note, way, windowBytes, text, found: wanted });
  }
}

/** Returns the pattern with the four-byte tables of its first automaton, if it has any, and without them. */
function withAndWithoutFourByteTables({ pattern }: Case): CompiledPattern[] {
  const [tables, ...others] = pattern.automata;
  return [buildFourByteTables(tables!) ?? null, null].map((fourBytes) => ({
    ...pattern,
    automata: [{ ...tables!, fourBytes }, ...others],
  }));
}

/** A pattern that the kernel scans. */
type Case = {
  readonly name: string;
  readonly sources: readonly string[];
  readonly lineWise: boolean;
  readonly pattern: CompiledPattern;
};

const caseOf = (name: string, sources: readonly string[], lineWise = false): Case => ({
  name: `${name}${lineWise ? ", line-wise" : ""}`,
  sources,
  lineWise,
  pattern: compiledPatterns.compile(sources, { lineWise }),
});

const gpt2 = patterns.gpt2.sources;

const chainOfThree = ["[0-9]{3}", "[0-9a-z]{4}", "[a-z ]{5}"];

/** Named patterns, and chains of two and three automata. */
const cases = Object.entries({
  ...Object.fromEntries(triedPatterns.map((name) => [name, patterns[name].sources])),
  "chain of two": ["[0-9]{3}", ...gpt2],
  "chain of three": chainOfThree,
}).flatMap(([name, sources], turn) =>
  turns([false, true], turn).map((lineWise) => caseOf(name, sources, lineWise)),
);

/** Random patterns, compiled once for all kernels. */
const somePatterns = memoized(() => {
  const random = randomNumbers(seed + 1);
  const compiled: Case[] = [];
  while (compiled.length < rounds(40)) {
    try {
      // Every third pattern consists of two splits.
      const count = compiled.length % 3 === 0 ? 2 : 1;
      const one = caseOf(
        `pattern ${compiled.length}`,
        Array.from({ length: count }, () => randomPattern(random)),
      );
      compiled.push(one);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
    }
  }
  return compiled;
});

function memoized<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

const testModule = kernels.sharedModule();
const flavours = {
  "with SIMD and assertions": testModule,
  baseline: new WebAssembly.Module(readKernel("kernel-baseline")),
};

describe.each(Object.entries(flavours))("the kernel %s", (_, module) => {
  afterAll(() => kernels.adoptModule(testModule));

  test("counts like its twin, for all named patterns and chains of automata", () => {
    kernels.adoptModule(module);
    for (const { name, pattern } of cases) {
      const count = /^marin|three/.test(name) ? 3 : name.includes("two") ? 2 : 1;
      expect([name, pattern.automata.length]).toEqual([name, count]);
    }
    const random = randomNumbers(seed);
    for (const one of cases) {
      const ways = withAndWithoutFourByteTables(one).map((pattern) => kernelWay(pattern));
      const twin = naiveTwin(one);
      for (let round = 0; round < rounds(15); round++) {
        const bytes =
          round % 2 === 0
            ? randomBytes(random, 1 + random(60))
            : encoded(
                randomText(random, 100) + "plain words, one after another; 12345 of 'em".slice(random(40)),
              );
        expectSame(ways, twin, bytes, pick(random, [1, 17, 64, 1000]), one.name);
      }
    }
  });

  test.skipIf(isSmallScale)("in a long text, counts what its twin counts, by four bytes and by one", () => {
    kernels.adoptModule(module);
    const bytes = longText(randomNumbers(seed), rounds(800_000));
    for (const one of cases) {
      const ways = withAndWithoutFourByteTables(one).map((pattern) => kernelWay(pattern));
      expectSame(ways, naiveTwin(one), bytes, 1 << 16, one.name);
    }
  });

  test("counts like its twin, for random patterns", () => {
    kernels.adoptModule(module);
    const random = randomNumbers(seed + 2);
    for (const one of somePatterns()) {
      const ways = withAndWithoutFourByteTables(one).map((pattern) => kernelWay(pattern));
      const twin = naiveTwin(one);
      for (let round = 0; round < 10; round++) {
        const text = encoded(randomText(random, 60));
        expectSame(ways, twin, text, pick(random, [1, 30, 1000]), one.name);
      }
    }
  });

  test("finds special tokens as its twin does", () => {
    kernels.adoptModule(module);
    const random = randomNumbers(seed + 2);
    for (let round = 0; round < rounds(30); round++) {
      const one = caseOf("", round % 4 === 0 ? ["[0-9]{3}", ...gpt2] : gpt2);
      const letters = pick(random, ["ab", "abc<|>", "<|x ", "abcdefghijklm"]);
      const text = (lengthMax: number) =>
        Array.from({ length: 1 + random(lengthMax) }, () => pick(random, [...letters])).join("");
      const tokens = Array.from({ length: 1 + random(pick(random, [1, 3, 12])) }, () =>
        encoded(text(pick(random, [1, 4, 40]))),
      );
      const [kernel, twin] = [kernelWay(one.pattern, tokens), naiveTwin(one, tokens)];
      for (let count = 0; count < 8; count++) {
        const parts = Array.from({ length: random(12) }, () =>
          random(3) === 0 ? pick(random, tokens) : encoded(text(12)),
        );
        const bytes = new Uint8Array(Buffer.concat(parts));
        const note = `tokens ${tokens.map((token) => Buffer.from(token).toString()).join(" ")}`;
        expectSame([kernel], twin, bytes, pick(random, [1, 50, 1000]), note);
      }
    }
  });
});

test("counts with masks like the twin, for all named patterns", () => {
  const random = randomNumbers(seed);
  const tokens = [encoded("<|x|>")];
  const atOnce = { fourByteTablesBytes: 0, masksBytes: 0 };
  for (const one of cases) {
    const counter = new WordCounter(textBytesMax);
    const pretokens = new Pretokens(one.pattern.automata, found(tokens), counter, atOnce);
    const twin = naiveTwin(one, tokens);
    for (let round = 0; round < rounds(10); round++) {
      const parts = Array.from({ length: 1 + random(3) }, () => classesText(random, 1500));
      const bytes = encoded(parts.join("<|x|>"));
      if (random(8) === 0) bytes[random(bytes.length)] = 0x80 | random(0x80);
      expectSame([{ counter, pretokens }], twin, bytes, [300, 1000, 5000][random(3)]!, one.name);
    }
  }
});

test("a token that ends after a record hides no token that ends in it", () => {
  const pattern = compiledPatterns.compile(patterns.gpt2.sources);
  const { counter, pretokens } = kernelWay(pattern, [encoded("<x-y>"), encoded("x")]);
  counter.text(9).bytes.set(encoded("ab<x-y>cd"));
  pretokens.searchText(9);
  pretokens.start(0, false);
  expect(pretokens.take(textParts.to(5))).toBe(true);
  pretokens.start(5, false);
  expect(pretokens.take(textParts.to(9))).toBe(true);
  expect(entriesOf(counter.toWordTable())).toEqual([
    ["-", 1],
    ["<", 1],
    [">", 1],
    ["ab", 1],
    ["cd", 1],
    ["y", 1],
  ]);
  expect(pretokens.documentCount).toBe(3);
});

test.skipIf(isSmallScale)(
  "long texts are counted in slices, with tables of four bytes built on the way",
  () => {
    const one = caseOf("", ["[a-d]+| ?[0-9]+|\\s+|."]);
    const [kernel, twin] = [kernelWay(one.pattern), naiveTwin(one)];
    const bytes = bytesOf("abba 12 cab\n\téa 中 0012  dad".repeat(100_000));
    kernel.counter.text(bytes.length).bytes.set(bytes);
    kernel.pretokens.searchText(bytes.length);
    kernel.pretokens.start(0, false);
    let sliceCount = 1;
    while (!kernel.pretokens.take(textParts.to(bytes.length))) sliceCount++;
    expect(sliceCount).toBe(Math.ceil(bytes.length / (1 << 20)));
    expect(entriesOf(kernel.counter.toWordTable())).toEqual(twin(bytes).words);
  },
);

test.skipIf(isSmallScale)(
  "a chain cuts a piece of any length, with many automata and many ends at a time",
  () => {
    const one = caseOf("", chainOfThree);
    const bytes = bytesOf(`${"abc 0123456789\n".repeat(15_000)}${"x".repeat(600_000)}${"5".repeat(100_000)}`);
    expectSame([kernelWay(one.pattern)], naiveTwin(one), bytes, 1 << 16, "");
  },
);

/** Patterns with long look-aheads. */
const lookCases = memoized(() =>
  ["wordEndAsWritten", "wordEndLlama3", "inlineGpt4o", "superbpe", "guarded", "marinLlama3"].flatMap(
    (name, turn) =>
      turns([false, true], turn).map((lineWise) => caseOf(name, digitForms[name]!.sources, lineWise)),
  ),
);

describe.each(Object.entries(flavours))("long look-aheads in the kernel %s", (_, module) => {
  afterAll(() => kernels.adoptModule(testModule));

  test("have the results of the twin, in windows of any size, with and without special tokens", () => {
    kernels.adoptModule(module);
    const random = randomNumbers(seed + 4);
    const tokens = [encoded("444"), encoded("<|x|>"), encoded("é7")];
    for (const one of lookCases()) {
      const some = random(2) === 0 ? tokens : [];
      const ways = withAndWithoutFourByteTables(one).map((pattern) => kernelWay(pattern, some));
      const twin = naiveTwin(one, some);
      for (let round = 0; round < rounds(6); round++) {
        const parts = [encoded(digitText(random, 1 + random(40))), randomBytes(random, random(3))];
        const bytes = new Uint8Array(
          Buffer.concat([...parts, encoded("<|x|>"), ...parts, encoded(digitText(random, 9))]),
        );
        expectSame(ways, twin, bytes, pick(random, [1, 17, 64, 1000]), one.name);
      }
    }
  });

  test.skipIf(isSmallScale)("may span many blocks and windows", () => {
    kernels.adoptModule(module);
    const random = randomNumbers(seed + 5);
    const tokens = [encoded("444")];
    for (const one of lookCases()) {
      const runs = ["1".repeat(70_001), "1٣".repeat(30_000), "12".repeat(30_000)];
      const text = runs
        .flatMap((run) => [run, pick(random, ["", "a", "444", " "]), digitText(random, 5)])
        .join("");
      const bytes = encoded(text);
      bytes[random(bytes.length)] = 0xff;
      const windowBytes = pick(random, [100, 20_000, 1 << 16]);
      expectSame([kernelWay(one.pattern, tokens)], naiveTwin(one, tokens), bytes, windowBytes, one.name);
    }
  });
});

test.skipIf(isSmallScale)("a long run of look-ahead text is read in slices", () => {
  const { counter, pretokens } = kernelWay(compiledPatterns.compile(digitForms.wordEndLlama3!.sources));
  const bytes = bytesOf(`a${"1".repeat(3_000_001)} b`);
  counter.text(bytes.length).bytes.set(bytes);
  pretokens.searchText(bytes.length);
  pretokens.start(0, false);
  let sliceCount = 1;
  while (!pretokens.take(textParts.to(bytes.length))) sliceCount++;
  // In these seven slices of work, the run is read to its end, read backwards, and then cut.
  expect(sliceCount).toBe(7);
  expect(entriesOf(counter.toWordTable())).toEqual([
    [" b", 1],
    ["1", 1],
    ["111", 1_000_000],
    ["a", 1],
  ]);
});

test("a pattern whose tables do not fit into the kernel is refused", () => {
  const counter = new WordCounter(textBytesMax);
  const pattern = compiledPatterns.compile(gpt2);
  while (counter.kernel.exports.reserveFixed(1 << 14) !== 0);
  expect(() => new Pretokens(pattern.automata, [], counter)).toThrow(
    "the tables of the pattern and the special tokens do not fit into the memory of a thread",
  );
});
