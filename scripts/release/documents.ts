import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { withPlainLinks } from "../../src/main/manual.ts";
import type { ArchivedFile } from "./archive.ts";

/** Returns a page without links to pages that are not shipped with it: such links become text. */
export const standAlone = (root: string, path: string): string =>
  withPlainLinks(readFileSync(join(root, path), "utf8"), path.split("/").slice(0, -1).join("/"));

/** The documents next to the executable in each archive, by name. */
export const archiveDocuments = (root: string): Readonly<Record<string, string>> => ({
  LICENSE: readFileSync(join(root, "LICENSE"), "utf8"),
  "README.md": standAlone(root, "scripts/release/archive-readme.md"),
  "CHANGELOG.md": standAlone(root, "CHANGELOG.md"),
});

/** The files of examples/, except those in TypeScript, which need the sources. */
export const archiveExamples = (root: string): ArchivedFile[] =>
  readdirSync(join(root, "examples"), { recursive: true, encoding: "utf8" })
    .map((name) => ({
      path: `examples/${name.replaceAll("\\", "/")}`,
      stat: statSync(join(root, "examples", name)),
    }))
    .filter(({ path, stat }) => stat.isFile() && !path.endsWith(".ts"))
    .map(({ path, stat }) => ({
      path,
      bytes: readFileSync(join(root, path)),
      isExecutable: (stat.mode & 0o100) !== 0,
    }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
