// Compiles src/kernel, which is AssemblyScript, to the WebAssembly modules that src/runtime/kernel.ts chooses from.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { generateMaskLoops } from "./generate-mask-loops.ts";

type Compiler = {
  main(args: readonly string[]): Promise<{ error: Error | null; stderr: { toString(): string } }>;
};
// By a name that the type checker does not follow: the package's types redefine what is global in TypeScript.
const compilerName: string = "assemblyscript/asc";
const { default: asc } = (await import(compilerName)) as { default: Compiler };

const root = join(import.meta.dir, "..");
const sources = join(root, "src/kernel");

const options = [
  ...["--optimizeLevel", "3", "--shrinkLevel", "0", "--converge"],
  // The language allocates nothing: every structure has its place by our own layout.
  ...["--runtime", "stub"],
  // Vectors cannot be passed to JavaScript. None are; they are passed between files of the kernel.
  ...["--disableWarning", "112"],
  // One memory for all threads that work together; JavaScript makes it.
  ...["--importMemory", "--sharedMemory", "--initialMemory", "1", "--maximumMemory", "65536"],
];

/** The variants of the module, by the names of their files. */
const flavours = {
  "kernel.wasm": ["--enable", "simd,threads,bulk-memory", "--noAssert"],
  /** For processors whose WebAssembly has no SIMD. */
  "kernel-baseline.wasm": ["--enable", "threads,bulk-memory", "--noAssert"],
  /** For tests. */
  "kernel-asserts.wasm": ["--enable", "simd,threads,bulk-memory"],
};

/** Puts the modules into `directory`, unless they are there already; returns their paths. Throws what the compiler says. */
export async function buildKernel(directory: string): Promise<string[]> {
  const paths = Object.keys(flavours).map((name) => join(directory, name));
  generateMaskLoops();
  const digestPath = join(directory, "digest");
  const digest = digestOfSources();
  const isBuilt = paths.every(existsSync) && existsSync(digestPath);
  if (isBuilt && readFileSync(digestPath, "utf8") === digest) return paths;
  mkdirSync(directory, { recursive: true });
  for (const [name, features] of Object.entries(flavours)) {
    const output = ["--outFile", join(directory, name)];
    const { error, stderr } = await asc.main([
      join(sources, "module.ts"),
      ...options,
      ...features,
      ...output,
    ]);
    if (error !== null) throw new Error(`the kernel does not compile:\n${stderr.toString()}`);
    // Says that the optimizer stopped because nothing got smaller: no warning.
    const warnings = stderr.toString().replace("Last converge was suboptimal.", "").trim();
    if (warnings !== "") console.warn(warnings);
  }
  writeFileSync(digestPath, digest);
  return paths;
}

/** A hash of everything that the modules are made from: when it changes they are made anew. */
export function digestOfSources(): string {
  const hash = new Bun.CryptoHasher("sha256");
  const names = readdirSync(sources, { recursive: true, encoding: "utf8" }).filter((name) =>
    name.endsWith(".ts"),
  );
  for (const name of names.sort()) hash.update(`${name}\n`).update(readFileSync(join(sources, name)));
  hash.update(readFileSync(import.meta.path)).update(readFileSync(join(root, "package-lock.json")));
  return hash.digest("hex");
}
