// Compiles the library for Bun, for Node, for browsers, and for Workers such as Cloudflare's.
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { deflateRawSync } from "node:zlib";
import type { BunPlugin } from "bun";
import { transformSync } from "esbuild";
import { buildKernel } from "../build-kernel.ts";
import { doorless, withoutDoors } from "../without-doors.ts";

const root = resolve(import.meta.dir, "../..");
const sources = join(root, "src");

type Library = {
  /** Also the name of the folder for the compiled files. */
  readonly target: "bun" | "node" | "browser" | "workers";
  readonly entries: readonly string[];
};

const libraries: readonly Library[] = [
  { target: "bun", entries: ["index.ts", "main/worker.ts"] },
  { target: "node", entries: ["index.ts", "main/node-worker.ts"] },
  { target: "browser", entries: ["browser.ts"] },
  // For engines that cannot compile WebAssembly from bytes at run time: the kernel's modules are separate files.
  { target: "workers", entries: ["browser.ts"] },
];

/**
 * Prepares sources for a single script for browsers: the kernel's modules become compressed text, our own class
 * replaces Node's Buffer, and functions that throw replace Node's other modules.
 */
const forBrowsers: BunPlugin = {
  name: "browser",
  setup(build) {
    const buffer = join(sources, "runtime/host.browser.ts");
    build.onResolve({ filter: /^node:buffer$/ }, () => ({ path: buffer }));
    const system = join(sources, "runtime/no-system.browser.ts");
    build.onResolve({ filter: /^node:/ }, () => ({ path: system }));
    build.onLoad({ filter: /\.wasm$/ }, ({ path }) => ({
      contents: `export default "${deflateRawSync(readFileSync(path), { level: 9 }).toString("base64")}";`,
      loader: "js",
    }));
    build.onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
      const contents = withoutDoors(path, readFileSync(path, "utf8"));
      const usesBuffer = path !== buffer && /\bBuffer\./.test(contents);
      const lean = /\/(options\/[\w-]+|library\/library|formats|content|chat-templates)\.ts$/.test(path)
        ? withPureTables(contents)
        : contents;
      return {
        contents: usesBuffer ? `import { Buffer } from "node:buffer";\n${lean}` : lean,
        loader: "ts",
      };
    });
  },
};

/** Leaves the kernel's modules out of the script, which imports them as files next to it. */
const wasmFiles: BunPlugin = {
  name: "wasm files",
  setup(build) {
    build.onResolve({ filter: /\.wasm$/ }, ({ path }) => ({ path: `./${basename(path)}`, external: true }));
  },
};

/** Replaces the kernel's modules with those of small scale. */
const smallKernels: BunPlugin = {
  name: "small scale",
  setup(build) {
    build.onResolve({ filter: /\/dist\/kernel\/[a-z-]+\.wasm$/ }, ({ path, importer }) => ({
      path: resolve(importer, "..", path.replace(/\.wasm$/, "-small.wasm")),
    }));
  },
};

/** Wraps tables in calls that are annotated as pure, so that a bundler can drop unused tables. */
const withPureTables = (source: string) =>
  source
    .replaceAll(
      /^export const \{ (.+) \} = (optionTables\.of\(\{\n.*?^\}\));$/gms,
      (_, names: string, table: string) =>
        names
          .replaceAll(/\w+/g, (name) => `${name} = ${pure(`${table}.${name}`)}`)
          .replace(/^/, "export const "),
    )
    .replaceAll(
      /^((?:export )?const [^={\n]+) = ((?:optionTables\.of\()?[{[]\n.*?^[}\]]\)?(?: as const)?);$/gms,
      (_, name: string, value: string) => `${name} = ${pure(value)};`,
    )
    .replaceAll(
      /^((?:export )?const [^={\n]+) = ((?:\{ \.\.\.|new RegExp|all\n? *\.).*?);$/gms,
      (_, name: string, value: string) => `${name} = ${pure(value)};`,
    );

const pure = (value: string) => `/* @__PURE__ */ (() => (${value}))()`;

/** The plugins for scripts for browsers. */
export const browserPlugins = [forBrowsers];

export async function compileLibraries(directory: string, commit: string): Promise<void> {
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(join(directory, "wasm"), { recursive: true });
  for (const path of await buildKernel(join(root, "dist/kernel"))) {
    if (!path.endsWith("-asserts.wasm")) copyFileSync(path, join(directory, "wasm", basename(path)));
  }
  for (const { target } of libraries) await compileLibrary(target, directory, commit);
}

/** Minifies browser.js. Its original stays as library.js for bundlers, which use its annotations. */
function minifyForPages(directory: string): void {
  const script = readFileSync(join(directory, "browser.js"), "utf8");
  writeFileSync(join(directory, "library.js"), script);
  const { code } = transformSync(script, { minify: true, format: "esm", target: "es2022" });
  writeFileSync(join(directory, "browser.js"), code);
}

/** Compiles one library, for tests also at small scale. The kernel must have been built. */
export async function compileLibrary(
  target: Library["target"],
  directory: string,
  commit: string,
  isSmallScale = false,
): Promise<void> {
  const { entries } = libraries.find((library) => library.target === target)!;
  const isForBrowsers = target === "browser" || target === "workers";
  const result = await Bun.build({
    entrypoints: entries.map((path) => join(sources, path)),
    outdir: join(directory, target),
    naming: { entry: "[name].js", chunk: "chunk-[hash].js" },
    target: isForBrowsers ? "browser" : target,
    format: "esm",
    // For browsers and Workers, all JavaScript is in one file.
    splitting: !isForBrowsers,
    // The code is not minified further, because people may read it, and bundlers need its annotations.
    minify: { syntax: true },
    define: {
      BPE_COMMIT: JSON.stringify(commit),
      BPE_SMALL_SCALE: String(isSmallScale),
      ...(isForBrowsers && { "process.platform": '"browser"' }),
    },
    // `imports` in package.json chooses files by these conditions. Bun adds the condition with the target's name.
    conditions: target === "workers" ? ["wasm-files", "library"] : ["library"],
    plugins: [
      ...(target === "workers" ? [wasmFiles] : []),
      ...(isSmallScale ? [smallKernels] : []),
      isForBrowsers ? forBrowsers : doorless,
    ],
  });
  for (const log of result.logs) console.error(String(log));
  if (!result.success) throw new Error(`the library for ${target} does not compile`);
  if (target === "browser") minifyForPages(join(directory, target));
  if (target !== "workers") return;
  for (const name of ["kernel", "kernel-text"]) {
    const source = join(root, "dist/kernel", `${name}${isSmallScale ? "-small" : ""}.wasm`);
    copyFileSync(source, join(directory, target, `${name}.wasm`));
  }
}
