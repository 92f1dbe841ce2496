import { expect, test } from "bun:test";
import { BeyondAutomaton, Unusable } from "../../../src/pattern/automaton.ts";
import { notQuiet, type PatternTables } from "../../../src/pattern/compiled-pattern.ts";
import { findSafeCut } from "../../../src/pattern/cut-text.ts";
import {
  buildLookaheadAutomaton,
  buildPartialLookaheadAutomaton,
} from "../../../src/pattern/lookahead-automaton.ts";
import { patterns } from "../../../src/pattern/named-patterns.ts";
import { parseSplit, type Split } from "../../../src/pattern/parse-pattern.ts";
import * as compiledPatterns from "../../../src/pattern/pattern.ts";
import { UserError } from "../../../src/runtime/errors.ts";
import { pick, randomNumbers } from "../../random.ts";
import { rounds } from "../../rounds.ts";
import { errorOf } from "../../thrown.ts";
import { endsOfLeftPart, naiveEnds, naiveRegExp, pretokenEnds, randomBytes } from "./naive.ts";
import { EmptyMatch, TooSlow, textbookEnds } from "./naive-matcher.ts";
import { randomPattern, randomText } from "./random-patterns.ts";

const seed = 20261124;
const [gpt2] = patterns.gpt2.sources;
const [o200k] = patterns.o200k.sources;

const pieces = (source: string, text: string) => {
  const ends = pretokenEnds(compiledPatterns.compile([source]), Buffer.from(text));
  return ends.map((end, i) => Buffer.from(text).toString("utf8", ends[i - 1] ?? 0, end));
};

/** Patterns in which a match depends on the text that follows, often at any distance. */
const ordinary: readonly [source: string, text: string, pieces: readonly string[]][] = [
  ["a+b|a", "aabaac", ["aab", "a", "a", "c"]],
  ["a+?b|[ab]", "aabaa", ["aab", "a", "a"]],
  ["(?:ab*c)+|[^c]", "abcabbabc", ["abc", "a", "b", "b", "abc"]],
  ["\\s++$|[^a]", "a  b  ", ["a", " ", " ", "b", "  "]],
  ["a(?=bc)|[^c]", "abab", ["a", "b", "a", "b"]],
  ["a(?=\\n*$)|ab|[^ab]", "abca\n", ["ab", "c", "a", "\n"]],
  ["a(?=\\s|$)|\\p{L}{1,2}+|[^a]", "abca éa", ["ab", "ca", " ", "éa"]],
  ["<[^<>]*>|[^<>]", "<b>x</b><", ["<b>", "x", "</b>", "<"]],
  ['["][^"]*["]|\\p{L}+|\\P{L}', 'say "so it" "is', ["say", " ", '"so it"', " ", '"', "is"]],
  ["https?://\\S+?\\.(?:com|org)|\\p{L}+|\\P{L}", "http://a.b.org/x", ["http://a.b.org", "/", "x"]],
  ["```[\\s\\S]*?```|\\S+|\\s+", "a ```b c``` ```d", ["a", " ", "```b c```", " ", "```d"]],
  ["[0-9]+(?:,[0-9]{3})+\\.|[0-9]|[^0-9]", "1,234.5,678", ["1,234.", "5", ",", "6", "7", "8"]],
  ["—(?=é)|[a—]—|\\p{L}", "——éa—é—é", ["——", "é", "a—", "é", "—", "é"]],
];

test.each(ordinary)("a match may depend on text at any distance: %s", (source, text, wanted) => {
  expect(pieces(source, text)).toEqual([...wanted]);
});

test("an atomic group tries only its first alternative, whatever follows it", () => {
  expect(pieces("(?>(?:a|aa)b*)c|.", "aabcabc")).toEqual(["a", "abc", "abc"]);
  expect(pieces("(?>a+b|a)c|.", "aabcaac")).toEqual(["aabc", "a", "ac"]);
  expect(pieces("x(?:a|ab)++|.", "xaabab")).toEqual(["xaa", "b", "a", "b"]);
  expect(pieces("(?>(?>a|ab)c|a)b|.", "abacb")).toEqual(["ab", "acb"]);
  expect(pieces("(?:a|ab){2}+c|.", "aabc")).toEqual(["a", "a", "b", "c"]);
});

test("ordinary patterns cut all of Unicode and invalid bytes like RegExp, also in lines and after safe cuts", () => {
  const random = randomNumbers(seed);
  let cutCount = 0;
  for (const [source] of ordinary) {
    const sources = [source, `${source}|${gpt2}`];
    if (source.startsWith("<")) sources.push(`${source}|${o200k.replaceAll("(?i:", "(?:")}`);
    for (const whole of sources) {
      for (const lineWise of [false, true]) {
        const compiled = compiledPatterns.compile([whole], { lineWise });
        const regexps = [naiveRegExp(whole)];
        for (let round = 0; round < rounds(40); round++) {
          const written = Array.from({ length: random(12) }, () =>
            pick(random, [
              "aab",
              "<b>",
              '"',
              "a",
              "c",
              "```",
              "12,345.",
              " ",
              "\n",
              "http://a.org",
              "—é",
              "\0\u0080\ue000\u{f0000}",
            ]),
          ).join("");
          const bytes = Buffer.concat([
            Buffer.from(written),
            randomBytes(random, random(8)),
            Buffer.from(written),
          ]);
          const wanted = naiveEnds(bytes, regexps, lineWise);
          const found = pretokenEnds(compiled, bytes);
          expect({ whole, lineWise, bytes, found }).toEqual({ whole, lineWise, bytes, found: wanted });
          const view = new DataView(bytes.buffer);
          const cut = findSafeCut(
            compiled,
            { bytes, view },
            random(bytes.length + 1),
            bytes.length,
            bytes.length,
          );
          if (cut <= 0) continue;
          cutCount++;
          const right = pretokenEnds(compiled, bytes.subarray(cut)).map((end) => cut + end);
          expect({ whole, bytes, cut, found: [...endsOfLeftPart(compiled, bytes, cut), ...right] }).toEqual({
            whole,
            bytes,
            cut,
            found: wanted,
          });
        }
      }
    }
  }
  expect(cutCount).toBeGreaterThan(rounds(200));
});

/** Returns the tables that `foresee` builds, or undefined if it does not support the pattern. */
function tablesBy(foresee: typeof buildLookaheadAutomaton, split: Split): PatternTables | undefined {
  try {
    return foresee([split]);
  } catch (error) {
    if (error instanceof BeyondAutomaton || error instanceof Unusable) return undefined;
    throw error;
  }
}

test("random patterns are cut as by the textbook matcher, including those that need no look-ahead", () => {
  const random = randomNumbers(seed + 1);
  let trialCount = 0;
  for (let round = 0; round < rounds(100); round++) {
    const source = randomPattern(random);
    const lineWise = random(4) === 0;
    let split: Split;
    try {
      split = parseSplit(source, lineWise);
    } catch (error) {
      expect(error).toBeInstanceOf(UserError);
      continue;
    }
    const ways = [
      tablesBy(buildLookaheadAutomaton, split),
      tablesBy(buildPartialLookaheadAutomaton, split),
    ].filter((way) => way !== undefined);
    if (ways.length === 0) continue;
    for (let trial = 0; trial < 12; trial++) {
      const parts = random(3) > 0 ? [randomText(random, 14)] : [randomText(random, 9), 0xff, "a \n"];
      const bytes = Buffer.concat(
        parts.map((part) => (typeof part === "number" ? Uint8Array.of(part) : Buffer.from(part))),
      );
      let wanted: number[];
      try {
        wanted = textbookEnds([source], parts, lineWise);
      } catch (error) {
        if (error instanceof TooSlow || error instanceof EmptyMatch) break;
        throw error;
      }
      for (const tables of ways) {
        const found = pretokenEnds({ automata: [tables] }, bytes);
        expect({ source, lineWise, parts, found }).toEqual({ source, lineWise, parts, found: wanted });
      }
      trialCount++;
    }
  }
  expect(trialCount).toBeGreaterThan(rounds(200));
});

test("alternatives with long look-aheads are annotated alone, and the others keep their characters", () => {
  const random = randomNumbers(seed + 2);
  const heads = ["1{1,3}", "[12]{1,3}", "a1?", "a+", "1+?2", "b?1{2}", "(?:a|1)+"];
  const looks = [
    "(?=(?:1{3})*(?:[^1]|$))",
    "(?=a*b)",
    "(?!1*b)",
    "(?=[12]*(?!a))",
    "(?=a(?!b*1))",
    "(?=1*$)",
  ];
  const tails = ["", "", "1?", "b*", "(?=b|1{2})"];
  const others = ["a+b?", "[^1]+", "12|1", "\\s+(?!\\S)", "b(?!1)", "[\\s\\S]", "ab*|b"];
  let [trialCount, quietCount] = [0, 0];
  for (let round = 0; round < rounds(150); round++) {
    const far = pick(random, heads) + pick(random, looks) + pick(random, tails);
    const some = Array.from({ length: 1 + random(3) }, () => pick(random, others));
    some.splice(random(some.length + 1), 0, far);
    const source = some.join("|");
    const lineWise = random(4) === 0;
    const split = parseSplit(source, lineWise);
    const tables = tablesBy(buildPartialLookaheadAutomaton, split);
    if (tables === undefined) continue;
    if (tables.annotation!.quiet[" ".charCodeAt(0)] !== notQuiet) quietCount++;
    for (let trial = 0; trial < 20; trial++) {
      const text = Array.from({ length: random(14) }, () => "111122aab \n"[random(11)]!).join("");
      const parts = random(3) > 0 ? [text] : [text, 0xff, "11a \n1"];
      const bytes = Buffer.concat(
        parts.map((part) => (typeof part === "number" ? Uint8Array.of(part) : Buffer.from(part))),
      );
      const wanted = textbookEnds([source], parts, lineWise);
      const found = pretokenEnds({ automata: [tables] }, bytes);
      expect({ source, lineWise, parts, found }).toEqual({ source, lineWise, parts, found: wanted });
      trialCount++;
    }
  }
  expect(trialCount).toBeGreaterThan(rounds(1000));
  expect(quietCount).toBeGreaterThan(rounds(40));
});

test("for numbers grouped from the right, only digits depend on what follows", () => {
  const number = "\\p{N}{1,3}(?=(?:\\p{N}{3})*(?:\\P{N}|$))";
  for (const name of ["llama3", "gpt2", "o200k", "tekken"] as const) {
    const source = patterns[name].sources[0]!.replace(/ \?\\p\{N\}\+|\\p\{N\}(?:\{1,3\})?(?=\|)/, number);
    const [tables, ...more] = compiledPatterns.compile([source]).automata;
    const live = Array.from({ length: 128 }, (_, byte) => byte).filter(
      (byte) => tables!.annotation!.quiet[byte] === notQuiet,
    );
    expect([name, String.fromCharCode(...live), more]).toEqual([name, "0123456789", []]);
  }
});

test("a class of one character can have many annotations, with rare characters", () => {
  const { annotation } = buildLookaheadAutomaton([
    parseSplit("a(?=b{1,3}c)|a(?=b{4,9}c)|a(?=d)a?|ab?|b", false),
  ]);
  const said = new Set(
    Array.from(
      { length: annotation!.steps.length >> 8 },
      (_, state) => annotation!.steps[(state << 8) | 97]! & 255,
    ),
  );
  expect(said.size).toBeGreaterThan(2);
});

test("patterns with too many annotations are refused", () => {
  const many = Array.from({ length: 14 }, (_, i) => `a(?=.{${i}}b)`).join("|");
  const error = errorOf(() => compiledPatterns.compile([`(?:${many}){2}|[^c]`]));
  expect([error.exitCode, error.hint]).toEqual([
    2,
    "write the pattern in a simpler way, or with smaller counts",
  ]);
  // The largest count is named, wherever it is.
  const counted = `(?:${many}){2}|b{17,}|(?:c|d{18}(?!d)){2}|[^c]`;
  expect(errorOf(() => compiledPatterns.compile([counted])).hint).toBe(
    "write the pattern with smaller counts; the largest is that of `d{18}`",
  );
});
