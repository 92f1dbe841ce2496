// The native parts of a release, built with zig: the module of Python's wheel, and the C library.
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { compile, compileParts, libraryParts, pythonParts } from "../native/build.ts";
import { libraryFormat } from "./executable-format.ts";
import { run } from "./run.ts";
import type { Target } from "./targets.ts";

const root = resolve(import.meta.dir, "../..");
const tools = join(root, "scripts/release/tools");
const home = join(root, "dist/release-tools/zig");
/** zig keeps what it compiles, such as parts of C libraries, in the directory that these variables name. */
const caches = ["ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"].map((name) => `${name}=${home}-cache`);
/** Without this variable, a DLL contains the time of linking. */
const noTime = "SOURCE_DATE_EPOCH=0";
const zig = ["env", ...caches, noTime, join(home, "ziglang/zig")];
const runZig = (...args: readonly string[]) => run(zig[0]!, [...zig.slice(1), ...args]);

/** Installs zig as scripts/release/tools/requirements.txt pins it, unless it is there. */
export function installZig(): void {
  const pinned = readFileSync(join(tools, "requirements.txt"), "utf8");
  const stamp = join(home, "requirements.txt");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === pinned) return;
  rmSync(home, { recursive: true, force: true });
  const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile", "--no-deps"];
  const pinning = ["--require-hashes", "--only-binary=:all:", "-r", join(tools, "requirements.txt")];
  run("python3", [...pip, ...pinning, "--target", home]);
  writeFileSync(stamp, pinned);
}

/**
 * Builds the native files for a target: the module, the shared library with the files for linking, and the static
 * library.
 */
export async function buildNative(target: Target, directory: string) {
  const { names, linking, zigTarget } = target.native;
  mkdirSync(directory, { recursive: true });
  // -s is needed, because with `-g0` alone, objects for Windows contain the name of a temporary file.
  const flags = ["-target", zigTarget, "-g0", "-s", "-fno-sanitize=undefined"];
  if (target.format.machine === "x64") flags.push("-mssse3");
  const isForWindows = target.format.kind === "PE";
  // Without this flag, a DLL exports every function.
  if (isForWindows) flags.push("-DBPE_SHARED");
  const compiler = { command: [...zig, "cc"], flags };
  const at = (name: string) => join(directory, name);
  const python = isForWindows ? [pythonImports(directory)] : linking.module;
  const strip = ["-shared", "-s"];
  await compile(compiler, { parts: pythonParts, linking: [...strip, ...python], output: at(names.module) });
  const shared = isForWindows ? [`-Wl,--out-implib,${at(names.imports!)}`] : linking.shared;
  await compile(compiler, { parts: libraryParts, linking: [...strip, ...shared], output: at(names.shared) });
  rmSync(at(names.static), { force: true });
  runZig("ar", "rcsD", at(names.static), ...(await compileParts(compiler, libraryParts)));
  const files = [names.module, names.shared, names.imports, names.static].filter(
    (name) => name !== undefined,
  );
  for (const name of [names.module, names.shared]) checkLibrary(readFileSync(at(name)), name, target);
  const [module, ...libraries] = files.map((name) => ({ name, bytes: readFileSync(at(name)) }));
  const header = { name: "include/bpe.h", bytes: readFileSync(join(root, "native/bpe.h")) };
  const library = [header, ...libraries.map(({ name, bytes }) => ({ name: `lib/${name}`, bytes }))];
  return { module: module!, library };
}

/** Compiles the example in an unpacked archive for Linux. Returns the program's name. */
export function compileExample({ native }: Target, archive: string): string {
  const places = [`-I${join(archive, "include")}`, `-L${join(archive, "lib")}`, "-Wl,-rpath,$ORIGIN/lib"];
  const example = join(archive, "examples/encode.c");
  runZig("cc", "-target", native.zigTarget, example, ...places, "-lbpe", "-o", join(archive, "encode"));
  return "encode";
}

/** Makes an import library for python3.dll, with the names that native/python/Python.h declares. Returns its path. */
function pythonImports(directory: string): string {
  const header = readFileSync(join(root, "native/python/Python.h"), "utf8");
  const names = [...header.matchAll(/^PyAPI_(FUNC|DATA)\(.*?\) \(?(\w+)/gm)];
  const lines = names.map(([, kind, name]) => `  ${name}${kind === "DATA" ? " DATA" : ""}\n`);
  const [definition, library] = ["python3.def", "python3.lib"].map((name) => join(directory, name));
  writeFileSync(definition!, `LIBRARY python3.dll\nEXPORTS\n${lines.join("")}`);
  runZig("dlltool", "-m", "i386:x86-64", "-d", definition!, "-l", library!);
  return library!;
}

/** Throws if a library is for another platform, or needs a newer glibc than the wheel says. */
function checkLibrary(bytes: Buffer, name: string, { format, triple }: Target): void {
  const { kind, machine } = format;
  const found = libraryFormat(bytes);
  if (!Bun.deepEquals(found, { kind, machine }))
    throw new Error(`"${name}" is not what ${triple} needs: ${JSON.stringify(found)}`);
  const versions = bytes.toString("latin1").matchAll(/\0GLIBC_2\.(\d+)/g);
  const newest = Math.max(0, ...Array.from(versions, ([, minor]) => Number(minor)));
  if (newest > glibcMinor) throw new Error(`"${name}" needs glibc 2.${newest}`);
}

/** The newest minor version of glibc 2 that a library may need, because the wheels' tag is manylinux_2_17. */
const glibcMinor = 17;
