import { expect, test } from "bun:test";
import {
  bitFormula,
  findFormula,
  type Member,
  mayBeginAnew,
  symbolsOf,
} from "../../../scripts/masks/find-formula.ts";
import { type BitFormula, BitOps, proveFormula } from "../../../scripts/masks/prove-formula.ts";
import { type Count, families } from "../../../src/pattern/mask-formulas.ts";
import { patterns } from "../../../src/pattern/pattern.ts";
import { tablesOf } from "./texts.ts";

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

test("an automaton that looks behind an end cannot begin anew there", () => {
  const lookBehind = tablesOf(String.raw`(?<=a)bc|\w|\W`);
  const symbols = Array.from("abc-", (character) => ({
    column: character.charCodeAt(0),
    classes: new Set<string>(),
    letter: "",
    example: character,
  }));
  expect(mayBeginAnew(lookBehind, symbols)).toBeFalse();
  expect(mayBeginAnew(tablesOf(String.raw`bc|\w|\W`), symbols)).toBeTrue();
});

type Operator = "and" | "or" | "not" | "prev" | "last" | "span" | "before" | "every" | "contractions";
const operators: readonly Operator[] = [
  "and",
  "or",
  "not",
  "prev",
  "last",
  "span",
  "before",
  "every",
  "contractions",
];

// biome-ignore lint/suspicious/noExplicitAny: it changes calls of any operator
type Call = (...args: any[]) => any;

/** Small wrong changes of an operator's call, so many for a number of operands. */
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
      return { ...call(apostrophes, fold, apart), [["first", "inside", "behind"][which - 2]!]: false };
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

/** The operator is called, for what it remembers, and something else is its result. */
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

/** A formula in which one call of one operator does something else. */
function mutant(formula: BitFormula, operator: Operator, callIndex: number, which: number): BitFormula {
  return (ops, classes) => {
    let calls = 0;
    const original = ops[operator] as Call;
    const changed = changes[operator].change(original, which);
    const wrapped = (...args: unknown[]) => (calls++ === callIndex ? changed : original)(...args);
    return formula(Object.assign(Object.create(ops), { [operator]: wrapped }), classes);
  };
}

/** For each call of an operator, the number of its operands. */
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

const tail = String.raw`\s*[\r\n]+|\s+(?!\S)|\s+`;
/** Patterns in which, together, every option of a family is on and off. */
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
};

/** Changes that make no difference. */
const explained = [
  // Narrowed so that the kernel needs to look ahead less often.
  "gpt2: and 0, change 0",
  // A character that is asked for does not end the text: what is said of that is nothing.
  `gpt2: before 0, change ${atEndOfBefore}`,
  `deepseek: before 1, change ${atEndOfBefore}`,
  `deepseek: before 2, change ${atEndOfBefore}`,
  // The apostrophe begins a pretoken in any case, and its letters begin none.
  "gpt2: contractions 0, change 2",
  "modern: contractions 0, change 2",
  "modern: contractions 0, change 3",
];

test("every part of every formula is needed: a proof fails without it, or more places are hard", () => {
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
