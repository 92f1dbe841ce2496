import {
  chmodSync,
  chownSync,
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statfsSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { bombKinds } from "./bomb-kinds.ts";
import { hostileKinds } from "./hostile-kinds.ts";
import { anyJob, type Job, type Random, trainJob } from "./jobs.ts";
import type { Kind } from "./kind.ts";
import { mutantKinds } from "./mutant-kinds.ts";
import { met, must, type Outcome, skipped, tooLate } from "./outcome.ts";
import { type Ended, mustEndWell, type RunOptions, run, start } from "./process.ts";
import { shardKinds } from "./shard-kinds.ts";
import { manyWords } from "./text.ts";
import { copyDirectory, trainOptions, type World } from "./world.ts";

/** The estimated milliseconds of an undisturbed run: a moving average over runs that succeeded before their signal. */
let jobMs = 300;

/**
 * Waits for a random time: in three of five trials from the start of the run, in the others from the moment at which
 * the run creates its first hidden file or directory that is no lock.
 */
async function waitForInstant(world: World, random: Random, hasEnded: () => boolean): Promise<void> {
  if (random.below(5) < 3) return void (await Bun.sleep(random.unit() * jobMs * 1.2));
  const isWriting = () =>
    [...readdirSync(world.work), ...readdirSync(world.temporary)].some((name) => /^\.(?!.*lock$)/.test(name));
  while (!hasEnded() && !isWriting()) await Bun.sleep(1);
  await Bun.sleep(random.unit() * 30);
}

async function signalled(
  world: World,
  random: Random,
  signal: "SIGKILL" | "SIGTERM",
): Promise<[Job, Ended, number]> {
  world.layOutOld();
  const job = anyJob(world, random);
  const { child, ended } = start(job.args, { ...world.options, stdin: job.stdin });
  let hasEnded = false;
  void ended.finally(() => {
    hasEnded = true;
  });
  await waitForInstant(world, random, () => hasEnded);
  const sentMs = performance.now();
  child.kill(signal);
  const end = await ended;
  if (end.code === 0) jobMs += (end.elapsedMs - jobMs) / 8;
  return [job, end, performance.now() - sentMs];
}

async function kill(world: World, random: Random): Promise<Outcome> {
  const [job, ended] = await signalled(world, random, "SIGKILL");
  world.standing();
  if (ended.signal !== "SIGKILL") {
    mustEndWell(ended);
    return tooLate;
  }
  await world.mustWorkAgain(job.args, job.stdin);
  if (job.args.includes("--keep")) world.mustHaveKeptOld();
  return met;
}

const spillArgs = ["-w", "1", "--memory-limit", "130MB", "--save-counts", "words.counts"];

/**
 * Kills a run that has written words to disk because memory is short. Checks that the next run removes these files, and
 * counts correctly.
 */
async function killSpilling(world: World, random: Random): Promise<Outcome> {
  world.layOutOld();
  const input = world.input("many.txt");
  const whole = join(world.root, "whole.counts");
  if (!existsSync(whole)) {
    writeFileSync(input, manyWords(1, 600_000));
    const ended = await run(["count", input, "-w", "1", "--save-counts", whole], world.options);
    must(ended.code === 0, () => `an undisturbed run failed: ${ended.stderr}`);
  }
  const args = ["count", input, ...spillArgs];
  const { child, ended } = start(args, world.options);
  let hasEnded = false;
  void ended.finally(() => {
    hasEnded = true;
  });
  while (!hasEnded && readdirSync(world.temporary).length === 0) await Bun.sleep(1);
  await Bun.sleep(random.unit() * 2 * jobMs);
  child.kill("SIGKILL");
  if ((await ended).signal !== "SIGKILL") return tooLate;
  must(
    readdirSync(world.temporary).length > 0 || existsSync(join(world.work, "words.counts")),
    () => "nothing spilled",
  );
  const again = await run(args, world.options);
  must(again.code === 0, () => `the next run failed: ${again.stderr}`);
  must(
    readFileSync(join(world.work, "words.counts")).equals(readFileSync(whole)),
    () => "the words are not the same",
  );
  world.mustBeTidy();
  return met;
}

/**
 * The most milliseconds between a signal and the end of a run. The manual promises some 0.1 s, but scheduling may take
 * far longer on a loaded machine.
 */
const stopMsMax = 3000;
export let slowestStopMs = 0;

async function terminate(world: World, random: Random): Promise<Outcome> {
  const [job, ended, stopMs] = await signalled(world, random, "SIGTERM");
  world.standing();
  // Before the program has installed its handler, the signal itself ends it.
  if (ended.signal !== "SIGTERM" && ended.code !== 143) {
    mustEndWell(ended);
    return tooLate;
  }
  slowestStopMs = Math.max(slowestStopMs, stopMs);
  must(stopMs < stopMsMax, () => `it took ${Math.round(stopMs)} ms to stop`);
  world.mustBeTidy();
  await world.mustWorkAgain(job.args, job.stdin);
  return met;
}

/**
 * Checks a run that met a fault, or ended before it: either it reports an error and the old result remains, or it
 * succeeds.
 */
async function mustEndEitherWay(world: World, job: Job, ended: Ended): Promise<Outcome> {
  mustEndWell(ended);
  const { out, ids } = world.standing(`${job.args.join(" ")} ended with ${ended.code}: ${ended.stderr}`);
  const standing = job.args[0] === "encode" ? ids : out;
  must(ended.code !== 0 || standing === "new", () => "success was reported, but the old result is there");
  must(
    ended.code !== 1 || standing === "old",
    () => `failure was reported, but the new result is there: ${ended.stderr}`,
  );
  return ended.code === 1 ? met : tooLate;
}

/** The approximate number of bytes that a run writes: its result, words and cache. */
const writtenBytes = 2_000_000;

async function diskFull(world: World, random: Random): Promise<Outcome> {
  if (!world.isOnDevice) return skipped("no small file system can be mounted here");
  world.layOutOld();
  const job = anyJob(world, random);
  const filler = join(world.work, "..", "filler");
  const { bavail, bsize } = statfsSync(world.work);
  const leftBytes = random.below(writtenBytes);
  writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - leftBytes)));
  let outcome: Outcome;
  try {
    const ended = await run(job.args, { ...world.options, stdin: job.stdin });
    outcome = await mustEndEitherWay(world, job, ended);
    if (outcome === tooLate && ended.stderr.includes("warning")) outcome = met;
  } finally {
    rmSync(filler);
  }
  if (outcome === met) await world.mustWorkAgain(job.args, job.stdin);
  return outcome;
}

/** Runs with a limit on the size of files. */
async function fileTooLarge(world: World, random: Random): Promise<Outcome> {
  if (Bun.which("prlimit") === null) return skipped("no prlimit");
  world.layOutOld();
  const job = anyJob(world, random);
  const wrapper = ["prlimit", `--fsize=${random.below(writtenBytes / 8)}`];
  const ended = await run(job.args, { ...world.options, stdin: job.stdin, wrapper });
  let outcome = await mustEndEitherWay(world, job, ended);
  if (outcome === tooLate && ended.stderr.includes("warning")) outcome = met;
  if (outcome === met) await world.mustWorkAgain(job.args, job.stdin);
  return outcome;
}

function hasOpen(pid: number, path: string): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`) === path;
      } catch {
        return false;
      }
    });
  } catch {
    return false;
  }
}

const changes: Record<string, (path: string, random: Random) => void> = {
  truncated: (path, random) => truncateSync(path, random.below(readFileSync(path).length)),
  replaced: (path, random) => {
    writeFileSync(`${path}.new`, readFileSync(path).subarray(random.below(1000)));
    renameSync(`${path}.new`, path);
  },
  removed: (path) => unlinkSync(path),
};

async function inputChanged(world: World, random: Random): Promise<Outcome> {
  world.layOutOld();
  const job = trainJob(world, random, ["txt", "gz", "zst", "jsonl", "parquet"]);
  const path = job.args[1]!;
  const { child, ended } = start(job.args, world.options);
  let hasEnded = false;
  void ended.finally(() => {
    hasEnded = true;
  });
  while (!hasEnded && !hasOpen(child.pid, path)) await Bun.sleep(0.5);
  if (random.below(2) === 0) await Bun.sleep(random.unit() * jobMs * 0.5);
  try {
    const names = Object.keys(changes);
    changes[names[random.below(names.length)]!]!(path, random);
    const outcome = await mustEndEitherWay(world, job, await ended);
    if (outcome === met) world.mustBeTidy();
    world.layOutInputs();
    if (outcome === met) await world.mustWorkAgain(job.args);
    return outcome;
  } finally {
    world.layOutInputs();
  }
}

function flipBit(path: string, random: Random): void {
  const bytes = readFileSync(path);
  bytes[random.below(bytes.length)]! ^= 1 << random.below(8);
  writeFileSync(path, bytes);
}

/** Flips a bit in a file of the cache, and checks that a run with this cache gives the right result. */
async function damagedCache(world: World, random: Random): Promise<Outcome> {
  const args = ["train", world.input("new.txt"), ...trainOptions, "-w", "1", "-o", "out", "--cache", "cache"];
  const pristine = join(world.root, "pristine-cache");
  world.layOutOld();
  if (!existsSync(pristine)) {
    await world.mustWorkAgain(args);
    copyDirectory(join(world.work, "cache"), pristine);
    world.layOutOld();
  }
  copyDirectory(pristine, join(world.work, "cache"));
  const names = readdirSync(pristine);
  flipBit(join(world.work, "cache", names[random.below(names.length)]!), random);
  await world.mustWorkAgain(args);
  return met;
}

/** Flips a bit of a counts file. A run must refuse the file, or give the right result if the bit does not matter. */
async function damagedCounts(world: World, random: Random): Promise<Outcome> {
  const pristine = join(world.root, "pristine.counts");
  world.layOutOld();
  const args = [...trainOptions, "-w", "1", "-o", "out"];
  if (!existsSync(pristine)) {
    await world.mustWorkAgain(["train", world.input("new.txt"), ...args, "--save-counts", "words.counts"]);
    writeFileSync(pristine, readFileSync(join(world.work, "words.counts")));
    world.layOutOld();
  }
  const path = join(world.work, "words.counts");
  writeFileSync(path, readFileSync(pristine));
  flipBit(path, random);
  const job = { args: ["train", ...args, "--counts", path] };
  await mustEndEitherWay(world, job, await run(job.args, world.options));
  world.mustBeTidy();
  return met;
}

/**
 * Truncates a compressed file or a Parquet file. Reading it must be an error, unless what is left is a complete file.
 */
async function cutShort(world: World, random: Random): Promise<Outcome> {
  world.layOutOld();
  const names = ["new.txt.gz", "new.txt.zst", "new.parquet"].filter((name) => existsSync(world.input(name)));
  const name = names[random.below(names.length)]!;
  const path = join(world.inputs, `cut-${name}`);
  const bytes = readFileSync(world.input(name));
  const sizeBytes = 1 + random.below(bytes.length - 1);
  writeFileSync(path, bytes.subarray(0, sizeBytes));
  // If a compressed file is cut between two gzip members or zstd frames, what is left is a valid file.
  if (world.wholeSizes.includes(sizeBytes)) return tooLate;
  const ended = await run(["train", path, ...trainOptions, "-w", "1", "-o", "out"], world.options);
  mustEndWell(ended);
  must(ended.code === 1, () => `${name} cut at ${sizeBytes} of ${bytes.length} was trained on`);
  must(world.standing().out === "old", () => "a failed run replaced the result");
  world.mustBeTidy();
  return met;
}

const heads: Record<string, readonly number[]> = {
  "noise.txt": [],
  "noise.txt.gz": [0x1f, 0x8b, 0x08],
  "noise.txt.zst": [0x28, 0xb5, 0x2f, 0xfd],
  "noise.jsonl": [],
  "noise.parquet": [0x50, 0x41, 0x52, 0x31],
};

/**
 * Trains on random bytes in a file named like some format. In half of the trials, the bytes begin with the format's
 * first bytes, if it has any.
 */
async function noise(world: World, random: Random): Promise<Outcome> {
  world.layOutOld();
  const names = Object.keys(heads);
  const name = names[random.below(names.length)]!;
  const bytes = Buffer.alloc(1 << 20);
  for (let at = 0; at < bytes.length; at += 4) bytes.writeUInt32LE(random.below(2 ** 32), at);
  if (random.below(2) === 0) bytes.set(heads[name]!);
  const path = join(world.inputs, name);
  writeFileSync(path, bytes);
  const ended = await run(["train", path, ...trainOptions, "-w", "1", "-o", "noise"], world.options);
  mustEndWell(ended);
  must(
    ended.code === 1 || existsSync(join(world.work, "noise", "training.json")),
    () => "success without a result",
  );
  rmSync(join(world.work, "noise"), { recursive: true, force: true });
  world.standing();
  world.mustBeTidy();
  return met;
}

const nobody = 65534;

/**
 * Removes write permission while a run works. The run works as another user, because permissions do not apply to root.
 */
async function permissionLost(world: World, random: Random): Promise<Outcome> {
  if (process.getuid?.() !== 0 || Bun.which("setpriv") === null) return skipped("needs root, and setpriv");
  world.layOutOld();
  giveTo(world.root, nobody);
  try {
    const job = trainJob(world, random);
    const wrapper = ["setpriv", `--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups"];
    const options: RunOptions = { ...world.options, stdin: job.stdin, wrapper };
    if ((await run(["--version"], options)).code !== 0)
      return skipped("another user cannot run the binary here");
    const { ended } = start(job.args, options);
    await Bun.sleep(random.unit() * jobMs);
    chmodSync(world.work, 0o555);
    const outcome = await mustEndEitherWay(world, job, await ended).finally(() =>
      chmodSync(world.work, 0o755),
    );
    if (outcome === met) {
      const again = await run(job.args, options);
      mustEndWell(again);
      must(again.code === 0 && world.standing().out === "new", () => `the next run failed: ${again.stderr}`);
      world.mustBeTidy();
    }
    return outcome;
  } finally {
    giveTo(world.root, 0);
  }
}

function giveTo(path: string, uid: number): void {
  chownSync(path, uid, uid);
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    const inner = join(path, entry.name);
    if (entry.isDirectory()) giveTo(inner, uid);
    else chownSync(inner, uid, uid);
  }
}

export const kinds: readonly Kind[] = [
  { name: "SIGKILL at any instant", wantedCount: 200, trial: kill },
  { name: "SIGKILL while words are on disk", wantedCount: 20, trial: killSpilling },
  { name: "SIGTERM at any instant", wantedCount: 50, trial: terminate },
  { name: "disk full", wantedCount: 40, trial: diskFull },
  { name: "file too large", wantedCount: 20, trial: fileTooLarge },
  { name: "input truncated, replaced or removed", wantedCount: 40, trial: inputChanged },
  { name: "bit flipped in the cache", wantedCount: 500, trial: damagedCache },
  { name: "bit flipped in word counts", wantedCount: 500, trial: damagedCounts },
  { name: "compressed input cut short", wantedCount: 60, trial: cutShort },
  { name: "random bytes as input", wantedCount: 20, trial: noise },
  { name: "permission lost", wantedCount: 10, trial: permissionLost },
  ...shardKinds,
  ...hostileKinds,
  ...mutantKinds,
  ...bombKinds,
];
