// `npm run suite NAME [-- ARGUMENTS]`: runs tests that `npm test` leaves out, or regenerates files. Without a name,
// lists the suites.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));

const npm = (name, ...args) => ["npm", "run", "--silent", name, ...(args.length > 0 ? ["--", ...args] : [])];
const bun = (path, ...args) => ["node", "scripts/bun.mjs", "run", path, ...args];
/** Returns the command that runs files of tests that `npm test` does not find by their names. */
const tests = (paths, ...options) => [
  ...["node", "scripts/bun.mjs", "test", ...options],
  ...paths.map((path) => `./test/${path}`),
];
const build = npm("build");
const buildBothScales = npm("build", "--small-scale");
const core = { BPE_TEST_CORE: "1" };
const python = [
  build,
  bun("test/python/setup.ts"),
  tests(["python/suite.ts"], "--timeout", "600000", "--max-concurrency", "2"),
];

/** For each suite, by name: a description, its commands, and their environment variables. */
const suites = {
  long: [
    "random tests, twenty times as many rounds",
    [buildBothScales, ["node", "scripts/test.mjs", "--long"]],
  ],
  golden: ["858 command lines against frozen answers", [build, bun("test/golden/run.ts")]],
  npm: [
    "the npm package, in a project of its own",
    [build, npm("suite", "npm-package"), tests(["npm/suite.ts"], "--timeout", "120000")],
  ],
  python: ["the Python package", python],
  "python-core": ["the part of it that CI runs", python, core],
  "python-faults": [
    "random faults of the Python package",
    [build, bun("test/python/setup.ts"), ["./dist/python/bin/python", "test/python/fault_injection.py"]],
  ],
  others: [
    "the test suites of other projects, such as tiktoken and vLLM",
    [build, bun("test/python/setup.ts"), bun("test/oracles/suites/run.ts")],
  ],
  native: ["the core in C under sanitizers", [buildBothScales, bun("test/native/fault-injection.ts")]],
  real: [
    "published tokenizers",
    [
      bun("test/oracles/real/setup.ts"),
      build,
      tests(
        ["encode", "in-process", "fingerprint", "doctor", "convert", "truncate"].map(
          (name) => `oracles/real/${name}.ts`,
        ),
      ),
    ],
  ],
  trainers: [
    "other trainers",
    [
      build,
      bun("test/oracles/trainers/setup.ts"),
      tests(["oracles/trainers/suite.ts"], "--timeout", "600000"),
    ],
  ],
  spark: [
    "words counted by Spark",
    [["./test/oracles/spark/setup"], build, tests(["oracles/spark/train.ts"])],
  ],
  pages: [
    "pages in Chromium",
    [
      build,
      bun("test/pages/setup.ts"),
      tests(
        ["pages/browser.ts", "pages/languages.ts", "playground/page.ts", "playground/browser-library.ts"],
        "--timeout",
        "60000",
      ),
    ],
  ],
  shells: [
    "completions in bash, zsh and fish",
    [bun("test/shells/setup.ts"), build, tests(["shells/suite.ts"], "--timeout", "60000")],
  ],
  windows: [
    "the program for Windows, under Wine",
    [build, bun("test/windows/setup.ts"), tests(["windows/suite.ts"], "--timeout", "120000")],
  ],
  paths: ["odd paths in every option", [build, bun("test/stress/odd-paths.ts")]],
  memory: ["every command under --memory-limit", [build, bun("test/stress/memory.ts")]],
  faults: ["random faults: kills, full disks, damaged files", [build, bun("test/stress/fault-injection.ts")]],
  sessions: [
    "sessions, segments and canonical ids of random tokenizers, against their definitions",
    [bun("test/stress/sessions.ts")],
  ],
  trainings: [
    "500 random trainings of each rule, by two executables",
    [buildBothScales, bun("test/stress/trainings.ts")],
  ],
  mutants: [
    "small wrong changes of the sources, which tests have to notice",
    [bun("test/stress/mutants/run.ts")],
  ],
  release: ["the archives of a release", [npm("release"), bun("scripts/release/test.ts")]],
  nightly: ["suites that are too slow for CI, or need other programs", [["node", "scripts/nightly.mjs"]]],
  "npm-package": ["makes the npm package in dist/npm", [bun("scripts/npm/build.ts")]],
  playground: ["makes dist/playground/playground.html", [build, bun("scripts/playground.ts")]],
  options: [
    "makes docs/options.md, and what is generated of the options",
    [bun("scripts/generate-options.ts")],
  ],
  examples: ["writes the outputs of the examples of pages", [build, bun("test/docs/write-outputs.ts")]],
  pictures: [
    "makes the pictures of docs/",
    [
      build,
      bun("test/pages/setup.ts"),
      bun("bench/languages/compare.ts"),
      npm("suite", "playground"),
      bun("test/playground/write-pictures.ts"),
    ],
  ],
  api: [
    "makes the reference of the library in dist/api",
    [
      ["npm", "ci", "--prefix", "scripts/npm/tools", "--ignore-scripts", "--silent"],
      ["node", "scripts/npm/tools/node_modules/typedoc/bin/typedoc", "--options", "npm/typedoc.json"],
    ],
  ],
};

const [name, ...args] = process.argv.slice(2);
if (name === undefined || !Object.hasOwn(suites, name)) {
  if (name !== undefined) console.error(`there is no suite ${name}\n`);
  for (const [name, [what]] of Object.entries(suites)) console.log(`${name.padEnd(14)} ${what}`);
  process.exit(name === undefined ? 0 : 1);
}

const [, commands, variables = {}] = suites[name];
for (const [i, [command, ...own]] of commands.entries()) {
  const { status, error } = spawnSync(command, i === commands.length - 1 ? [...own, ...args] : own, {
    cwd: root,
    env: { ...process.env, ...variables },
    stdio: "inherit",
  });
  if (error !== undefined) console.error(`${command}: ${error.message}`);
  if (status !== 0) process.exit(status ?? 1);
}
