import { host } from "#runtime";
import type { FourByteTables } from "./four-byte-tables.ts";
import type { ScanTables } from "./scan-tables.ts";

/** A compiled pattern, as plain data. Automaton k + 1 cuts the pieces of automaton k. */
export type CompiledPattern = {
  readonly automata: readonly PatternTables[];
  /** The result of `javascriptSource`; only in precompiled patterns. */
  readonly javascript?: string | null;
};

/** The tables of an automaton, and optional tables for a faster scan. */
export type PatternTables = ScanTables & {
  /** How to annotate a text for this automaton; undefined if the automaton reads the text itself. */
  readonly annotation?: AnnotationTables;
  /**
   * Tables for four bytes per step. undefined: they are not built yet. null: this automaton cannot have them, or does
   * not need them, because it is not the first one of the pattern.
   */
  readonly fourBytes?: FourByteTables | null;
};

/*
 * An *annotated text* has a character for each character of the text, of the same length in bytes. The annotated
 * character encodes the class of the original one, and everything that the pattern needs to know of the text after it
 * (lookahead-automaton.ts). For \d{1,3}(?=(?:\d{3})*(?!\d)) the annotated text of "a 1234567" is "a 0210210": a digit
 * tells how many more follow, modulo three.
 */

/**
 * AnnotationTables: the automaton that annotates a text from right to left. A character has the same column as for the
 * automaton that reads the annotated text: an ASCII character its code, any other a number for its class
 * (scan-tables.ts).
 *
 *   ARRAY         TYPE         LENGTH            MEANING
 *   steps         Uint32Array  stateCount << 8   at state << 8 | column: state before the character << 16 | annotation.
 *                                                The annotation is a byte for ASCII, else an index of `replacements`,
 *                                                or 0: the character itself
 *   replacements  Uint32Array  count * 4         at index << 2 | length - 1: the bytes, the first one lowest
 *   quiet         Uint16Array  256               the state before a character of the column if it is the same whatever
 *                                                follows, else `notQuiet`. Such *quiet* characters are never replaced
 *   live          Uint8Array   32                a byte b may begin a character that is not quiet if
 *                                                live[b & 15] & live[16 + (b >> 4)] is not 0
 *
 * State 0 is the state at the end of a text, and before an invalid byte.
 */
export type AnnotationTables = {
  readonly steps: Uint32Array;
  readonly replacements: Uint32Array;
  readonly quiet: Uint16Array;
  readonly live: Uint8Array;
};

export const notQuiet = 0xffff;

export type CompileOptions = {
  /** Whether a document also ends after every "\n". */
  readonly lineWise?: boolean;
};

/** Returns a hash, in hexadecimal, of everything that decides where a pattern cuts. */
export function patternDigest(compiled: CompiledPattern): string {
  const hasher = host.createSha256();
  // `kind` is hashed only so that digests stay equal to those in plans and cache entries that earlier builds wrote.
  addTo(hasher, { kind: "automata", ...compiled });
  return hasher.digest("hex");
}

/** Like `patternDigest`, for one automaton. */
export const automatonDigest = (tables: PatternTables): string => patternDigest({ automata: [tables] });

/** Fields that do not affect cuts, and so are not hashed. */
const skippedFields = ["fourBytes", "javascript"];

/** Hashes plain data. Sizes and names precede contents, so that different data give different bytes. */
function addTo(hasher: host.Sha256, value: unknown): void {
  if (ArrayBuffer.isView(value)) {
    hasher.update(`${value.constructor.name} ${value.byteLength} `);
    hasher.update(new Uint8Array(value.buffer, value.byteOffset, value.byteLength));
  } else if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).filter(([name]) => !skippedFields.includes(name));
    hasher.update(`${fields.length} `);
    for (const [name, field] of fields.sort(([a], [b]) => (a < b ? -1 : 1))) {
      hasher.update(`${JSON.stringify(name)} `);
      addTo(hasher, field);
    }
  } else hasher.update(`${JSON.stringify(value)} `);
}
