import { describe, expect, test } from "bun:test";
import { type Dialect, fancyRegex, oniguruma } from "../../../src/pattern/dialect.ts";
import { type NamedPattern, patterns } from "../../../src/pattern/named-patterns.ts";
import { parsePattern } from "../../../src/pattern/parse-pattern.ts";
import * as compiledPatterns from "../../../src/pattern/pattern.ts";
import { mayLeaveGaps, portableForm } from "../../../src/pattern/portable-source.ts";
import * as unicode from "../../../src/pattern/unicode.ts";
import { fullFoldings } from "../../../src/pattern/unicode-data.ts";
import { errorOf } from "../../thrown.ts";
import {
  characters as allCharacters,
  askedOf,
  type Engine,
  huggingface,
  preTokenize,
  preTokenizer,
  setIn,
  textAbout,
  tiktoken,
} from "./engines.ts";
import { pretokenEnds } from "./naive.ts";
import { tiktokenOracle } from "./oracles.ts";

/** Returns a function that cuts a text by a pattern of a dialect. */
function cutterOf(source: string, dialect: Dialect): (text: string) => string[] {
  const compiled = compiledPatterns.compile([portableForm(source, dialect)]);
  return (text) => {
    const bytes = Buffer.from(text);
    let start = 0;
    return pretokenEnds(compiled, bytes).map((end) => {
      const piece = bytes.toString("utf8", start, end);
      start = end;
      return piece;
    });
  };
}

const isolated = (regex: string) => ({
  type: "Split",
  pattern: { Regex: regex },
  behavior: "Isolated",
  invert: false,
});

const characters = ["a", "b", "B", "s", "²", "½", "é", "1", "_", " ", "\n", "\u200d", "\u0301", "中"];
const texts = characters.flatMap((a) =>
  characters.flatMap((b) => ["a", "\n", "1"].map((c) => a + b + c + b)),
);

/** Patterns that both engines accept. Most of them have a different meaning in each. */
const both = [
  "\\w+|\\s",
  "[\\w]+|\\s",
  "\\b\\w|\\s",
  "\\W|[\\W]\\s",
  "a$|\\n",
  "^.|\\s+",
  "\\n^\\s|.",
  "[[:alpha:]]+|\\s",
  "[[:punct:][:^word:]]+|a",
  "(?i:\\p{Lu})|\\s",
  "(?i:[\\P{L}b])\\s|.",
  "(?i:[^[^b]])|\\s",
  "\\w{1,2}+|a\\s",
  "\\w{2}?1|\\w",
  "a(?i)b|B|\\n",
  "(?m:.)\\s|.",
  "\\s{,2}a|\\s",
];

describe("a pattern of HF's engine", () => {
  test.each([
    ...both,
    "\\w{1,2}{2}|\\s",
    "\\<|.",
    "\\x{e9}+|\\0",
    "(?<=^|b).",
  ])("splits as it does there: %s", (source) => {
    const cut = cutterOf(source, oniguruma);
    const theirs = preTokenizer(isolated(source));
    for (const text of texts) expect([text, ...cut(text)]).toEqual([text, ...theirs(text)]);
  });

  test.each([
    ["(?i:ß)", "matches several characters"],
    ["(?i:[a-zﬁ])", "matches several characters"],
    ["(?i)\\p{L}|[\\p{L}]", "matches several characters"],
    ["(?i:ss)", "part of a single character"],
    ["(?i:a(?:f|b)?i)", "part of a single character"],
    ["(?i:s+)", "part of a single character"],
    ["(?P<x>a)", "unknown kind of group"],
    ["(?s:.)", "unknown kind of group"],
    ["\\pL", "braces"],
    ["\\xe9", "is a byte"],
    ["\\x80", "is a byte"],
    ["\\u{e9}", "is not supported"],
    ["\\07", "octal"],
    ["\\p{Script=Han}", "unknown Unicode property"],
    ["(?:a|\\b)*b", "is an error"],
    ["(?:a*|b){1,3}c", "can be empty"],
    ["(a)\\1", "refers back to a group"],
    ["[\\w-z]", "a range must begin with a single character"],
    ["[[:foo:]]", "does not begin a named class"],
    ["[[:constructor:]]", "does not begin a named class"],
    ["(?<=a(?!b))c", "inside a look-behind"],
    ["(?<=a\\z)c", "inside a look-behind"],
    ["(?<=a\\Z)c", "inside a look-behind"],
    ["\\X", "unknown escape"],
    ["\\Ga", "unknown escape"],
  ])("that is not read alike is refused: %s", (source, what) => {
    const error = errorOf(() => portableForm(source, oniguruma));
    expect(error.message).toContain(what);
    expect(error.exitCode).toBe(2);
  });

  test("is refused for every character that equals several others when case is ignored", () => {
    for (const [from, ...to] of fullFoldings) {
      for (const source of [String.fromCodePoint(from!), String.fromCodePoint(...to)])
        expect(errorOf(() => parsePattern(`(?i:${source})`, oniguruma)).message).toContain(
          "with case ignored",
        );
    }
  });

  test("ignores case like HF's engine, for every character with case that is not refused", () => {
    const refused = new Set(fullFoldings.map(([from]) => from!));
    const classes = unicode.caseClasses().filter((members) => !members.some((member) => refused.has(member)));
    const text = classes.map((members) => String.fromCodePoint(...members)).join("\0");
    const chosen = classes.map(([first]) => `\\x{${first!.toString(16)}}`).join("");
    expect(preTokenize(isolated(`(?i:[${chosen}])+`), text)).toEqual(
      cutterOf(`(?i:[${chosen}])+`, oniguruma)(text),
    );
    for (const [number, members] of classes.entries()) {
      if (number % 40 !== 0) continue;
      const source = `(?i:${String.fromCodePoint(members[0]!)})`;
      expect(preTokenize(isolated(source), text)).toEqual(cutterOf(source, oniguruma)(text));
    }
  });
});

describe("a pattern of tiktoken's engine", () => {
  test.each(both)("splits like that engine: %s", (source) => {
    // tiktoken drops unmatched text, so the pattern matches every character.
    const whole = `(?:${source})|[\\s\\S]`;
    const { oracle, free } = tiktokenOracle(whole, texts);
    const compiled = compiledPatterns.compile([whole]);
    for (const text of texts)
      expect([text, pretokenEnds(compiled, Buffer.from(text))]).toEqual([text, oracle(text)]);
    free();
  });

  test.each([
    ["\\<a", "has a different meaning"],
    ["\\0", "has a different meaning"],
    ["a{2}{3}", "a repetition cannot be repeated directly"],
    ["[a-z--b]", "not the same"],
    ["[a~~b]", "not the same"],
    ["(?x:a b)", "unknown kind of group"],
    ["(?<x>a)(?<x>b)", "the group name x is used twice"],
    ["\\R", "unknown escape"],
    ["(?<=a++)b", "inside a look-behind"],
    ["(b(?i))a", "also apply after it"],
    ["[!-&&a]", "a range must end with a single character"],
    ["(?:a??)*b", "prefers to be empty"],
    ["c(?:(?:a)??b?b*)+", "prefers to be empty"],
    ["(?:|a){2,}b", "prefers to be empty"],
    ["(?:a?|b)*c", "prefers to be empty"],
  ])("that is not read alike is refused: %s", (source, what) => {
    expect(errorOf(() => parsePattern(source)).message).toContain(what);
  });
});

describe.each([
  ["HF's engine", oniguruma, huggingface],
  ["tiktoken's engine", fancyRegex, tiktoken],
] as [string, Dialect, Engine][])("the sets of %s", (_, dialect, engine) => {
  const names = ["alnum", "alpha", "ascii", "blank", "cntrl", "digit", "graph"];
  const sources = [
    "\\w",
    "[\\w]",
    "\\W",
    "[\\W]",
    "\\h",
    ".",
    ...[...names, "lower", "print", "punct", "space", "upper", "word", "xdigit"].map(
      (name) => `[[:${name}:]]`,
    ),
  ];
  test.each(sources)("are ours, on all code points, or at all edges in a quick run: %s", (source) => {
    const tree = parsePattern(source, dialect);
    if (tree.kind !== "set") throw new Error("it is a set");
    const ours = unicode.intersectionOf(tree.set, allCharacters);
    const text = textAbout(ours);
    expect(askedOf(engine, source, text)).toEqual(unicode.intersectionOf(ours, setIn(text)));
  });
});

describe("the portable form", () => {
  test("is the source itself if all engines read it alike", () => {
    const source = "(?i:'s|'t)|[^\\r\\n\\p{L}]?\\p{L}+(?=\\s|\\p{N})| ?[^\\s\\p{L}]+|\\s*?[\\r\\n]|(?>a|b)";
    expect(portableForm(source, fancyRegex)).toBe(source);
    expect(portableForm(source, oniguruma)).toBe(source);
  });

  test.each([
    ...both,
    "(?:a|\\b)*b|.",
    "(?<=b|1)a{2,3}?|.",
    "(?:a|b?)*1|(?:a?b*)+-|.",
  ])("means the same everywhere: %s", (source) => {
    const form = portableForm(source, fancyRegex);
    const { oracle, free } = tiktokenOracle(`(?:${source})|[\\s\\S]`, texts);
    const theirs = preTokenizer(isolated(`(?:${form})|[\\s\\S]`));
    for (const text of texts) {
      let end = 0;
      const ends = theirs(text).map((piece) => (end += Buffer.byteLength(piece)));
      expect([form, text, ends]).toEqual([form, text, oracle(text)]);
    }
    free();
  });
});

test.each(
  Object.entries<NamedPattern>(patterns),
)("%s takes every character if its entry does not say otherwise", (_, pattern) => {
  const { sources, mayLeaveGaps: said = false } = pattern;
  expect(sources.some(mayLeaveGaps)).toBe(said);
  if (sources.length === 1) expect(said).toBe(false);
});

test.each([
  "\\S+|\\s",
  "(?:a?b|[^b])|b",
  "\\w+ ?|[^\\w]",
  "(?>a|[^a])",
  "(\\d{1,3}|\\D)+",
  "a++b?|[^a]",
  "a*(?:[\\s\\S])",
])("%s takes every character", (source) => expect(mayLeaveGaps(source)).toBe(false));

test.each([
  "\\S+",
  "[0-9]+",
  "\\s+(?!\\S)|\\S",
  "[^a]|aa",
  "a*+a|[^a]",
  "(?>a?)a|[^a]",
  "[^a]|a{2}",
  "[^a]|^a",
  "(?<=x).|\\n",
  "[^a]|a(?=b)",
])("%s may leave some", (source) => expect(mayLeaveGaps(source)).toBe(true));
