import { expect } from "bun:test";
import { readFileSync } from "node:fs";

/** Returns the metadata fields of a GGUF file by key. */
export function fieldsOf(path: string): Record<string, unknown> {
  const bytes = readFileSync(path);
  let pos = 24;
  const long = () => Number(bytes.readBigUInt64LE((pos += 8) - 8));
  const value = (type: number): unknown => {
    if (type === 4 || type === 5) return bytes.readUInt32LE((pos += 4) - 4);
    if (type === 6) return bytes.readFloatLE((pos += 4) - 4);
    if (type === 7) return bytes[pos++] === 1;
    if (type === 8) {
      const length = long();
      return bytes.toString("utf8", pos, (pos += length));
    }
    const inner = value(4) as number;
    return Array.from({ length: long() }, () => value(inner));
  };
  expect([bytes.toString("latin1", 0, 4), bytes.readUInt32LE(4), bytes.readUInt32LE(8)]).toEqual([
    "GGUF",
    3,
    0,
  ]);
  const count = bytes.readUInt32LE(16);
  const fields = Array.from({ length: count }, () => [value(8), value(value(4) as number)]);
  expect(pos).toBe(bytes.length);
  return Object.fromEntries(fields);
}
