import { readFileSync } from "node:fs";
import { join } from "node:path";
import { withPlainLinks } from "../../src/cli/manual.ts";

/** A page of the sources for a place where the other pages are not: links to these are text. */
export const standAlone = (root: string, path: string): string =>
  withPlainLinks(readFileSync(join(root, path), "utf8"), path.split("/").slice(0, -1).join("/"));

/** The documents beside the executable in each archive, by name. */
export const archiveDocuments = (root: string): Readonly<Record<string, string>> => ({
  LICENSE: readFileSync(join(root, "LICENSE"), "utf8"),
  "README.md": standAlone(root, "scripts/release/archive-readme.md"),
  "CHANGELOG.md": standAlone(root, "CHANGELOG.md"),
});
