import { expect, test } from "bun:test";
import { jsonChunks } from "../../src/cli/diff-command.ts";

test("the chunks are what JSON.stringify makes, and long lists are cut", () => {
  const listOf = (length: number) => Array.from({ length }, (_, n) => ({ n, text: `"${n}\n` }));
  for (const value of [
    ...[null, 1.5, "\ud800", [], {}, [[]], { a: null, "b\n": { c: [] } }],
    ...[1_999, 2_000, 2_001, 4_000, 5_001].map((length) => ({
      a: listOf(length),
      b: { c: listOf(length), d: 1 },
    })),
  ]) {
    const chunks = [...jsonChunks(value)];
    expect(chunks.join("")).toBe(JSON.stringify(value));
    expect(Math.max(...chunks.map(({ length }) => length))).toBeLessThan(60_000);
  }
});
