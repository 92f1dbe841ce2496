// Builds the trainers in C++ (train.cpp): node scripts/bun.mjs bench/ladder/cpp/build.ts [output]
import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";

const compiler = process.env.CXX ?? "g++";
const flags = ["-std=c++17", "-march=native", "-Wall", "-Wextra"];
const optimization = "-O3";

/** Returns the first line of `--version` of the compiler, or undefined if there is no compiler. */
export function compilerVersion(): string | undefined {
  const { status, stdout } = spawnSync(compiler, ["--version"], { encoding: "utf8" });
  return status === 0 ? stdout.split("\n")[0]! : undefined;
}

export const compilerFlags = `${optimization} -march=native`;

/** Compiles train.cpp to `output`. The compiler's messages go to the terminal. */
export function buildCpp(output: string, level = optimization): void {
  const source = `${import.meta.dir}/train.cpp`;
  mkdirSync(dirname(output), { recursive: true });
  const { status } = spawnSync(compiler, [level, ...flags, "-o", output, source], {
    stdio: ["ignore", "inherit", "inherit"],
  });
  if (status !== 0) throw new Error(`${compiler} could not build ${source}`);
}

if (import.meta.main) {
  const output = process.argv[2] ?? `${import.meta.dir}/../../../dist/ladder-cpp`;
  if (compilerVersion() === undefined) {
    console.error(`no ${compiler} on this machine: the C++ rungs are left out`);
  } else {
    buildCpp(output);
    console.log(output);
  }
}
