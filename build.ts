// Builds dist/bpe: one executable with the program, its workers and Bun in it.
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, resolve } from "node:path";
import { buildKernel } from "./scripts/build-kernel.ts";
import { closeVariables } from "./scripts/close-variables.ts";
import { commonCode } from "./scripts/common-code.ts";
import { signMachO } from "./scripts/sign-mach-o.ts";
import { trimZeros } from "./scripts/trim-zeros.ts";
import { doorless } from "./scripts/without-doors.ts";

/** The commit from which the binary is made, marked if the tree differs from it; "unknown" outside a checkout. */
export function commit(): string {
  const git = (...args: string[]) => spawnSync("git", args, { cwd: import.meta.dir, encoding: "utf8" });
  const head = git("rev-parse", "--short=12", "HEAD");
  if (head.status !== 0) return "unknown";
  const changed = git("status", "--porcelain", "--untracked-files=no").stdout !== "";
  return head.stdout.trim() + (changed ? "-dirty" : "");
}

/** The platform of an executable; by default it is this machine, with the Bun that builds. */
export type Platform = {
  readonly target: Bun.Build.CompileTarget;
  /** The embedded Bun: an executable of that platform. */
  readonly runtimePath: string;
};

/** Usual sizes, or all sizes tiny (src/runtime/scale.ts). */
export type Scale = "usual" | "small";

const embedded: { [scale in Scale]?: Promise<readonly string[]> } = {};

/** Reports the current step. */
export const step = (what: string): void => console.log(`  ${what}`);

const definesOf = (scale: Scale) => ({
  BPE_COMMIT: JSON.stringify(commit()),
  BPE_SMALL_SCALE: String(scale === "small"),
});

/**
 * Bundles the workers separately from the program. In one bundle, the program's modules would be split into files that
 * workers also load and files that they do not.
 */
async function bundleWorkers(outdir: string, scale: Scale): Promise<string[]> {
  rmSync(outdir, { recursive: true, force: true });
  const { outputs } = await Bun.build({
    entrypoints: [`${import.meta.dir}/src/main/worker.ts`],
    outdir,
    naming: { entry: "[name].[ext]" },
    define: definesOf(scale),
    target: "bun",
    splitting: true,
    plugins: [doorless],
  });
  // For modules that are loaded on demand, the output has `import.meta.require`. The bundler of the executable does not
  // follow that, so it becomes `require`.
  for (const { path } of outputs) {
    const text = readFileSync(path, "utf8");
    writeFileSync(path, text.replaceAll('import.meta.require("./', 'require("./'));
  }
  return outputs.filter(({ kind }) => kind === "entry-point").map(({ path }) => path);
}

/** Writes a compressed copy of a file into `directory`, for the executable. Returns its path. */
function compress(path: string, directory: string): string {
  const compressed = `${directory}/${basename(path)}.zst`;
  mkdirSync(directory, { recursive: true });
  writeFileSync(compressed, Bun.zstdCompressSync(readFileSync(path), { level: 19 }));
  return compressed;
}

/**
 * Makes the files that are embedded in each executable of a scale: workers, tables of patterns, and compressed kernels,
 * pages and documents. Returns their paths.
 */
async function makeEmbedded(scale: Scale): Promise<readonly string[]> {
  step("the kernel, and the tables of named patterns (kept where nothing has changed)");
  const kernels = await buildKernel(`${import.meta.dir}/dist/kernel`, scale === "small");
  // These modules are imported only now, because an earlier import would not see the files that `buildKernel` has
  // created in src/pattern.
  const { readyMadePatterns } = await import("./scripts/ready-made-patterns.ts");
  const { buildPages } = await import("./scripts/pages.ts");
  const { buildPlayground } = await import("./scripts/playground.ts");
  const files = [
    await buildPages(`${import.meta.dir}/dist/pages`),
    await buildPlayground(`${import.meta.dir}/dist/playground`),
    ...kernels.filter((path) => !path.endsWith("-asserts.wasm")),
    ...new Bun.Glob("docs/*.md").scanSync({ cwd: import.meta.dir, absolute: true }),
    `${import.meta.dir}/LICENSE`,
  ];
  return [
    ...(await bundleWorkers(`${import.meta.dir}/dist/workers${scale === "small" ? "-small" : ""}`, scale)),
    ...readyMadePatterns(`${import.meta.dir}/dist/patterns`),
    ...files.map((path) => compress(path, `${import.meta.dir}/dist/embedded`)),
  ];
}

/** Builds one executable; returns its path, which ends with ".exe" for Windows. */
export async function buildExecutable(
  path: string,
  platform?: Platform,
  entry = "src/main.ts",
  scale: Scale = "usual",
): Promise<string> {
  const target = platform?.target ?? process.platform;
  const isForWindows = target.includes("win") && !target.includes("darwin");
  const outfile = isForWindows ? `${path}.exe` : path;
  embedded[scale] ??= makeEmbedded(scale);
  const result = await Bun.build({
    entrypoints: [`${import.meta.dir}/${entry}`, ...(await embedded[scale])],
    loader: { ".tables": "file", ".zst": "file" },
    // All files are next to the entry, where src/runtime/embedded.ts expects them.
    naming: { entry: "[name].[ext]", asset: "[name].[ext]" },
    define: definesOf(scale),
    minify: true,
    // A module that a command imports on demand is a file of its own.
    splitting: true,
    // Files below this size become parts of other files, unless their code would then be loaded earlier. This saves
    // some 2 % of a short run.
    minChunkSize: 16384,
    plugins: [commonCode(`${import.meta.dir}/src`)],
    // With bytecode, which is made when building, the program starts some 4 ms sooner.
    bytecode: true,
    // Bytecode of functions that are nested deeper would take 57 KB, and no run was slower without it.
    bytecodeDepth: 3,
    format: "esm",
    compile: {
      outfile,
      // Until src/main.ts sets this back, functions are compiled to machine code later than usual. A short run does
      // nearly everything once, and compiling took a tenth of its time.
      jitPolicy: 10,
      ...(platform && { target: platform.target, executablePath: platform.runtimePath }),
      // Nothing in the working directory may change what the binary does.
      autoloadDotenv: false,
      autoloadBunfig: false,
      autoloadTsconfig: false,
      autoloadPackageJson: false,
    },
  });
  for (const log of result.logs) console.error(String(log));
  if (!result.success) throw new Error(`"${outfile}" could not be built`);
  const left = closeVariables(outfile);
  if (left.length > 0) console.warn(`still looked up by the runtime: ${left.join(", ")}`);
  if (target.includes("linux") && trimZeros(outfile) === 0) console.warn(`zeros remain in "${outfile}"`);
  // Closing the variables has made Bun's signature invalid. For Intel, the signature that Bun leaves is never valid.
  if (target.includes("darwin")) signMachO(outfile, "bpe");
  return outfile;
}

/** The program for tests: one process makes many runs, one after the other. */
const warmEntry = "test/warm-server.ts";

/** A hash of all sources of the executables. */
function digestOfSources(): string {
  const hash = new Bun.CryptoHasher("sha256").update(`${Bun.version} ${commit()}\n`);
  const paths = ["build.ts", warmEntry, "package-lock.json", "LICENSE", "{src,scripts}/**/*", "docs/*.md"]
    .flatMap((glob) => [...new Bun.Glob(glob).scanSync(import.meta.dir)])
    .filter((path) => !path.includes("node_modules/"));
  for (const path of paths.sort()) {
    hash.update(`${path}\n`).update(readFileSync(`${import.meta.dir}/${path}`));
  }
  return hash.digest("hex");
}

/** Builds dist/bpe and, except on Windows, dist/bpe-warm for tests, unless they are up to date. */
async function buildIfChanged(): Promise<void> {
  const stamp = `${import.meta.dir}/dist/bpe.stamp`;
  // Computed before the build, so that files edited meanwhile are built next time.
  const sources = digestOfSources();
  const [path, warmPath] = [`${import.meta.dir}/dist/bpe`, `${import.meta.dir}/dist/bpe-warm`];
  const isWindows = process.platform === "win32";
  const executable = isWindows ? `${path}.exe` : path;
  const stampNow = () => `${sources} ${Bun.hash(readFileSync(executable))}\n`;
  // The tests also need what the build makes before the executable, such as the kernel.
  const parts = [
    stamp,
    executable,
    ...(isWindows ? [] : [warmPath]),
    "dist/kernel/kernel.wasm",
    "dist/patterns",
    "dist/pages/report.html",
    "dist/playground/playground.html",
  ].map((part) => resolve(import.meta.dir, part));
  if (parts.every((part) => existsSync(part)) && readFileSync(stamp, "utf8") === stampNow()) {
    console.log(`${executable} is up to date`);
    return;
  }
  console.log("building");
  step("dist/bpe: the program, its workers and Bun in one executable");
  await buildExecutable(path);
  if (!isWindows) {
    step("dist/bpe-warm: the same for tests");
    await buildExecutable(warmPath, undefined, warmEntry);
  }
  writeFileSync(stamp, stampNow());
  console.log(`built ${executable}`);
}

/** Builds dist/bpe-small, the program with all sizes tiny, unless it is up to date. */
async function buildSmallIfChanged(): Promise<void> {
  const stamp = `${import.meta.dir}/dist/bpe-small.stamp`;
  const path = `${import.meta.dir}/dist/bpe-small`;
  const sources = digestOfSources();
  const isBuilt = [path, `${import.meta.dir}/dist/kernel/kernel-small.wasm`, stamp].every(existsSync);
  if (isBuilt && readFileSync(stamp, "utf8") === sources) return;
  step("dist/bpe-small: the same with all sizes tiny, for tests");
  rmSync(stamp, { force: true });
  await buildExecutable(path, undefined, "src/main.ts", "small");
  writeFileSync(stamp, sources);
}

if (import.meta.main) {
  await buildIfChanged();
  if (process.argv.includes("--small-scale")) await buildSmallIfChanged();
}
