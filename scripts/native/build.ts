// Builds the native module of Python for this machine into python/bpe_trainer: `npm run build:native`. Without a C compiler, or
// Python's headers, it says so and is done: the package then encodes through a child process.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { generateC, generatedDirectory } from "./wasm2c.ts";

const root = join(import.meta.dir, "../..");
const sources = join(root, "native");

/** Where the module of this checkout is. `.abi3.so` is a module for all Pythons from 3.10 on. */
export const modulePath = join(root, "python/bpe_trainer/_native.abi3.so");

/** A C compiler for one platform, with what it is always told. */
export type Compiler = { readonly command: readonly string[]; readonly flags: readonly string[] };

export type Linked = {
  /** Of native/: `kernel` is that of wasm2c. */
  readonly parts: readonly string[];
  readonly includes: readonly string[];
  readonly linking: readonly string[];
  readonly output: string;
};

const core = ["image", "instance", "forms", "encode", "offsets", "kernel"];
export const pythonParts = [...core, "python"];
export const libraryParts = [...core, "bpe"];

/** Every access of the kernel is checked, so its C is compiled with what makes that cheap. */
const usualFlags = ["-std=gnu11", "-O3", "-fPIC", "-fvisibility=hidden", "-fno-strict-aliasing"];

/** Compiles parts of native/ into one file. Throws what the compiler says. */
export async function compile({ command, flags }: Compiler, { parts, includes, linking, output }: Linked) {
  await generateC();
  const objects = `${output}.parts`;
  mkdirSync(objects, { recursive: true });
  const run = (...args: readonly string[]) => {
    const [program, ...before] = command;
    const { status, stderr, error } = spawnSync(program!, [...before, ...flags, ...args], {
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`${command.join(" ")}: ${error?.message ?? stderr}`);
  };
  const directories = [sources, join(sources, "wasm"), generatedDirectory, ...includes];
  for (const part of parts) {
    const isKernel = part === "kernel";
    run(
      ...usualFlags,
      ...(isKernel ? ["-w"] : ["-Wall", "-Wextra", "-Werror"]),
      ...directories.map((directory) => `-I${directory}`),
      ...["-c", join(isKernel ? generatedDirectory : sources, `${part}.c`)],
      ...["-o", join(objects, `${part}.o`)],
    );
  }
  run(...parts.map((part) => join(objects, `${part}.o`)), ...linking, "-o", output);
  rmSync(objects, { recursive: true });
}

/** The C compiler of this machine; undefined without one. */
export function compilerHere(): Compiler | undefined {
  const names = [process.env.CC, "cc", "gcc", "clang"].filter((name) => name !== undefined);
  const name = names.find((name) => spawnSync(name, ["--version"], { stdio: "ignore" }).status === 0);
  if (name === undefined) return undefined;
  return { command: [name], flags: process.arch === "x64" ? ["-mssse3"] : [] };
}

/** The directory of Python's headers; undefined without them. */
function pythonHeaders(): string | undefined {
  const code = "import sysconfig; print(sysconfig.get_paths()['include'])";
  const { stdout, status } = spawnSync("python3", ["-c", code], { encoding: "utf8" });
  const directory = stdout?.trim() ?? "";
  return status === 0 && existsSync(join(directory, "Python.h")) ? directory : undefined;
}

/** Builds the module of this machine, unless it is there. Undefined where it cannot be built, and why. */
export async function buildModule(): Promise<{ readonly path?: string; readonly obstacle?: string }> {
  const compiler = compilerHere();
  if (compiler === undefined) return { obstacle: "there is no C compiler (cc, gcc or clang)" };
  const headers = pythonHeaders();
  if (headers === undefined) return { obstacle: "Python's headers are not installed (python3-dev)" };
  await generateC();
  const stampPath = join(root, "dist/native/module.stamp");
  const stamp = digestOf([sources, join(sources, "wasm"), generatedDirectory]);
  if (existsSync(modulePath) && existsSync(stampPath) && readFileSync(stampPath, "utf8") === stamp)
    return { path: modulePath };
  const isMac = process.platform === "darwin";
  await compile(compiler, {
    parts: pythonParts,
    includes: [headers],
    linking: ["-shared", ...(isMac ? ["-undefined", "dynamic_lookup"] : ["-s"])],
    output: modulePath,
  });
  writeFileSync(stampPath, stamp);
  return { path: modulePath };
}

function digestOf(directories: readonly string[]): string {
  const hash = new Bun.CryptoHasher("sha256");
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
