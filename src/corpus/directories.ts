import { type Dirent, lstatSync, readdirSync } from "node:fs";
import { UserError } from "../errors.ts";
import { reasonNotRead } from "../system-error.ts";

/** Which files of a directory are meant: all, or those whose path below it one of the globs describes. */
type FileFilter = (pathBelow: string) => boolean;

/**
 * A filter of globs. As in a .gitignore file, a glob with a slash describes the path below the directory, and one
 * without describes the name of a file at any depth.
 */
export function includeFilter(globs: readonly string[]): FileFilter {
  if (globs.length === 0) return () => true;
  const filters = globs.map((text) => {
    const glob = new Bun.Glob(text.replace(/^\.?\//, ""));
    if (text.includes("/")) return (path: string) => glob.match(path);
    return (path: string) => glob.match(path.slice(path.lastIndexOf("/") + 1));
  });
  return (path) => filters.some((matches) => matches(path));
}

/**
 * The regular files below a directory that the filter lets through, by the bytes of their paths. Hidden files and
 * folders are left out, links are not followed, and what is no file (a pipe, a socket) is passed over.
 */
export function filesBelow(directory: string, wanted: FileFilter): string[] {
  const root = directory.replace(/\/+$/, "");
  const found: string[] = [];
  const folders = [""];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const entries = entriesOf(`${root}/${folder}`);
    const wantedNames = new Set<string>();
    for (const entry of entries) {
      if (entry.name.startsWith(".")) continue;
      const path = folder + entry.name;
      const kind = kindOf(entry, `${root}/${path}`);
      if (kind === "folder") folders.push(`${path}/`);
      if (kind === "file" && !wanted(path)) continue;
      if (kind === "file") found.push(`${root}/${path}`);
      if (kind !== "other") wantedNames.add(entry.name);
    }
    checkNames(`${root}/${folder}`, wantedNames);
  }
  return inByteOrder(found);
}

/** Paths by their bytes: the order that does not depend on language or operating system. */
export function inByteOrder(paths: readonly string[]): string[] {
  const keyed = paths.map((path) => ({ path, bytes: Buffer.from(path) }));
  return keyed.sort((a, b) => Buffer.compare(a.bytes, b.bytes)).map(({ path }) => path);
}

/** What a name that is not valid UTF-8 has in place of its bytes once it is a string. */
export const hasReplacement = (path: string) => path.includes("\ufffd");

export function undecodable(path: string): UserError {
  return new UserError(`"${path}": this name is not valid UTF-8`, {
    hint: "rename it, or leave it out (--include says which files of a directory are meant)",
  });
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (hasReplacement(folder)) throw undecodable(folder);
    throw unlistable(folder, error);
  }
}

/** Some file systems do not say in a listing what an entry is. */
function kindOf(entry: Dirent, path: string): "file" | "folder" | "other" {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "folder";
  const known = [entry.isSymbolicLink(), entry.isFIFO(), entry.isSocket(), entry.isCharacterDevice()];
  if (known.includes(true) || entry.isBlockDevice()) return "other";
  try {
    const stats = lstatSync(path);
    return stats.isFile() ? "file" : stats.isDirectory() ? "folder" : "other";
  } catch (error) {
    throw unlistable(path, error);
  }
}

/**
 * A name that is not UTF-8 comes as a string that names nothing, or worse another file. Only the bytes tell it from a
 * name that has the replacement character in it.
 */
function checkNames(folder: string, names: ReadonlySet<string>): void {
  if (![...names].some(hasReplacement)) return;
  for (const bytes of readdirSync(folder, { encoding: "buffer" })) {
    const name = bytes.toString();
    if (names.has(name) && !bytes.equals(Buffer.from(name))) throw undecodable(`${folder}${name}`);
  }
}

function unlistable(path: string, error: unknown): UserError {
  return new UserError(`"${path.replace(/(?<=.)\/+$/, "")}" cannot be listed: ${reasonNotRead(error)}`);
}
