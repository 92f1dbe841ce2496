import { afterAll, describe, expect, test } from "bun:test";
import { UserError } from "../../src/errors.ts";
import { buildFourByteTables } from "../../src/pattern/four-byte-tables.ts";
import { type CompiledPattern, compilePattern, createSplitter, patterns } from "../../src/pattern/pattern.ts";
import { readKernel } from "../../src/runtime/embedded.ts";
import { adoptKernelModule, kernelModule } from "../../src/runtime/kernel.ts";
import { runToEnd } from "../../src/runtime/turns.ts";
import {
  createPretokens,
  KernelPretokens,
  type Pretokens,
  partTo,
  SplitterPretokens,
} from "../../src/text/pretokens.ts";
import { WordCounter } from "../../src/words/word-counter.ts";
import { chunksOf, stream } from "../corpus/made-chunks.ts";
import { longText, Random, randomBytes } from "../pattern/naive.ts";
import { randomPattern, randomText } from "../pattern/random-patterns.ts";
import { randomText as classesText, randomNumbers } from "../pattern/texts.ts";
import { rounds } from "../rounds.ts";
import { bytesOf, entriesOf } from "../words/generators.ts";
import { countingTexts } from "./counting-texts.ts";

const seed = 20261122;
const utf8 = (text: string) => new TextEncoder().encode(text);
const textBytesMax = 1 << 20;
const found = (tokens: readonly Uint8Array[]) => tokens.map((bytes) => ({ bytes, id: 0 }));

/** What counts a text, in windows of some size. */
type Way = { readonly counter: WordCounter; readonly pretokens: Pretokens };
/** The pretokens of a way are made already. */
const anyPattern = compilePattern(patterns.none.sources);

/** Everything that counting a text tells: words and findings, or the error. */
function told({ counter, pretokens }: Way, bytes: Uint8Array, windowBytes: number) {
  const texts = countingTexts({ inputs: [stream], pattern: anyPattern, pretokens, windowBytes }, counter);
  const found = chunksOf(bytes, bytes.length).map((chunk) => runToEnd(texts.take(chunk)));
  const words = entriesOf(counter.toWordTable());
  counter.clear();
  return { words, found };
}

function kernelWay(pattern: CompiledPattern, tokens: readonly Uint8Array[] = []): Way {
  const counter = new WordCounter(textBytesMax);
  const pretokens = createPretokens(pattern, found(tokens), counter);
  expect(pretokens instanceof KernelPretokens).toBe(true);
  return { counter, pretokens };
}

function splitterWay(pattern: CompiledPattern, tokens: readonly Uint8Array[] = []): Way {
  const counter = new WordCounter(textBytesMax);
  return { counter, pretokens: new SplitterPretokens(createSplitter(pattern), found(tokens), counter) };
}

function expectSame(
  ways: readonly Way[],
  twin: Way,
  bytes: Uint8Array,
  windowBytes: number,
  note: string,
): void {
  const wanted = told(twin, bytes, 1 << 16);
  for (const [way, kernel] of ways.entries()) {
    const found = told(kernel, bytes, windowBytes);
    if (Bun.deepEquals(found, wanted)) continue;
    const text = Buffer.from(bytes).toString("hex");
    expect({ note, way, windowBytes, text, found }).toEqual({ note, way, windowBytes, text, found: wanted });
  }
}

/** The pattern with its four-byte tables, if it has any, and without. */
function withAndWithoutFourByteTables(pattern: CompiledPattern): CompiledPattern[] {
  if (pattern.kind !== "automata") throw new Error("not an automaton");
  const [tables, ...others] = pattern.automata;
  return [buildFourByteTables(tables!) ?? null, null].map((fourBytes) => ({
    ...pattern,
    automata: [{ ...tables!, fourBytes }, ...others],
  }));
}

const isKernelPattern = (pattern: CompiledPattern) =>
  pattern.kind === "automata" && pattern.automata.length === 1;

const named = Object.entries(patterns).flatMap(([name, { sources }]) =>
  [false, true].flatMap((lineWise) => {
    const pattern = compilePattern(sources, { lineWise });
    return isKernelPattern(pattern) ? [[`${name}${lineWise ? ", line-wise" : ""}`, pattern] as const] : [];
  }),
);

/** Random patterns, compiled once for all kernels. */
const somePatterns = memoized(() => {
  const random = new Random(seed + 1);
  const compiled: CompiledPattern[] = [];
  while (compiled.length < rounds(40)) {
    try {
      // Every third one is two splits.
      const count = compiled.length % 3 === 0 ? 2 : 1;
      const pattern = compilePattern(Array.from({ length: count }, () => randomPattern(random)));
      if (isKernelPattern(pattern)) compiled.push(pattern);
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

const testModule = kernelModule();
const flavours = {
  "with SIMD and assertions": testModule,
  baseline: new WebAssembly.Module(readKernel("kernel-baseline")),
};

describe.each(Object.entries(flavours))("the kernel %s", (_, module) => {
  afterAll(() => adoptKernelModule(testModule));

  test("counts what the splitters in JavaScript count, for all named patterns", () => {
    adoptKernelModule(module);
    expect(named.map(([name]) => name)).toContain("falcon");
    expect(named.length).toBe(2 * Object.keys(patterns).length);
    const random = new Random(seed);
    for (const [name, pattern] of named) {
      const ways = withAndWithoutFourByteTables(pattern).map((one) => kernelWay(one));
      const twin = splitterWay(pattern);
      for (let round = 0; round < rounds(15); round++) {
        const bytes =
          round % 2 === 0
            ? randomBytes(random, 1 + random.below(60))
            : utf8(
                randomText(random, 100) +
                  "plain words, one after another; 12345 of 'em".slice(random.below(40)),
              );
        expectSame(ways, twin, bytes, random.pick([1, 17, 64, 1000]), name);
      }
    }
  });

  test("counts in a long text what the splitters in JavaScript count, by four bytes and by one", () => {
    adoptKernelModule(module);
    const bytes = longText(new Random(seed), 350_000);
    for (const [name, pattern] of named) {
      const ways = withAndWithoutFourByteTables(pattern).map((one) => kernelWay(one));
      expectSame(ways, splitterWay(pattern), bytes, 1 << 16, name);
    }
  });

  test("counts what the splitters in JavaScript count, for random patterns", () => {
    adoptKernelModule(module);
    const random = new Random(seed + 2);
    for (const [number, pattern] of somePatterns().entries()) {
      const ways = withAndWithoutFourByteTables(pattern).map((one) => kernelWay(one));
      const twin = splitterWay(pattern);
      for (let round = 0; round < 10; round++) {
        const text = utf8(randomText(random, 60));
        expectSame(ways, twin, text, random.pick([1, 30, 1000]), `pattern ${number}`);
      }
    }
  });

  test("finds special tokens as the finder in JavaScript does", () => {
    adoptKernelModule(module);
    const random = new Random(seed + 2);
    const pattern = compilePattern(patterns.gpt2.sources);
    for (let round = 0; round < rounds(30); round++) {
      const letters = random.pick(["ab", "abc<|>", "<|x ", "abcdefghijklm"]);
      const text = (lengthMax: number) =>
        Array.from({ length: 1 + random.below(lengthMax) }, () => random.pick([...letters])).join("");
      const tokens = Array.from({ length: 1 + random.below(random.pick([1, 3, 12])) }, () =>
        utf8(text(random.pick([1, 4, 40]))),
      );
      const [kernel, twin] = [kernelWay(pattern, tokens), splitterWay(pattern, tokens)];
      for (let count = 0; count < 8; count++) {
        const parts = Array.from({ length: random.below(12) }, () =>
          random.below(3) === 0 ? random.pick(tokens) : utf8(text(12)),
        );
        const bytes = new Uint8Array(Buffer.concat(parts));
        const note = `tokens ${tokens.map((token) => Buffer.from(token).toString()).join(" ")}`;
        expectSame([kernel], twin, bytes, random.pick([1, 50, 1000]), note);
      }
    }
  });
});

test("counts with masks what the splitters in JavaScript count, for all named patterns", () => {
  const random = randomNumbers(seed);
  const tokens = [utf8("<|x|>")];
  const runToEnd = { fourByteTablesBytes: 0, masksBytes: 0 };
  for (const [name, pattern] of named) {
    if (pattern.kind !== "automata") continue;
    const counter = new WordCounter(textBytesMax);
    const pretokens = KernelPretokens.create(pattern.automata[0]!, found(tokens), counter, runToEnd)!;
    const twin = splitterWay(pattern, tokens);
    for (let round = 0; round < rounds(10); round++) {
      const parts = Array.from({ length: 1 + random(3) }, () => classesText(random, 1500));
      const bytes = utf8(parts.join("<|x|>"));
      if (random(8) === 0) bytes[random(bytes.length)] = 0x80 | random(0x80);
      expectSame([{ counter, pretokens }], twin, bytes, [300, 1000, 5000][random(3)]!, name);
    }
  }
});

test("a token that ends behind a record hides none that ends in it", () => {
  const pattern = compilePattern(patterns.gpt2.sources);
  const { counter, pretokens } = kernelWay(pattern, [utf8("<x-y>"), utf8("x")]);
  counter.text(9).bytes.set(utf8("ab<x-y>cd"));
  pretokens.searchText(9);
  pretokens.start(0, false);
  expect(pretokens.take(partTo(5))).toBe(true);
  pretokens.start(5, false);
  expect(pretokens.take(partTo(9))).toBe(true);
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

test("long texts are counted in slices, with tables of four bytes built on the way", () => {
  const pattern = compilePattern(["[a-d]+| ?[0-9]+|\\s+|."]);
  const [kernel, twin] = [kernelWay(pattern), splitterWay(pattern)];
  const bytes = bytesOf("abba 12 cab\n\téa 中 0012  dad".repeat(100_000));
  kernel.counter.text(bytes.length).bytes.set(bytes);
  kernel.pretokens.searchText(bytes.length);
  kernel.pretokens.start(0, false);
  let sliceCount = 1;
  while (!kernel.pretokens.take(partTo(bytes.length))) sliceCount++;
  expect(sliceCount).toBe(Math.ceil(bytes.length / (1 << 20)));
  expect(entriesOf(kernel.counter.toWordTable())).toEqual(told(twin, bytes, 1 << 20).words);
});

test("a pattern whose tables have no room in the kernel is split in JavaScript", () => {
  const counter = new WordCounter(textBytesMax);
  const pattern = compilePattern(patterns.gpt2.sources);
  while (counter.kernel.exports.reserveFixed(1 << 14) !== 0);
  const pretokens = createPretokens(pattern, [], counter);
  expect(pretokens instanceof SplitterPretokens).toBe(true);
  expect(told({ counter, pretokens }, utf8("some words"), 1 << 16).words).toEqual([
    [" words", 1],
    ["some", 1],
  ]);
});
