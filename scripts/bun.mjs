// Runs the pinned Bun with the given arguments: `node scripts/bun.mjs test`.
//
// If install scripts are disabled, the binary is only in the package of the platform. So the package of the platform is
// searched first.
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const modules = join(fileURLToPath(new URL("..", import.meta.url)), "node_modules");
const smallestBinarySizeBytes = 1 << 20; // the package's placeholder for the binary has a few hundred bytes

function candidates() {
  const scope = join(modules, "@oven");
  const platform = `bun-${process.platform === "win32" ? "windows" : process.platform}-${process.arch === "arm64" ? "aarch64" : process.arch}`;
  const packages = existsSync(scope) ? readdirSync(scope).filter((name) => name.startsWith(platform)) : [];
  return [
    ...packages.flatMap((name) => [join(scope, name, "bin", "bun"), join(scope, name, "bin", "bun.exe")]),
    join(modules, "bun", "bin", "bun.exe"),
  ];
}

const works = (path) =>
  existsSync(path) &&
  statSync(path).size > smallestBinarySizeBytes &&
  spawnSync(path, ["--revision"], { stdio: "ignore" }).status === 0;

const bun = candidates().find(works);
if (bun === undefined) {
  console.error("scripts/bun.mjs: no Bun for this platform in node_modules; run `npm ci` first");
  process.exit(1);
}
const { status, signal } = spawnSync(bun, process.argv.slice(2), { stdio: "inherit" });
if (signal !== null) process.kill(process.pid, signal);
process.exit(status ?? 1);
