// Builds the native module of Python for this machine into python/bpe_trainer: `npm run build:native`. Without a C compiler
// it says so and is done: the package then trains, and cannot encode.
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
/** Compiled parts, in a directory for all that they are made of. */
const objects = join(root, "dist/native/objects");

/** Where the module of this checkout is. `.abi3.so` is a module for all Pythons from 3.10 on. */
export const modulePath = join(root, "python/bpe_trainer/_native.abi3.so");
/** The one for tests at small scale. */
const smallModulePath = join(root, "dist/native/small/_native.abi3.so");

/** A C compiler for one platform, with what it is always told. */
export type Compiler = {
  readonly command: readonly string[];
  readonly flags: readonly string[];
  /** For tests at small scale (native/scale.h). */
  readonly isSmallScale?: boolean;
};

export type Linked = {
  /** Files of native/; `generated` are those of wasm2c. */
  readonly parts: readonly string[];
  /** Paths of more C files. */
  readonly sources?: readonly string[];
  readonly linking: readonly string[];
  readonly output: string;
};

const generated = ["kernel", "text"];
const core = ["image", "instance", "encode", "spans", "session", ...generated];
export const pythonParts = [...core, "python"];
export const libraryParts = [...core, "bpe"];

/** Every access of the kernel is checked, so its C is compiled with what makes that cheap. */
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
  // Under its own name: linkers write that into a DLL, into what links to it, and into signatures.
  const directory = mkdtempSync(`${linked.output}.`);
  try {
    const made = join(directory, basename(linked.output));
    run(compiler, ...ownFlags, ...objects, ...linked.linking, "-o", made);
    renameSync(made, linked.output);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/**
 * Compiles parts of native/, unless they are there; returns the paths of the objects. What is compiled is kept: the tests, the
 * module and the library have most parts in common.
 */
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
    // Others may make the same.
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

/** The C compiler of this machine; undefined without one. */
export function compilerHere(): Compiler | undefined {
  const names = [process.env.CC, "cc", "gcc", "clang"].filter((name) => name !== undefined);
  const name = names.find((name) => spawnSync(name, ["--version"], { stdio: "ignore" }).status === 0);
  if (name === undefined) return undefined;
  return { command: [name], flags: process.arch === "x64" ? ["-mssse3"] : [] };
}

/** Builds the module of this machine, unless it is there. Undefined where it cannot be built, and why. */
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
