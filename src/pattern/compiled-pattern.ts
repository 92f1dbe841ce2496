import { createSha256, type Sha256 } from "#runtime";
import type { FourByteTables, ScanTables } from "./scan-tables.ts";

/** A pattern ready to run, plain data: automaton k + 1 cuts the pieces of automaton k; nearly always there is one. */
export type CompiledPattern = { readonly automata: readonly PatternTables[] };

/** The tables of an automaton, and tables that make its scan faster: built ahead, or when there is enough text. */
export type PatternTables = ScanTables & {
  /** The automaton reads shadows of texts, not texts. */
  readonly shadow?: ShadowTables;
  /** null: the automaton allows none; undefined: nobody has built them yet. */
  readonly fourBytes?: FourByteTables | null;
};

/*
 * A *shadow* of a text has a character for each character of the text, of the same length. Which one it is says what follows in
 * the text, as far as the pattern asks (foreseen.ts). For \d{1,3}(?=(?:\d{3})*(?!\d)) a shadow of "a 1234567" is "a 0210210": a
 * digit says how many more follow, modulo three.
 */

/**
 * ShadowTables: how a shadow is written, from right to left. Columns are those of the automaton that reads it.
 *
 *   ARRAY         TYPE          LENGTH            MEANING
 *   steps         Uint32Array   stateCount << 8   of state << 8 | column: state before << 16 | what stands in the shadow: an
 *                                                 ASCII byte, else a number of `replacements`; 0: the character itself
 *   replacements  Uint32Array   count * 4         at number << 2 | length - 1: the bytes, the first one lowest
 *   quiet         Uint16Array   256               the state before a character of the column whatever follows it;
 *                                                 `notQuiet`: it depends. Those that do not depend stay as they are
 *   live          Uint8Array    32                a byte b may begin a character that is not quiet if
 *                                                 live[b & 15] & live[16 + (b >> 4)] is not 0
 *
 * State 0 is that at the end of a text, and before an invalid byte.
 */
export type ShadowTables = {
  readonly steps: Uint32Array;
  readonly replacements: Uint32Array;
  readonly quiet: Uint16Array;
  readonly live: Uint8Array;
};

export const notQuiet = 0xffff;

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
