// Builds the native module of Python into python/bpe_trainer: `npm run build:native`. Without a C compiler, it says so
// and ends with success, because the package can then still train, but not encode.
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { generateC, generatedDirectory } from "./wasm2c.ts";

const root = join(import.meta.dir, "../..");
const sources = join(root, "native");
/** Object files, in directories named by a hash of their sources and flags. */
const objects = join(root, "dist/native/objects");

/** The path of this checkout's module. `.abi3.so` marks a module for several versions of Python (its stable ABI). */
export const modulePath = join(root, "python/bpe_trainer/_native.abi3.so");
/** The path of the module for tests at small scale. */
const smallModulePath = join(root, "dist/native/small/_native.abi3.so");

/** A C compiler for one platform, with flags for every call. */
export type Compiler = {
  readonly command: readonly string[];
  readonly flags: readonly string[];
  /** For tests at small scale (native/scale.h). */
  readonly isSmallScale?: boolean;
};

export type Linked = {
  /** Names of C files in native/, or of those that wasm2c writes. */
  readonly parts: readonly string[];
  /** Paths of more C files. */
  readonly sources?: readonly string[];
  readonly linking: readonly string[];
  readonly output: string;
};

const generated = ["kernel", "text"];
const core = ["image", "instance", "encode", "spans", "canonical", "session", ...generated];
export const pythonParts = [...core, "python"];
export const libraryParts = [...core, "bpe"];

/** Optimized, because only that makes the checks of the kernel's memory accesses cheap. */
const usualFlags = ["-std=gnu11", "-O3", "-fPIC", "-fvisibility=hidden", "-fno-strict-aliasing"];
const warnings = ["-Wall", "-Wextra", "-Werror"];

/** Compiler flags for the scale, and the paths of headers. */
function scaleFlags({ isSmallScale = false }: Compiler): string[] {
  const directories = [
    sources,
    join(sources, "wasm"),
    join(sources, "python"),
    generatedDirectory(isSmallScale),
  ];
  const defined = isSmallScale ? ["-DBPE_SMALL_SCALE"] : [];
  return [...defined, ...directories.map((directory) => `-I${directory}`)];
}

/** Compiles parts of native/, and more sources, into one file. Throws the compiler's errors. */
export async function compile(compiler: Compiler, linked: Linked): Promise<void> {
  const ownFlags =
    linked.sources === undefined
      ? []
      : [...usualFlags, ...warnings, ...scaleFlags(compiler), ...linked.sources];
  const objects = await compileParts(compiler, linked.parts);
  mkdirSync(dirname(linked.output), { recursive: true });
  // Linked under its final name, in another directory, because linkers write the name into the file.
  const directory = mkdtempSync(`${linked.output}.`);
  try {
    const made = join(directory, basename(linked.output));
    run(compiler, ...ownFlags, ...objects, ...linked.linking, "-o", made);
    renameSync(made, linked.output);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Compiles parts of native/, unless that was done before. Returns the paths of the object files. */
export async function compileParts(compiler: Compiler, parts: readonly string[]): Promise<string[]> {
  const { command, flags, isSmallScale = false } = compiler;
  const settings = { command, flags, isSmallScale };
  const made = generatedDirectory(isSmallScale);
  await generateC(isSmallScale);
  const [ofKernel, ofOthers] = [
    [join(sources, "wasm"), made],
    [sources, made],
  ].map((read) => join(objects, digestOf(settings, read))) as [string, string];
  for (const directory of [ofKernel, ofOthers]) mkdirSync(directory, { recursive: true });
  return parts.map((part) => {
    const isKernel = generated.includes(part);
    const object = join(isKernel ? ofKernel : ofOthers, `${part}.o`);
    const source = join(isKernel ? made : sources, `${part}.c`);
    if (existsSync(object)) return object;
    // Another process may write the same file.
    const written = `${object}.${process.pid}.${Math.round(performance.now() * 1000)}`;
    const told = [...usualFlags, ...(isKernel ? ["-w"] : warnings), ...scaleFlags(compiler)];
    run(compiler, ...told, "-c", source, "-o", written);
    renameSync(written, object);
    return object;
  });
}

function run({ command, flags }: Compiler, ...args: readonly string[]): void {
  const [program, ...before] = command;
  const { status, stderr, error } = spawnSync(program!, [...before, ...flags, ...args], { encoding: "utf8" });
  if (status !== 0) throw new Error(`${command.join(" ")}: ${error?.message ?? stderr}`);
}

/** Returns the C compiler of this machine; undefined if there is none. */
export function compilerHere(): Compiler | undefined {
  const names = [process.env.CC, "cc", "gcc", "clang"].filter((name) => name !== undefined);
  const name = names.find((name) => spawnSync(name, ["--version"], { stdio: "ignore" }).status === 0);
  if (name === undefined) return undefined;
  return { command: [name], flags: process.arch === "x64" ? ["-mssse3"] : [] };
}

/** Builds the module for this machine, unless it is up to date. Without a C compiler, the result has an obstacle. */
export async function buildModule(
  isSmallScale = false,
): Promise<{ readonly path?: string; readonly obstacle?: string }> {
  const found = compilerHere();
  if (found === undefined) return { obstacle: "there is no C compiler (cc, gcc or clang)" };
  const compiler = { ...found, isSmallScale };
  const path = isSmallScale ? smallModulePath : modulePath;
  await generateC(isSmallScale);
  const stampPath = join(root, `dist/native/module${isSmallScale ? "-small" : ""}.stamp`);
  const stamp = digestOf(compiler, [sources, generatedDirectory(isSmallScale)]);
  if (existsSync(path) && existsSync(stampPath) && readFileSync(stampPath, "utf8") === stamp) return { path };
  const isMac = process.platform === "darwin";
  await compile(compiler, {
    parts: pythonParts,
    linking: ["-shared", ...(isMac ? ["-undefined", "dynamic_lookup"] : ["-s"])],
    output: path,
  });
  writeFileSync(stampPath, stamp);
  return { path };
}

function digestOf(settings: unknown, directories: readonly string[]): string {
  const hash = new Bun.CryptoHasher("sha256").update(JSON.stringify(settings));
  for (const directory of directories) {
    const names = readdirSync(directory, { recursive: true, encoding: "utf8" }).sort();
    for (const name of names.filter((name) => /\.[ch]$/.test(name)))
      hash.update(`${name}\n`).update(readFileSync(join(directory, name)));
  }
  return hash.update(readFileSync(import.meta.path)).digest("hex");
}

if (import.meta.main) {
  const { path, obstacle } = await buildModule();
  console.log(path === undefined ? `not built: ${obstacle}` : `built ${path}`);
}
