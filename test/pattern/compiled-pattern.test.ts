import { deserialize } from "bun:jsc";
import { expect, test } from "bun:test";
import { type CompiledPattern, compilePattern, patternDigest, patterns } from "../../src/pattern/pattern.ts";
import { readyMadeFile } from "../../src/pattern/ready-made.ts";

const { sources } = patterns.gpt2;

test("patterns that cut otherwise have other digests, and line-wise ones, too", () => {
  const all = ["gpt2", "cl100k", "o200k"] as const;
  const compiled = all.flatMap((name) =>
    [false, true].map((lineWise) => compilePattern(patterns[name].sources, { lineWise })),
  );
  expect(new Set(compiled.map(patternDigest)).size).toBe(compiled.length);
});

test("one entry of one table that is another makes another digest", () => {
  const digest = patternDigest(compilePattern(sources));
  for (const name of ["transitions", "columnBlocks", "columns"] as const) {
    const changed = structuredClone(compilePattern(sources));
    if (changed.kind !== "automata") throw new Error("gpt2 is an automaton");
    changed.automata[0]![name][1000]! ^= 1;
    expect(patternDigest(changed)).not.toBe(digest);
  }
});

test("tables that were made ahead have the digest of those that are made now", () => {
  const compiled = compilePattern(sources);
  const { bytes } = readyMadeFile(sources, {}, compiled);
  expect(patternDigest(deserialize(bytes.buffer as ArrayBuffer) as CompiledPattern)).toBe(
    patternDigest(compiled),
  );
});

test("of programs it is what they do that counts, not the reason why they are used", () => {
  const compiled = compilePattern(["(?<=ab)c|a+b"]);
  if (compiled.kind !== "programs") throw new Error("it looks far behind");
  const digest = patternDigest(compiled);
  expect(patternDigest({ ...compiled, reason: "" })).toBe(digest);
  for (const source of ["(?<=ab)c|a+c", "(?<=ab)c|a*b", "(?<!ab)c|a+b"])
    expect(patternDigest(compilePattern([source]))).not.toBe(digest);
  expect(patternDigest({ ...compiled, lineWise: true })).not.toBe(digest);
});
