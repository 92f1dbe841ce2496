import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as planFile from "../../src/corpus/plan-file.ts";
import { npyHead } from "../../src/ids/id-writers.ts";
import { oneOf, type Random } from "./jobs.ts";
import type { Kind } from "./kind.ts";
import { mutateJson, mutateNpy, readTokenizerFile, tokenizerFiles } from "./mutate.ts";
import {
  mutateCounts,
  mutateEntry,
  mutateIndex,
  mutateResult,
  mutateSum,
  mutateTsv,
} from "./mutate-words.ts";
import { met, must, type Outcome } from "./outcome.ts";
import { mustEndWell, start } from "./process.ts";
import type { World } from "./world.ts";

// Runs `bpe` on well-formed files with wild values. It must read each file, or refuse it with an error, quickly and
// with little memory.

const hangMs = 10_000;
/**
 * The most memory that a run may take. A good run takes less than 100 MB, unless a table has an entry for each id up to
 * 2^24.
 */
const memoryBytesMax = 500_000_000;

async function mustBeReadOrRefused(args: readonly string[], world: World): Promise<Outcome> {
  const { child, ended } = start(args, { ...world.options, hangMs });
  const { code, ...end } = await ended;
  // If a mutant lacks a setting, `bpe` may ask for it on the command line with exit code 2. That is as good as a
  // refusal, whose exit code is 1.
  mustEndWell({ ...end, code: code === 2 ? 1 : code });
  must(!/undefined|NaN [kMG]?B|\[object/.test(end.stderr), () => `an odd message: ${end.stderr}`);
  const peakBytes = child.resourceUsage()?.maxRSS ?? 0;
  must(peakBytes < memoryBytesMax, () => `${args.join(" ")} took ${Math.round(peakBytes / 1e6)} MB`);
  world.mustBeTidy();
  return met;
}

/** Returns an empty directory for mutants. */
function newDirectory(world: World): string {
  const directory = join(world.inputs, "mutants");
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory);
  return directory;
}

async function mutatedTokenizer(world: World, random: Random): Promise<Outcome> {
  world.layOutOld();
  const old = join(world.root, "old");
  const { name, loadedBy, companions, mutate } = oneOf(random, tokenizerFiles);
  const directory = newDirectory(world);
  for (const other of companions) writeFileSync(join(directory, other), readTokenizerFile(old, other));
  writeFileSync(join(directory, name), mutate(readTokenizerFile(old, name), random));
  const text = join(directory, "text");
  writeFileSync(text, "Some words, 漢字 é<|endoftext|> 12\n");
  const tokenizer = join(directory, loadedBy);
  const args = oneOf(random, [
    ["inspect", tokenizer],
    ["encode", text, "--tokenizer", tokenizer],
  ]);
  return mustBeReadOrRefused(args, world);
}

async function mutatedIds(world: World, random: Random): Promise<Outcome> {
  world.layOutOld();
  const path = join(newDirectory(world), "ids.npy");
  const ids = new Uint8Array(Uint16Array.from({ length: 500 }, (_, i) => i).buffer);
  writeFileSync(path, mutateNpy(Buffer.concat([npyHead("uint16", 500), ids]), random));
  return mustBeReadOrRefused(["decode", path, "--tokenizer", join(world.root, "old")], world);
}

/**
 * Mutates a line of a plan. In half of the trials, the line then gets the digest of its new content, as if another
 * program had written it.
 */
async function mutatedPlan(world: World, random: Random): Promise<Outcome> {
  world.layOutOld();
  const path = join(newDirectory(world), "plan.jsonl");
  const { ended } = start(
    ["plan", world.input("new.txt"), world.input("new.jsonl"), "--range-size", "200KB", "-o", path],
    world.options,
  );
  mustEndWell(await ended);
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  const at = random.below(lines.length);
  lines[at] = mutateJson(lines[at]!, random);
  if (random.below(2) === 0) lines[at] = withDigest(lines[at]!);
  writeFileSync(path, lines.join("\n"));
  return mustBeReadOrRefused(["count", "--ranges", path, "-w", "1"], world);
}

/** Mutates word counts, in compact form or in text form. */
async function mutatedCounts(world: World, random: Random): Promise<Outcome> {
  world.layOutOld();
  const directory = newDirectory(world);
  const pristine = join(directory, "words");
  const path = oneOf(random, [`${pristine}.counts`, `${pristine}.tsv`]);
  mustEndWell(await start(["count", world.input("new.txt"), "-o", path], world.options).ended);
  const file = readFileSync(path);
  writeFileSync(
    path,
    path.endsWith(".tsv") ? mutateTsv(file.toString(), random) : mutateCounts(file, random),
  );
  const args = oneOf(random, [["train", "-n", "400"], ["count"]]);
  const output = join(directory, args[0] === "train" ? "out" : "sum.counts");
  return mustBeReadOrRefused([...args, "--counts", path, "-o", output, "-w", "1"], world);
}

const cacheMutations = [
  [".words", mutateEntry],
  [".sum", mutateSum],
  [".result", mutateResult],
  ["bpe-index", mutateIndex],
] as const;

/** Mutates a file of the cache, which must never make a run fail. */
async function mutatedCache(world: World, random: Random): Promise<Outcome> {
  world.layOutOld();
  const cached = (...inputs: string[]) => [
    "train",
    ...inputs.map((name) => world.input(name)),
    "-n",
    "400",
    "-w",
    "1",
    "-o",
    "out",
    "--cache",
    "cache",
    "--if-changed",
  ];
  mustEndWell(await start(cached("new.txt", "old.txt"), world.options).ended);
  const directory = join(world.work, "cache");
  const [kind, mutate] = oneOf(random, cacheMutations);
  const path = join(
    directory,
    oneOf(
      random,
      readdirSync(directory).filter((name) => name.endsWith(kind)),
    ),
  );
  writeFileSync(path, mutate(readFileSync(path), random));
  const args = oneOf(random, [
    cached("new.txt", "old.txt"),
    cached("new.txt"),
    cached("old.txt", "new.jsonl"),
  ]);
  const { ended } = start(args, { ...world.options, hangMs });
  const { code, stderr } = await ended;
  must(code === 0, () => `a file of the cache ended the run: ${stderr}`);
  must(!/undefined|NaN [kMG]?B|\[object/.test(stderr), () => `an odd message: ${stderr}`);
  return met;
}

/** Returns the line with its correct digest if the line is JSON, otherwise the line itself. */
export function withDigest(json: string): string {
  try {
    const line = JSON.parse(json) as planFile.Line;
    return JSON.stringify({ ...line, digest: planFile.digestLine(line) });
  } catch {
    return json;
  }
}

export const mutantKinds: readonly Kind[] = [
  { name: "tokenizer with wild values", wantedCount: 300, trial: mutatedTokenizer },
  { name: "ids (.npy) with a wild head", wantedCount: 100, trial: mutatedIds },
  { name: "plan with wild values", wantedCount: 100, trial: mutatedPlan },
  { name: "word counts with wild values", wantedCount: 100, trial: mutatedCounts },
  { name: "cache with wild values", wantedCount: 100, trial: mutatedCache },
];
