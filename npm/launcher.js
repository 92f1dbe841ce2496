#!/usr/bin/env node
// The command `bpe`: starts the executable for this platform, which is in a package of its own.
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { constants } from "node:os";
import { dirname, join } from "node:path";

const require = createRequire(import.meta.url);
const platform = `${process.platform}-${process.arch}`;

/** @param {string} name */
function executableOf(name) {
  try {
    const directory = dirname(require.resolve(`${name}/package.json`));
    return join(directory, "bin", process.platform === "win32" ? "bpe.exe" : "bpe");
  } catch {
    return undefined;
  }
}

/** Whether the system's C library is musl, as Alpine's is. */
function isMusl() {
  if (process.platform !== "linux") return false;
  process.report.excludeNetwork = true;
  return process.report.getReport().header?.glibcVersionRuntime === undefined;
}

function findExecutable() {
  const [gnu, musl] = [executableOf(`bpe-${platform}`), executableOf(`bpe-${platform}-musl`)];
  // Old versions of npm install both packages, so the system's C library decides.
  return gnu !== undefined && musl !== undefined ? (isMusl() ? musl : gnu) : (gnu ?? musl);
}

const executable = findExecutable();
if (executable === undefined) {
  console.error(`bpe: error: there is no executable for ${platform}: the package bpe-${platform} is not installed
hint: install without --omit=optional (--no-optional), on the platform where it will run; there are executables for
      linux (x64, arm64; glibc and musl), darwin (x64, arm64) and win32 (x64). The library needs none.`);
  process.exit(1);
}

const program = spawn(executable, process.argv.slice(2), { stdio: "inherit" });
// Passes signals on to the program. This process ends when the program has ended.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => program.kill(signal));
program.on("error", (error) => {
  console.error(`bpe: error: "${executable}" cannot be started: ${error.message}`);
  process.exit(1);
});
program.on("exit", (code, signal) => {
  process.exit(code ?? 128 + (constants.signals[signal] ?? 0));
});
