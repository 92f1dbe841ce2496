// Checks types and style, and runs all tests; or only those whose path has one of the given words:
//
//   node scripts/test.mjs [--long] [--small-scale] [WORD...]
//
// --long runs only the random tests, with more rounds, and the tests of the command line, with a process for each of
// its calls.
// --small-scale runs only the files in `atSmallScale`, with every size tiny. Other options are passed to Bun.
//
// Each test file runs in its own process, because tests that make many memories would be slower after other files. Each
// also gets its own temporary directory, which it has to leave empty.
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** A test that takes longer hangs: none takes this long, even on a busy machine. */
const hangMs = 600_000;
const jobCount = 2;
/** The end of the name of a job that runs a file at small scale. */
const smallScale = " at small scale";
/** What `--long` changes: twenty times the rounds of `npm test`, and a process for each command line. */
const longVariables = { BPE_TEST_ROUNDS: "4", BPE_TEST_PROCESSES: "1" };

/**
 * Turns off the engine's fast WebAssembly memories, because the engine collects all garbage before it makes more than a
 * few of them. A test file that makes hundreds of memories takes half as long without them.
 */
const manyMemories = { BUN_JSC_useWasmFastMemory: "0" };

const root = fileURLToPath(new URL("..", import.meta.url));
const args = process.argv.slice(2);
const isLong = args.includes("--long");
const isSmallOnly = args.includes("--small-scale");
const flags = args.filter((arg) => arg.startsWith("-") && arg !== "--long" && arg !== "--small-scale");
const words = args.filter((arg) => !arg.startsWith("-")).map((word) => word.replace(/^\.\//, ""));
const files = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })
  .map((name) => `test/${name}`)
  .filter((name) => name.endsWith(".test.ts"))
  .filter((name) => words.length === 0 || words.some((word) => name.includes(word)))
  .filter((name) => !isLong || /\/(rounds|binary)\.ts"/.test(readFileSync(join(root, name), "utf8")))
  // Tests of modules come first, and those of the command line near the end.
  .sort()
  .reverse();
if (files.length === 0) {
  console.error(`no tests in ${words.join(", ")}`);
  process.exit(1);
}
/** Files that also run at small scale. */
const atSmallScale = [
  "test/browser.",
  "test/corpus/given-texts",
  "test/unit/corpus/records/",
  "test/unit/words/mapped-files",
  "test/unit/merge/",
  "test/native/core",
  "test/unit/training/train.",
  "test/unit/training/learn-superwords",
  "test/unit/training/late-merges",
  "test/unit/corpus/task-texts",
  "test/unit/evaluation/text-words",
  "test/unit/formats/character-json",
  "test/unit/formats/sentencepiece-model",
  "test/unit/library/text-session",
  "test/unit/library/tokenizer-memory",
  "test/unit/text/added-tokens",
  "test/unit/text/edges",
  "test/unit/text/last-character",
  "test/unit/text/normaliz",
  "test/unit/text/pretokens",
  "test/unit/text/sections",
  "test/unit/text/special-token-finder",
  "test/unit/text/cut-windows",
  "test/unit/encode/canonical-ids",
  "test/unit/tokenizer/merge.",
  "test/unit/tokenizer/model-of-ranks",
  "test/unit/tokenizer/never-merged",
  "test/unit/tokenizer/offsets",
  "test/unit/library/text-cuts",
  "test/unit/tokenizer/text-encoding",
  "test/unit/tokenizer/token-decoder",
  "test/unit/tokenizer/whole-tokens",
  "test/unit/words/counts-file.",
  "test/unit/words/sort",
  "test/unit/words/tsv",
  "test/unit/words/word-counter",
]
  .flatMap((start) => files.filter((name) => name.startsWith(start)))
  .map((name) => `${name}${smallScale}`);
/** Scripts of package.json that check the whole tree. They run as jobs, like the test files. */
const checks = words.length === 0 && !isLong && !isSmallOnly ? ["typecheck", "lint"] : [];

const findBun = [join(root, "scripts/bun.mjs"), "-e", "console.log(process.execPath)"];
const bun = spawnSync(process.execPath, findBun, { encoding: "utf8" }).stdout.trim();
const temporary = mkdtempSync(join(tmpdir(), "bpe-tests-"));
chmodSync(temporary, 0o755); // For tests that act as other users.

/** Running process groups: each has a file's process and everything that it started. */
const running = new Set();
let stoppedBy;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    stoppedBy = signal;
    for (const { pid } of running) process.kill(-pid, signal);
  });
}

/** Runs a file or a check. Returns the numbers of passed and failed tests, and the output to show if any failed. */
async function play(name, index) {
  const directory = join(temporary, String(index));
  mkdirSync(directory);
  const isCheck = checks.includes(name);
  const file = name.replace(smallScale, "");
  const define = file === name ? [] : ["--define", "BPE_SMALL_SCALE=true"];
  const [program, args] = isCheck
    ? ["npm", ["run", "--silent", name]]
    : [bun, ["test", "--only-failures", "--timeout", String(hangMs), ...define, ...flags, `./${file}`]];
  const child = spawn(program, args, {
    cwd: root,
    env: { ...process.env, TMPDIR: directory, ...(isLong ? longVariables : manyMemories) },
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
  });
  running.add(child);
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
  }
  const [code, signal] = await new Promise((resolve) => child.on("close", (...result) => resolve(result)));
  running.delete(child);
  const told = (what) =>
    Number([...output.matchAll(new RegExp(`^ *(\\d+) ${what}$`, "gm"))].at(-1)?.[1] ?? 0);
  const left = readdirSync(directory);
  const hasFailed = code !== 0 || (!isCheck && !/^ *\d+ pass$/m.test(output)) || left.length > 0;
  const notes = [
    // Drops Bun's header and summary, because the numbers of all files are added up.
    output
      .replace(/^bun test v.*$/m, "")
      .replace(/^ *\d+ pass$[\s\S]*?^Ran .*$/m, "")
      .replaceAll(`${file}:\n`, ""),
    ...(signal === null ? [] : [`ended by ${signal}`]),
    ...(left.length === 0 ? [] : [`left in the temporary directory: ${left.join(", ")}`]),
  ];
  return {
    heading: `${name}:`,
    notes: notes.map((note) => note.trim()).filter((note) => note !== ""),
    hasFailed,
    pass: isCheck ? Number(!hasFailed) : told("pass"),
    // A file that did not run to its end has failed, regardless of its tests.
    fail: Math.max(told("fail"), Number(hasFailed)),
  };
}

const jobs = [...checks, ...(isSmallOnly ? [] : files), ...atSmallScale];
console.error(
  `${[...checks, `${jobs.length - checks.length} files of tests`].join(", ")}; ${jobCount} at a time, a dot is one that passed:`,
);
const results = [];
const waiting = jobs.entries();
async function playSome() {
  for (const [index, name] of waiting) {
    if (stoppedBy !== undefined) return;
    const result = await play(name, index);
    results.push(result);
    process.stderr.write(result.hasFailed ? "F" : ".");
  }
}
await Promise.all(Array.from({ length: jobCount }, playSome));
rmSync(temporary, { recursive: true, force: true });

process.stderr.write("\n");
for (const { heading, notes } of results.filter(({ hasFailed }) => hasFailed)) {
  console.log(["", heading, ...notes].join("\n"));
}
const sum = (what) => results.reduce((total, result) => total + result[what], 0);
console.log(`\n ${sum("pass")} pass\n ${sum("fail")} fail\n in ${results.length} of ${jobs.length} files`);
// Does not end the process, because the output of a failed file may still be on its way into a pipe.
process.exitCode = results.length < jobs.length || results.some(({ hasFailed }) => hasFailed) ? 1 : 0;
