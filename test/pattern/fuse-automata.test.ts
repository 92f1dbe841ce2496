import { describe, expect, test } from "bun:test";
import { UserError } from "../../src/errors.ts";
import { type CompiledPattern, compilePattern, patterns } from "../../src/pattern/pattern.ts";
import { rounds } from "../rounds.ts";
import { naiveEnds, naiveRegExp, Random, randomBytes, splitterEnds } from "./naive.ts";
import { naiveTreeEnds, TooSlow } from "./naive-matcher.ts";
import { randomPattern, randomText } from "./random-patterns.ts";

const seed = 20261122;
const [gpt2] = patterns.gpt2.sources;
const automatonCount = (pattern: CompiledPattern) =>
  pattern.kind === "automata" ? pattern.automata.length : 0;

/** Sequences of splits of which more than the last one decides late, and as many automata as they need. */
const sequences: readonly (readonly [readonly string[], number])[] = [
  [patterns.falcon.sources, 1],
  [[gpt2, "[0-9]{3}"], 1],
  [[gpt2, gpt2], 1],
  [["\\s+\\S+|\\s+", gpt2], 1],
  [[gpt2, "abc|a|b", "[^b]"], 1],
  // In "12" both digits may be in one gap, or "12" begins "123": gpt2 would have to keep ends for both.
  [["[0-9]{3}", gpt2], 2],
];

describe("splits that follow one another", () => {
  test.each(sequences)("%j cut as the naive splitter does, in %d automata", (sources, count) => {
    const random = new Random(seed);
    const regexps = sources.map(naiveRegExp);
    for (const lineWise of [false, true]) {
      const compiled = compilePattern(sources, { lineWise });
      expect(automatonCount(compiled)).toBe(count);
      for (let round = 0; round < rounds(100); round++) {
        const bytes = randomBytes(random, 1 + random.below(20));
        const wanted = naiveEnds(bytes, regexps, lineWise);
        const found = splitterEnds(compiled, bytes, random.below(2) === 0 ? bytes.length : 1);
        expect([bytes, found]).toEqual([bytes, wanted]);
      }
    }
  });

  test("cut as the textbook matcher does, whatever the patterns", () => {
    const random = new Random(seed + 1);
    const counts = [0, 0, 0, 0];
    while (counts[1]! < 40) {
      const sources = Array.from({ length: 2 + random.below(2) }, () => randomPattern(random));
      let compiled: CompiledPattern;
      try {
        compiled = compilePattern(sources);
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        continue;
      }
      if (compiled.kind !== "automata") continue;
      counts[compiled.automata.length]!++;
      for (let round = 0; round < 15; round++) {
        const text = randomText(random, 30);
        try {
          expect([sources, text, splitterEnds(compiled, Buffer.from(text))]).toEqual([
            sources,
            text,
            naiveSequenceEnds(sources, text),
          ]);
        } catch (error) {
          if (!(error instanceof TooSlow)) throw error;
        }
      }
    }
    expect(counts[2]).toBeGreaterThan(0);
  });
});

/** Each split over the pieces of the one before it, by the textbook matcher. Ends in bytes. */
function naiveSequenceEnds(sources: readonly string[], text: string): number[] {
  let pieces = [Array.from(text, (character) => character.codePointAt(0)!)];
  for (const source of sources) {
    pieces = pieces.flatMap((piece) => {
      const ends = naiveTreeEnds(source, piece);
      return ends.map((end, i) => piece.slice(ends[i - 1] ?? 0, end));
    });
  }
  let end = 0;
  return pieces.map((piece) => (end += Buffer.byteLength(String.fromCodePoint(...piece))));
}
