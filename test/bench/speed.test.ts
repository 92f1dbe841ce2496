import { expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { writeDna } from "../../bench/corpora/dna.ts";
import { type Row, readmeTable, speedTable, withTable } from "../../bench/speed-table.ts";
import { scratch } from "../binary.ts";

const root = join(import.meta.dir, "../..");
const rows: Row[] = [
  {
    work: "train: english, 9 MB",
    costs: [
      { name: "bpe", seconds: 0.2, processorSeconds: 0.3, megabytes: 90 },
      { name: "tokenizers", seconds: 17.26, processorSeconds: 30, megabytes: 170 },
      { name: "gigabpe", seconds: 0.3, processorSeconds: 0.25, megabytes: 80 },
    ],
  },
  {
    work: "a line",
    costs: [
      { name: "bpe", seconds: 0.04 },
      { name: "gigatoken", seconds: 0.002 },
      { name: "tiktoken", seconds: 0.0001234 },
    ],
  },
  { work: "alone", costs: [{ name: "bpe", seconds: 1, megabytes: 7 }] },
];

test("the best of each number is bold, a faster peer has a ratio below 1, and a missing number is a dash", () => {
  expect(speedTable(rows).split("\n").slice(2)).toEqual([
    "| train: english, 9 MB | **0.2**, 0.3, 90 | gigabpe 0.3, **0.25**, **80** | 17.3, 30, 170 | 1.5 |",
    "| a line | 0.04, –, – | tiktoken **123 µs**, –, – | – | 0.0031 |",
    "| alone | 1, –, 7 | – | – |  |",
  ]);
  expect(readmeTable(rows).split("\n").slice(2)).toEqual([
    "| train on 100 MB of English | 0.2 s, 90 MB | gigabpe: 0.3 s, 80 MB | 17.3 s, 170 MB | 1.5 |",
  ]);
});

test("variants of bpe are no other tools, and bpeasy is one", () => {
  const names = ["bpe", "bpe, before", "rustbpe", "bpeasy"];
  const costs = names.map((name, i) => ({ name, seconds: 4 - i }));
  expect(
    speedTable([{ work: "train", costs }])
      .split("\n")
      .at(-1),
  ).toBe("| train | 4, –, – | bpeasy **1**, –, – | – | 0.25 |");
});

test("docs/speed.md and README have the tables of the record", () => {
  const { rows: kept } = JSON.parse(readFileSync(join(root, "bench/record/speed.json"), "utf8"));
  for (const [name, made] of [
    ["docs/speed.md", speedTable],
    ["README.md", readmeTable],
  ] as const) {
    const page = readFileSync(join(root, name), "utf8");
    expect(withTable(page, made(kept))).toBe(page);
    expect(withTable(page, made(rows))).not.toBe(page);
  }
});

test("generated DNA is the same for the same seed, has lines of 80 letters, and repeats itself", () => {
  const path = join(scratch(), "dna.txt");
  writeDna(path, 100_000);
  const text = readFileSync(path, "latin1");
  writeDna(path, 100_000);
  expect(readFileSync(path, "latin1")).toBe(text);
  expect(text.match(/^[ACGT]{80}$/gm)!.length).toBe(1250);
  const bases = text.replaceAll("\n", "");
  const pieces = Array.from({ length: 5000 }, (_, i) => bases.slice(20 * i, 20 * i + 20));
  const known = pieces.filter((piece, i) => bases.indexOf(piece) < 20 * i);
  expect(known.length).toBeGreaterThan(500);
  expect(existsSync(path)).toBe(true);
});
