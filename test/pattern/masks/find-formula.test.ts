import { expect, test } from "bun:test";
import {
  bitFormula,
  type FoundFormula,
  findFormula,
  letterOf,
  type Member,
} from "../../../scripts/masks/find-formula.ts";
import { buildMaskTables } from "../../../scripts/masks/mask-tables.ts";
import { BitOps } from "../../../scripts/masks/prove-formula.ts";
import { automatonDigest } from "../../../src/pattern/compiled-pattern.ts";
import { KernelScan } from "../../../src/pattern/kernel-scan.ts";
import { boundariesOf, families } from "../../../src/pattern/mask-formulas.ts";
import { namedMasks } from "../../../src/pattern/named-masks.ts";
import { type NamedPattern, patterns } from "../../../src/pattern/pattern.ts";
import { columnAt, endsOfText, type ScanTables } from "../../../src/pattern/scan-tables.ts";
import { createRegionKernel, createWholeMemory } from "../../../src/runtime/kernel.ts";
import { rounds } from "../../rounds.ts";
import { naiveOps } from "./naive-ops.ts";
import { compiledTables, randomNumbers, randomText, tablesOf } from "./texts.ts";

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

/** falcon is fused of two automata; none has no classes of characters. */
const withoutFormula: readonly string[] = ["falcon", "none"];

test("every named pattern but falcon and none has a formula that is proved, and its masks", () => {
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

test("a pattern that cuts as a named one has its masks, any other runs on the tables", () => {
  const isTold = (source: string) => {
    const kernel = createRegionKernel(createWholeMemory(1 << 28));
    const told: number[] = [];
    const useMaskTables = (address: number) => told.push(address) > 0;
    const exports = {
      ...kernel.exports,
      useMaskTables: useMaskTables as unknown as typeof kernel.exports.useMaskTables,
    };
    const scan = KernelScan.create({ ...kernel, exports }, tablesOf(source))!;
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
  // They have formulas.
  expect(isTold(words)).toBeFalse();
  expect(isTold(`'s|'t|'re|'ve|'m|'ll| ?\\p{N}{1,3}|${words}`)).toBeFalse();
});

const upper = String.raw`[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`;
const lower = String.raw`[\p{Ll}\p{Lm}\p{Lo}\p{M}]`;
const cased = (suffix = "") =>
  String.raw`[^\r\n\p{L}\p{N}]?${upper}*${lower}+${suffix}|[^\r\n\p{L}\p{N}]?${upper}+${lower}*${suffix}`;
const tail = String.raw`\s*[\r\n]+|\s+(?!\S)|\s+`;

/** A user's own patterns, and the formulas that they have. */
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
  // An alternative that can never take anything is seen through.
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

test("what no formula fits exactly has none", () => {
  const tooFew = [
    String.raw`\w+|[^\w\s]+|\s+`,
    String.raw`\s|\S+`,
    // Letters end with five; the letters of a contraction; no (?!\S); digits that only some signs go with.
    String.raw` ?\p{L}{1,5}| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`,
    String.raw`'s|'t|'re|'ve|'m|'ll|'d|'x| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`,
    String.raw`'s|'t|'re|'ve|'m|'ll| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`,
    String.raw` ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+`,
    String.raw`[^\r\n\p{L}\p{N}]?\p{L}+|[0-9]{1,3}| ?[^\s\p{L}0-9]+[\r\n]*|${tail}`,
    String.raw`[^\r\n\p{L}\p{N}]?[\p{L}_]+|\p{N}{1,3}| ?[^\s\p{L}\p{N}_]+[\r\n]*|${tail}`,
    String.raw`[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,9}| ?[^\s\p{L}\p{N}]+[\r\n]*|${tail}`,
    String.raw`(?i:'s|'t|'re|'ve|'k|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|${tail}`,
  ];
  for (const source of tooFew)
    expect([source, findFormula(tablesOf(source))?.member]).toEqual([source, undefined]);
});

test("the formulas cut where the automata cut, run over whole texts and with claims of what comes", () => {
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

/** Indices of the characters that begin pretokens, the first one included, and of the first that is hard. */
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

/** Every way to claim that the text bears out. */
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
