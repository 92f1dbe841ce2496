import { endsOfText } from "../scan-characters.ts";
import type { ScanTables } from "../scan-tables.ts";
import { mayBeginAnew } from "./begin-anew.ts";
import type { BitOps } from "./bit-ops.ts";
import { boundariesOf, families } from "./families.ts";
import type { Boundaries } from "./formulas.ts";
import { proveFormula } from "./prove.ts";
import { type SymbolSet, symbolsOf } from "./symbols.ts";

/** A formula with its options: what a proof is about. */
export type Member = {
  /** A key of `families`. */
  readonly family: string;
  /** The options that are on. */
  readonly options: readonly string[];
  readonly digitCount: number;
  /** A text ends behind every line feed. */
  readonly lines: boolean;
};

export type FoundFormula = { readonly member: Member; readonly symbols: SymbolSet };

/**
 * The formula that is proved to cut every text as the automaton does; undefined where there is none. The automaton itself is
 * asked which one that may be: each option shows in how it cuts a short text. What comes of that is a guess, and the proof is
 * what decides. It takes some milliseconds.
 */
export function findFormula(tables: ScanTables): FoundFormula | undefined {
  const member = guessMember(tables);
  const symbols = symbolsOf(tables, families[member.family]!.classes);
  if (symbols === undefined) return undefined;
  const isProved =
    proveFormula(tables, symbols.symbols, bitFormula(member)).holds && mayBeginAnew(tables, symbols.symbols);
  return isProved ? { member, symbols } : undefined;
}

export function guessMember(tables: ScanTables): Member {
  const endsOf = (text: string) => endsOfText(tables, Buffer.from(text));
  const pretokenCount = (text: string) => endsOf(text).length;
  const family =
    pretokenCount("aA") === 2
      ? "modernCased"
      : pretokenCount("!a") === 2
        ? "gpt2"
        : pretokenCount("!é") === 2
          ? "deepseek"
          : "modern";
  const options = Object.entries(families[family]!.options).filter(([, signs]) =>
    signs.some(([text, count]) => pretokenCount(text) === count),
  );
  const digitText = "1".repeat(digitCountMax + 1);
  const [firstEnd] = endsOf(digitText);
  return {
    family,
    options: options.map(([name]) => name),
    digitCount: firstEnd! > digitCountMax ? 0 : firstEnd!,
    lines: pretokenCount("\n\n") === 2,
  };
}

/** The kernel counts groups of digits up to this. */
export const digitCountMax = 8;

/** The formula of a member as the proof runs it. */
export function bitFormula({ family: name, options, digitCount, lines }: Member) {
  const family = families[name]!;
  const classNames = Object.keys(family.classes.ascii);
  const optionMasks = maskRecord(Object.keys(family.options), (option) => options.includes(option));
  const count = { name: "digitCount", value: digitCount };
  return (ops: BitOps, classes: ReadonlySet<string>): Boundaries<boolean> =>
    boundariesOf(
      family,
      lines,
      ops,
      maskRecord(classNames, (name) => classes.has(name)),
      optionMasks,
      count,
    );
}

function maskRecord(names: readonly string[], isSet: (name: string) => boolean): Record<string, boolean> {
  return Object.fromEntries(names.map((name) => [name, isSet(name)]));
}
