import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { compilePattern } from "../src/pattern/compile.ts";
import { patterns } from "../src/pattern/named-patterns.ts";
import { readyMadeFile } from "../src/pattern/ready-made.ts";

/** Compiles the named patterns, by the Unicode data that `buildKernel` generates; returns the paths of their tables. */
export function readyMadePatterns(directory: string): string[] {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const paths = new Set<string>();
  for (const { sources } of Object.values(patterns)) {
    for (const lineWise of [false, true]) {
      const file = readyMadeFile(sources, { lineWise }, compilePattern(sources, { lineWise }));
      paths.add(`${directory}/${file.name}`);
      writeFileSync(`${directory}/${file.name}`, file.bytes);
    }
  }
  return [...paths];
}
