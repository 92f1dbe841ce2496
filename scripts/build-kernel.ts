// Compiles src/kernel, which is AssemblyScript, to the WebAssembly modules among which src/runtime/kernel.ts chooses.
// Also writes the generated sources, which are not in the repository: the types of the modules' exports
// (src/runtime/kernel-exports.ts), loops over masks, Unicode data, and the masks of named patterns.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { generateMaskLoops } from "./generate-mask-loops.ts";
import { generateUnicodeData } from "./generate-unicode-data.ts";

type Compiler = {
  main(
    args: readonly string[],
    api?: { writeFile(name: string, contents: string | Uint8Array): void },
  ): Promise<{ error: Error | null; stderr: { toString(): string } }>;
};
// The name is in a variable, so that the type checker does not load the package's types, which redefine TypeScript's
// globals.
const compilerName: string = "assemblyscript/asc";
const { default: asc } = (await import(compilerName)) as { default: Compiler };

type Binaryen = {
  readBinary(code: Uint8Array): {
    getNumGlobals(): number;
    getGlobalByIndex(index: number): unknown;
    addGlobalExport(name: string, exportedName: string): void;
    emitBinary(): Uint8Array;
    dispose(): void;
  };
  setDebugInfo(keeps: boolean): void;
  getGlobalInfo(global: unknown): { readonly name: string; readonly mutable: boolean };
};
const binaryenName: string = "binaryen";

const root = join(import.meta.dir, "..");
const sources = join(root, "src/kernel");

const optimizing = ["--optimizeLevel", "3", "--shrinkLevel", "0", "--converge"];
/** For the text module, which browsers load with each page that encodes. */
const optimizingForSize = ["--optimizeLevel", "3", "--shrinkLevel", "1", "--converge"];
const isText = (path: string) => basename(path).startsWith("kernel-text");
/** For the modules at small scale, which need not be fast: they compile in half the time. */
const optimizingLittle = ["--optimizeLevel", "1", "--shrinkLevel", "0"];
const options = [
  // No allocator of the language: the kernel lays out its structures itself.
  ...["--runtime", "stub"],
  // Warning 112 says that vectors cannot be passed to JavaScript. They are only passed between files of the kernel.
  ...["--disableWarning", "112"],
  // JavaScript creates the memory.
  ...["--importMemory", "--initialMemory", "1", "--maximumMemory", "65536"],
];
/** The main module. Threads can share its memory. */
const shared = ["module.ts", "--sharedMemory"];
const withSimd = ["--enable", "simd,threads,bulk-memory"];
// Options that set the constant of src/kernel/scale.d.ts.
const usualScale = ["--use", "isSmallScale=0"];
const smallScale = ["--use", "isSmallScale=1"];

/** For each module, by its file name: the source that it is compiled from, and the compiler's options. */
const usualFlavours = {
  "kernel.wasm": [...shared, ...withSimd, ...usualScale, "--noAssert"],
  /** For processors whose WebAssembly has no SIMD. */
  "kernel-baseline.wasm": [...shared, "--enable", "threads,bulk-memory", ...usualScale, "--noAssert"],
  /** With assertions, for tests. */
  "kernel-asserts.wasm": [...shared, ...withSimd, ...usualScale],
  /** The module for encoding only. It is also translated to C (scripts/native). */
  "kernel-encode.wasm": ["encode-module.ts", "--enable", "simd,bulk-memory", ...usualScale, "--noAssert"],
  /**
   * The module for encoding, without SIMD. It can use a memory that the module with SIMD has laid out, and vice versa.
   */
  "kernel-encode-baseline.wasm": ["encode-module.ts", "--enable", "bulk-memory", ...usualScale, "--noAssert"],
  /** The text module: changes a text before it is cut, finds offsets and decodes. It is also translated to C. */
  "kernel-text.wasm": ["text-module.ts", "--enable", "simd,bulk-memory", ...usualScale, "--noAssert"],
  "kernel-text-baseline.wasm": ["text-module.ts", "--enable", "bulk-memory", ...usualScale, "--noAssert"],
};

/**
 * The variants for dist/bpe-small and for tests at small scale. They have assertions, except those from which C is
 * made.
 */
const smallFlavours = {
  "kernel-small.wasm": [...shared, ...withSimd, ...smallScale],
  "kernel-encode-small.wasm": [
    "encode-module.ts",
    "--enable",
    "simd,bulk-memory",
    ...smallScale,
    "--noAssert",
  ],
  "kernel-text-small.wasm": ["text-module.ts", "--enable", "simd,bulk-memory", ...smallScale, "--noAssert"],
};

const flavours = { ...usualFlavours, ...smallFlavours };
type ModuleName = keyof typeof flavours;

/** Returns the path of a module's digest file, which is next to the module and has the digest of its sources. */
const digestPath = (path: string) => `${path}.digest`;

/**
 * Compiles the modules of a scale into `directory`, unless they are up to date. Returns their paths. If the compiler
 * fails, it prints its errors, and this throws.
 */
export async function buildKernel(directory: string, isSmallScale = false): Promise<string[]> {
  const paths = Object.keys(isSmallScale ? smallFlavours : usualFlavours).map((name) =>
    join(directory, name),
  );
  // Another process generates the sources, because this process's bundler would not see new files in a directory that
  // it has already read.
  const { status } = spawnSync(process.execPath, [import.meta.path], { stdio: "inherit" });
  if (status !== 0) throw new Error("the sources that are made of others cannot be made");
  mkdirSync(directory, { recursive: true });
  const digests = new Map(paths.map((path) => [path, digestOfModule(basename(path) as ModuleName)]));
  const isBuilt = (path: string) =>
    existsSync(path) &&
    existsSync(digestPath(path)) &&
    readFileSync(digestPath(path), "utf8") === digests.get(path);
  const missing = paths.filter((path) => !isBuilt(path));
  for (const path of missing) rmSync(digestPath(path), { force: true });
  // Compiling a module takes up to some 20 s of processor time, so modules are compiled in parallel.
  const compilers = missing.map((path) =>
    Bun.spawn([process.execPath, import.meta.path, path], { stdio: ["ignore", "inherit", "inherit"] }),
  );
  const codes = await Promise.all(compilers.map(({ exited }) => exited));
  if (codes.some((code) => code !== 0)) throw new Error("the kernel does not compile");
  for (const path of missing) writeFileSync(digestPath(path), digests.get(path)!);
  return paths;
}

/** Compiles the module that the file name in `path` names, and writes it to `path`. */
async function compile(path: string): Promise<void> {
  const [entry, ...features] = flavours[basename(path) as ModuleName];
  let code = new Uint8Array();
  const { error, stderr } = await asc.main(
    [
      join(sources, entry!),
      ...(basename(path) in smallFlavours ? optimizingLittle : isText(path) ? optimizingForSize : optimizing),
      ...options,
      ...features,
      ...["--outFile", basename(path), ...(hasState(path) ? ["--debug"] : [])],
    ],
    {
      writeFile(name, contents) {
        if (name === basename(path)) code = new Uint8Array(contents as Uint8Array);
      },
    },
  );
  if (error !== null) throw doesNotCompile(stderr);
  writeFileSync(path, hasState(path) ? await withState(code) : code);
  // Ignores the optimizer's note that its last pass made nothing smaller.
  const warnings = stderr.toString().replace("Last converge was suboptimal.", "").trim();
  if (warnings !== "") console.warn(warnings);
}

/** Whether images of tokenizers contain the state of instances of this module (src/tokenizer/image.ts). */
const hasState = (path: string) => basename(path).startsWith("kernel-encode");

/**
 * Returns the module with an export for each mutable global. The export is named after the global's file and name:
 * "scanner/pos".
 */
async function withState(code: Uint8Array): Promise<Uint8Array> {
  const { default: binaryen } = (await import(binaryenName)) as { default: Binaryen };
  const module = binaryen.readBinary(code);
  for (let i = 0; i < module.getNumGlobals(); i++) {
    const { name, mutable } = binaryen.getGlobalInfo(module.getGlobalByIndex(i));
    if (mutable) module.addGlobalExport(name, name.split("/").slice(-2).join("/"));
  }
  binaryen.setDebugInfo(false);
  const made = module.emitBinary();
  module.dispose();
  return made;
}

/**
 * Writes the types of the kernel's exports as the compiler declares them, unless they are up to date. They are the
 * types that JavaScript sees without the compiler's glue code: a boolean is returned as 0 or 1.
 */
async function declareExports(): Promise<void> {
  const path = join(root, "src/runtime/kernel-exports.ts");
  const head = `// Generated by scripts/build-kernel.ts from src/kernel with the digest ${digestOfSources()}.\n`;
  if (existsSync(path) && readFileSync(path, "utf8").startsWith(head)) return;
  const all = await declarationOf("KernelExports", "kernel.wasm");
  const ofText = await declarationOf("TextKernelExports", "kernel-text.wasm");
  writeFileSync(path, `${head}${typesHead}${all}\n/** What src/kernel/text-module.ts exports. */\n${ofText}`);
}

async function declarationOf(type: string, name: ModuleName): Promise<string> {
  let declared = "";
  const writeFile = (name: string, contents: string | Uint8Array) => {
    if (name.endsWith(".d.ts")) declared = String(contents);
  };
  const output = ["--bindings", "raw", "--outFile", "kernel.wasm"];
  const [entry, ...features] = flavours[name];
  const { error, stderr } = await asc.main([join(sources, entry!), ...options, ...features, ...output], {
    writeFile,
  });
  if (error !== null) throw doesNotCompile(stderr);
  const [, members] = declared.match(/^declare namespace \w+ \{\n([\s\S]*?)^\}/m)!;
  const types = members!
    .replace(/\b(\w+): boolean/g, "$1: boolean | number")
    .replaceAll("): boolean;", "): 0 | 1;")
    .replaceAll("export function ", "")
    .replaceAll("export const ", "readonly ");
  return `export type ${type} = {\n${types}};\n`;
}

const typesHead = `
/**
 * What src/kernel/module.ts exports. Each export is documented where it is declared. Addresses and numbers of bytes are
 * unsigned in the kernel and come back signed: \`>>> 0\` makes them unsigned again, where they may be 2 GB or more.
 */
`;

const doesNotCompile = (stderr: { toString(): string }) =>
  new Error(`the kernel does not compile:\n${stderr.toString()}`);

/** Hashes all sources of the kernel. */
function digestOfSources(): string {
  const names = readdirSync(sources, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".ts"),
  );
  return digestOf(names, withoutComments);
}

/** Hashes everything that a module is made from. If the hash changes, the module is compiled again. */
function digestOfModule(name: ModuleName): string {
  const [entry, ...features] = flavours[name];
  // scale.d.ts is declared globally, so no import leads to it.
  const names = new Set([entry!, "scale.d.ts"]);
  for (const name of names) {
    const source = readFileSync(join(sources, name), "utf8");
    for (const [, imported] of source.matchAll(/^(?:import|export|\}) [^;]*?from "(\.[^"]+)";/gm))
      names.add(join(dirname(name), `${imported}.ts`));
  }
  // Assertions contain line numbers, so the number of comment lines matters to modules with assertions.
  return digestOf([...names], features.includes("--noAssert") ? withoutComments : withBlankComments);
}

/** Removes comments that begin a line: a module stays the same if only comments change. */
export const withoutComments = (source: string) => source.replace(commentLines, "");

/** Empties the lines of comments that begin a line. */
export const withBlankComments = (source: string) =>
  source.replace(commentLines, (comment) => comment.replace(/[^\n]/g, ""));

/** Matches a comment that begins a line. No string of the kernel's sources contains a line that looks like one. */
const commentLines = /^[ \t]*(?:\/\/.*|\/\*(?:(?!\*\/)[\s\S])*\*\/[ \t]*)\n/gm;

function digestOf(names: readonly string[], normalize: (source: string) => string): string {
  const hash = new Bun.CryptoHasher("sha256");
  for (const name of [...names].sort())
    hash.update(`${name}\n`).update(normalize(readFileSync(join(sources, name), "utf8")));
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const compilers = ["assemblyscript", "binaryen", "wabt"].map((name) => packages[`node_modules/${name}`]);
  return hash
    .update(readFileSync(import.meta.path))
    .update(JSON.stringify(compilers))
    .digest("hex");
}

/** Writes the generated sources, which are not in the repository. */
async function generateSources(): Promise<void> {
  generateMaskLoops();
  await generateUnicodeData();
  await declareExports();
  // This module is loaded only now, because it compiles patterns with the Unicode data that was just written.
  const { writeNamedMasks } = await import("./masks/write-named-masks.ts");
  writeNamedMasks();
}

// `bun scripts/build-kernel.ts` writes the sources, which the type checker needs; with a path, it compiles that module.
if (import.meta.main) {
  const path = process.argv[2];
  await (path === undefined ? generateSources() : compile(path));
}
