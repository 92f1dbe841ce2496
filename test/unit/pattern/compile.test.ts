import { deserialize } from "bun:jsc";
import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { CompileSteps } from "../../../src/pattern/automaton.ts";
import { type CompiledPattern, patternDigest } from "../../../src/pattern/compiled-pattern.ts";
import * as patternForms from "../../../src/pattern/export-form.ts";
import { buildFourByteTables } from "../../../src/pattern/four-byte-tables.ts";
import { javascriptSource } from "../../../src/pattern/javascript-source.ts";
import { type NamedPattern, patterns } from "../../../src/pattern/named-patterns.ts";
import { canBeEmpty, isAssertion, type Node, parsePattern } from "../../../src/pattern/parse-pattern.ts";
import * as compiledPatterns from "../../../src/pattern/pattern.ts";
import { readReadyMade } from "../../../src/pattern/ready-made.ts";
import { readyMadeFile } from "../../../src/pattern/ready-made-file.ts";
import { UserError } from "../../../src/runtime/errors.ts";
import { pick, randomNumbers } from "../../random.ts";
import { places, rounds } from "../../rounds.ts";
import { errorOf } from "../../thrown.ts";
import { naiveEnds, naivePieces, naiveRegExp, pretokenEnds, randomBytes } from "./naive.ts";
import { EmptyMatch, naiveTreeEnds, TooSlow } from "./naive-matcher.ts";
import { triedPatterns } from "./names.ts";
import { randomPattern, randomText } from "./random-patterns.ts";

function pieces(source: string, text: string): string[] {
  const bytes = Buffer.from(text);
  let start = 0;
  return pretokenEnds(compiledPatterns.compile([source]), bytes).map((end) => {
    const piece = bytes.toString("utf8", start, end);
    start = end;
    return piece;
  });
}

test("no named pattern needs a refused construct, neither as published nor in the form for HF's engine", () => {
  for (const name of triedPatterns) {
    const { sources, huggingfaceSources = sources }: NamedPattern = patterns[name];
    for (const form of [sources, huggingfaceSources])
      expect([name, errorIfAny(() => compiledPatterns.compile(form))]).toEqual([name, null]);
  }
  // Refused patterns: back-references, and look-behinds of more than one character.
  for (const source of [String.raw`(a)\1`, "(?<=ab)c", "(?<!ab)c"])
    expect(errorOf(() => compiledPatterns.compile([source]))).toBeInstanceOf(UserError);
});

function errorIfAny(compile: () => unknown): string | null {
  try {
    compile();
    return null;
  } catch (error) {
    return String(error);
  }
}

function naiveTextEnds(text: string, regexps: readonly RegExp[]): number[] {
  let end = 0;
  return naivePieces(text, regexps).map((piece) => (end += Buffer.byteLength(piece)));
}

function repeatsNothing(node: Node): boolean {
  switch (node.kind) {
    case "sequence":
      return node.items.some(repeatsNothing);
    case "choice":
      return node.options.some(repeatsNothing);
    case "repeat":
      return canBeEmpty(node.body) || repeatsNothing(node.body);
    default:
      return "body" in node && repeatsNothing(node.body);
  }
}

describe("a pattern", () => {
  test("is plain data when compiled", () => {
    const compiled = compiledPatterns.compile(patterns.o200k.sources);
    expect(structuredClone(compiled)).toEqual(compiled);
  });

  test("takes the first alternative that matches, not the longest", () => {
    expect(pieces("a|ab|b", "ab")).toEqual(["a", "b"]);
    expect(pieces("ab|a|b", "ab")).toEqual(["ab"]);
  });

  test("does not backtrack into a possessive quantifier", () => {
    expect(pieces("a?ab|a|b", "ab")).toEqual(["ab"]);
    expect(pieces("a?+ab|a|b", "ab")).toEqual(["a", "b"]);
  });

  test("keeps unmatched text as pieces, which join adjacent characters", () => {
    expect(pieces("[0-9]+", "ab12cd")).toEqual(["ab", "12", "cd"]);
  });

  test("falls back to an earlier match if a longer one fails", () => {
    expect(pieces("abc|a|b", "ababc")).toEqual(["a", "b", "abc"]);
    expect(pieces("ab{0,4}c|a|b", "abbbabbc")).toEqual(["a", "b", "b", "b", "abbc"]);
  });

  test("uses Unicode's white space", () => {
    expect(pieces("\\s+|\\S+", "a\u0085\u3000b\ufeff")).toEqual(["a", "\u0085\u3000", "b\ufeff"]);
  });

  test("uses Unicode's case folding", () => {
    expect(pieces("(?i:'s)|.", "'S'ſ'k")).toEqual(["'S", "'ſ", "'", "k"]);
    expect(pieces("(?i:k)+|.", "kK\u212ax")).toEqual(["kK\u212a", "x"]);
    expect(pieces("(?i)é|.", "éÉ")).toEqual(["é", "É"]);
  });

  test.each([
    ["(a", "`(` is not closed, at character 1 of (a"],
    ["ab)", "`)` does not close a group, at character 3 of ab)"],
    ["x[a", "`[` is not closed, at character 2 of x[a"],
    ["*a", "`*` repeats nothing, at character 1 of *a"],
    ["a{3,1}", "the maximum of the count {3,1} is below its minimum, at character 2 of a{3,1}"],
    ["a{x}", "`{` does not begin a count, at character 2 of a{x}"],
    ["a{2000}", "the count {2000} is larger than 1000, at character 2 of a{2000}"],
    ["[z-a]", "the range ends before it begins, at character 2 of [z-a]"],
    ["\\q", "unknown escape \\q, at character 1 of \\q"],
    ["\\p{Nonsense}", "unknown Unicode property `Nonsense`, at character 1 of \\p{Nonsense}"],
    ["[[:constructor:]]", "`[:` does not begin a named class, at character 2 of [[:constructor:]]"],
    ["(?z:a)", "unknown kind of group, at character 1 of (?z:a)"],
    ["a\\", "`\\` escapes nothing, at character 2 of a\\"],
    [
      "(?<1a>b)",
      "a group's name must have only ASCII letters, digits and `_`, begin with no digit, and end with `>`, at character 1 of (?<1a>b)",
    ],
    [
      "\\x{110000}",
      "a code point is written \\x41, \\u0041 or \\x{1F600}, and is at most 10FFFF, at character 1 of \\x{110000}",
    ],
  ])("that is wrong is refused with its place: %s", (source, message) => {
    const error = errorOf(() => compiledPatterns.compile([source]));
    expect(error.message).toBe(`pattern: ${message}`);
    expect(error.exitCode).toBe(2);
  });

  test.each([
    "a*",
    "a|",
    "a?b?",
    "(?:a|b*)",
    "(?:\\b|a)",
    "a|(?<=a)$",
    "",
    "a+|$",
  ])("that can match the empty string is refused: %s", (source) => {
    const error = errorOf(() => compiledPatterns.compile([source]));
    expect(error.message).toContain("can match the empty string");
    expect([error.exitCode, error.hint]).toEqual([2, expect.any(String)]);
  });

  test("that can match the empty string in a text, though not in a line, is refused for lines", () => {
    const error = errorOf(() => compiledPatterns.compile(["(?<=\\n)(?!\\z)|."], { lineWise: true }));
    expect(error.message).toContain("can match the empty string");
  });

  test("that matches no text is refused", () => {
    expect(errorOf(() => compiledPatterns.compile(["(?!a)a"])).message).toContain("matches no text at all");
  });

  test.each([
    ["(?<=ba)b|.", "`(?<=ba)` looks behind by more than one character, which is not supported: (?<=ba)b|."],
    [
      "a(?=b(?<=ab))|.",
      "`(?<=ab)` looks behind by more than one character, which is not supported: a(?=b(?<=ab))|.",
    ],
    ["(a|b)\\1|.", "`\\1` refers back to a group, which is not supported, at character 6 of (a|b)\\1|."],
    ["\\k<x", "`\\k` refers back to a group, which is not supported, at character 1 of \\k<x"],
    [
      "(?<x>a|b)\\k<x>",
      "`\\k<x>` refers back to a group, which is not supported, at character 10 of (?<x>a|b)\\k<x>",
    ],
  ])("that asks for too much is refused with the part that does: %s", (source, message) => {
    const error = errorOf(() => compiledPatterns.compile([source]));
    expect(error.message).toBe(`pattern: ${message}`);
    expect([error.exitCode, error.hint]).toEqual([2, expect.any(String)]);
  });

  test("may look around a position, including the text's edges", () => {
    expect(pieces("\\bété|\\w|.", "étéété")).toEqual(["été", "é", "t", "é"]);
    expect(pieces("(?<=\\s)\\S+|\\S|\\s", "ab\u0085cd")).toEqual(["a", "b", "\u0085", "cd"]);
    expect(pieces("(?<!a)b+|.", "bbabb")).toEqual(["bb", "a", "b", "b"]);
    expect(pieces("^a+|b|a", "aabaa")).toEqual(["aa", "b", "a", "a"]);
    expect(pieces("\\B\\w|\\w+|!", "ab!")).toEqual(["ab", "!"]);
    expect(pieces("(?:\\A|(?<=\\n))#+|a{1,3}(?=\\n|\\z)|(?s:.)", "##aa\n##a##")).toEqual([
      "##",
      "aa",
      "\n",
      "##",
      "a",
      "#",
      "#",
    ]);
    expect(pieces("(?:(?!\\b)|(?<=x))y+|[^y]|y", "xyy yy")).toEqual(["x", "yy", " ", "y", "y"]);
    expect(pieces("(?>[0-9]{1,2})|(?>a{1,2})\\z|[^0-9]", "123aabaa")).toEqual([
      "12",
      "3",
      "a",
      "a",
      "b",
      "aa",
    ]);
  });

  test.each([
    "\\b\\w+\\b|\\s+|[^\\w\\s]+",
    "a(?=b*)|(?!\\B)b|(?<=a*)c",
    "\\w+(?<!\\d)|\\d+|(?<=\\A|,)\\s+|(?s:.)",
  ])("that looks one character about is one automaton of the text itself: %s", (source) => {
    const { automata } = compiledPatterns.compile([source]);
    expect(automata.map(({ annotation }) => annotation)).toEqual([undefined]);
  });

  test("does not backtrack into an atomic group", () => {
    expect(pieces("(?>[ab]c|[ab])c|.", "accac")).toEqual(["acc", "a", "c"]);
    expect(pieces("(?>'s|'t|'ll)|'l|.", "'s'll'l")).toEqual(["'s", "'ll", "'l"]);
    expect(pieces("(?>\\d|\\d\\p{L})1|(?s:.)", "1a1 11")).toEqual(["1", "a", "1", " ", "11"]);
    expect(pieces("(?:\\d\\p{L})++|.", "1a2b3")).toEqual(["1a2b", "3"]);
    expect(pieces("(?>(?:\\d\\p{L}){1,2})\\d|.", "1a2b1a2")).toEqual(["1a2b1", "a", "2"]);
    expect(pieces("(?>(?:\\d\\p{L})+?)\\d|.", "1a2b3")).toEqual(["1a2", "b", "3"]);
  });

  test("that is random splits random text like JavaScript", () => {
    const seed = 7;
    const random = randomNumbers(seed);
    const set = () =>
      pick(random, [
        "a",
        "b",
        "c",
        "[ab]",
        "[^a]",
        "[^bc]",
        "[bc]",
        "\\s",
        "[^\\sa]",
        "\\p{L}",
        "[a-d]",
        "'",
      ]);
    const count = () => pick(random, ["", "", "?", "*", "+", "{1,3}", "{2}", "{0,2}", "{2,}", "*?", "+?"]);
    const term = (depth: number): string => {
      const kind = random(12);
      if (kind < 8) return set() + count();
      if (kind < 10 && depth > 0)
        return `(?:${choice(depth - 1)})${pick(random, ["", "?", "*", "+", "{1,2}", "*?"])}`;
      if (kind === 10) return pick(random, ["(?!\\S)", "(?!a)", "(?=b)", "$", "(?![^b])", "(?=[ab]|$)"]);
      return set();
    };
    const sequence = (depth: number) => Array.from({ length: 1 + random(3) }, () => term(depth)).join("");
    const choice = (depth: number): string =>
      Array.from({ length: 1 + random(3) }, () => sequence(depth)).join("|");

    let compiledCount = 0;
    for (let round = 0; round < rounds(150); round++) {
      const source = choice(2);
      let compiled: CompiledPattern;
      try {
        compiled = compiledPatterns.compile([source]);
      } catch (error) {
        expect(error).toBeInstanceOf(UserError);
        continue;
      }
      // Skips patterns that JavaScript treats differently: those with a repeat of something that may be empty, and
      // those of assertions alone.
      if (repeatsNothing(parsePattern(source)) || isAssertion(parsePattern(source))) continue;
      compiledCount++;
      const regexp = new RegExp(
        source.replaceAll("\\s", "\\p{White_Space}").replaceAll("\\S", "\\P{White_Space}"),
        "gu",
      );
      for (let trial = 0; trial < 30; trial++) {
        let text = "";
        for (let length = 1 + random(12); length > 0; length--) {
          text += pick(random, ["a", "b", "c", " ", "'", "\n", "d", "é"]);
        }
        const bytes = Buffer.from(text);
        const found = pretokenEnds(compiled, bytes).join();
        const wanted = naiveTextEnds(text, [regexp]).join();
        if (found !== wanted)
          throw new Error(`${source} on ${JSON.stringify(text)}: ${found}, not ${wanted} (seed ${seed})`);
      }
    }
    expect(compiledCount).toBeGreaterThan(rounds(20));
  });

  test("that is random, with the whole grammar, splits like the textbook matcher", () => {
    const seed = 20261122;
    const random = randomNumbers(seed);
    let trialCount = 0;
    for (let round = 0; round < rounds(120); round++) {
      const source = randomPattern(random);
      let compiled: CompiledPattern;
      try {
        compiled = compiledPatterns.compile([source]);
        if (isAssertion(parsePattern(source))) continue;
      } catch (error) {
        expect(error).toBeInstanceOf(UserError);
        continue;
      }
      for (let trial = 0; trial < 12; trial++) {
        const text = randomText(random, 12);
        const points = Array.from(text, (character) => character.codePointAt(0)!);
        let wanted: number[];
        try {
          wanted = naiveTreeEnds(source, points);
        } catch (error) {
          if (error instanceof TooSlow || error instanceof EmptyMatch) break;
          throw error;
        }
        const ends = wanted
          .map((end) => Buffer.byteLength(String.fromCodePoint(...points.slice(0, end))))
          .join();
        const found = pretokenEnds(compiled, Buffer.from(text)).join();
        if (found !== ends) {
          const pattern = JSON.stringify(source);
          throw new Error(`${pattern} on ${JSON.stringify(text)}: ${found}, not ${ends} (seed ${seed})`);
        }
        trialCount++;
      }
    }
    expect(trialCount).toBeGreaterThan(rounds(200));
  });

  test("made of random splits in sequence cuts piece by piece", () => {
    const seed = 11;
    const random = randomNumbers(seed);
    const splits = [
      "[0-9]",
      "[0-9]{1,3}",
      "[ab]+",
      "\\s",
      "[0-9][0-9]",
      " ?[ab]+",
      "ab|a",
      "[a1]{2}",
      "[^a]+",
      "'[ab]|[ab]+",
    ];
    const lastSplits = [patterns.gpt2.sources[0], patterns.cl100k.sources[0], "ab+|b?c", "[0-9][0-9][0-9]"];
    for (let round = 0; round < rounds(40); round++) {
      const sources = Array.from({ length: 1 + random(3) }, () => pick(random, splits));
      sources.push(pick(random, lastSplits));
      const compiled = compiledPatterns.compile(sources);
      const regexps = sources.map(naiveRegExp);
      for (let trial = 0; trial < 40; trial++) {
        let text = "";
        for (let length = 1 + random(12); length > 0; length--) {
          text += pick(random, ["a", "b", "1", "2", " ", "'", "\n", "c"]);
        }
        const bytes = Buffer.from(text);
        const wanted = naiveTextEnds(text, regexps).join();
        const found = pretokenEnds(compiled, bytes).join();
        if (found !== wanted) {
          throw new Error(
            `${sources.join(" , ")} on ${JSON.stringify(text)}: ${found}, not ${wanted} (seed ${seed})`,
          );
        }
      }
    }
  });
});

describe("--pattern", () => {
  test("treats a known name as a name, and anything else as a regular expression", () => {
    expect(compiledPatterns.resolve("gpt2").name).toBe("gpt2");
    expect(compiledPatterns.resolve("deepseek-v3").sources.length).toBe(3);
    expect(compiledPatterns.resolve("\\S+|\\s+").name).toBeNull();
  });

  test("offers the nearest name for an unknown one", () => {
    const error = errorOf(() => compiledPatterns.resolve("gtp2"));
    expect(error.message).toBe('unknown pattern "gtp2"');
    expect(error.hint).toContain("gpt2");
    expect(error.exitCode).toBe(2);
    expect(errorOf(() => compiledPatterns.resolve("gpt-4o-mini")).hint).toContain(
      "did you mean gpt-4o (o200k)?",
    );
    expect(compiledPatterns.resolve("gpt-4").name).toBe("cl100k");
    expect(errorOf(() => compiledPatterns.resolve("gpt-4-turbo")).hint).toContain(
      "did you mean gpt-4 (cl100k)?",
    );
    expect(errorOf(() => compiledPatterns.resolve("qwen2.5-7b")).hint).toContain(
      "did you mean qwen2.5 (qwen2)?",
    );
    expect(errorOf(() => compiledPatterns.resolve("code")).hint).toContain("did you mean codex (p50k)?");
  });

  test("accepts the names of tiktoken and of models, and reports its own", () => {
    for (const [typed, name] of [
      ["gpt-4o", "o200k"],
      ["gpt4o", "o200k"],
      ["gpt-oss", "o200k"],
      ["llama4", "o200k"],
      ["o200k_base", "o200k"],
      ["cl100k_base", "cl100k"],
      ["p50k_base", "p50k"],
      ["r50k_base", "r50k"],
      ["mistral", "tekken"],
    ] as const) {
      const resolved = compiledPatterns.resolve(typed);
      expect({ typed, name: resolved.name }).toEqual({ typed, name });
      expect(resolved.sources).toEqual(patterns[name].sources);
    }
  });

  test("has no name twice", () => {
    const names = Object.entries(patterns as Record<string, NamedPattern>);
    const all = names.flatMap(([name, { aliases = [] }]) => [name, ...aliases]);
    expect(all.filter((name, i) => all.indexOf(name) !== i)).toEqual([]);
  });

  test("exports its patterns in HF's form", () => {
    expect(patternForms.exported(compiledPatterns.resolve("gpt2"))).toEqual({ kind: "byte-level" });
    expect(patternForms.exported(compiledPatterns.resolve("cl100k"))).toMatchObject({
      kind: "splits",
      regexes: [
        String.raw`'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+(?![\s\S])|\s*[\r\n]|\s+(?!\S)|\s`,
      ],
      mayLeaveGaps: false,
    });
    expect(patternForms.exported(compiledPatterns.resolve("\\p{N}{1,2}+|a{1,3}+$|(?i:s)|[^\\s]"))).toEqual({
      sources: ["\\p{N}{1,2}+|a{1,3}+$|(?i:s)|[^\\s]"],
      kind: "splits",
      regexes: ["(?>\\p{N}{1,2})|(?>a{1,3})\\z|[\\x{53}\\x{73}\\x{17f}]|[^\\s]"],
      mayLeaveGaps: true,
    });
  });
});

const { sources } = patterns.gpt2;

test("patterns that cut differently have different digests, and so do line-wise patterns", () => {
  const all = ["gpt2", "cl100k", "o200k"] as const;
  const compiled = all.flatMap((name) =>
    [false, true].map((lineWise) => compiledPatterns.compile(patterns[name].sources, { lineWise })),
  );
  expect(new Set(compiled.map(patternDigest)).size).toBe(compiled.length);
});

test("a single changed entry of one table changes the digest", () => {
  const digest = patternDigest(compiledPatterns.compile(sources));
  for (const name of ["transitions", "columnBlocks", "columns"] as const) {
    const changed = structuredClone(compiledPatterns.compile(sources));
    changed.automata[0]![name][1000]! ^= 1;
    expect(patternDigest(changed)).not.toBe(digest);
  }
});

test("precomputed tables have the digest of tables that are built now", () => {
  const compiled = compiledPatterns.compile(sources);
  const { bytes } = readyMadeFile(sources, {}, compiled);
  const readyMade = deserialize(Bun.zstdDecompressSync(bytes)) as CompiledPattern;
  expect(patternDigest(readyMade)).toBe(patternDigest(compiled));
  expect(readyMade.javascript).toBe(javascriptSource(sources));
});

const seed = 20261122;
const [gpt2] = patterns.gpt2.sources;

/** Sequences of splits, and the number of automata that each needs. */
const sequences: readonly (readonly [readonly string[], number])[] = [
  [patterns.falcon.sources, 1],
  [[gpt2, "[0-9]{3}"], 1],
  [[gpt2, gpt2], 1],
  [["\\s+\\S+|\\s+", gpt2], 1],
  [[gpt2, "abc|a|b", "[^b]"], 1],
  // After "12", the first split may still match "123", or it may leave both digits to gpt2. gpt2's pretokens end at
  // different places in these two cases. One automaton would have to track both, so there are two automata.
  [["[0-9]{3}", gpt2], 2],
];

describe("consecutive splits", () => {
  test.each(sequences)("%j cut like the naive splitter, in %d automata", (sources, count) => {
    const random = randomNumbers(seed);
    const regexps = sources.map(naiveRegExp);
    for (const lineWise of [false, true]) {
      const compiled = compiledPatterns.compile(sources, { lineWise });
      expect(compiled.automata.length).toBe(count);
      for (let round = 0; round < rounds(100); round++) {
        const bytes = randomBytes(random, 1 + random(20));
        const wanted = naiveEnds(bytes, regexps, lineWise);
        const found = pretokenEnds(compiled, bytes);
        expect([bytes, found]).toEqual([bytes, wanted]);
      }
    }
  });

  test("cut like the textbook matcher, with any patterns", () => {
    const random = randomNumbers(seed + 1);
    const counts = [0, 0, 0, 0];
    for (let tried = 0; tried < rounds(20) || counts[2] === 0; ) {
      const sources = Array.from({ length: 2 + random(2) }, () => randomPattern(random));
      let compiled: CompiledPattern;
      try {
        compiled = compiledPatterns.compile(sources);
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        continue;
      }
      tried++;
      counts[compiled.automata.length]!++;
      for (let round = 0; round < rounds(15); round++) {
        const text = randomText(random, 30);
        try {
          expect([sources, text, pretokenEnds(compiled, Buffer.from(text))]).toEqual([
            sources,
            text,
            naiveSequenceEnds(sources, text),
          ]);
        } catch (error) {
          if (!(error instanceof TooSlow || error instanceof EmptyMatch)) throw error;
        }
      }
    }
  });
});

/** Returns the ends in bytes when each split cuts the pieces of the previous one. */
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

describe("the cost of compiling a pattern", () => {
  function stepsOf(sources: readonly string[]): number {
    const steps = new CompileSteps();
    compiledPatterns.compile(sources, {}, steps);
    return steps.count;
  }

  test("grows with the number of splits, whether or not they are combined", () => {
    for (const source of [`${"\\p{L}".repeat(100)}|.`, "a+b|.", "[a-z]+|.", "[0-9]{3}"]) {
      const some = stepsOf(Array(8).fill(source));
      expect(stepsOf(Array(32).fill(source)) / some).toBeLessThan(5);
    }
  });

  test("is small for named patterns, and more than the limit is refused", () => {
    for (const { sources } of Object.values<NamedPattern>(patterns))
      expect(stepsOf(sources)).toBeLessThan(3_000_000);
    const { message } = errorOf(() => compiledPatterns.compile(Array(2000).fill("a+b|.")));
    expect(message).toStartWith("pattern: it takes too long to compile: a+b|.");
  });

  test("a union of sets is computed once, however often a class names it", () => {
    for (const item of ["\\p{L}", "\\P{L}", "\\w", "\\W", "\\S", "[:alpha:]", "[^\\p{L}]", "\\p{L}&&"]) {
      const [one] = compiledPatterns.compile([`[${item}a]|.`]).automata;
      expect([item, compiledPatterns.compile([`[${item.repeat(20_000)}a]|.`]).automata[0]]).toEqual([
        item,
        one,
      ]);
    }
    expect(() => compiledPatterns.compile([`[${"[\\p{L}a]".repeat(20_000)}]|.`])).toThrow(
      "its character classes have too many ranges, at character",
    );
  });

  test("more than 126 kinds of characters are refused before a table has a column for each", () => {
    const many = String.fromCodePoint(...Array.from({ length: 5000 }, (_, i) => 0x4e00 + i));
    const steps = new CompileSteps();
    const { message } = errorOf(() => compiledPatterns.compile([`${many}|.`], {}, steps));
    expect(message).toStartWith("pattern: it distinguishes too many kinds of characters");
    expect(steps.count).toBeLessThan(200_000);
  });
});

test("a precompiled pattern equals one compiled now, including its four-byte tables", () => {
  const directory = mkdtempSync(join(tmpdir(), "bpe-ready-made-"));
  try {
    for (const place of places(triedPatterns.length, 0)) {
      const { sources }: NamedPattern = patterns[triedPatterns[place]!];
      for (const lineWise of [false, true]) {
        const compiled = compiledPatterns.compile(sources, { lineWise });
        const file = readyMadeFile(sources, { lineWise }, compiled);
        writeFileSync(join(directory, file.name), file.bytes);
        // Only the first automaton of a chain scans four bytes at a time.
        const automata = compiled.automata.map((tables, i) => ({
          ...tables,
          fourBytes: (i === 0 && buildFourByteTables(tables)) || null,
        }));
        const javascript = javascriptSource(sources);
        expect(readReadyMade(directory, sources, { lineWise })).toEqual({ automata, javascript });
      }
    }
    expect(readReadyMade(directory, ["a+"], {})).toBeUndefined();
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
