/**
 * Makes small wrong changes in a copy of the sources, one at a time, and runs the tests of the module. A change that no
 * test detects (a survivor) needs a test, or a reason in explained.ts.
 *
 *   npm run suite mutants -- [--count 120] [--seed 1] [--module words,merge] [--file counts-format]
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { randomSource } from "../../../bench/random.ts";
import { type Change, changesOf } from "./changes.ts";
import { type Explained, explained } from "./explained.ts";
import { type Module, modules, ownTestOf } from "./modules.ts";

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "120" },
    seed: { type: "string", default: "1" },
    module: { type: "string" },
    file: { type: "string", default: "" },
  },
});
const root = resolve(import.meta.dir, "../../..");

/** Not mutated, because it declares types, and one constant. */
const notMutated = /page-data\.ts$/;

type Mutant = Change & { readonly file: string; readonly module: Module };

const keyOf = ({ file, before, line, changed }: Explained) =>
  [file, ...[before, line, changed].map((text) => text.trim())].join("\n");
const explanations = new Map(explained.map((entry) => [keyOf(entry), entry.why]));

const stale = explained.filter(({ file, before, line }) => {
  const lines = (tryRead(join(root, file))?.split("\n") ?? []).map((text) => text.trim());
  return !lines.some((text, i) => text === line && lines[i - 1] === before);
});
for (const { file, line } of stale) console.log(`explained, but no line of ${file} any more: ${line.trim()}`);

const residentBytesMax = 3e9;
const build = ["run", "build.ts"];
const test = ["test", "--timeout", "60000"];
/** The files that git tracks and that exist. */
const tracked = spawnSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8", maxBuffer: 1 << 28 })
  .stdout.split("\0")
  .filter((name) => name !== "" && tryRead(join(root, name)) !== undefined);
const copy = mkdtempSync(join(tmpdir(), "bpe-mutants-"));
chmodSync(copy, 0o755); // Tests that play other users must be able to enter it.
let running: ChildProcess | undefined;
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(1));
process.on("exit", () => {
  if (running !== undefined) endAll(running);
  rmSync(copy, { recursive: true, force: true });
});
copyTree();
const executables = ["bpe", "bpe-warm"].map((name) => join(copy, "dist", name));
const buildStartMs = performance.now();
if (!(await bun(build, 3_600_000))) throw new Error("the build fails without a change");
const buildLimitMs = limitAfter(buildStartMs);
for (const path of executables) copyFileSync(path, `${path}-unchanged`);
// Building a mutant overwrites dist/kernel. It is then restored from this copy, because the tests of the next mutant
// may use it without a build.
const [kernel, unchangedKernel] = [join(copy, "dist/kernel"), join(copy, "dist/kernel-unchanged")];
cpSync(kernel, unchangedKernel, { recursive: true });

type Outcome = "killed" | "explained" | "survived" | "untested";
const outcomes = new Map<Outcome, Mutant[]>();
const limitsMs = new Map<readonly string[], number | null>();
for (const mutant of choose()) {
  const outcome = explanations.has(keyOf(mutant)) ? "explained" : await play(mutant);
  outcomes.set(outcome, [...(outcomes.get(outcome) ?? []), mutant]);
  console.log(`${outcome.padEnd(9)} ${mutant.module.name.padEnd(10)} ${described(mutant)}`);
}
const countOf = (outcome: Outcome) => outcomes.get(outcome)?.length ?? 0;
console.log(
  `\n${countOf("killed")} killed, ${countOf("explained")} explained, ${countOf("survived")} survived, ${countOf("untested")} untested`,
);
for (const mutant of outcomes.get("survived") ?? []) console.log(described(mutant));
process.exit(countOf("survived") + countOf("untested") + stale.length > 0 ? 1 : 0);

function described({ file, lineIndex, line, changed }: Mutant): string {
  return `${file}:${lineIndex + 1}\n  - ${line.trim()}\n  + ${changed.trim()}`;
}

/** Picks random mutants, about equally many from each module. */
function choose(): Mutant[] {
  const random = randomSource(Number(values.seed));
  const wanted = values.module?.split(",");
  const chosenModules = modules.filter(({ name }) => wanted?.includes(name) ?? true);
  return chosenModules.flatMap((module, i) => {
    const all = tracked.flatMap((file) => {
      const sources = module.sources ?? new RegExp(`^src/${module.name}/.*\\.ts$`);
      if (!sources.test(file)) return [];
      if (notMutated.test(file) || !file.includes(values.file)) return [];
      return changesOf(readFileSync(join(root, file), "utf8")).map((change) => ({ ...change, file, module }));
    });
    const share =
      Math.floor(((i + 1) * Number(values.count)) / chosenModules.length) -
      Math.floor((i * Number(values.count)) / chosenModules.length);
    return Array.from(
      { length: Math.min(share, all.length) },
      () => all.splice(random.below(all.length), 1)[0]!,
    );
  });
}

/** Runs the tests of the module on a mutant. The outcome is "untested" if they fail even without a change. */
async function play({ file, lineIndex, changed, module }: Mutant): Promise<Outcome> {
  const path = join(copy, file);
  const original = readFileSync(path, "utf8");
  const lines = original.split("\n");
  lines[lineIndex] = changed;
  const runs = [module.tests, module.executableTests].filter((tests) => tests !== undefined);
  for (const tests of runs) {
    if (!limitsMs.has(tests)) limitsMs.set(tests, await limitOf(tests));
    if (limitsMs.get(tests) === null) return "untested";
  }
  writeFileSync(path, lines.join("\n"));
  // The test of the file itself runs first, because it detects most mutants.
  const ownTests = ownTestOf(file);
  const hasOwn = module.tests !== undefined && tryRead(join(copy, ownTests)) !== undefined;
  let isKilled = hasOwn && !(await bun([...test, "--bail", ownTests], limitsMs.get(module.tests!)!));
  for (const tests of isKilled ? [] : runs) {
    // A mutant that cannot be built counts as detected.
    if (tests === module.executableTests && !(await bun(build, buildLimitMs))) isKilled = true;
    isKilled ||= !(await bun([...test, "--bail", ...tests], limitsMs.get(tests)!));
    if (isKilled) break;
  }
  writeFileSync(path, original);
  for (const path of executables) copyFileSync(`${path}-unchanged`, path);
  cpSync(unchangedKernel, kernel, { recursive: true });
  return isKilled ? "killed" : "survived";
}

/** Returns the time limit of tests, computed from their time without a change; null if they fail even without one. */
async function limitOf(tests: readonly string[]): Promise<number | null> {
  const startMs = performance.now();
  if (!(await bun([...test, ...tests], 3_600_000))) {
    console.log(`failing without a change: ${tests.join(" ")}`);
    return null;
  }
  return limitAfter(startMs);
}

/** Returns the time limit for doing work again on a mutant. The work began at `startMs` and has just ended. */
function limitAfter(startMs: number): number {
  return 30_000 + 5 * (performance.now() - startMs);
}

/** Runs Bun. Returns whether it succeeded within the limits of time and memory. */
async function bun(args: readonly string[], timeoutMs: number): Promise<boolean> {
  const temporary = mkdtempSync(join(copy, "tmp-"));
  chmodSync(temporary, 0o755);
  const startMs = performance.now();
  const child = spawn(process.execPath, args, {
    cwd: copy,
    env: { ...process.env, TMPDIR: temporary, BPE_TEST_ROUNDS: "1" },
    stdio: "ignore",
    detached: true,
  });
  running = child;
  const watch = setInterval(() => {
    if (performance.now() - startMs > timeoutMs || residentBytes(child.pid!) > residentBytesMax)
      endAll(child);
  }, 1000);
  const code = await new Promise((resolve) => child.on("exit", resolve));
  clearInterval(watch);
  endAll(child);
  rmSync(temporary, { recursive: true, force: true });
  return code === 0;
}

/** Returns the resident memory of all processes of a session, in bytes. */
function residentBytes(session: number): number {
  const { stdout } = spawnSync("ps", ["-o", "rss=", "-s", String(session)], { encoding: "utf8" });
  return stdout.split("\n").reduce((sum, kilobytes) => sum + 1024 * Number(kilobytes), 0);
}

function endAll({ pid }: ChildProcess): void {
  try {
    process.kill(-pid!, "SIGKILL");
  } catch {}
}

function copyTree(): void {
  for (const name of tracked) {
    mkdirSync(dirname(join(copy, name)), { recursive: true });
    copyFileSync(join(root, name), join(copy, name));
  }
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
}

function tryRead(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
