import { describe, expect, test } from "bun:test";
import { textOf } from "../../src/bytes/text.ts";
import { buildProgram } from "../../src/pattern/matcher-program.ts";
import { parsePattern } from "../../src/pattern/parse-pattern.ts";
import {
  compilePattern,
  createSplitter,
  findSafeCut,
  type NamedPattern,
  patterns,
} from "../../src/pattern/pattern.ts";
import { rounds } from "../rounds.ts";
import {
  longText,
  naiveEnds,
  naiveRegExp,
  Random,
  randomBytes,
  splitterEnds,
  tellingCharacters,
} from "./naive.ts";

const names = Object.keys(patterns) as (keyof typeof patterns)[];
/** Splits that do not fuse into one automaton. */
const chain = ["[0-9]{3}", patterns.gpt2.sources[0]];
const seed = 20261120;

function prepared(name: keyof typeof patterns, lineWise = false) {
  const { sources }: NamedPattern = patterns[name];
  return { compiled: compilePattern(sources, { lineWise }), regexps: sources.map(naiveRegExp) };
}

/** Says the pattern and the bytes of a difference. */
function expectEqual(found: number[], wanted: number[], name: string, bytes: Uint8Array): void {
  if (found.join() === wanted.join()) return;
  throw new Error(
    `${name} on ${Buffer.from(bytes).toString("hex")}: [${found}], not [${wanted}] (seed ${seed})`,
  );
}

describe.each(names)("%s", (name) => {
  test("splits every string of up to three telling characters as the naive splitter does", () => {
    const { compiled, regexps } = prepared(name);
    const characters = tellingCharacters.filter((_, i) => i % 2 === 0 || i < 20);
    const strings: string[] = [];
    for (const a of characters) {
      strings.push(a);
      for (const b of characters) {
        strings.push(a + b);
        for (const c of characters) strings.push(a + b + c);
      }
    }
    for (const string of strings.filter((_, i) => i % 5 === 0)) {
      const bytes = Buffer.from(string);
      expectEqual(splitterEnds(compiled, bytes), naiveEnds(bytes, regexps), name, bytes);
    }
  });

  test("splits random bytes as the naive splitter does, in blocks of any size", () => {
    const { compiled, regexps } = prepared(name);
    const random = new Random(seed);
    for (let round = 0; round < rounds(30); round++) {
      const bytes = randomBytes(random, 1 + random.below(20));
      const wanted = naiveEnds(bytes, regexps);
      for (const blockSize of [1, 3, 7, bytes.length]) {
        expectEqual(splitterEnds(compiled, bytes, blockSize), wanted, name, bytes);
      }
    }
  });

  test("ends a document behind every line if told to", () => {
    const { compiled, regexps } = prepared(name, true);
    const random = new Random(seed);
    for (let round = 0; round < rounds(25); round++) {
      const parts = [randomBytes(random, random.below(6)), randomBytes(random, random.below(6))];
      const bytes = Buffer.concat([
        parts[0]!,
        Buffer.from(random.pick(["\n", " \n", "\n\n", "\r\n ", "\n'"])),
        parts[1]!,
      ]);
      const wanted = naiveEnds(bytes, regexps, true);
      expectEqual(splitterEnds(compiled, bytes), wanted, name, bytes);
      expectEqual(splitterEnds(compiled, bytes, 1), wanted, name, bytes);
    }
  });

  test("splits a long text the same as a whole, in blocks, and by backtracking", () => {
    const { sources }: NamedPattern = patterns[name];
    const { compiled } = prepared(name);
    const bytes = longText(new Random(seed), 350_000);
    const whole = splitterEnds(compiled, bytes);
    expect(splitterEnds(compiled, bytes, 1 << 14)).toEqual(whole);
    const programs = sources.map((source) => buildProgram(parsePattern(source), source));
    const fallback = splitterEnds(
      { kind: "programs", programs, lineWise: false, reason: "" },
      bytes,
      1 << 14,
    );
    expect(fallback).toEqual(whole);
  });

  test("splits the parts between safe cuts as it splits the whole", () => {
    const { compiled } = prepared(name);
    const random = new Random(seed);
    let cutCount = 0;
    for (let round = 0; round < rounds(60); round++) {
      const bytes = randomBytes(random, 2 + random.below(25));
      const text = textOf(bytes);
      const whole = splitterEnds(compiled, bytes);
      const cut = findSafeCut(compiled, text, random.below(bytes.length), bytes.length, bytes.length);
      if (cut <= 0) continue;
      cutCount++;
      const splitter = createSplitter(compiled);
      splitter.start(0);
      splitter.scan(text, cut + 1, bytes.length);
      const left = [...splitter.ends.subarray(1, splitter.endCount)].filter((end) => end <= cut);
      const right = splitterEnds(compiled, bytes.subarray(cut)).map((end) => cut + end);
      expectEqual([...left, ...right], whole, `${name} cut at ${cut}`, bytes);
      expect(left.length).toBe(splitter.endCount - 1);
    }
    expect(cutCount).toBeGreaterThan(rounds(5));
  });
});

describe("a splitter", () => {
  test("of a pattern that needs backtracking settles a long document in portions", () => {
    const random = new Random(11);
    const words = Array.from({ length: 30_000 }, () => random.pick(["a", "bc", "xy", "é", "1", "😀", "\n"]));
    const clean = Buffer.from(words.join(" "));
    const broken = Buffer.concat([clean, Buffer.from([0xff]), clean, Buffer.from([0xc3])]);
    for (const sources of [["(?<=xx)y|\\p{L}+|\\s+|[^\\s\\p{L}]+"], ["\\p{N}", "(?<=xx)y|\\s+"]]) {
      for (const lineWise of [false, true]) {
        const compiled = compilePattern(sources, { lineWise });
        expect(compiled.kind).toBe("programs");
        for (const bytes of [clean, broken]) {
          const wanted = naiveEnds(bytes, sources.map(naiveRegExp), lineWise);
          expect(Bun.deepEquals(splitterEnds(compiled, bytes), wanted)).toBe(true);
          expect(Bun.deepEquals(splitterEnds(compiled, bytes, 5000), wanted)).toBe(true);
        }
      }
    }
  });

  test("of a pattern that looks left splits the parts between safe cuts as it splits the whole", () => {
    const random = new Random(12);
    const parts = ["a", "b", " ", "\n", "'", "1", "!", "ab ", "a'b "].map((part) => Buffer.from(part));
    parts.push(Buffer.from([0xff]));
    let cutCount = 0;
    for (const source of [
      "\\b\\w+\\b|\\s+|[^\\w\\s]+",
      "(?<!')[ab]+|'[ab]|\\s|1",
      "(?<=a)b| ?\\w|(?<! )'+|\\s+",
      "^\\s|\\B\\s+|[ab](?=b)|(?s:.)",
      "(?:^|(?<=\\n)) ?a|\\w+|\\s",
      "(?<=[^b]|^)(?:ab|a)+| |.",
    ]) {
      for (const lineWise of [false, true]) {
        const compiled = compilePattern([source], { lineWise });
        expect([source, compiled.kind]).toEqual([source, "automata"]);
        for (let round = 0; round < rounds(40); round++) {
          const bytes = Buffer.concat(Array.from({ length: 2 + random.below(14) }, () => random.pick(parts)));
          const whole = splitterEnds(compiled, bytes);
          expectEqual(whole, naiveEnds(bytes, [naiveRegExp(source)], lineWise), source, bytes);
          const cut = findSafeCut(
            compiled,
            textOf(bytes),
            random.below(bytes.length),
            bytes.length,
            bytes.length,
          );
          if (cut <= 0) continue;
          cutCount++;
          const splitter = createSplitter(compiled);
          splitter.start(0);
          splitter.scan(textOf(bytes), cut + 1, bytes.length);
          const left = [...splitter.ends.subarray(1, splitter.endCount)];
          const right = splitterEnds(compiled, bytes.subarray(cut)).map((end) => cut + end);
          expectEqual([...left, ...right], whole, `${source} cut at ${cut}`, bytes);
        }
      }
    }
    expect(cutCount).toBeGreaterThan(rounds(75));
  });

  test("is cut only where the automaton goes on as it would from the start of a document", () => {
    // Every pretoken behind "a" ends at 2; but "bc" is one for who has seen the "a" only.
    const compiled = compilePattern(["(?<=a)bc|[abc]"]);
    const bytes = Buffer.from("aabcab");
    expect(splitterEnds(compiled, bytes)).toEqual([1, 2, 4, 5, 6]);
    expect(splitterEnds(compiled, bytes.subarray(2))).toEqual([1, 2, 3, 4]);
    expect(findSafeCut(compiled, textOf(bytes), 1, 6, 6)).toBe(4);
  });

  test("hands out the ends that its documentation shows", () => {
    const splitter = createSplitter(compilePattern(patterns.gpt2.sources));
    splitter.start(0);
    splitter.scan(textOf("ab c"), 4, 4);
    splitter.finish(4);
    expect([...splitter.ends.subarray(0, splitter.endCount)]).toEqual([0, 2, 4]);
  });

  test("counts invalid bytes and tells where the first of a scan is", () => {
    for (const source of [patterns.gpt2.sources[0], "\\b\\w+|.", "(?<=a!)\\w+|."]) {
      const splitter = createSplitter(compilePattern([source]));
      const text = textOf(Uint8Array.from([0x61, 0xff, 0x62, 0xc3, 0x63, 0xe4, 0xb8]));
      splitter.start(0);
      splitter.scan(text, 1, 7);
      expect(splitter.firstInvalidPos).toBe(-1);
      splitter.scan(text, 7, 7);
      expect(splitter.firstInvalidPos).toBe(1);
      expect(splitter.invalidByteCount).toBe(4);
      splitter.finish(7);
      expect([...splitter.ends.subarray(0, splitter.endCount)]).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    }
  });

  test("goes on where it stood when the text is moved", () => {
    for (const [sources, wanted] of [
      [patterns.gpt2.sources, ["  two", " ", " two"]],
      [patterns.falcon.sources, ["  two", " ", " two"]],
      // Its first automaton may settle nothing before the end: digits may follow.
      [chain, ["one  two", "one", " ", " two"]],
    ] as const) {
      const splitter = createSplitter(compilePattern(sources));
      splitter.start(10);
      splitter.scan(textOf("..........one  two"), 15, 18);
      splitter.take();
      const keptPos = splitter.ends[0]!;
      splitter.shift(keptPos);
      const rest = "..........one  two".slice(keptPos);
      splitter.scan(textOf(rest), rest.length, rest.length);
      splitter.finish(rest.length);
      const pieces = Array.from({ length: splitter.endCount - 1 }, (_, i) =>
        rest.slice(splitter.ends[i], splitter.ends[i + 1]),
      );
      expect([rest, ...pieces]).toEqual([...wanted]);
    }
  });

  test("finishes a document whose text has moved elsewhere since it was scanned", () => {
    // Digits in threes are decided late, by the automata and by the fallback.
    for (const sources of [
      patterns.gpt2.sources,
      patterns.falcon.sources,
      chain,
      ["\\b[0-9]{3}|[0-9]+"],
      ["(?<!,,)[0-9]{3}|[0-9]+"],
    ]) {
      const splitter = createSplitter(compilePattern(sources));
      const content = "12345 12345";
      const text = textOf(content);
      splitter.start(0);
      for (const stop of [3, 8, 11]) splitter.scan(text, stop, 11);
      splitter.take();
      const keptPos = splitter.ends[0]!;
      text.bytes.fill(0x78);
      splitter.shift(keptPos);
      splitter.finish(11 - keptPos);
      const found = [...splitter.ends.subarray(0, splitter.endCount)].map((end) => end + keptPos);
      const wanted = splitterEnds(compilePattern(sources), Buffer.from(content)).filter(
        (end) => end > keptPos,
      );
      expect(found).toEqual([keptPos, ...wanted]);
    }
  });

  test("reads several documents one after the other", () => {
    const splitter = createSplitter(compilePattern(patterns.cl100k.sources));
    const text = textOf("a b|c \n|d");
    const pieces: string[] = [];
    for (const [start, end] of [
      [0, 3],
      [4, 7],
      [8, 9],
    ] as const) {
      splitter.start(start);
      splitter.scan(text, end, end);
      splitter.finish(end);
      for (let i = 0; i + 1 < splitter.endCount; i++) {
        pieces.push(Buffer.from(text.bytes.subarray(splitter.ends[i], splitter.ends[i + 1])).toString());
      }
      splitter.take();
    }
    expect(pieces).toEqual(["a", " b", "c", " \n", "d"]);
  });
});
