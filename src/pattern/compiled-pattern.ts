import { createSha256, type Sha256 } from "../runtime/host.ts";
import type { Program } from "./matcher-program.ts";
import type { FourByteTables, ScanTables } from "./scan-tables.ts";
import type { ShadowTables } from "./shadow.ts";

/**
 * A pattern ready to run: plain data that can be posted to a worker.
 *   automata   automaton k + 1 cuts the pieces of automaton k; nearly always there is one
 *   programs   the same for the backtracking matcher, with the reason why it came to that
 */
export type CompiledPattern =
  | { readonly kind: "automata"; readonly automata: readonly PatternTables[] }
  | {
      readonly kind: "programs";
      readonly programs: readonly Program[];
      readonly lineWise: boolean;
      readonly reason: string;
    };

/** The tables of an automaton, and tables that make its scan faster: built ahead, or when there is enough text. */
export type PatternTables = ScanTables & {
  /** The automaton reads shadows of texts, not texts. */
  readonly shadow?: ShadowTables;
  /** null: the automaton allows none; undefined: nobody has built them yet. */
  readonly fourBytes?: FourByteTables | null;
};

export type CompileOptions = {
  /** A document also ends behind every "\n". */
  readonly lineWise?: boolean;
};

/**
 * A hash of all that decides where a pattern cuts, in hexadecimal: of its tables, or of its programs. Patterns
 * that were compiled ahead and those that were compiled now have the same.
 */
export function patternDigest(compiled: CompiledPattern): string {
  const hasher = createSha256();
  addTo(hasher, compiled);
  return hasher.digest("hex");
}

/** The same of one automaton. */
export const automatonDigest = (tables: PatternTables): string =>
  patternDigest({ kind: "automata", automata: [tables] });

/** Fields that decide nothing: they are made of other fields, or are for people. */
const derived = new Set(["fourBytes", "reason"]);

/** Adds plain data. Sizes and names go before contents, so that different data are different bytes. */
function addTo(hasher: Sha256, value: unknown): void {
  if (ArrayBuffer.isView(value)) {
    hasher.update(`${value.constructor.name} ${value.byteLength} `);
    hasher.update(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  } else if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).filter(([name]) => !derived.has(name));
    hasher.update(`${fields.length} `);
    for (const [name, field] of fields.sort(([a], [b]) => (a < b ? -1 : 1))) {
      hasher.update(`${JSON.stringify(name)} `);
      addTo(hasher, field);
    }
  } else hasher.update(`${JSON.stringify(value)} `);
}
