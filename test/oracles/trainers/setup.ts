// Makes dist/trainers, a Python environment with the programs that read files of ids. PyTorch and its libraries take
// some GB.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const home = resolve(import.meta.dir, "../../../dist/trainers");
const packages = [
  "numpy==2.4.6",
  "pyarrow==26.0.1",
  "datasets==5.2.0",
  "duckdb==2.0.1",
  "datatrove==0.10.1",
  "tokenizers==0.23.3",
  "ai2-olmo-core==3.0.0",
  "megatron-core==0.16.1",
  "torch==2.13.0",
];
/** Written last, so that an interrupted installation starts over. */
const stampPath = join(home, "stamp");
const stamp = createHash("sha256").update(JSON.stringify(packages)).digest("hex");

function run(program: string, ...args: string[]): void {
  const { status, error } = spawnSync(program, args, { stdio: ["ignore", "ignore", "inherit"] });
  if (status !== 0)
    throw new Error(`${program} ${args.join(" ")}: ${error?.message ?? `exit code ${status}`}`);
}

if (!existsSync(stampPath) || readFileSync(stampPath, "utf8") !== stamp) {
  rmSync(home, { recursive: true, force: true });
  console.error(`installing ${packages.join(", ")} into ${home}`);
  run("python3", "-m", "venv", home);
  const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"];
  run(join(home, "bin/python"), ...pip, ...packages);
  writeFileSync(stampPath, stamp);
}
