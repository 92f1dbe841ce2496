import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Random } from "./jobs.ts";
import type { Kind } from "./kind.ts";
import { met, must, type Outcome, skipped, tooLate } from "./outcome.ts";
import { mustEndWell, run, start } from "./process.ts";
import type { World } from "./world.ts";

// Faults while encoding into shards, and while joining parts into shards. Repeating the command must resume it, and
// give the same bytes as an undisturbed run.

const formats = ["megatron", "olmo", "datatrove", "parquet", "llmc"] as const;

/** A command line that writes `shards/c*`, with the files of an undisturbed run and its time in milliseconds. */
type Sharded = {
  readonly args: readonly string[];
  readonly wanted: ReadonlyMap<string, Buffer>;
  readonly quietMs: number;
};

const known = new WeakMap<World, Map<string, Sharded>>();

const filesIn = (directory: string) =>
  new Map(
    readdirSync(directory)
      .sort()
      .map((name) => [name, readFileSync(join(directory, name))]),
  );

/** Makes a plan, and encodes a third of it into each of three parts, as three machines would. */
async function makeParts(world: World, tokenizer: string): Promise<void> {
  const home = join(world.root, "parts");
  if (existsSync(home)) return;
  mkdirSync(home);
  const runWell = async (...args: string[]) => {
    const ended = await run(args, { ...world.options, cwd: home });
    must(ended.code === 0, () => `an undisturbed run failed: ${ended.stderr}`);
  };
  await runWell(
    "plan",
    ...inputsOf(world),
    "--tokenizer",
    tokenizer,
    "--range-size",
    "100KB",
    "-o",
    "plan.jsonl",
  );
  const lines = readFileSync(join(home, "plan.jsonl"), "utf8").trimEnd().split("\n");
  const size = Math.ceil(lines.length / 3);
  for (const n of [0, 1, 2]) {
    writeFileSync(join(home, `slice${n}`), `${lines.slice(n * size, (n + 1) * size).join("\n")}\n`);
    const part = ["--tokenizer", tokenizer, "-w", "1", "--ids-format", "part", "-o", `p${n}`];
    await runWell("encode", "--ranges", `slice${n}`, ...part);
  }
}

const inputsOf = (world: World) => ["new.txt", "new.jsonl"].map((name) => world.input(name));

async function shardedBy(world: World, random: Random): Promise<Sharded> {
  const format = formats[random.below(formats.length)]!;
  const joins = random.below(3) === 0;
  const tokenizer = join(world.root, "old");
  const parts = join(world.root, "parts");
  const encoding = [
    "encode",
    ...inputsOf(world),
    "--tokenizer",
    tokenizer,
    "-w",
    random.below(2) ? "1" : "2",
  ];
  const joining = [
    "ids",
    "join",
    ...[2, 0, 1].map((n) => join(parts, `p${n}.json`)),
    "--plan",
    join(parts, "plan.jsonl"),
  ];
  const args = [
    ...(joins ? joining : encoding),
    "-o",
    "shards/c",
    "--ids-format",
    format,
    "--shard-size",
    "30000",
  ];
  const commands = known.get(world) ?? new Map<string, Sharded>();
  known.set(world, commands);
  const before = commands.get(args.join(" "));
  if (before !== undefined) return before;
  if (joins) await makeParts(world, tokenizer);
  layOut(world);
  const ended = await run(args, world.options);
  must(ended.code === 0, () => `an undisturbed run failed: ${ended.stderr}`);
  const wanted = filesIn(join(world.work, "shards"));
  must(wanted.size > 6, () => `only ${[...wanted.keys()].join(", ")}`);
  const sharded = { args, wanted, quietMs: ended.elapsedMs };
  commands.set(args.join(" "), sharded);
  return sharded;
}

function layOut(world: World): void {
  world.clear();
  mkdirSync(join(world.work, "shards"));
}

/** Checks that repeating the command gives the same bytes as an undisturbed run, and leaves no other files. */
async function mustGoOn(world: World, { args, wanted }: Sharded): Promise<void> {
  const ended = await run(args, world.options);
  mustEndWell(ended);
  must(ended.code === 0, () => `the next run failed: ${ended.stderr}`);
  const found = filesIn(join(world.work, "shards"));
  must(`${[...found.keys()]}` === `${[...wanted.keys()]}`, () => `there are ${[...found.keys()].join(", ")}`);
  for (const [name, bytes] of found)
    must(bytes.equals(wanted.get(name)!), () => `${name} is not as a quiet run writes it: ${args.join(" ")}`);
  must(
    readdirSync(world.temporary).length === 0,
    () => "something is left in the directory for temporary files",
  );
}

/** Kills the run up to four times, then repeats it undisturbed. */
async function killed(world: World, random: Random): Promise<Outcome> {
  const sharded = await shardedBy(world, random);
  layOut(world);
  let kills = 0;
  for (let n = 0; n < 4; n++) {
    const { child, ended } = start(sharded.args, world.options);
    await Bun.sleep((0.2 + random.unit()) * sharded.quietMs);
    child.kill("SIGKILL");
    const end = await ended;
    if (end.signal !== "SIGKILL") {
      mustEndWell(end);
      break;
    }
    kills++;
  }
  await mustGoOn(world, sharded);
  return kills > 0 ? met : tooLate;
}

/**
 * Runs with little space on the disk. If the disk becomes full, the error must say so, and the same command must resume
 * once there is space.
 */
async function full(world: World, random: Random): Promise<Outcome> {
  if (!world.isOnDevice) return skipped("no small file system can be mounted here");
  const sharded = await shardedBy(world, random);
  layOut(world);
  const filler = join(world.work, "..", "filler");
  const sizeBytes = [...sharded.wanted.values()].reduce((sum, { length }) => sum + length, 0);
  const { bavail, bsize } = statfsSync(world.work);
  writeFileSync(filler, Buffer.alloc(Math.max(0, bavail * bsize - random.below(sizeBytes))));
  let isFull: boolean;
  try {
    const ended = await run(sharded.args, world.options);
    mustEndWell(ended);
    isFull = ended.code === 1;
    must(!isFull || /no space|disk/i.test(ended.stderr), () => `the error does not say why: ${ended.stderr}`);
  } finally {
    rmSync(filler);
  }
  await mustGoOn(world, sharded);
  return isFull ? met : tooLate;
}

/**
 * Flips a bit in one of the written files. Checks that a run refuses the file with an error that names it, and that a
 * run with --if-changed replaces the file.
 */
async function damaged(world: World, random: Random): Promise<Outcome> {
  const sharded = await shardedBy(world, random);
  layOut(world);
  must((await run(sharded.args, world.options)).code === 0, () => "an undisturbed run failed");
  const names = [...sharded.wanted.keys()];
  const name = names[random.below(names.length)]!;
  const path = join(world.work, "shards", name);
  const bytes = readFileSync(path);
  bytes[random.below(bytes.length)]! ^= 1 << random.below(8);
  writeFileSync(path, bytes);
  const ended = await run(sharded.args, world.options);
  mustEndWell(ended);
  must(ended.code === 1 && ended.stderr.includes(name), () => `not refused by name: ${ended.stderr}`);
  await mustGoOn(world, { ...sharded, args: [...sharded.args, "--if-changed"] });
  return met;
}

export const shardKinds: readonly Kind[] = [
  { name: "SIGKILL while shards are written", wantedCount: 200, trial: killed },
  { name: "disk full while shards are written", wantedCount: 30, trial: full },
  { name: "a flipped bit in shards", wantedCount: 100, trial: damaged },
];
