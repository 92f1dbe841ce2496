import { expect, test } from "bun:test";
import type { CompiledPattern } from "../../../src/pattern/compiled-pattern.ts";
import { findSafeCut } from "../../../src/pattern/cut-text.ts";
import * as compiledPatterns from "../../../src/pattern/pattern.ts";
import { UserError } from "../../../src/runtime/errors.ts";
import { pick, randomNumbers } from "../../random.ts";
import { rounds, turns } from "../../rounds.ts";
import { digitForms, digitText } from "./digit-forms.ts";
import { endsOfLeftPart, pretokenEnds } from "./naive.ts";
import { TooSlow, textbookEnds } from "./naive-matcher.ts";
import { randomLookPattern, randomLookText } from "./random-patterns.ts";

const seed = 20261122;

const countOf = (...sources: string[]) => compiledPatterns.compile(sources).automata.length;

const byteEnds = (pieces: readonly string[]) => {
  let end = 0;
  return pieces.map((piece) => (end += Buffer.byteLength(piece)));
};

function expectSame(found: readonly number[], wanted: readonly number[], what: unknown): void {
  if (found.join() !== wanted.join()) throw new Error(`${JSON.stringify(what)}: [${found}], not [${wanted}]`);
}

test("random patterns with long look-aheads are cut as by the textbook matcher", () => {
  const random = randomNumbers(seed + 1);
  let annotatedCount = 0;
  for (let round = 0; annotatedCount < rounds(15) && round < rounds(2000); round++) {
    const sources = Array.from({ length: 1 + random(2) }, () => {
      const look = `(?${pick(random, ["=", "!"])}${randomLookPattern(random, 2)})`;
      return `${pick(random, ["\\d", "\\p{L}", "\\S"])}${pick(random, ["", "+", "{1,3}", "*?"])}${look}|${randomLookPattern(random, 1)}`;
    });
    const lineWise = random(4) === 0;
    let compiled: CompiledPattern;
    try {
      compiled = compiledPatterns.compile(sources, { lineWise });
    } catch (error) {
      expect(error).toBeInstanceOf(UserError);
      continue;
    }
    if (!compiled.automata.some(({ annotation }) => annotation)) continue;
    annotatedCount++;
    for (let trial = 0; trial < 12; trial++) {
      const parts =
        random(3) === 0 ? [randomLookText(random), 0xff, randomLookText(random)] : [randomLookText(random)];
      const bytes = Buffer.concat(
        parts.map((part) => (typeof part === "number" ? Uint8Array.of(part) : Buffer.from(part))),
      );
      try {
        const wanted = textbookEnds(sources, parts, lineWise);
        expectSame(pretokenEnds(compiled, bytes), wanted, { sources, lineWise, parts });
      } catch (error) {
        if (!(error instanceof TooSlow)) throw error;
      }
    }
  }
  expect(annotatedCount).toBe(rounds(15));
});

test.each(
  Object.entries(digitForms),
)("digits from the right are what rules without looks say: %s", (name, form) => {
  const random = randomNumbers(seed + 2);
  const compiled = compiledPatterns.compile(form.sources);
  for (let round = 0; round < rounds(100); round++) {
    const text = digitText(random, 1 + random(14));
    expectSame(pretokenEnds(compiled, Buffer.from(text)), byteEnds(form.pieces(text)), { name, text });
  }
});

test("safe cuts of annotated texts: the parts are cut like the whole", () => {
  const random = randomNumbers(seed + 3);
  let cutCount = 0;
  for (const [turn, [name, { sources }]] of Object.entries(digitForms).entries()) {
    for (const lineWise of turns([false, true], turn)) {
      const compiled = compiledPatterns.compile(sources, { lineWise });
      for (let round = 0; round < rounds(40); round++) {
        const text = digitText(random, 2 + random(20));
        const bytes = Buffer.concat([
          Buffer.from(text),
          Uint8Array.of(random(4) === 0 ? 0xff : 0x2e),
          Buffer.from(text),
        ]);
        const view = new DataView(bytes.buffer);
        const from = random(bytes.length);
        const cut = findSafeCut(compiled, { bytes, view }, from, bytes.length, bytes.length);
        if (cut <= 0) continue;
        cutCount++;
        const right = pretokenEnds(compiled, bytes.subarray(cut)).map((end) => cut + end);
        const found = [...endsOfLeftPart(compiled, bytes, cut), ...right];
        expectSame(found, pretokenEnds(compiled, bytes), { name, lineWise, text, cut });
      }
    }
  }
  expect(cutCount).toBeGreaterThan(rounds(200));
});

test("a chain has a separate annotated text if a split cuts inside of the look-ahead", () => {
  expect(countOf(...digitForms.superbpe!.sources)).toBe(2);
  expect(countOf(...digitForms.wordEndGpt4o!.sources)).toBe(1);
  expect(countOf(...digitForms.marinLlama3!.sources)).toBe(3);
  expect(countOf("[0-9]{5}", "[0-9]{1,3}(?=(?:[0-9]{3})*(?![0-9]))")).toBe(2);
});

test("a look-ahead over groups of twenty characters is one automaton", () => {
  expect(countOf("\\d{1,20}(?=(?:\\d{20})*(?!\\d))")).toBe(1);
});

test("a split by assertions alone cuts where they hold", () => {
  const pieces = (source: string, text: string) => {
    const ends = pretokenEnds(compiledPatterns.compile([source]), Buffer.from(text));
    return ends.map((end, i) => Buffer.from(text).toString("utf8", ends[i - 1] ?? 0, end));
  };
  expect(pieces("\\b", "ab, cd")).toEqual(["ab", ", ", "cd"]);
  expect(pieces("(?!\\S)", "ab  cd")).toEqual(["ab", " ", " cd"]);
  expect(pieces("(?<=[a-z])(?=[A-Z])", "camelCaseName")).toEqual(["camel", "Case", "Name"]);
  expect(pieces("(?=\\d+x)", "12x 12")).toEqual(["1", "2x 12"]);
});
