import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { patterns, usualSuperwordPattern } from "../src/pattern/named-patterns.ts";
import * as compiledPatterns from "../src/pattern/pattern.ts";
import { readyMadeFile } from "../src/pattern/ready-made-file.ts";
import { patternDigest } from "./pattern-digest.ts";

/**
 * Compiles the named patterns and the usual one for superwords, unless their tables are up to date. Returns the paths
 * of the tables.
 */
export function readyMadePatterns(directory: string): string[] {
  const [listPath, digest] = [`${directory}/list.json`, patternDigest()];
  if (existsSync(listPath)) {
    const made = JSON.parse(readFileSync(listPath, "utf8"));
    if (made.digest === digest) return made.names.map((name: string) => `${directory}/${name}`);
  }
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  const names = new Set<string>();
  for (const { sources } of [...Object.values(patterns), { sources: [usualSuperwordPattern] }]) {
    for (const lineWise of [false, true]) {
      const file = readyMadeFile(sources, { lineWise }, compiledPatterns.compile(sources, { lineWise }));
      names.add(file.name);
      writeFileSync(`${directory}/${file.name}`, file.bytes);
    }
  }
  writeFileSync(listPath, JSON.stringify({ digest, names: [...names] }));
  return [...names].map((name) => `${directory}/${name}`);
}
