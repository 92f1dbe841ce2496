import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { automatonDigest } from "../../src/pattern/compiled-pattern.ts";
import { families, kindsOf } from "../../src/pattern/mask-formulas.ts";
import { patterns, usualSuperwordPattern } from "../../src/pattern/named-patterns.ts";
import * as compiledPatterns from "../../src/pattern/pattern.ts";
import { invalidColumn, type ScanTables, threeByteBlocks } from "../../src/pattern/scan-tables.ts";
import { patternDigest } from "../pattern-digest.ts";
import { findFormula } from "./find-formula.ts";

// Writes the kernel's tables for the formulas of named patterns.

/**
 * Size, in bytes, of the part of a pattern's mask tables that is written here. The kernel fills in the rest
 * (src/kernel/masks/mask-tables.ts).
 */
const maskTablesSize = 320;

const noKind = 255;

/** Returns the tables of the formula that cuts as an automaton does; undefined if none is found. */
export function buildMaskTables(tables: ScanTables): Uint8Array | undefined {
  const found = findFormula(tables);
  if (found === undefined) return undefined;
  const { member, symbols } = found;
  const family = families[member.family]!;
  const bytes = new Uint8Array(maskTablesSize);
  const header = new Uint32Array(bytes.buffer, 0, 3);
  const names = Object.keys(families);
  header[0] = names.indexOf(member.family) + (member.lines ? names.length : 0);
  Object.keys(family.options).forEach((option, i) => {
    if (member.options.includes(option)) header[1]! |= 1 << i;
  });
  header[2] = member.digitCount;
  const { kindOfExample } = kindsOf(family.classes);
  const kindOfColumn = bytes.subarray(64).fill(noKind);
  for (const [column, example] of symbols.exampleOf) kindOfColumn[column] = kindOfExample[example]!;
  writeLeads(bytes, tables, kindOfColumn);
  return bytes;
}

/**
 * Writes the entries of the tables for lead bytes of two- and three-byte characters. A lead byte gets an entry if all
 * characters that begin with it are of one kind. For a lead byte of three-byte characters, it is enough if at least the
 * last `leastBlocks` blocks of its characters are of one kind. Only the two kinds with the most entries are written.
 */
function writeLeads(bytes: Uint8Array, tables: ScanTables, kindOfColumn: Uint8Array): void {
  const leadsOfKind = new Map<number, Lead[]>();
  for (let lead = 0xc2; lead < 0xf0; lead++) {
    const found = uniformPart(tables, lead, kindOfColumn);
    if (found !== undefined) leadsOfKind.set(found.kind, [...(leadsOfKind.get(found.kind) ?? []), found]);
  }
  const kinds = [...leadsOfKind].sort(([, a], [, b]) => b.length - a.length).slice(0, 2);
  const firstSeconds = bytes.subarray(48, 64).fill(0x80);
  for (const [i, [kind, leads]] of kinds.entries()) {
    bytes[12 + i] = kind;
    for (const { lead, firstSecond } of leads) {
      bytes[16 + (lead & 15)]! |= 1 << ((lead >> 4) - 12 + 4 * i);
      firstSeconds[lead & 15] = Math.max(firstSeconds[lead & 15]!, firstSecond);
    }
  }
  for (let high = 12; high < 16; high++) bytes[32 + high] = 0x11 << (high - 12);
}

/** All characters with this lead byte, and with a second byte of `firstSecond` or more, are of this kind. */
type Lead = { readonly lead: number; readonly kind: number; readonly firstSecond: number };

/** The smallest part of the three-byte characters of a lead byte that gets an entry, in blocks of 64 characters. */
const leastBlocks = 8;

/**
 * Finds the last characters of a lead byte that are all of one kind. Returns undefined if two-byte characters of the
 * lead byte are not all of one kind, or if the three-byte characters found fill fewer than `leastBlocks` blocks.
 */
function uniformPart(tables: ScanTables, lead: number, kindOfColumn: Uint8Array): Lead | undefined {
  if (lead < 0xe0) {
    const kind = kindOfBlock(tables, lead & 31, kindOfColumn);
    return kind === noKind ? undefined : { lead, kind, firstSecond: 0x80 };
  }
  const blocks = Array.from({ length: 64 }, (_, second) =>
    kindOfBlock(tables, threeByteBlocks + (((lead & 15) << 6) | second), kindOfColumn),
  );
  const kind = blocks.at(-1)!;
  const first = blocks.findLastIndex((other) => other !== kind) + 1;
  if (kind === noKind || 64 - first < leastBlocks) return undefined;
  return { lead, kind, firstSecond: 0x80 | first };
}

/** Returns the kind of all characters of a block; `noKind` if they have several kinds, or if some are invalid. */
function kindOfBlock({ columnBlocks, columns }: ScanTables, block: number, kindOfColumn: Uint8Array): number {
  let kind = -1;
  for (let place = 0; place < 64; place++) {
    const column = columns[columnBlocks[block]! | place]!;
    const found = column === invalidColumn ? noKind : kindOfColumn[column]!;
    if (kind >= 0 && found !== kind) return noKind;
    kind = found;
  }
  return kind;
}

const path = join(import.meta.dir, "../../src/pattern/named-masks.ts");

/**
 * Writes src/pattern/named-masks.ts (not in the repository), unless it is up to date: the mask tables of named patterns
 * and of the usual superword pattern, by digests of their automata.
 */
export function writeNamedMasks(): void {
  const head = headOf(patternDigest());
  if (existsSync(path) && readFileSync(path, "utf8").startsWith(head)) return;
  const entries = new Map<string, string>();
  const sourcesList = Object.values(patterns).map(({ sources }): readonly string[] => sources);
  for (const sources of [...sourcesList, [usualSuperwordPattern]]) {
    for (const lineWise of [false, true]) {
      const compiled = compiledPatterns.compile(sources, { lineWise });
      for (const tables of compiled.automata.filter(({ annotation }) => annotation === undefined)) {
        const masks = buildMaskTables(tables);
        if (masks !== undefined) entries.set(automatonDigest(tables), Buffer.from(masks).toString("base64"));
      }
    }
  }
  const lines = [...entries].map(([digest, masks]) => `  "${digest}":\n    "${masks}",\n`);
  writeFileSync(path, `${head}${lines.join("")}};\n`);
}

const headOf = (
  digest: string,
) => `// Generated by scripts/masks/write-named-masks.ts from sources with the digest ${digest}: the formulas of named patterns for the kernel, in base64, by the
// digests of their automata (\`automatonDigest\`).
export const namedMasks: Readonly<Record<string, string>> | null = {
`;
