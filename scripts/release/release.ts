// Builds all files of a release into dist/release/: `npm run release`. With `-- --host`, leaves out other platforms,
// and accepts a tree with changes.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { buildExecutable, step } from "../../build.ts";
import { buildLibraries } from "../npm/build.ts";
import {
  executablePackage,
  libraryPackage,
  type NpmPackage,
  tarballFiles,
  tarballName,
} from "../npm/packages.ts";
import { type ArchivedFile, tarGz, zip } from "./archive.ts";
import { archiveDocuments, archiveExamples } from "./documents.ts";
import { executableFormat } from "./executable-format.ts";
import { buildNative, installZig } from "./native.ts";
import { libraryNotice, notice } from "./notice.ts";
import { run } from "./run.ts";
import { fetchRuntime, pinnedRuntime } from "./runtimes.ts";
import { type Archive, makeSbom } from "./sbom.ts";
import { shellFiles } from "./shell-files.ts";
import { type Target, targets } from "./targets.ts";
import { makeWheel } from "./wheel.ts";

const root = resolve(import.meta.dir, "../..");
const directory = join(root, "dist/release");

const flag = { type: "boolean", default: false } as const;
const { values: options } = parseArgs({ options: { dirty: flag, host: flag } });
const changes = run("git", ["status", "--porcelain", "--untracked-files=no"], root);
if (changes !== "" && !options.dirty && !options.host) {
  console.error(
    `A release is made of a commit, and this tree has changes (--dirty for a trial, --host for this machine):\n${changes}`,
  );
  process.exit(1);
}
/** The format of this machine's executables, read from the Bun that runs this script. */
const hostFormat = executableFormat(readFileSync(process.execPath));
const made = options.host ? targets.filter(({ format }) => Bun.deepEquals(format, hostFormat)) : targets;

const { version }: { version: string } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
/** The time of the commit, in seconds since 1970. Files of a release contain no other time. */
const seconds = Number(run("git", ["log", "-1", "--format=%ct"], root));

step("the tools of a release: npm's, and zig");
run("npm", ["ci", "--omit=optional", "--ignore-scripts"], join(root, "scripts/release/tools"));
installZig();
rmSync(directory, { recursive: true, force: true });
mkdirSync(directory, { recursive: true });

const noticeText = notice(root);
const documents = Object.entries(archiveDocuments(root));
const examples = archiveExamples(root);
const besideProgram = shellFiles({ version, seconds });
const archives: Archive[] = [];
/** The file names of the wheels and npm packages. */
const packageNames: string[] = [];
for (const target of made) {
  step(`${target.title}: executable, module, library, archive, wheel, package`);
  archives.push(await release(target));
}
step("the library for Node and browsers");
writePackage(libraryPackage(root, await buildLibraries(), libraryNotice(root)));
step("the list of what is in it, and checksums");
write(`bpe-${version}.cdx.json`, Buffer.from(await makeSbom(root, archives)));
writeSums();
console.log(`all of it is in ${directory}`);

/** Builds, checks and packs the executable and the native parts of one target. */
async function release(target: Target): Promise<Archive> {
  const runtime = pinnedRuntime(root, target.runtimePackage);
  const runtimePath = fetchRuntime(runtime, join(root, "dist/runtimes"));
  const build = join(root, "dist/release-build", target.triple);
  mkdirSync(build, { recursive: true });
  const path = await buildExecutable(join(build, "bpe"), { target: target.compileTarget, runtimePath });
  const bytes = readFileSync(path);
  const format = executableFormat(bytes);
  if (!Bun.deepEquals(format, target.format)) {
    throw new Error(`"${path}" is not what ${target.triple} needs: ${JSON.stringify(format)}`);
  }
  const native = await buildNative(target, join(build, "native"));
  const name = `bpe-${version}-${target.triple}`;
  const files: ArchivedFile[] = [
    { path: `${name}/${path.endsWith(".exe") ? "bpe.exe" : "bpe"}`, bytes, isExecutable: true },
    { path: `${name}/playground.html`, bytes: readFileSync(join(root, "dist/playground/playground.html")) },
    { path: `${name}/NOTICE`, bytes: Buffer.from(noticeText) },
    ...documents.map(([file, text]) => ({ path: `${name}/${file}`, bytes: Buffer.from(text) })),
    ...besideProgram.map(({ path, text }) => ({ path: `${name}/${path}`, bytes: Buffer.from(text) })),
    ...examples.map((file) => ({ ...file, path: `${name}/${file.path}` })),
    ...native.library.map(({ name: file, bytes }) => ({ path: `${name}/${file}`, bytes })),
  ];
  const packed = target.archive === "zip" ? zip(files, seconds) : tarGz(files, seconds);
  const sha256 = write(`${name}.${target.archive}`, packed);
  const wheel = makeWheel({
    root,
    executable: bytes,
    nativeModule: native.module,
    platform: target.wheelPlatform,
    notice: noticeText,
    shellFiles: target.archive === "zip" ? [] : besideProgram,
    seconds,
  });
  write(wheel.name, wheel.bytes);
  packageNames.push(wheel.name);
  writePackage(executablePackage(root, target, bytes, noticeText));
  return { name: `${name}.${target.archive}`, sha256, runtime };
}

function writePackage(made: NpmPackage): void {
  write(tarballName(made), tarGz(tarballFiles(made), seconds));
  packageNames.push(tarballName(made));
}

/** Writes a file of the release; returns its SHA-256 in hexadecimal digits. */
function write(name: string, bytes: Uint8Array): string {
  writeFileSync(join(directory, name), bytes);
  console.log(`${(bytes.length / 1e6).toFixed(1).padStart(6)} MB  ${name}`);
  return sha256Of(bytes);
}

/** SHA256SUMS, as `sha256sum --check` reads it. */
function writeSums(): void {
  const names = [...archives.map(({ name }) => name), ...packageNames, `bpe-${version}.cdx.json`].sort();
  const lines = names.map((name) => `${sha256Of(readFileSync(join(directory, name)))}  ${name}\n`);
  writeFileSync(join(directory, "SHA256SUMS"), lines.join(""));
}

function sha256Of(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
