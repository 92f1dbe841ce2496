import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { hiddenPath } from "../hidden-name.ts";
import { giveAway, makePipe } from "../other-user.ts";
import { anyJob, oneOf, type Random } from "./jobs.ts";
import type { Kind } from "./kind.ts";
import { met, must, type Outcome, skipped, tooLate } from "./outcome.ts";
import { type Ended, mustEndWell, run, start } from "./process.ts";
import { copyDirectory, trainOptions, type World } from "./world.ts";

const isRoot = process.geteuid?.() === 0;

/** The time in milliseconds after which a run counts as hung. */
const hangMs = 10_000;

/** A file that attacks aim at, and its directory. No run may change them. */
class Victim {
  readonly file: string;
  readonly directory: string;

  constructor(world: World) {
    this.directory = join(world.root, "victim");
    this.file = join(this.directory, "training.json");
    rmSync(this.directory, { recursive: true, force: true });
    mkdirSync(this.directory);
    writeFileSync(this.file, '{"files": ["training.json"]}');
  }

  mustBeWhole(): void {
    must(`${readdirSync(this.directory)}` === "training.json", () => "a link was followed to a directory");
    must(
      readFileSync(this.file, "utf8") === '{"files": ["training.json"]}',
      () => "a link was followed to a file",
    );
  }
}

type Plant = (path: string, victim: Victim) => void;

/** For each kind of entry, a function that makes one at a path that `bpe` uses. */
const plants: Record<string, Plant> = {
  pipe: (path) => void makePipe(path),
  "link to a file": (path, { file }) => symlinkSync(file, path),
  "link to a directory": (path, { directory }) => symlinkSync(directory, path),
  "link to nothing": (path) => symlinkSync(join(path, "nothing"), path),
  directory: (path) => mkdirSync(path),
  "false result": (path, { directory }) => copyDirectory(directory, path),
  "false file": (path) => writeFileSync(path, '{"release": 1, "fd": 0}'),
};

/** Returns a random path that `bpe` may use: next to outputs, in the cache, or for temporary files. */
function namesOfOurs(world: World, random: Random): string {
  const [out, ids, cache] = [
    join(world.work, "out"),
    join(world.work, "ids.npy"),
    join(world.work, "cache"),
  ] as const;
  const cached = readdirSync(cache);
  return oneOf(random, [
    join(world.work, ".out.bpe-lock"),
    join(world.work, ".ids.npy.bpe-lock"),
    join(world.work, "log"),
    hiddenPath(oneOf(random, [out, ids]), oneOf(random, ["new", "old", "keep-01234567"])),
    join(world.work, "out.20990101T000000Z"),
    join(cache, "bpe-index"),
    join(cache, oneOf(random, cached)),
    join(cache, ".bpe-abcdef"),
    join(world.temporary, ".bpe-abcdef"),
  ]);
}

/**
 * Puts an entry, of another user if possible, at a path that `bpe` uses. Checks that a run does not wait for the entry,
 * follow it or trust it.
 */
async function planted(world: World, random: Random): Promise<Outcome> {
  world.layOutOld();
  const victim = new Victim(world);
  await fillCache(world);
  const path = namesOfOurs(world, random);
  rmSync(path, { recursive: true, force: true });
  const name = oneOf(random, Object.keys(plants));
  plants[name]!(path, victim);
  if (isRoot) giveAway(path);
  const mode = oneOf(random, [0o775, 0o777, 0o1777]);
  const shared = [world.work, world.temporary, join(world.work, "cache")];
  for (const directory of shared) chmodSync(directory, mode);
  const before = lstatSync(path, { throwIfNoEntry: false })?.ino;
  const { args: given, stdin } = anyJob(world, random);
  const encodes = given[0] === "encode";
  const takesCache = given[0] === "train" && !given.includes("--cache");
  const args = [...given, ...(takesCache ? ["--cache", "cache"] : [])];
  try {
    const ended = await run(args, { ...world.options, stdin, hangMs });
    const where = `${name} at ${path}, mode ${mode.toString(8)}: ${ended.stderr}`;
    mustEndWell(ended);
    victim.mustBeWhole();
    const { out, ids } = world.standing(where);
    const standing = encodes ? ids : out;
    must(
      (ended.code === 0) === (standing === "new"),
      () => `exit ${ended.code}, and the ${standing} result; ${where}`,
    );
    must(ended.code === 0 || ended.stderr.includes(basename(path)), () => `it is not named; ${where}`);
    must((statSync(join(world.work, "out")).mode & 0o7000) === 0, () => `setuid or the like; ${where}`);
    const isLeftOver = /\.(new|old|keep-\w+)$/.test(path);
    const ino = lstatSync(path, { throwIfNoEntry: false })?.ino;
    must(!isRoot || !isLeftOver || ino === before, () => `another user's was touched; ${where}`);
  } finally {
    rmSync(path, { recursive: true, force: true });
    for (const directory of shared) chmodSync(directory, 0o755);
  }
  await world.mustWorkAgain(args, stdin);
  return met;
}

/** Fills the cache. The first call runs a training; later calls copy the cache that it left. */
async function fillCache(world: World): Promise<void> {
  const filled = join(world.root, "filled-cache");
  const cache = join(world.work, "cache");
  if (!existsSync(filled)) {
    const args = [
      "train",
      world.input("new.txt"),
      ...trainOptions,
      "-o",
      "filling",
      "--cache",
      "cache",
      "-q",
    ];
    const ended = await run(args, world.options);
    must(ended.code === 0, () => `an undisturbed run failed: ${ended.stderr}`);
    copyDirectory(cache, filled);
    rmSync(join(world.work, "filling"), { recursive: true });
    rmSync(cache, { recursive: true });
  }
  copyDirectory(filled, cache);
}

const permissions = [0o4755, 0o2775, 0o1777, 0o7777, 0o6600];

/**
 * Gives the old outputs setuid, setgid or sticky bits. Checks that the new outputs have none of these bits, and no
 * permissions that the old ones lacked.
 */
async function lentRights(world: World, random: Random): Promise<Outcome> {
  world.layOutOld();
  const [out, ids] = [join(world.work, "out"), join(world.work, "ids.npy")];
  const mode = oneOf(random, permissions);
  if (isRoot && random.below(2) === 0) giveAway(out, ids);
  for (const path of [out, ids]) chmodSync(path, mode);
  const encodes = random.below(2) === 0;
  const args = encodes
    ? ["encode", world.input("new.txt"), "--tokenizer", join(world.root, "old"), "-w", "1", "-o", "ids.npy"]
    : ["train", world.input("new.txt"), ...trainOptions, "-w", "1", "-o", "out"];
  await world.mustWorkAgain(args);
  const given = statSync(encodes ? ids : out).mode & 0o7777;
  must((given & ~(mode & 0o777)) === 0, () => `${mode.toString(8)} became ${given.toString(8)}`);
  return met;
}

const runsAtOnce = 10;
const isRefused = ({ code, stderr }: Ended) => code === 1 && stderr.includes("is being written by");

/**
 * Runs start at once with the same output, and some may be killed. With --wait, the rest must succeed; without it, a
 * run may also be refused because another one is writing.
 */
async function race(world: World, random: Random): Promise<Outcome> {
  world.layOutOld();
  const input = world.input("small.txt");
  if (!existsSync(input)) writeFileSync(input, "the cat sat on the mat, and that is that. ".repeat(200));
  const parent = join(world.work, "deep");
  rmSync(parent, { recursive: true, force: true });
  const waits = random.below(2) === 0;
  const args = ["train", input, "-n", "270", "-w", "1", "-o", "deep/er/out", ...(waits ? ["--wait"] : [])];
  if (random.below(3) === 0) args.push("--cache", "cache");
  if (random.below(3) === 0) args.push("--keep", "2");
  const runs = Array.from({ length: runsAtOnce }, () => start(args, world.options));
  const kills = random.below(2) === 0 ? [] : runs.slice(0, 1 + random.below(4));
  for (const { child } of kills) void Bun.sleep(random.unit() * 300).then(() => child.kill("SIGKILL"));
  const ends = await Promise.all(runs.map(({ ended }) => ended));
  for (const ended of ends) {
    if (ended.signal === "SIGKILL") continue;
    mustEndWell(ended);
    must(ended.code === 0 || (!waits && isRefused(ended)), () => `a false failure: ${ended.stderr}`);
  }
  const isAnyWhole = ends.some(({ code }) => code === 0);
  must(isAnyWhole || kills.length > 0, () => "none of them succeeded");
  const last = await run([...args, ...(waits ? [] : ["--wait"])], world.options);
  must(last.code === 0, () => `the next run failed: ${last.stderr}`);
  const strays = readdirSync(join(parent, "er")).filter(
    (name) => !/^out(\.\d{8}T\d{6}Z(-\d+)?)?$/.test(name),
  );
  must(strays.length === 0, () => `left next to the output: ${strays.join(", ")}`);
  rmSync(parent, { recursive: true });
  return met;
}

const clocks = [
  "1970-01-01T00:00:00.000Z",
  "2001-09-09T01:46:40.000Z",
  "2038-01-19T03:14:07.000Z",
  "+020000-01-01",
];

/** Runs with wrong clocks. Checks that --keep keeps the results with the latest start times in their records. */
async function wrongClock(world: World, random: Random): Promise<Outcome> {
  world.clear();
  const input = world.input("new.txt");
  const out = join(world.work, "out");
  const record = join(out, "training.json");
  let wanted: { readonly startedSecond: number; readonly n: number; readonly inode: number }[] = [];
  for (let n = 0; n < 6; n++) {
    if (n > 0) {
      const { startedAt } = JSON.parse(readFileSync(record, "utf8"));
      // If the record of a result has no valid time, the modification time of the record counts instead.
      const isTime = /^\d{4}-/.test(startedAt);
      const startedSecond = isTime ? Date.parse(startedAt) : statSync(record).mtimeMs;
      wanted.push({ startedSecond: Math.floor(startedSecond / 1000), n, inode: statSync(out).ino });
      wanted = wanted.sort((a, b) => b.startedSecond - a.startedSecond || b.n - a.n).slice(0, 2);
    }
    const ended = await run(
      ["train", input, "-n", "300", "-w", "1", "-o", "out", "--keep", "2"],
      world.options,
    );
    must(ended.code === 0, () => `run ${n} failed: ${ended.stderr}`);
    if (random.below(2) === 0) setClock(record, oneOf(random, clocks));
    const names = readdirSync(world.work).filter((name) => name.startsWith("out."));
    const kept = names.map((name) => statSync(join(world.work, name)).ino);
    const inodes = wanted.map(({ inode }) => inode);
    must(`${kept.sort()}` === `${inodes.sort()}`, () => `after run ${n} there are ${names.join(", ")}`);
  }
  return met;
}

/** Changes a record as if the result had been made at this time. */
function setClock(recordPath: string, time: string): void {
  const text = readFileSync(recordPath, "utf8");
  writeFileSync(recordPath, text.replace(/"startedAt": ".*"/, `"startedAt": "${time}"`));
  const seconds = Math.min(Date.parse(time) / 1000 || 0, 2 ** 31);
  utimesSync(recordPath, seconds, seconds);
}

/**
 * Two runs in separate process namespaces share a cache and a directory for temporary files. Checks that the first,
 * which is stopped during the second, finds its files unchanged when it resumes.
 */
async function twoNamespaces(world: World, random: Random): Promise<Outcome> {
  const canUnshare = Bun.spawnSync(["unshare", "--pid", "--uts", "--fork", "--mount-proc", "true"]).success;
  if (!canUnshare) return skipped("no namespaces can be made here");
  world.layOutOld();
  const input = world.input("new.txt");
  const named = (name: string) => ["sh", "-c", 'hostname "$0" && exec "$@"', name];
  const cached = ["--cache", "cache", ...trainOptions];
  const first = start(["train", input, ...cached, "-w", "2", "-o", "out"], {
    ...world.options,
    wrapper: ["unshare", "--uts", ...named("first")],
  });
  let hasEnded = false;
  void first.ended.finally(() => {
    hasEnded = true;
  });
  const isAtWork = () =>
    [world.temporary, join(world.work, "cache")].some(
      (path) => existsSync(path) && readdirSync(path).some((name) => name.startsWith(".bpe-")),
    );
  while (!hasEnded && !isAtWork()) await Bun.sleep(1);
  await Bun.sleep(random.unit() * 20);
  first.child.kill("SIGSTOP");
  const wrapper = [
    "unshare",
    "--pid",
    "--uts",
    "--fork",
    "--mount-proc",
    ...named(oneOf(random, ["first", "second"])),
  ];
  const second = await run(["train", input, ...cached, "-w", "2", "-o", "another"], {
    ...world.options,
    wrapper,
  });
  const refused = await run(["train", input, ...cached, "-o", "out"], { ...world.options, wrapper });
  first.child.kill("SIGCONT");
  const ended = await first.ended;
  must(second.code === 0, () => `the second failed: ${second.stderr}`);
  must(ended.code === 0, () => `the first lost something: ${ended.stderr}`);
  must(!/warning/.test(ended.stderr), () => `the first lost something: ${ended.stderr}`);
  must(world.standing().out === "new", () => "the first reported success, but the old result is there");
  rmSync(join(world.work, "another"), { recursive: true });
  world.mustBeTidy();
  if (!isRefused(refused)) {
    must(refused.code === 0, () => `a run after the first failed: ${refused.stderr}`);
    return tooLate;
  }
  return met;
}

export const hostileKinds: readonly Kind[] = [
  { name: "planted pipe, link, file or directory", wantedCount: 400, trial: planted },
  { name: "setuid, setgid or sticky output", wantedCount: 40, trial: lentRights },
  { name: "ten runs at once, some killed", wantedCount: 100, trial: race },
  { name: "wrong clock", wantedCount: 20, trial: wrongClock },
  { name: "two namespaces, one cache", wantedCount: 20, trial: twoNamespaces },
];
