// Regenerates ladder.md and ladder.svg from bench/record/ladder.json, without measuring:
//
//   node scripts/bun.mjs bench/ladder/pages.ts
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { drawLadder } from "./chart.ts";
import { type Ladder, writeReport } from "./report.ts";

export function writePages(ladder: Ladder, directory: string): void {
  mkdirSync(directory, { recursive: true });
  writeFileSync(`${directory}/ladder.md`, writeReport(ladder));
  writeFileSync(`${directory}/ladder.svg`, drawLadder(ladder));
  console.log(`${directory}/ladder.md and ladder.svg are written`);
}

if (import.meta.main) {
  const record = readFileSync(`${import.meta.dir}/../record/ladder.json`, "utf8");
  writePages(JSON.parse(record), import.meta.dir);
}
