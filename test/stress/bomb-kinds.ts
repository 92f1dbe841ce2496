import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, loadavg } from "node:os";
import { join } from "node:path";
import {
  bombCodecs,
  unitOf,
  writeDictionaryBomb,
  writeFooterBomb,
  writePacked,
  writePageBomb,
  writeParts,
  writeSharedBomb,
  writeTokenizerBomb,
} from "./bombs.ts";
import { oneOf, type Random } from "./jobs.ts";
import type { Kind } from "./kind.ts";
import { met, must, type Outcome, skipped, tooLate } from "./outcome.ts";
import { type Ended, mustEndWell, start } from "./process.ts";
import type { World } from "./world.ts";

// Inputs that take long or fill the memory, and caches that cannot be written.

const words = unitOf("some words, some");
const letters = unitOf("a");
const megabytes = 300;
const bytes = (text: string) => Buffer.from(text);
const line = { first: bytes('{"text":"'), unit: words, unitCount: megabytes, last: bytes('"}\n') };
const oneWord = { first: bytes("a"), unit: letters, unitCount: megabytes };

/** Functions that write corpora, by the name of the file. */
const bombs: Readonly<Record<string, (path: string) => void>> = {
  ...Object.fromEntries(
    bombCodecs.map((codec) => [
      `${codec}.parquet`,
      (path: string) => void writePageBomb(path, codec, words, megabytes),
    ]),
  ),
  "dictionary.parquet": (path) => void writeDictionaryBomb(path, words, megabytes, 2),
  "shared.parquet": (path) => void writeSharedBomb(path, words.subarray(0, 30_000), 10_000),
  "footer.parquet": (path) => void writeFooterBomb(path, 400_000),
  "line.jsonl.gz": (path) => void writePacked(path, "gzip", line),
  "line.jsonl.zst": (path) => void writePacked(path, "zstd", line),
  "line.jsonl": (path) => void writeParts(path, [line.first, ...Array(megabytes).fill(words), line.last]),
  "word.txt.gz": (path) => void writePacked(path, "gzip", oneWord),
  "word.txt.zst": (path) => void writePacked(path, "zstd", oneWord),
  "word.txt": (path) => void writeParts(path, Array(megabytes).fill(letters)),
};
const tokenizerBomb = "tokenizer.json";

/** Returns the path of an input. Writes it on first use. */
function bomb(world: World, name: string): string {
  const directory = join(world.root, "bombs");
  mkdirSync(directory, { recursive: true });
  const path = join(directory, name);
  if (existsSync(path)) return path;
  if (name === tokenizerBomb) writeTokenizerBomb(path, 500_000);
  else bombs[name]!(path);
  return path;
}

const hangMs = 60_000;

const signals = { SIGTERM: 143, SIGINT: 130, SIGHUP: 129 } as const;

/** Returns a random command with an input that may keep it from handling signals. */
function slowArguments(world: World, random: Random): readonly string[] {
  const input = bomb(world, oneOf(random, Object.keys(bombs)));
  const workers = ["-w", oneOf(random, ["1", "2"])];
  const tokenizer = ["--tokenizer", join(world.root, "old")];
  const text = world.input("new.txt");
  const ids = join(world.root, "oldIds.npy");
  return oneOf<readonly string[]>(random, [
    ["count", input, ...workers, "-o", "sum.counts"],
    ["train", input, ...workers, "-n", "300", "-o", "bombed"],
    ["encode", input, ...workers, ...tokenizer, "-o", "ids.npy"],
    ["plan", input, "-o", "plan.jsonl"],
    ["inspect", bomb(world, tokenizerBomb)],
    ["encode", text, "--tokenizer", bomb(world, tokenizerBomb), "-o", "ids.npy"],
    ["decode", ids, "--tokenizer", bomb(world, tokenizerBomb), "-o", "text"],
    ["count", text, "-p", "(?=(a+)+\\b!)a|(?s:.)", ...workers, "-o", "sum.counts"],
  ]);
}

/** How many milliseconds a process's main thread has waited for a processor; null if the system does not tell. */
function waitedMs(pid: number): number | null {
  try {
    return Number(readFileSync(`/proc/${pid}/schedstat`, "latin1").split(" ")[1]) / 1e6;
  } catch {
    return null;
  }
}

/** The maximum time until a signal ends a run, in milliseconds. */
const stopMsMax = 200;
/** Additional time in milliseconds, in which the system releases the run's memory: about 0.1 s per gigabyte. */
const takingBackMs = 300;
export let slowestSlowStopMs = 0;
/** A signal is sent after at most about this time, which adapts to earlier runs. */
let slowMs = 800;

async function signalInSlowStage(world: World, random: Random): Promise<Outcome> {
  if (waitedMs(process.pid) === null) return skipped("the system does not tell how long a thread waited");
  world.layOutOld();
  const args = slowArguments(world, random);
  const signal = oneOf(random, Object.keys(signals) as (keyof typeof signals)[]);
  const { child, ended } = start(args, { ...world.options, hangMs });
  let end: Ended | undefined;
  void ended.then((value) => {
    end = value;
  });
  const instantMs = 40 + random.unit() * slowMs;
  await Bun.sleep(instantMs);
  const before = waitedMs(child.pid);
  if (end !== undefined || before === null) return tooLate;
  const sentMs = performance.now();
  child.kill(signal);
  let waited = before;
  while (end === undefined) {
    waited = waitedMs(child.pid) ?? waited;
    await Bun.sleep(2);
  }
  const tookMs = performance.now() - sentMs - (waited - before);
  end = await ended;
  // The run had not begun, or it had already ended.
  if (end.signal === signal || end.code === 0 || end.code === 1) return tooLate;
  slowMs += (1.5 * instantMs - slowMs) / 8;
  const shown = args.join(" ");
  must(end.code === signals[signal], () => `${shown}: ${signal} gave exit ${end!.code}: ${end!.stderr}`);
  slowestSlowStopMs = Math.max(slowestSlowStopMs, tookMs);
  // On a busy machine, the other threads also have to wait for a processor before they can end. `waited` does not
  // include that, so the limit grows with the load.
  const busyness = Math.max(1, loadavg()[0]! / availableParallelism());
  must(
    tookMs < (stopMsMax + takingBackMs) * busyness,
    () => `${shown}: ${signal} took ${Math.round(tookMs)} ms`,
  );
  for (const name of ["sum.counts", "bombed", "plan.jsonl", "text"])
    must(!existsSync(join(world.work, name)), () => `${shown}: ${name} is there after ${signal}`);
  world.mustBeTidy();
  return met;
}

/** A run succeeds if its cache is read-only or full, but fails if it cannot be created. */
async function cacheWithoutRoom(world: World, random: Random): Promise<Outcome> {
  world.layOutOld();
  const device = join(world.root, "cache-device");
  mkdirSync(device, { recursive: true });
  const isMounted = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=2m", "bpe-cache", device]).success;
  if (!isMounted) return skipped("no file system can be mounted here");
  try {
    const input = world.input(oneOf(random, ["new.txt", "new.jsonl", "new.txt.gz"]));
    const cache = join(device, "cache");
    const args = ["train", input, "-n", "2000", "-s", "<|endoftext|>", "-o", "out", "--cache", cache];
    const workers = ["-w", oneOf(random, ["1", "2"])];
    const how = oneOf(random, ["read-only, empty", "read-only, filled", "full", "nearly full"]);
    if (how !== "read-only, empty") {
      mustEndWell(await start([...args.slice(0, -3), "first", ...args.slice(-2)], world.options).ended);
      rmSync(join(world.work, "first"), { recursive: true, force: true });
    }
    if (how.startsWith("read-only")) Bun.spawnSync(["mount", "-o", "remount,ro", device]);
    else {
      rmSync(cache, { recursive: true, force: true });
      fill(join(device, "filling"), how === "full" ? 0 : 100_000);
    }
    const { ended } = start([...args, ...workers, "--if-changed"], { ...world.options, hangMs });
    const end = await ended;
    mustEndWell(end);
    if (how === "read-only, empty") {
      must(end.code === 1 && end.stderr.includes(cache), () => `it cannot be made there: ${end.stderr}`);
      return met;
    }
    must(end.code === 0, () => `a cache on a device that is ${how} ended the run: ${end.stderr}`);
    must(world.standing().out === "new", () => `the old result is there; cache ${how}: ${end.stderr}`);
    world.mustBeTidy();
    return met;
  } finally {
    Bun.spawnSync(["umount", device]);
  }
}

/** Fills the device except for `leftBytes`. */
function fill(path: string, leftBytes: number): void {
  const spare = `${path}-spare`;
  if (leftBytes > 0) writeFileSync(spare, new Uint8Array(leftBytes));
  try {
    for (;;) writeFileSync(path, new Uint8Array(1 << 12), { flag: "a" });
  } catch {}
  rmSync(spare, { force: true });
}

export const bombKinds: readonly Kind[] = [
  { name: "signal while a bomb is read", wantedCount: 80, trial: signalInSlowStage },
  { name: "cache read-only or full", wantedCount: 40, trial: cacheWithoutRoom },
];
