import { expect, test } from "bun:test";
import {
  bitFormula,
  canRestart,
  type FoundFormula,
  findFormula,
  letterOf,
  type Member,
  symbolsOf,
} from "../../../scripts/masks/find-formula.ts";
import { type BitFormula, BitOps, proveFormula } from "../../../scripts/masks/prove-formula.ts";
import { buildMaskTables } from "../../../scripts/masks/write-named-masks.ts";
import { automatonDigest } from "../../../src/pattern/compiled-pattern.ts";
import { endsOfText } from "../../../src/pattern/cut-text.ts";
import { KernelScan } from "../../../src/pattern/kernel-scan.ts";
import {
  boundariesOf,
  type Contractions,
  type Count,
  families,
  type Ops,
} from "../../../src/pattern/mask-formulas.ts";
import { namedMasks } from "../../../src/pattern/named-masks.ts";
import { type NamedPattern, patterns, usualSuperwordPattern } from "../../../src/pattern/named-patterns.ts";
import { columnAt, type ScanTables } from "../../../src/pattern/scan-tables.ts";
import * as kernels from "../../../src/runtime/kernel.ts";
import { randomNumbers } from "../../random.ts";
import { rounds } from "../../rounds.ts";
import { compiledTables, randomText, tablesOf } from "./texts.ts";

const member = (family: string, digitCount: number, ...options: string[]): Member => ({
  family,
  options,
  digitCount,
  lines: false,
});

const membersOfNames: Record<string, Member> = {
  gpt2: member("gpt2", 0, "contractions"),
  r50k: member("gpt2", 0, "contractions"),
  p50k: member("gpt2", 0, "contractions"),
  starcoder: member("gpt2", 1, "contractions", "digitsFirst"),
  smollm: member("gpt2", 1, "contractions", "digitsFirst"),
  cl100k: member("modern", 3, "contractions", "fold", "endJoins"),
  gpt4: member("modern", 3, "contractions", "fold"),
  llama3: member("modern", 3, "contractions", "fold"),
  nanochat: member("modern", 2, "contractions", "fold"),
  qwen2: member("modern", 1, "contractions", "fold"),
  "qwen3.5": member("modern", 1, "contractions", "fold"),
  tekken: member("modernCased", 1, "slashes"),
  nemotron: member("modernCased", 1, "slashes"),
  o200k: member("modernCased", 3, "fold", "slashes", "suffixes"),
  "deepseek-v3": member("deepseek", 3),
};

const withoutFormula: readonly string[] = [
  ...["falcon", "none"],
  ...["llama3-r2l", "gpt-4o-r2l", "trinity", "marin", "marin-gpt-4o"],
];

test("every other named pattern has a proved formula, and its masks", () => {
  for (const [name, { sources }] of Object.entries<NamedPattern>(patterns)) {
    if (withoutFormula.includes(name)) continue;
    const wanted = membersOfNames[name]!;
    for (const lines of [false, true]) {
      const tables = compiledTables(sources, lines);
      expect([name, findFormula(tables)?.member]).toEqual([name, { ...wanted, lines }]);
      const masks = Buffer.from(buildMaskTables(tables)!).toString("base64");
      expect([name, namedMasks?.[automatonDigest(tables)]]).toEqual([name, masks]);
    }
  }
});

test("a pattern that cuts like a named one has its masks, and any other runs on the tables", () => {
  const isTold = (source: string) => {
    const kernel = kernels.createWithRegions(kernels.createWholeMemory(1 << 28));
    const told: number[] = [];
    const useMaskTables = (address: number) => told.push(address) > 0;
    const exports = {
      ...kernel.exports,
      useMaskTables: useMaskTables as unknown as typeof kernel.exports.useMaskTables,
    };
    const scan = KernelScan.create({ ...kernel, exports }, [tablesOf(source)])!;
    scan.noteScanned((1 << 20) - 1);
    scan.prepare();
    expect(told).toEqual([0]);
    scan.noteScanned(1);
    scan.prepare();
    scan.prepare();
    expect(told.length).toBeLessThanOrEqual(2);
    return told.length === 2 && told[1] !== 0;
  };
  const words = String.raw` ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`;
  expect(isTold(patterns.gpt2.sources[0])).toBeTrue();
  expect(isTold(`'(?:re|ll|ve|[stdm])|${words.replaceAll("+|", "++|")}`)).toBeTrue();
  // These patterns have formulas, but no named pattern cuts like them, so they have no masks.
  expect(isTold(words)).toBeFalse();
  expect(isTold(`'s|'t|'re|'ve|'m|'ll| ?\\p{N}{1,3}|${words}`)).toBeFalse();
});

const upper = String.raw`[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`;
const lower = String.raw`[\p{Ll}\p{Lm}\p{Lo}\p{M}]`;
const cased = (suffix = "") =>
  String.raw`[^\r\n\p{L}\p{N}]?${upper}*${lower}+${suffix}|[^\r\n\p{L}\p{N}]?${upper}+${lower}*${suffix}`;
const tail = String.raw`\s*[\r\n]+|\s+(?!\S)|\s+`;

/** Patterns of users, and the formulas that they have. */
const variants: readonly (readonly [string | readonly string[], Member])[] = [
  [String.raw` ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`, member("gpt2", 0)],
  [
    String.raw`'(?:[sdtm]|ve|ll|re)| ?[\p{L}\p{M}]+| ?\p{N}{1,3}| ?[^\s\p{L}\p{M}\p{N}]+|\s+(?!\S)|\s+`,
    member("gpt2", 3, "contractions"),
  ],
  [
    [String.raw`\p{N}{1,3}`, String.raw` ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`],
    member("gpt2", 3, "digitsFirst"),
  ],
  [
    String.raw`'s|'t|'re|'ve|'m|'ll|'d|[^\r\n\p{L}\d]?\p{L}+|\d{1,4}| ?[^\s\p{L}\d]+[\r\n]*|${tail}`,
    member("modern", 4, "contractions"),
  ],
  [
    String.raw`[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}+| ?[^\s\p{L}\p{N}]++[\r\n/]*+|${tail}`,
    member("modern", 0, "slashes"),
  ],
  [String.raw`${cased()}|\p{N}{1,2}| ?[^\s\p{L}\p{N}]+[\r\n]*|${tail}`, member("modernCased", 2)],
  [
    String.raw`(?i:'s|'t|'re|'ve|'m|'ll|'d)|${cased()}|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|${tail}`,
    member("modernCased", 3, "contractions", "fold"),
  ],
  [
    String.raw`${cased("(?:'s|'t|'re|'ve|'m|'ll|'d)?")}|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*|${tail}`,
    member("modernCased", 0, "suffixes"),
  ],
  [usualSuperwordPattern, member("superwords", 3)],
  [usualSuperwordPattern.replace("{1,3}", "{1,2}"), member("superwords", 2)],
  // An alternative that can never match is recognized and ignored.
  [
    String.raw`(?<=a)b|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|${tail}`,
    member("modern", 3),
  ],
];

test("a user's pattern of a family has its formula, however it is written", () => {
  for (const [sources, expected] of variants) {
    const tables = tablesOf(...[sources].flat());
    expect([sources, findFormula(tables)?.member]).toEqual([sources, expected]);
  }
});

test("a pattern that no formula fits exactly has none", () => {
  const tooFew = [
    String.raw`\w+|[^\w\s]+|\s+`,
    String.raw`\s|\S+`,
    // From here on, each pattern differs from a family of patterns in one thing, which its comment names. The first has
    // words of at most five letters.
    String.raw` ?\p{L}{1,5}| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`,
    // One contraction more.
    String.raw`'s|'t|'re|'ve|'m|'ll|'d|'x| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`,
    // One contraction less.
    String.raw`'s|'t|'re|'ve|'m|'ll| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`,
    // No (?!\S).
    String.raw` ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+`,
    // Only ASCII digits.
    String.raw`[^\r\n\p{L}\p{N}]?\p{L}+|[0-9]{1,3}| ?[^\s\p{L}0-9]+[\r\n]*|${tail}`,
    // _ as a letter.
    String.raw`[^\r\n\p{L}\p{N}]?[\p{L}_]+|\p{N}{1,3}| ?[^\s\p{L}\p{N}_]+[\r\n]*|${tail}`,
    // Up to nine digits.
    String.raw`[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,9}| ?[^\s\p{L}\p{N}]+[\r\n]*|${tail}`,
    // 'k in place of 'm.
    String.raw`(?i:'s|'t|'re|'ve|'k|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|${tail}`,
  ];
  for (const source of tooFew)
    expect([source, findFormula(tablesOf(source))?.member]).toEqual([source, undefined]);
});

test("the formulas cut like the automata, over whole texts and with claims about the text to come", () => {
  const named = Object.entries<NamedPattern>(patterns).filter(([name]) => !withoutFormula.includes(name));
  const sources = [
    ...named.map(([, pattern]) => pattern.sources),
    ...variants.map(([variant]) => [variant].flat()),
  ];
  for (const [source, lineWise] of sources.flatMap(
    (source) =>
      [
        [source, false],
        [source, true],
      ] as const,
  )) {
    const tables = compiledTables(source, lineWise);
    const found = findFormula(tables)!;
    const random = randomNumbers(1);
    for (let i = 0; i < rounds(25); i++) {
      const text = randomText(random, 60);
      const characters = Array.from(text);
      const classes = characters.map((character) => classesOf(found, tables, character));
      const naive = runNaively(found.member, characters, classes);
      const { begins, firstHard } = naive;
      const ends = endsOfText(tables, Buffer.from(text)).map(
        (end) => Buffer.from(text).toString("utf8", 0, end).length,
      );
      const starts = [0, ...ends.map((end) => Array.from(text.slice(0, end)).length)].slice(0, -1);
      const isSure = (start: number) => start < firstHard;
      expect([source, lineWise, text, begins.filter(isSure)]).toEqual([
        source,
        lineWise,
        text,
        starts.filter(isSure),
      ]);
      expect([source, text, runWithClaims(found.member, characters, classes)]).toEqual([
        source,
        text,
        [naive],
      ]);
    }
  }
});

/**
 * The result of a formula. `begins` has the indices of the characters that begin pretokens, and always 0. `firstHard`
 * is the index of the first character for which the formula gives no result, or infinity.
 */
type Run = { begins: number[]; firstHard: number };

function runNaively(
  { family: name, options, digitCount, lines }: Member,
  characters: readonly string[],
  classesOfCharacters: readonly (readonly string[])[],
): Run {
  const family = families[name]!;
  const ops = naiveOps(characters);
  const every = ops.not(ops.none);
  const classes = Object.keys(family.classes.ascii).map((name) => [
    name,
    classesOfCharacters.map((names) => names.includes(name)),
  ]);
  const areOn = Object.keys(family.options).map((name) => [name, options.includes(name) ? every : ops.none]);
  const count = { name: "digitCount", value: digitCount };
  const { begin, hard } = boundariesOf(
    family,
    lines,
    ops,
    Object.fromEntries(classes),
    Object.fromEntries(areOn),
    count,
  );
  const begins = characters.map((_, i) => i).filter((i) => i === 0 || begin[i]);
  return { begins, firstHard: hard.includes(true) ? hard.indexOf(true) : Number.POSITIVE_INFINITY };
}

/**
 * Runs a formula character by character, as the proof does (prove-formula.ts). Where the formula looks ahead, each
 * claim about the following characters is tried. Returns a result for each sequence of claims that the text does not
 * refute.
 */
function runWithClaims(
  member: Member,
  characters: readonly string[],
  classesOfCharacters: readonly (readonly string[])[],
): Run[] {
  type Way = Run & { memory: readonly number[] | undefined; mayEnd: boolean };
  const formula = bitFormula(member);
  const ops = new BitOps();
  let ways: Way[] = [{ begins: [], firstHard: Number.POSITIVE_INFINITY, memory: undefined, mayEnd: true }];
  for (const [i, character] of characters.entries()) {
    const next: Way[] = [];
    for (const way of ways) {
      ops.startChoices();
      do {
        ops.read(letterOf(character === "ſ" ? "s" : character), way.memory);
        const { begin, hard } = formula(ops, new Set(classesOfCharacters[i]));
        if (ops.isRefuted) continue;
        next.push({
          begins: i === 0 || begin ? [...way.begins, i] : way.begins,
          firstHard: hard ? Math.min(way.firstHard, i) : way.firstHard,
          memory: ops.memory(),
          mayEnd: ops.mayEnd,
        });
      } while (ops.nextChoices());
    }
    ways = next;
  }
  return ways.filter(({ mayEnd }) => mayEnd).map(({ begins, firstHard }) => ({ begins, firstHard }));
}

function classesOf(
  { member, symbols }: FoundFormula,
  tables: ScanTables,
  character: string,
): readonly string[] {
  const { ascii, examples } = families[member.family]!.classes;
  if (character < "\x80") return Object.keys(ascii).filter((name) => ascii[name]!.includes(character));
  const bytes = Buffer.from(`${character}....`);
  const column = columnAt(bytes, 0, bytes.length, tables.columnBlocks, tables.columns) & 255;
  return examples[symbols.exampleOf.get(column)!]!.classes;
}

test("a wrong formula is refuted by a shortest text", () => {
  const tables = tablesOf(...patterns.gpt4.sources);
  const { symbols } = symbolsOf(tables, families.modern!.classes)!;
  const wrong: Member = { family: "modern", options: ["contractions", "fold"], digitCount: 2, lines: false };
  expect(proveFormula(tables, symbols, bitFormula(wrong))).toEqual({
    holds: false,
    text: "000",
    what: "the formula has an end that the automaton has not",
  });
  const caseless: Member = { family: "modern", options: ["contractions"], digitCount: 3, lines: false };
  expect(proveFormula(tables, symbols, bitFormula(caseless))).toEqual({
    holds: false,
    text: "'DA",
    what: "the automaton has an end that the formula has not",
  });
});

test("an automaton with a look-behind past an end cannot restart there", () => {
  const lookBehind = tablesOf(String.raw`(?<=a)bc|\w|\W`);
  const symbols = Array.from("abc-", (character) => ({
    column: character.charCodeAt(0),
    classes: new Set<string>(),
    letter: "",
    example: character,
  }));
  expect(canRestart(lookBehind, symbols)).toBeFalse();
  expect(canRestart(tablesOf(String.raw`bc|\w|\W`), symbols)).toBeTrue();
});

type Operator =
  | "and"
  | "or"
  | "not"
  | "prev"
  | "last"
  | "span"
  | "follows"
  | "before"
  | "every"
  | "contractions";
const operators: readonly Operator[] = [
  "and",
  "or",
  "not",
  "prev",
  "last",
  "span",
  "follows",
  "before",
  "every",
  "contractions",
];

// biome-ignore lint/suspicious/noExplicitAny: it changes calls of any operator
type Call = (...args: any[]) => any;

/**
 * For each operator, small changes that make a call of it wrong. `count` returns how many such changes there are, given
 * the number of operands of the call.
 */
const changes: Record<
  Operator,
  { count(operands: number): number; change(call: Call, which: number): Call }
> = {
  and: leaveOutOperand(),
  or: leaveOutOperand(),
  not: resultIs((mask) => mask),
  prev: resultIs((mask) => mask, no),
  last: resultIs((run) => run, no),
  span: resultIs(
    (start, hold) => start && hold,
    (_start, hold) => hold,
  ),
  follows: resultIs((where) => where, no),
  before: {
    count: () => 3,
    change: (call, which) => (where, run, target, atEnd) => {
      const found = call(where, run, target, which === atEndOfBefore ? !atEnd : atEnd);
      return which === 0 ? false : which === 1 ? where : found;
    },
  },
  every: {
    count: () => 2,
    change: (call, which) => (count: Count, run) => call({ ...count, value: count.value + 1 + which }, run),
  },
  contractions: {
    count: () => 5,
    change: (call, which) => (apostrophes, fold, apart) => {
      if (which === 0) return call(apostrophes, !fold, apart);
      if (which === 1) return call(apostrophes, fold, !apart);
      return { ...call(apostrophes, fold, apart), [["first", "inside", "after"][which - 2]!]: false };
    },
  },
};

const atEndOfBefore = 2;

function no(): boolean {
  return false;
}

function leaveOutOperand() {
  return {
    count: (operands: number) => operands,
    change:
      (call: Call, which: number): Call =>
      (...masks) =>
        call(...masks.filter((_, i) => i !== which)),
  };
}

/**
 * Changes that call the operator, because it may keep state, but then return the result of one of the functions
 * `results` instead.
 */
function resultIs(...results: Call[]) {
  return {
    count: () => results.length,
    change:
      (call: Call, which: number): Call =>
      (...args) => {
        call(...args);
        return results[which]!(...args);
      },
  };
}

/** Returns a formula in which one call of one operator is changed. */
function mutant(formula: BitFormula, operator: Operator, callIndex: number, which: number): BitFormula {
  return (ops, classes) => {
    let calls = 0;
    const original = ops[operator] as Call;
    const changed = changes[operator].change(original, which);
    const wrapped = (...args: unknown[]) => (calls++ === callIndex ? changed : original)(...args);
    return formula(Object.assign(Object.create(ops), { [operator]: wrapped }), classes);
  };
}

/** Returns the number of operands of each call of an operator. */
function operandCounts(formula: BitFormula, operator: Operator): number[] {
  const counts: number[] = [];
  const ops = new BitOps();
  ops.startChoices();
  ops.read("", undefined);
  const original = ops[operator] as Call;
  const wrapped = (...args: unknown[]) => {
    counts.push(args.length);
    return original(...args);
  };
  formula(Object.assign(Object.create(ops), { [operator]: wrapped }), new Set());
  return counts;
}

/**
 * Patterns of each family, which together use every option of the family in both states. The exception is `endJoins` of
 * `modernCased`, which is always off.
 */
const patternsOfFamily: Record<string, readonly (readonly string[])[]> = {
  gpt2: [
    patterns.gpt2.sources,
    patterns.starcoder.sources,
    [String.raw` ?\p{L}+| ?\p{N}{1,3}| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`],
  ],
  modern: [
    patterns.gpt4.sources,
    patterns.cl100k.sources,
    [String.raw`'s|'t|'re|'ve|'m|'ll|'d|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n/]*|${tail}`],
    [String.raw`[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|${tail}`],
  ],
  modernCased: [
    patterns.o200k.sources,
    patterns.tekken.sources,
    [`(?i:'s|'t|'re|'ve|'m|'ll|'d)|${patterns.tekken.sources[0].replace("[\\r\\n/]*", "[\\r\\n]*")}`],
    [patterns.o200k.sources[0].replaceAll("(?i:", "(?:")],
  ],
  deepseek: [patterns["deepseek-v3"].sources],
  superwords: [[usualSuperwordPattern]],
};

/** Changes that no proof can notice, with the reasons. */
const explained = [
  // This operand only lets the kernel look ahead less often.
  "gpt2: and 0, change 0",
  // The argument `where` comes from `last`, which leaves out runs that end the text. `atEnd` is the result only for
  // such runs, so changing it has no effect here.
  `gpt2: before 0, change ${atEndOfBefore}`,
  `deepseek: before 1, change ${atEndOfBefore}`,
  `deepseek: before 2, change ${atEndOfBefore}`,
  // `contractions` returns the masks `first` (the apostrophe) and `inside` (the letters). The apostrophe begins a
  // pretoken even without `first`. In `modern`, the letters begin none even without `inside`.
  "gpt2: contractions 0, change 2",
  "modern: contractions 0, change 2",
  "modern: contractions 0, change 3",
];

test("every part of every formula is needed: without it, a proof fails or more positions are hard", () => {
  const unnoticed: string[] = [];
  let mutantCount = 0;
  for (const [family, sourcesList] of Object.entries(patternsOfFamily)) {
    const proofs = sourcesList.map((sources) => {
      const tables = tablesOf(...sources);
      const found = findFormula(tables)!;
      expect([family, sources, found?.member.family]).toEqual([family, sources, family]);
      const formula = bitFormula(found.member);
      const { symbols } = found.symbols;
      return { tables, symbols, formula, proof: proveFormula(tables, symbols, formula) };
    });
    for (const operator of operators) {
      for (const [callIndex, operands] of operandCounts(proofs[0]!.formula, operator).entries()) {
        for (let which = 0; which < changes[operator].count(operands); which++) {
          mutantCount++;
          const isNoticed = proofs.some(({ tables, symbols, formula, proof }) => {
            const changed = proveFormula(tables, symbols, mutant(formula, operator, callIndex, which));
            return !changed.holds || (proof.holds && changed.hardCount > proof.hardCount);
          });
          if (!isNoticed) unnoticed.push(`${family}: ${operator} ${callIndex}, change ${which}`);
        }
      }
    }
  }
  expect(mutantCount).toBeGreaterThan(350);
  expect(unnoticed.sort()).toEqual(explained.toSorted());
});

/** The operators in simple code: a mask is an array with a boolean for each character of a text. */
function naiveOps(characters: readonly string[]): Ops<boolean[]> {
  const indices = characters.map((_, i) => i);
  const { length } = characters;
  const not = (mask: boolean[]) => mask.map((is) => !is);
  /** Returns the first index after the run that contains i, or i if it is in no run. */
  const runEnd = (run: boolean[], i: number) => {
    while (i < length && run[i]) i++;
    return i;
  };
  return {
    none: indices.map(() => false),
    not,
    and: (...masks) => indices.map((i) => masks.every((mask) => mask[i])),
    or: (...masks) => indices.map((i) => masks.some((mask) => mask[i])),
    prev: (mask) => indices.map((i) => i > 0 && mask[i - 1]!),
    last: (run) => indices.map((i) => run[i]! && i + 1 < length && !run[i + 1]),
    span(start, hold) {
      const spans: boolean[] = [];
      for (const i of indices) spans.push(hold[i]! && (start[i]! || (i > 0 && spans[i - 1]!)));
      return spans;
    },
    follows: (where, target) => indices.map((i) => where[i]! && i + 1 < length && target[i + 1]!),
    before: (where, run, target, atEnd) =>
      indices.map((i) => {
        if (!where[i]) return false;
        const end = runEnd(run, i);
        return end === length ? atEnd[i]! : target[end]!;
      }),
    every({ value }: Count, run) {
      const firsts: boolean[] = [];
      let size = 0;
      for (const i of indices) {
        firsts.push(run[i]! && (size === 0 || (value > 0 && size % value === 0)));
        size = run[i] ? size + 1 : 0;
      }
      return firsts;
    },
    contractions(apostrophes, fold, apart): Contractions<boolean[]> {
      const [first, inside, after] = [0, 1, 2].map(() => indices.map(() => false)) as [
        boolean[],
        boolean[],
        boolean[],
      ];
      for (const i of indices) {
        if (!apostrophes[i] || (apart[i] && after[i])) continue;
        const rest = characters.slice(i + 1, i + 3).join("");
        const found = /^(?:[sdmt]|re|ve|ll)/u.exec(fold[i] ? rest.toLowerCase().replace(/^ſ/, "s") : rest);
        if (found === null) continue;
        first[i] = true;
        const end = i + 1 + found[0].length;
        inside.fill(true, i + 1, end);
        if (end < length) after[end] = true;
      }
      return { first, inside, after };
    },
  };
}
