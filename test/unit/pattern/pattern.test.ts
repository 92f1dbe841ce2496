import { describe, expect, test } from "bun:test";
import * as textBuffers from "../../../src/bytes/text.ts";
import type { CompiledPattern } from "../../../src/pattern/compiled-pattern.ts";
import { findSafeCut } from "../../../src/pattern/cut-text.ts";
import { type NamedPattern, patterns } from "../../../src/pattern/named-patterns.ts";
import * as compiledPatterns from "../../../src/pattern/pattern.ts";
import { pick, randomNumbers } from "../../random.ts";
import { rounds } from "../../rounds.ts";
import {
  endsOfLeftPart,
  longText,
  naiveEnds,
  naivePieces,
  naiveRegExp,
  pretokenEnds,
  randomBytes,
  tellingCharacters,
} from "./naive.ts";

const names = Object.keys(patterns) as (keyof typeof patterns)[];
const seed = 20261120;

/** Patterns that have been compiled; some take a second to compile. */
const kept = new Map<string, CompiledPattern>();

function prepared(name: keyof typeof patterns, lineWise = false) {
  const { sources }: NamedPattern = patterns[name];
  const key = `${name} ${lineWise}`;
  const compiled = kept.get(key) ?? compiledPatterns.compile(sources, { lineWise });
  kept.set(key, compiled);
  return { compiled, regexps: sources.map(naiveRegExp) };
}

/** Throws with the pattern and the bytes if the ends differ. */
function expectEqual(found: number[], wanted: number[], name: string, bytes: Uint8Array): void {
  if (found.join() === wanted.join()) return;
  throw new Error(
    `${name} on ${Buffer.from(bytes).toString("hex")}: [${found}], not [${wanted}] (seed ${seed})`,
  );
}

/** Returns the ends of the pretokens of both parts of a cut text. */
const endsOfParts = (compiled: CompiledPattern, bytes: Uint8Array, cut: number) => [
  ...endsOfLeftPart(compiled, bytes, cut),
  ...pretokenEnds(compiled, bytes.subarray(cut)).map((end) => cut + end),
];

describe.each(names)("%s", (name) => {
  test("splits every string of up to three telling characters like the naive splitter", () => {
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
      expectEqual(pretokenEnds(compiled, bytes), naiveEnds(bytes, regexps), name, bytes);
    }
  });

  test("splits random bytes like the naive splitter", () => {
    const { compiled, regexps } = prepared(name);
    const random = randomNumbers(seed);
    for (let round = 0; round < rounds(30); round++) {
      const bytes = randomBytes(random, 1 + random(20));
      expectEqual(pretokenEnds(compiled, bytes), naiveEnds(bytes, regexps), name, bytes);
    }
  });

  test("ends a document after every line if configured", () => {
    const { compiled, regexps } = prepared(name, true);
    const random = randomNumbers(seed);
    for (let round = 0; round < rounds(25); round++) {
      const parts = [randomBytes(random, random(6)), randomBytes(random, random(6))];
      const bytes = Buffer.concat([
        parts[0]!,
        Buffer.from(pick(random, ["\n", " \n", "\n\n", "\r\n ", "\n'"])),
        parts[1]!,
      ]);
      const wanted = naiveEnds(bytes, regexps, true);
      expectEqual(pretokenEnds(compiled, bytes), wanted, name, bytes);
    }
  });

  test("splits a long text like the naive splitter", () => {
    const { compiled, regexps } = prepared(name);
    const text = longText(randomNumbers(seed), rounds(500_000)).toString();
    let end = 0;
    const wanted = naivePieces(text, regexps).map((piece) => (end += Buffer.byteLength(piece)));
    expect(Bun.deepEquals(pretokenEnds(compiled, Buffer.from(text)), wanted)).toBe(true);
  });

  test("splits the parts between safe cuts like the whole", () => {
    const { compiled } = prepared(name);
    const random = randomNumbers(seed);
    let cutCount = 0;
    for (let round = 0; round < rounds(60); round++) {
      const bytes = randomBytes(random, 2 + random(25));
      const text = textBuffers.of(bytes);
      const whole = pretokenEnds(compiled, bytes);
      const cut = findSafeCut(compiled, text, random(bytes.length), bytes.length, bytes.length);
      if (cut <= 0) continue;
      cutCount++;
      expectEqual(endsOfParts(compiled, bytes, cut), whole, `${name} cut at ${cut}`, bytes);
    }
    expect(cutCount).toBeGreaterThan(rounds(5));
  });
});

describe("a pattern that looks left", () => {
  test("splits the parts between safe cuts like the whole", () => {
    const random = randomNumbers(12);
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
        const compiled = compiledPatterns.compile([source], { lineWise });
        for (let round = 0; round < rounds(40); round++) {
          const bytes = Buffer.concat(Array.from({ length: 2 + random(14) }, () => pick(random, parts)));
          const whole = pretokenEnds(compiled, bytes);
          expectEqual(whole, naiveEnds(bytes, [naiveRegExp(source)], lineWise), source, bytes);
          const cut = findSafeCut(
            compiled,
            textBuffers.of(bytes),
            random(bytes.length),
            bytes.length,
            bytes.length,
          );
          if (cut <= 0) continue;
          cutCount++;
          expectEqual(endsOfParts(compiled, bytes, cut), whole, `${source} cut at ${cut}`, bytes);
        }
      }
    }
    expect(cutCount).toBeGreaterThan(rounds(75));
  });

  test("is cut only where the automaton continues like at the start of a document", () => {
    // 2 is no safe cut: "bc" is one pretoken after "a", and two at a document's start.
    const compiled = compiledPatterns.compile(["(?<=a)bc|[abc]"]);
    const bytes = Buffer.from("aabcab");
    expect(pretokenEnds(compiled, bytes)).toEqual([1, 2, 4, 5, 6]);
    expect(pretokenEnds(compiled, bytes.subarray(2))).toEqual([1, 2, 3, 4]);
    expect(findSafeCut(compiled, textBuffers.of(bytes), 1, 6, 6)).toBe(4);
  });
});
