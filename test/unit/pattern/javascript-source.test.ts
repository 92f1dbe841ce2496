import { expect, test } from "bun:test";
import { cutText } from "../../../src/pattern/cut-text.ts";
import { javascriptSource } from "../../../src/pattern/javascript-source.ts";
import { patterns } from "../../../src/pattern/named-patterns.ts";
import * as compiledPatterns from "../../../src/pattern/pattern.ts";
import * as unicode from "../../../src/pattern/unicode.ts";
import { randomNumbers } from "../../random.ts";
import { rounds } from "../../rounds.ts";
import { randomLookPattern, randomPattern, randomText } from "./random-patterns.ts";

const seed = Number(process.env.TEST_SEED ?? 41);

/** Returns the matches, and the pieces before, between and after them. */
function piecesByJavascript(source: string, text: string): string[] {
  const pieces: string[] = [];
  let end = 0;
  for (const { 0: found, index } of text.matchAll(new RegExp(source, "gu"))) {
    if (index > end) pieces.push(text.slice(end, index));
    pieces.push(found);
    end = index + found.length;
  }
  return end < text.length ? [...pieces, text.slice(end)] : pieces;
}

function ourPieces(sources: readonly string[], text: string): string[] {
  const bytes = Buffer.from(text);
  let start = 0;
  return cutText(compiledPatterns.compile(sources), bytes).map((end) =>
    bytes.subarray(start, (start = end)).toString(),
  );
}

const unassigned = unicode.generalCategorySet("Cn") ?? unicode.emptySet;

/** Returns random characters of all planes, assigned in Unicode 16. */
function randomUnicode(random: (below: number) => number, lengthMax: number): string {
  const common = "  \n\r\t\u0085\u00a0\u2028\u3000\ufeff'sSſKk1٣²_-\u0301\u200d.!?/ñßİıΣςА漢カ🦊";
  let text = "";
  for (let left = random(lengthMax + 1); left > 0; left--) {
    const codePoint = random(2) === 0 ? random(0x3000) : random(0x110000);
    const isUsable = !unicode.contains(unassigned, codePoint) && (codePoint < 0xd800 || codePoint > 0xdfff);
    text += isUsable && random(3) > 0 ? String.fromCodePoint(codePoint) : common[random(common.length)];
  }
  return text.toWellFormed();
}

test("named patterns with one split cut random Unicode alike in JavaScript", () => {
  const random = randomNumbers(seed);
  let written = 0;
  for (const [name, { sources }] of Object.entries(patterns)) {
    const source = javascriptSource(sources);
    if (source === null) {
      expect([name, sources.length]).not.toEqual([name, 1]);
      continue;
    }
    written++;
    expect([name, source.length < 600]).toEqual([name, true]);
    for (let round = 0; round < rounds(200); round++) {
      const text = randomUnicode(random, 40);
      expect({ name, source, text, pieces: piecesByJavascript(source, text) }).toEqual({
        ...{ name, source, text },
        pieces: ourPieces(sources, text),
      });
    }
  }
  expect(written).toBeGreaterThan(8);
});

test("random patterns cut alike in JavaScript, or have no source there", () => {
  const random = randomNumbers(seed + 1);
  let written = 0;
  for (let round = 0; round < rounds(250); round++) {
    const pattern = random(3) === 0 ? randomLookPattern(random, 3) : randomPattern(random);
    let texts: string[][];
    let source: string | null;
    try {
      const all = Array.from({ length: 6 }, () => randomText(random, 20).toWellFormed());
      texts = all.map((text) => [text, ...ourPieces([pattern], text)]);
      source = javascriptSource([pattern]);
    } catch {
      continue;
    }
    if (source === null) continue;
    written++;
    for (const [text, ...pieces] of texts) {
      const found = piecesByJavascript(source, text!);
      expect({ seed, pattern, source, text, pieces: found }).toEqual({
        seed,
        pattern,
        source,
        text: text!,
        pieces,
      });
    }
  }
  expect(written).toBeGreaterThan(rounds(80));
});

test("patterns that JavaScript cannot express have no source", () => {
  expect(javascriptSource(["a\\z|(?i:s)"])).toBe("a$|[Ss\\u{17f}]");
  expect(javascriptSource(["a*"])).toBeNull();
  expect(javascriptSource([])).toBeNull();
  expect(javascriptSource(["a", "b"])).toBeNull();
  expect(javascriptSource(["(?<=a++)b"])).toBeNull();
  expect(javascriptSource(["a++b|[^\\s]"])).toBe(
    "(?=(?<a1>a+))\\k<a1>b|[\\P{White_Space}]".replace("[\\P", "[^\\p"),
  );
});
