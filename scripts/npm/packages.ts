// The npm packages: `bpe`, with the library and the command, and one with the executable for each platform.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ArchivedFile } from "../release/archive.ts";
import { standAlone } from "../release/documents.ts";
import { type Target, targets } from "../release/targets.ts";

/** A package: its name, and its files by their paths in it. */
export type NpmPackage = {
  readonly name: string;
  readonly version: string;
  readonly files: readonly ArchivedFile[];
};

type Project = { readonly version: string; readonly description: string; readonly license: string };

const projectOf = (root: string): Project => JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

const json = (path: string, value: unknown): ArchivedFile => ({
  path,
  bytes: Buffer.from(`${JSON.stringify(value, null, 2)}\n`),
});

/** Returns the name that `npm pack` gives a tarball. */
export const tarballName = ({ name, version }: NpmPackage) => `${name}-${version}.tgz`;

export const tarballFiles = ({ files }: NpmPackage): ArchivedFile[] =>
  files.map((file) => ({ ...file, path: `package/${file.path}` }));

/** The package `bpe`: the libraries in `built`, and the command, which starts the executable of another package. */
export function libraryPackage(root: string, built: string, notice: string): NpmPackage {
  const { version, description, license } = projectOf(root);
  const read = (path: string, from: string): ArchivedFile => ({
    path,
    bytes: readFileSync(join(root, from)),
  });
  const made = readdirSync(built, { recursive: true, encoding: "utf8", withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(built.length + 1))
    .sort();
  const manifest = {
    name: "bpe",
    version,
    description,
    keywords: ["bpe", "tokenizer", "byte-pair-encoding", "tiktoken", "huggingface", "llm"],
    license,
    type: "module",
    sideEffects: false,
    engines: { node: ">=20" },
    bin: { bpe: "bin/bpe.js" },
    // For tools that do not support `exports`.
    main: "./lib/node/index.js",
    types: "./types/index.d.ts",
    exports: {
      ".": {
        workerd: { types: "./types/browser.d.ts", default: "./lib/workers/browser.js" },
        browser: { types: "./types/browser.d.ts", default: "./lib/browser/library.js" },
        bun: { types: "./types/index.d.ts", default: "./lib/bun/index.js" },
        default: { types: "./types/index.d.ts", default: "./lib/node/index.js" },
      },
      "./browser": { types: "./types/browser.d.ts", default: "./lib/browser/library.js" },
      "./workers": { types: "./types/browser.d.ts", default: "./lib/workers/browser.js" },
      "./package.json": "./package.json",
    },
    files: ["bin", "lib", "types", "NOTICE", "CHANGELOG.md"],
    optionalDependencies: Object.fromEntries(targets.map(({ npm }) => [npm.name, version])),
  };
  return {
    name: "bpe",
    version,
    files: [
      json("package.json", manifest),
      { path: "README.md", bytes: Buffer.from(standAlone(root, "npm/README.md")) },
      read("LICENSE", "LICENSE"),
      { path: "CHANGELOG.md", bytes: Buffer.from(standAlone(root, "CHANGELOG.md")) },
      { path: "NOTICE", bytes: Buffer.from(notice) },
      { ...read("bin/bpe.js", "npm/launcher.js"), isExecutable: true },
      ...made.map((path) => ({ path, bytes: readFileSync(join(built, path)) })),
    ],
  };
}

/** The package with the executable of one platform. */
export function executablePackage(
  root: string,
  { npm, title }: Target,
  executable: Uint8Array,
  notice: string,
): NpmPackage {
  const { version, license } = projectOf(root);
  const { name, ...platform } = npm;
  const text = `# ${name}\n\nThe executable of [bpe](https://www.npmjs.com/package/bpe) for ${title}. Install \`bpe\`.\n`;
  const manifest = {
    name,
    version,
    description: `The executable of bpe for ${title}`,
    license,
    ...platform,
    // Yarn must unpack it, because an executable cannot be started inside an archive.
    preferUnplugged: true,
  };
  return {
    name,
    version,
    files: [
      json("package.json", manifest),
      { path: "README.md", bytes: Buffer.from(text) },
      { path: "LICENSE", bytes: readFileSync(join(root, "LICENSE")) },
      { path: "NOTICE", bytes: Buffer.from(notice) },
      { path: platform.os[0] === "win32" ? "bin/bpe.exe" : "bin/bpe", bytes: executable, isExecutable: true },
    ],
  };
}
