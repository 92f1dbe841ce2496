import { expect, test } from "bun:test";
import { Tokenizer } from "tokenizers";
import { compileSplits, readPreTokenizer } from "../../../src/formats/pre-tokenizer.ts";
import * as patternForms from "../../../src/pattern/export-form.ts";
import { type NamedPattern, patterns } from "../../../src/pattern/named-patterns.ts";
import * as compiledPatterns from "../../../src/pattern/pattern.ts";
import { pick, randomNumbers } from "../../random.ts";
import { rounds } from "../../rounds.ts";
import { errorOf } from "../../thrown.ts";
import { preTokenizer } from "../pattern/engines.ts";
import { pretokenEnds } from "../pattern/naive.ts";
import { randomPattern, randomText } from "../pattern/random-patterns.ts";

/** Returns the name that is recognized in a pre-tokenizer with these Splits. */
function nameOf(regexes: readonly string[]): string | null {
  const splits = regexes.map((regex) => ({
    type: "Split",
    pattern: { Regex: regex },
    behavior: "Isolated",
    invert: false,
  }));
  const byteLevel = { type: "ByteLevel", add_prefix_space: false, use_regex: false };
  return readPreTokenizer({ type: "Sequence", pretokenizers: [...splits, byteLevel] }, "a").name;
}

const entries = Object.entries<NamedPattern>(patterns);
/** Named patterns with the same regular expressions as an earlier one. */
const twins: Record<string, string> = { p50k: "r50k", nemotron: "tekken", smollm: "starcoder" };

test("a named pattern is recognized by its own expressions, or by those of other programs", () => {
  for (const [name, { sources, foreignSources }] of entries) {
    expect(nameOf(foreignSources ?? sources)).toBe(twins[name] ?? name);
  }
});

test("a named pattern is recognized in the form that is written, which may be that of an equivalent pattern", () => {
  const writtenAs: Record<string, string> = { ...twins, r50k: "gpt2", p50k: "gpt2", gpt4: "llama3" };
  for (const [name, { sources }] of entries) {
    const form = patternForms.exported({ name, sources });
    if (form.kind === "splits") expect(nameOf(form.regexes)).toBe(writtenAs[name] ?? name);
  }
});

type Step = Record<string, unknown>;
const sequenceOf = (steps: readonly Step[]) => ({
  type: "Sequence",
  pretokenizers: [
    ...steps,
    { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: false },
  ],
});
const split = (pattern: string | object, behavior = "Isolated", invert = false): Step => ({
  ...{ type: "Split", pattern: typeof pattern === "string" ? { Regex: pattern } : pattern },
  ...{ behavior, invert },
});

/** Returns a function that cuts a text like HF, or undefined if HF refuses the steps. */
function huggingfaceEnds(steps: readonly Step[]): ((text: string) => number[]) | undefined {
  const root = {
    version: "1.0",
    pre_tokenizer: sequenceOf(steps),
    model: { type: "BPE", vocab: {}, merges: [] },
  };
  try {
    const reader = Tokenizer.fromString(JSON.stringify(root)).getPreTokenizer()!;
    return (text) => {
      let end = 0;
      // ByteLevel replaces every byte with one character of the Basic Multilingual Plane, so lengths count bytes.
      return text === "" ? [] : reader.preTokenizeString(text).map(([piece]) => (end += piece.length));
    };
  } catch {
    return undefined;
  }
}

const ourEnds = (steps: readonly Step[]) => {
  const compiled = compileSplits(readPreTokenizer(sequenceOf(steps), "a").sources, "a");
  return (text: string) => pretokenEnds(compiled, Buffer.from(text));
};

test("matches are merged with adjacent text, and empty ones are cuts, as in HF", () => {
  const random = randomNumbers(61);
  const texts = ["", "a", "The lowEST  of\n\n the low!? 12345 don't.", "  x", "x  ", "12", "!!a!b!!"];
  texts.push(...Array.from({ length: 40 }, () => randomText(random, 12)));
  const cuts = [
    ...["MergedWithNext", "MergedWithPrevious", "Contiguous", "Isolated"].flatMap((behavior) =>
      [false, true].flatMap((invert) => [
        [split({ String: " " }, behavior, invert)],
        [split("\\s+", behavior, invert)],
        [split("\\d|low", behavior, invert), split("\\p{L}+", behavior)],
        [{ type: "Punctuation", behavior }, split("[\\n ]", behavior, invert)],
        [
          { type: "FixedLength", length: 3 },
          { type: "Digits", individual_digits: invert },
        ],
      ]),
    ),
    ...[
      "\\d*",
      "(?=\\p{Lu})",
      "\\b",
      "\\p{L}??",
      "",
      "a|",
      "|a",
      "\\s*(?!\\S)|\\w+",
      "a*+(?=a)|b",
      "(?>\\d*)\\s*(?=[ab])",
    ].map((source) => [split(source)]),
  ];
  for (const steps of cuts) {
    const [ours, theirs] = [ourEnds(steps), huggingfaceEnds(steps)!];
    for (const text of texts) expect([steps, text, ours(text)]).toEqual([steps, text, theirs(text)]);
  }
});

test("random expressions cut as in HF, or are refused", () => {
  const random = randomNumbers(62);
  const behaviors = ["Isolated", "Isolated", "MergedWithNext", "MergedWithPrevious", "Contiguous", "Removed"];
  let equal = 0;
  let refused = 0;
  for (let round = 0; round < rounds(1200); round++) {
    const steps = [split(randomPattern(random), pick(random, behaviors), random(3) === 0)];
    const theirs = huggingfaceEnds(steps);
    if (theirs === undefined) continue;
    let ours: ReturnType<typeof ourEnds>;
    try {
      ours = ourEnds(steps);
    } catch (error) {
      expect((error as Error).name).toBe("UserError");
      refused++;
      continue;
    }
    for (let i = 0; i < 20; i++) {
      const text = randomText(random, 12);
      expect([steps, text, ours(text)]).toEqual([steps, text, theirs(text)]);
    }
    equal++;
  }
  expect(Math.min(equal, refused)).toBeGreaterThan(9);
});

test("--pattern for HF's engine accepts empty matches, too; for tiktoken's engine they are refused", () => {
  const { compiled, huggingfaceSources } = compiledPatterns.resolve("x|(?=\\p{Lu})", {
    isForHuggingface: true,
  });
  expect(huggingfaceSources).toEqual(["x|(?=\\p{Lu})"]);
  expect(pretokenEnds(compiled, Buffer.from("someCamelCase"))).toEqual([4, 9, 13]);
  expect(errorOf(() => compiledPatterns.compile(["x|(?=\\p{Lu})"])).message).toContain(
    "can match the empty string",
  );
});

test("a step that drops text is refused with the equivalent Split that keeps it", () => {
  const random = randomNumbers(63);
  const texts = ["", " ", " a-b  c\n", "the\u00a0end, 3.5 -- x_y!", "\u3000新しい。\u0085\u200b\u2028é!?"];
  texts.push(...Array.from({ length: rounds(60) }, () => randomText(random, 12)));
  const cases: [Step, string, Step[], RegExp | string][] = [
    [{ type: "Whitespace" }, 'r"\\w+|[^\\w\\s]+"', [split("\\w+|[^\\w\\s]+")], /^\s*$/],
    [{ type: "WhitespaceSplit" }, 'r"\\s+"', [split("\\s+")], /^\s*$/],
    [
      { type: "BertPreTokenizer" },
      'r"\\s+"), "isolated"), then Punctuation()',
      [split("\\s+"), { type: "Punctuation", behavior: "Isolated" }],
      /^\s*$/,
    ],
    [{ type: "CharDelimiterSplit", delimiter: "-" }, 'Split("-",', [split({ String: "-" })], "-"],
    [split({ String: "-" }, "Removed"), "Isolated", [split({ String: "-" })], "-"],
    [
      { type: "Punctuation", behavior: "Removed" },
      "Isolated",
      [{ type: "Punctuation", behavior: "Isolated" }],
      /^\p{P}$/u,
    ],
  ];
  const piecesOf = (steps: readonly Step[]) => preTokenizer({ type: "Sequence", pretokenizers: [...steps] });
  for (const [step, hint, keeping, dropped] of cases) {
    expect(errorOf(() => readPreTokenizer(sequenceOf([step]), "a")).hint).toContain(hint);
    const [theirs, offered] = [piecesOf([step]), piecesOf(keeping)];
    const isDropped = (piece: string) =>
      typeof dropped === "string" ? piece === dropped : dropped.test(piece) || piece === "\u0085";
    for (const text of texts) {
      expect(offered(text).join("")).toBe(text);
      expect([step, offered(text).filter((piece) => !isDropped(piece))]).toEqual([
        step,
        theirs(text).filter((piece) => !isDropped(piece)),
      ]);
    }
  }
});

test("steps without an equivalent expression are refused with the reason", () => {
  for (const [words, steps] of [
    ["removes", [split(" ", "Removed")]],
    ["can match the empty string", [split("a*", "MergedWithNext")]],
    [
      "a space before each piece that these steps cut",
      [split(" "), { type: "ByteLevel", add_prefix_space: true }],
    ],
  ] as const) {
    const value = {
      type: "Sequence",
      pretokenizers: [...steps, { type: "ByteLevel", add_prefix_space: false }],
    };
    const last = steps.at(-1)!.type === "ByteLevel" ? { ...value, pretokenizers: steps } : value;
    const { message } = errorOf(() => readPreTokenizer(last, "a"));
    expect(message).toContain(words === "removes" ? 'behavior "Removed"' : words);
  }
});
