import { invalidColumn, type ScanTables, threeByteBlocks } from "../tables.ts";
import { kindsOf } from "./classes.ts";
import { families } from "./families.ts";
import { findFormula } from "./find-formula.ts";

/** What the kernel is told of a pattern's formula, see src/kernel/masks/mask-tables.ts: the first bytes there. */
export type MaskTables = Uint8Array;

export const maskTablesSize = 320;

const noKind = 255;

/** undefined where the pattern has no formula. */
export function buildMaskTables(tables: ScanTables): MaskTables | undefined {
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

/** Lead bytes of two- and three-byte characters that are all of one kind, for the two kinds that have most of them. */
function writeLeads(bytes: Uint8Array, tables: ScanTables, kindOfColumn: Uint8Array): void {
  const leadsOfKind = new Map<number, number[]>();
  for (let lead = 0xc2; lead < 0xf0; lead++) {
    const kind = uniformKind(tables, lead, kindOfColumn);
    if (kind !== noKind) leadsOfKind.set(kind, [...(leadsOfKind.get(kind) ?? []), lead]);
  }
  const kinds = [...leadsOfKind].sort(([, a], [, b]) => b.length - a.length).slice(0, 2);
  for (const [i, [kind, leads]] of kinds.entries()) {
    bytes[48 + i] = kind;
    for (const lead of leads) bytes[16 + (lead & 15)]! |= 1 << ((lead >> 4) - 12 + 4 * i);
  }
  for (let high = 12; high < 16; high++) bytes[32 + high] = 0x11 << (high - 12);
}

/** The kind of all characters with a lead byte; `noKind` where there are several, or where some second bytes are invalid. */
function uniformKind({ columnBlocks, columns }: ScanTables, lead: number, kindOfColumn: Uint8Array): number {
  const isTwo = lead < 0xe0;
  const firstBlock = isTwo ? lead & 31 : threeByteBlocks + ((lead & 15) << 6);
  const blockCount = isTwo ? 1 : 64;
  let kind = -1;
  for (let block = firstBlock; block < firstBlock + blockCount; block++) {
    for (let place = 0; place < 64; place++) {
      const column = columns[columnBlocks[block]! | place]!;
      const found = column === invalidColumn ? noKind : kindOfColumn[column]!;
      if (kind >= 0 && found !== kind) return noKind;
      kind = found;
    }
  }
  return kind;
}
