import { expect, test } from "bun:test";
import { textOf } from "../../src/bytes/text.ts";
import { Matcher, MatcherSplitter, noMatch, unfinished } from "../../src/pattern/matcher.ts";
import { buildProgram, type Program } from "../../src/pattern/matcher-program.ts";
import { canBeEmpty, parsePattern } from "../../src/pattern/parse-pattern.ts";
import { compilePattern, patterns } from "../../src/pattern/pattern.ts";
import { errorOf } from "../thrown.ts";
import { naiveEnds, naiveRegExp, pretokenEnds, programsOf, Random } from "./naive.ts";
import { naiveTreeEnds, TooSlow } from "./naive-matcher.ts";
import { randomPattern, randomText } from "./random-patterns.ts";

const programOf = (source: string) => buildProgram(parsePattern(source), source);

/** Ends of all matches and gaps, and the steps taken, so many at a time. */
function run(program: Program, text: string, stepsAtOnce: number, stepsMax?: number) {
  const bytes = Buffer.from(`xx${text}yy`);
  const steps = { left: stepsAtOnce };
  const matcher = new Matcher(program, steps, stepsMax);
  const end = bytes.length - 2;
  matcher.begin(bytes, 2, end);
  const ends: number[] = [];
  let taken = 0;
  for (let last = 2; last < end; ) {
    const found = matcher.find();
    if (found === unfinished) {
      taken += stepsAtOnce - steps.left;
      steps.left = stepsAtOnce;
      continue;
    }
    if (found !== noMatch && matcher.matchStart > last) ends.push(matcher.matchStart - 2);
    last = found === noMatch ? end : found;
    ends.push(last - 2);
  }
  return { ends, steps: taken + stepsAtOnce - steps.left };
}

test("random programs match as the textbook does, automata's too, and may stop after any step", () => {
  const seed = 5;
  const random = new Random(seed);
  let trialCount = 0;
  for (let round = 0; round < 150; round++) {
    const source = randomPattern(random);
    let program: Program;
    try {
      if (canBeEmpty(parsePattern(source))) continue;
      program = programOf(source);
    } catch (error) {
      expect(String(error)).toMatch(/looks behind|inside of a look-behind|assertion|prefers to be empty/);
      continue;
    }
    for (let trial = 0; trial < 6; trial++) {
      const text = randomText(random, 12);
      const points = Array.from(text, (character) => character.codePointAt(0)!);
      let wanted: number[];
      try {
        wanted = naiveTreeEnds(source, points);
      } catch (error) {
        if (error instanceof TooSlow) break;
        throw error;
      }
      const ends = wanted.map((end) => Buffer.byteLength(String.fromCodePoint(...points.slice(0, end))));
      for (const stepsAtOnce of [1, 1 + random.below(20), 1e6]) {
        const found = run(program, text, stepsAtOnce).ends;
        if (found.join() !== ends.join()) {
          throw new Error(`${source} on ${JSON.stringify(text)}: ${found}, not ${ends} (seed ${seed})`);
        }
        trialCount++;
      }
    }
  }
  expect(trialCount).toBeGreaterThan(1000);
});

test.each([
  "(a+)+\\b!|a|\\?",
  "(?=(a+)+\\b!)a|.",
  "(?:a|aa|b?)*c|a",
  "(?>(?:a|aa)*)b|(?>a+)++!|a",
  "(?!a*(?:aa)*b)a|.",
  "a(?=(?:aaa)*(?!a))|a",
  "(?<=(?:a|aa)*!)a|a",
  "(?<=^(?:a|aa)*)a{1,3}(?=(?>a*)$)|a",
  "a*?a*?a*?b|a",
  "(?:a{1,9}){1,9}b|a",
])("what fails in many ways takes steps in proportion to the text: %s", (source) => {
  const program = programOf(source);
  const steps = [1000, 4000].map((length) => run(program, "a".repeat(length), 1e9).steps);
  expect(steps[1]! / steps[0]!).toBeLessThan(4.5);
  expect(steps[1]! / 4000).toBeLessThan(20 * program.ops.length);
});

test("no match is lost where an engine would give up", () => {
  const words = Array.from({ length: 300 }, (_, n) => `w${n}`).join(" ");
  const text = Buffer.from(`${"x".repeat(700_000)} ${words}`);
  for (const source of ["\\b\\w+\\b|\\s+|[^\\w\\s]+", "(?<=ab)!|\\b(?:\\w+)+\\b|\\s+|[^\\w\\s]+"])
    expect(pretokenEnds(compilePattern([source]), text).length).toBe(601);
  expect(pretokenEnds(compilePattern(["(a+)+\\b!|a|\\?"]), Buffer.from(`${"a".repeat(35)}?`)).length).toBe(
    36,
  );
});

test("a limit that is reached is an error that names the pattern, and no missing match", () => {
  const source = "(a+)+(b?)\\2!|a";
  const program = programOf(source);
  expect(run(program, "aaaa", 10, 10_000).ends).toEqual([1, 2, 3, 4]);
  const error = errorOf(() => run(program, "a".repeat(40), 100, 10_000));
  expect(error.message).toBe(`the pattern takes more than 10000 steps for a match: ${source}`);
  expect([error.exitCode, typeof error.hint]).toEqual([1, "string"]);
});

test("a reference to a group takes what the group took, and fails if that took no part", () => {
  const ends = (source: string, text: string) => run(programOf(source), text, 1e6).ends;
  expect(ends("(é|ab)\\1|(?s:.)", "ééabab éab")).toEqual([4, 8, 9, 11, 12, 13]);
  expect(ends("(a)?\\1b|.", "bab aab")).toEqual([1, 2, 3, 4, 7]);
  expect(ends("(?:(a)|b\\1)+|.", "bbaba")).toEqual([1, 2, 5]);
  expect(ends("a(?=.(b))\\1|.", "axbabb")).toEqual([1, 2, 3, 5, 6]);
  expect(ends("a(?!(b)c)\\1|a(?=(?>(b)|.)+)(?!(c)d)\\2|.", "abcabab")).toEqual([2, 3, 5, 7]);
});

test("a long document is settled in portions", () => {
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
        expect(Bun.deepEquals(pretokenEnds(compiled, bytes), wanted)).toBe(true);
        expect(Bun.deepEquals(pretokenEnds(compiled, bytes, 5000), wanted)).toBe(true);
      }
    }
  }
});

/** Digits in threes are decided late. */
const lateSources = ["(?<!,,)[0-9]{3}|[0-9]+"];

test("the splitter counts invalid bytes and tells where the first of a scan is", () => {
  const splitter = new MatcherSplitter(programsOf(["(?<=a!)\\w+|."]));
  const text = textOf(Uint8Array.from([0x61, 0xff, 0x62, 0xc3, 0x63, 0xe4, 0xb8]));
  splitter.start(0);
  splitter.scan(text, 1, 7);
  expect(splitter.firstInvalidPos).toBe(-1);
  splitter.scan(text, 7, 7);
  expect(splitter.firstInvalidPos).toBe(1);
  expect(splitter.invalidByteCount).toBe(4);
  splitter.finish(7);
  expect([...splitter.ends.subarray(0, splitter.endCount)]).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
});

test("the splitter finishes a document whose text has moved elsewhere since it was scanned", () => {
  const splitter = new MatcherSplitter(programsOf(lateSources));
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
  const wanted = pretokenEnds(programsOf(lateSources), Buffer.from(content));
  expect(found).toEqual([keptPos, ...wanted.filter((end) => end > keptPos)]);
});

test("the splitter goes on where it stood when the text is moved, and reads one document after the other", () => {
  const splitter = new MatcherSplitter(programsOf(patterns.gpt2.sources));
  splitter.start(10);
  splitter.scan(textOf("..........one  two"), 15, 18);
  splitter.take();
  splitter.shift(10);
  const pieces: string[] = [];
  for (const [content, start] of [
    ["one  two", -1],
    ["....c \nd", 4],
  ] as const) {
    if (start >= 0) splitter.start(start);
    splitter.scan(textOf(content), content.length, content.length);
    splitter.finish(content.length);
    const { ends, endCount } = splitter;
    for (let i = 1; i < endCount; i++) pieces.push(content.slice(ends[i - 1], ends[i]));
    splitter.take();
  }
  expect(pieces).toEqual(["one", " ", " two", "c", " ", "\n", "d"]);
});
