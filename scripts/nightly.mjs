// `npm run suite nightly`: tests that are too slow for CI, or need more than npm provides. Names select suites:
//
//   npm run suite nightly [-- spark real]
//
// The suites' output is in dist/nightly.
import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const logs = join(root, "dist/nightly");

/** The seed of random tests: the number of days since 1970. */
const seed = String(Math.floor(Date.now() / 86_400_000));
/** Names of suites in scripts/suite.mjs, with their arguments. */
const suites = [
  ["long"],
  ["python"],
  ["others"],
  ["npm"],
  ["native", "--seed", seed],
  ["real"],
  ["spark"],
  ["trainers"],
  ["pages"],
  ["shells"],
  ["windows"],
  ["paths"],
  ["memory"],
  ["faults", "--seed", seed, "--share", "0.2"],
  ["python-faults", "--seed", seed, "--rounds", "200"],
  ["sessions", "--seed", seed],
  ["trainings", "--seed", seed],
  ["mutants", "--seed", seed, "--count", "40"],
];

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !suites.some(([suite]) => suite === name));
if (unknown.length > 0) {
  console.error(
    `no suite of the night: ${unknown.join(", ")}; there are ${suites.map(([name]) => name).join(", ")}`,
  );
  process.exit(1);
}

/** Runs a suite. If it prints no numbers of tests, the suite itself counts as one test. */
function run([name, ...args]) {
  const path = join(logs, `${name}.log`);
  const log = openSync(path, "w");
  const startMs = performance.now();
  const { status } = spawnSync("npm", ["run", "--silent", "suite", name, "--", ...args], {
    cwd: root,
    // The variable is for test/cli/both-scales.test.ts, in the suite `long`.
    env: { ...process.env, BPE_SCALES_SEED: seed },
    stdio: ["ignore", log, log],
  });
  closeSync(log);
  const told = (what) =>
    [...readFileSync(path, "utf8").matchAll(new RegExp(`^ *(\\d+) ${what}$`, "gm"))].reduce(
      (sum, [, count]) => sum + Number(count),
      0,
    );
  const isWhole = status === 0;
  const passed = told("pass") || Number(isWhole);
  const failed = Math.max(told("fail"), Number(!isWhole));
  const seconds = Math.round((performance.now() - startMs) / 1000);
  const where = failed > 0 ? `, see ${path}` : "";
  console.log(`${name.padEnd(20)} ${passed} passed, ${failed} failed, ${seconds} s${where}`);
  return { passed, failed };
}

mkdirSync(logs, { recursive: true });
const results = suites.filter(([name]) => wanted.length === 0 || wanted.includes(name)).map(run);
const sum = (what) => results.reduce((total, result) => total + result[what], 0);
console.log(`${sum("passed")} passed, ${sum("failed")} failed`);
process.exit(sum("failed") > 0 ? 1 : 0);
