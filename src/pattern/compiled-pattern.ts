import { createSha256, type Sha256 } from "../runtime/host.ts";
import type { FourByteTables, ScanTables } from "./scan-tables.ts";
import type { ShadowTables } from "./shadow.ts";

/** A pattern ready to run, plain data: automaton k + 1 cuts the pieces of automaton k; nearly always there is one. */
export type CompiledPattern = { readonly automata: readonly PatternTables[] };

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
 * A hash of all that decides where a pattern cuts, in hexadecimal. Patterns that were compiled ahead and those that were
 * compiled now have the same.
 */
export function patternDigest(compiled: CompiledPattern): string {
  const hasher = createSha256();
  // `kind` is in the digests of plans and cache entries that earlier builds wrote.
  addTo(hasher, { kind: "automata", ...compiled });
  return hasher.digest("hex");
}

/** The same of one automaton. */
export const automatonDigest = (tables: PatternTables): string => patternDigest({ automata: [tables] });

/** A field that decides nothing: it is made of others. */
const derived = "fourBytes";

/** Adds plain data. Sizes and names go before contents, so that different data are different bytes. */
function addTo(hasher: Sha256, value: unknown): void {
  if (ArrayBuffer.isView(value)) {
    hasher.update(`${value.constructor.name} ${value.byteLength} `);
    hasher.update(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  } else if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).filter(([name]) => name !== derived);
    hasher.update(`${fields.length} `);
    for (const [name, field] of fields.sort(([a], [b]) => (a < b ? -1 : 1))) {
      hasher.update(`${JSON.stringify(name)} `);
      addTo(hasher, field);
    }
  } else hasher.update(`${JSON.stringify(value)} `);
}
