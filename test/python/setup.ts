// Makes a Python environment in dist/python, with the wheel of dist/bpe and the packages that it is compared with.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { distributionName, makeWheel } from "../../scripts/release/wheel.ts";

const root = resolve(import.meta.dir, "../..");
const home = join(root, "dist/python");
const packages = [
  "numpy==2.4.6",
  "tiktoken==0.14.0",
  "tokenizers==0.23.3",
  "transformers==5.23.0",
  "jinja2==3.1.6",
  "datasets==5.2.0",
  "mypy==2.4.1",
  "sentencepiece==0.2.3",
];

/** Written last: an installation that was interrupted begins anew. */
const stampPath = join(home, "stamp");
const stamp = createHash("sha256").update(JSON.stringify(packages)).digest("hex");

function run(program: string, ...args: string[]): void {
  const { status, error } = spawnSync(program, args, { stdio: ["ignore", "ignore", "inherit"] });
  if (status !== 0)
    throw new Error(`${program} ${args.join(" ")}: ${error?.message ?? `exit code ${status}`}`);
}

const python = join(home, "bin/python");
if (!existsSync(stampPath) || readFileSync(stampPath, "utf8") !== stamp) {
  rmSync(home, { recursive: true, force: true });
  console.error(`installing ${packages.join(", ")} into ${home}`);
  run("python3", "-m", "venv", home);
  run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...packages);
  writeFileSync(stampPath, stamp);
}

const machine = process.arch === "arm64" ? "aarch64" : "x86_64";
const wheel = makeWheel({
  root,
  executable: readFileSync(join(root, "dist/bpe")),
  // As wide as a wheel of Linux can say: this one never leaves this machine.
  platform: `linux_${machine}`,
  notice: "",
  shellFiles: [],
  seconds: 1_000_000_000,
});
const wheels = join(home, "wheels");
mkdirSync(wheels, { recursive: true });
writeFileSync(join(wheels, wheel.name), wheel.bytes);
run(
  python,
  "-m",
  "pip",
  "install",
  "--quiet",
  "--disable-pip-version-check",
  "--no-index",
  "--force-reinstall",
  "--no-deps",
  join(wheels, wheel.name),
);
console.log(`installed ${distributionName} into ${home}`);
