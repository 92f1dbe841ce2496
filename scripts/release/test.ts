// Tests the results of `npm run release`: `npm run suite release`.
import { spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { bunLicencePage, bunParts } from "./bun-parts.ts";
import { executableFormat } from "./executable-format.ts";
import { compileExample } from "./native.ts";
import { bundledPackages, notice } from "./notice.ts";
import { inBareEnvironment, results, resultsOfSources } from "./results.ts";
import { run } from "./run.ts";
import { makeSystems, type System } from "./systems.ts";
import { type Target, targets } from "./targets.ts";

const root = resolve(import.meta.dir, "../..");
const released = join(root, "dist/release");
const { version }: { version: string } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const commit = run("git", ["rev-parse", "--short=12", "HEAD"], root).trim();
const scratch = mkdtempSync(join(tmpdir(), "bpe-release-"));

let failed = 0;
try {
  attempt("the files are those of SHA256SUMS", checkSums);
  attempt("a release of the same commit, made in another place, is the same to the byte", checkReproduced);
  attempt("NOTICE and SBOM name what is shipped", checkContents);
  attempt("npm installs the library and the command from their tarballs", checkNpm);
  const expected = resultsOfSources(scratch);
  const systems = makeSystems(join(root, "dist/release-systems"));
  const arm64 = systems.find(({ triple }) => triple === "aarch64-unknown-linux-gnu")!;
  attempt("Python encodes with the modules in the wheels of x64 and arm64", () => checkWheels(arm64));
  for (const system of systems) {
    attempt(`${system.title}: ${system.triple}`, () => checkSystem(system, expected));
  }
  for (const target of targets) {
    if (systems.some(({ triple }) => triple === target.triple)) continue;
    const title = `${target.title}: ${target.triple}: its format and signature only, it was never run`;
    attempt(title, () => checkFormat(target));
  }
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
process.exit(failed === 0 ? 0 : 1);

function attempt(title: string, check: () => string): void {
  const start = performance.now();
  try {
    const said = check();
    console.log(`ok      ${title}: ${said} (${((performance.now() - start) / 1000).toFixed(1)} s)`);
  } catch (error) {
    failed++;
    console.log(`FAILED  ${title}: ${error instanceof Error ? error.message : error}`);
  }
}

function checkSums(): string {
  run("sha256sum", ["--check", "--strict", "--quiet", "SHA256SUMS"], released);
  const listed = readFileSync(join(released, "SHA256SUMS"), "utf8").trimEnd().split("\n");
  const there = readdirSync(released).filter((name) => name !== "SHA256SUMS");
  if (listed.length !== there.length || there.length !== 3 * targets.length + 2) {
    throw new Error(`${there.length} files, ${listed.length} sums, ${targets.length} targets`);
  }
  return `${there.length} files`;
}

/** Checks that a clone of the commit builds the same files. */
function checkReproduced(): string {
  const clone = join(scratch, "clone");
  run("git", ["clone", "--quiet", "--no-local", root, clone]);
  run("git", ["checkout", "--quiet", "--detach", run("git", ["rev-parse", "HEAD"], root).trim()], clone);
  run("npm", ["ci", "--silent"], clone);
  // Copies the downloads, which each build checks against package-lock.json.
  mkdirSync(join(clone, "dist/runtimes"), { recursive: true });
  for (const name of readdirSync(join(root, "dist/runtimes")).filter((name) => name.endsWith(".tgz"))) {
    cpSync(join(root, "dist/runtimes", name), join(clone, "dist/runtimes", name));
  }
  run("npm", ["run", "--silent", "release"], clone);
  const [ours, theirs] = [released, join(clone, "dist/release")].map((directory) =>
    readFileSync(join(directory, "SHA256SUMS"), "utf8"),
  );
  rmSync(clone, { recursive: true });
  if (ours !== theirs) throw new Error(`the sums differ:\n${ours}\n${theirs}`);
  return "all sums are equal";
}

/**
 * Checks that each archive has the NOTICE that the sources generate, and that NOTICE and SBOM list all packages and
 * parts.
 */
function checkContents(): string {
  const text = notice(root);
  for (const { triple, archive } of targets) {
    const home = join(scratch, `notice-${triple}`);
    mkdirSync(home);
    if (readFileSync(join(home, unpackArchive(triple, home), "NOTICE"), "utf8") !== text) {
      throw new Error(`another NOTICE is in the ${archive} of ${triple}`);
    }
    rmSync(home, { recursive: true });
  }
  const sbom = readFileSync(join(released, `bpe-${version}.cdx.json`), "utf8");
  const names = [...bundledPackages(root), ...bunParts(bunLicencePage(root))].map(({ name }) => name);
  for (const name of names) {
    const inSbom = `"name": ${JSON.stringify(name.split("/").at(-1))}`;
    if (!text.includes(name) || !sbom.includes(inSbom)) throw new Error(`"${name}" is missing`);
  }
  return `${names.length} packages and parts`;
}

/** Installs the npm package `bpe` and this machine's executable into a new project, without a registry. */
function checkNpm(): string {
  const project = join(scratch, "project");
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), '{ "private": true, "type": "module" }');
  const here = `${process.platform}-${process.arch}`;
  const tarballs = [`bpe-${version}.tgz`, `bpe-${here}-${version}.tgz`].map((name) => join(released, name));
  run("npm", ["install", "--offline", "--no-audit", "--no-fund", ...tarballs], project);
  const said = run("npx", ["--no-install", "bpe", "--version"], project).trim();
  if (!said.includes(`commit ${commit}`)) throw new Error(`--version says "${said}"`);
  const program = `import { trainTokenizer } from "bpe";
    const { merges } = await trainTokenizer({ texts: ["a b a b"], vocabSize: 257 });
    console.log(merges.length);`;
  if (run("node", ["--input-type=module", "-e", program], project) !== "1\n")
    throw new Error("it does not train");
  const notice = readFileSync(join(project, "node_modules/bpe/NOTICE"), "utf8");
  for (const name of ["hyparquet", "fflate", "picomatch", "xxhash-wasm", "Unicode-3.0"]) {
    if (!notice.includes(name)) throw new Error(`"${name}" is missing in NOTICE`);
  }
  return said;
}

/** Checks that the executable for a system, run there, produces the same results as the sources. */
function checkSystem(system: System, expected: string): string {
  const home = join(system.root, "home");
  rmSync(home, { recursive: true, force: true });
  mkdirSync(home);
  const name = unpackArchive(system.triple, home);
  checkShellFiles(join(home, name));
  cpSync(join(scratch, "corpus.txt"), join(home, "corpus.txt"));
  for (const file of ["LICENSE", "NOTICE", "README.md", "CHANGELOG.md"]) {
    if (!existsSync(join(home, name, file))) throw new Error(`"${file}" is not in the archive`);
  }
  const command = system.command(`home/${name}/bpe`);
  const said = inBareEnvironment([...command, "--version"], home).trim();
  if (!said.startsWith(`bpe ${version} (`) || !said.includes(`commit ${commit}`)) {
    throw new Error(`--version says "${said}"`);
  }
  const opened = ["env", "BUN_BE_BUN=1", "BUN_OPTIONS=--help", ...command, "--version"];
  if (inBareEnvironment(opened, home).trim() !== said) throw new Error("a variable makes Bun of it");
  const made = results(command, home, (path) => system.pathInside(`home/${path}`));
  if (made !== expected) throw new Error(`it makes ${made}, and the sources make ${expected}`);
  checkLibrary(system, home, name);
  rmSync(home, { recursive: true });
  return made;
}

/** Checks that the C library gives the ids that the program has written to ids.npy. */
function checkLibrary(system: System, home: string, name: string): void {
  const inside = (path: string) => system.pathInside(`home/${path}`);
  const image = ["image", inside("tokenizer"), "-q", "-o", inside("tokenizer.image")];
  inBareEnvironment([...system.command(`home/${name}/bpe`), ...image], home);
  const target = targets.find(({ triple }) => triple === system.triple)!;
  const example = compileExample(target, join(home, name));
  const [program, ...args] = [...system.command(`home/${name}/${example}`), inside("tokenizer.image")];
  const { stdout, stderr, status } = spawnSync(program!, args, {
    input: readFileSync(join(home, "corpus.txt")),
    encoding: "utf8",
    maxBuffer: 1 << 26,
  });
  const npy = readFileSync(join(home, "ids.npy"));
  const ids = Uint16Array.from({ length: (npy.length - 128) / 2 }, (_, i) => npy.readUInt16LE(128 + 2 * i));
  if (status !== 0 || stdout !== `${ids.join("\n")}\n`)
    throw new Error(`the C library does not give the ids of the program: ${stderr}`);
}

/**
 * Installs the wheels of this machine and of arm64 with pip, and checks that Python encodes to the same ids with each.
 */
function checkWheels(arm64: System): string {
  const text = join(scratch, "corpus.txt");
  const made = join(scratch, "made");
  const python = (command: readonly string[], home: string, program: string) => {
    const [name, ...args] = command;
    const env = { ...process.env, PYTHONPATH: home, PATH: `${join(home, "bin")}:${process.env.PATH}` };
    return run(name!, [...args, "-c", program], scratch, env).trim();
  };
  const train = `
import bpe_trainer
bpe_trainer.train(${JSON.stringify(text)}, vocab_size=500).save(${JSON.stringify(made)})`;
  const encode = `
import hashlib, json, bpe_trainer, bpe_trainer._native
tokenizer = bpe_trainer.Tokenizer.load(${JSON.stringify(made)})
text = open(${JSON.stringify(text)}, encoding="utf-8", newline="").read()
encoding = tokenizer.encode_batch([text[at : at + 997] for at in range(0, len(text), 997)], threads=2)
ids = tokenizer.encode(text)
assert tokenizer.decode(ids) == text and tokenizer.count(text) == len(ids)
said = [ids, [list(each) for each in encoding], tokenizer.truncate(text, 1000), list(tokenizer.chunks(text, 500))]
print(len(ids), "ids,", hashlib.sha256(json.dumps(said, default=str).encode()).hexdigest()[:16])`;
  const ours = join(scratch, "wheel");
  installWheel("manylinux_2_17_x86_64", ours);
  python(["python3"], ours, train);
  const expected = python(["python3"], ours, encode);

  const theirs = join(arm64.root, "wheel");
  installWheel("manylinux_2_17_aarch64", theirs);
  // Programs that an emulated Python starts are not emulated. So `bin/bpe` becomes a script that runs the arm64
  // executable in the emulator.
  const executable = join(theirs, "bin/bpe");
  renameSync(executable, `${executable}-arm64`);
  const emulated = arm64.command("wheel/bin/bpe-arm64").join(" ");
  writeFileSync(executable, `#!/bin/sh\nexec ${emulated} "$@"\n`, { mode: 0o755 });
  const said = python(arm64.command("usr/bin/python3.13"), theirs, encode);
  rmSync(theirs, { recursive: true });
  if (said !== expected) throw new Error(`on arm64 it says ${said}, and here ${expected}`);
  return expected;
}

function installWheel(platform: string, target: string): void {
  rmSync(target, { recursive: true, force: true });
  const wheel = readdirSync(released).find((name) => name.endsWith(`${platform}.whl`))!;
  const foreign = ["--platform", platform, "--only-binary=:all:", "--target", target];
  run("python3", ["-m", "pip", "install", "--quiet", "--no-index", ...foreign, join(released, wheel)]);
}

function checkShellFiles(directory: string): void {
  const page = readFileSync(join(directory, "bpe.1"), "utf8");
  if (!page.includes(`"bpe ${version.replaceAll("-", "\\-")}"`))
    throw new Error("bpe.1 states another version");
  for (const file of ["bpe.bash", "_bpe", "bpe.fish"]) {
    if (!existsSync(join(directory, "completions", file))) throw new Error(`"${file}" is not in the archive`);
  }
  if (!readFileSync(join(directory, "playground.html"), "utf8").includes("<title>How a tokenizer learns"))
    throw new Error("playground.html is not the page");
  const script = `source "$0"; COMP_WORDS=(bpe tra) COMP_CWORD=1; _bpe; echo "\${COMPREPLY[*]}"`;
  const completed = run("bash", ["--norc", "-c", script, join(directory, "completions/bpe.bash")]).trim();
  if (completed !== "train") throw new Error(`bash completes "bpe tra" to "${completed}"`);
}

function checkFormat(target: Target): string {
  const home = join(scratch, target.triple);
  mkdirSync(home);
  const name = unpackArchive(target.triple, home);
  const path = ["bpe", "bpe.exe"].map((file) => join(home, name, file)).find(existsSync)!;
  const format = executableFormat(readFileSync(path));
  if (!Bun.deepEquals(format, target.format)) throw new Error(JSON.stringify(format));
  const { imports, shared } = target.native.names;
  if (imports !== undefined && !readFileSync(join(home, name, "lib", imports)).includes(`${shared}\0`))
    throw new Error(`what is linked with "${imports}" does not load "${shared}"`);
  return `${format.kind}, ${format.machine}`;
}

/** Unpacks with tar, or with Python's zipfile; returns the name of the directory in the archive. */
function unpackArchive(triple: string, into: string): string {
  const name = `bpe-${version}-${triple}`;
  const archive = join(released, name);
  if (existsSync(`${archive}.zip`)) run("python3", ["-m", "zipfile", "-e", `${archive}.zip`, into]);
  else run("tar", ["-xzf", `${archive}.tar.gz`, "-C", into]);
  return name;
}
