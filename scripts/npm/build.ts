// Builds the npm packages that tests use into dist/npm: `bpe`, and the package with the executable for this machine.
// `npm run suite npm-package` runs this script, which needs the results of `npm run build`.
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { commit } from "../../build.ts";
import { libraryNotice } from "../release/notice.ts";
import { targets } from "../release/targets.ts";
import { compileLibraries } from "./compile.ts";
import { declareTypes } from "./declare-types.ts";
import { executablePackage, libraryPackage, type NpmPackage } from "./packages.ts";

const root = resolve(import.meta.dir, "../..");

/** Compiles the libraries of the package `bpe`, and writes their declarations. Returns the directory with both. */
export async function buildLibraries(): Promise<string> {
  const built = join(root, "dist/npm/built");
  await compileLibraries(join(built, "lib"), commit());
  declareTypes(join(built, "types"));
  return built;
}

function write(directory: string, { files }: NpmPackage): void {
  rmSync(directory, { recursive: true, force: true });
  for (const { path, bytes, isExecutable } of files) {
    const target = join(directory, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, bytes);
    if (isExecutable) chmodSync(target, 0o755);
  }
  console.log(`built ${directory}`);
}

if (import.meta.main) {
  const built = await buildLibraries();
  // Only a release installs the texts of licences.
  const hasLicences = existsSync(join(root, "scripts/release/tools/node_modules/spdx-license-list"));
  if (!hasLicences) console.warn("NOTICE is empty: `npm run release` writes it");
  write(join(root, "dist/npm/bpe"), libraryPackage(root, built, hasLicences ? libraryNotice(root) : ""));
  const here = targets.find(
    ({ npm }) => npm.os[0] === process.platform && npm.cpu[0] === process.arch && npm.libc?.[0] !== "musl",
  );
  if (here === undefined) throw new Error("there is no release for this machine");
  const executable = readFileSync(join(root, process.platform === "win32" ? "dist/bpe.exe" : "dist/bpe"));
  write(join(root, "dist/npm/executable"), executablePackage(root, here, executable, ""));
}
