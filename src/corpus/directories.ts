import { type Dirent, readdirSync, statSync } from "node:fs";
import { basename } from "node:path";
import { UserError } from "../errors.ts";
import { isMissing, reasonNotRead } from "../runtime/system-error.ts";
import { eachFileOnce, fileId, type Skipped } from "./each-file-once.ts";

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
 * folders are left out, and what is no file (a pipe, a socket) is passed over. Links are followed; each folder is gone
 * into once, by its own path rather than by a link, and each file is taken once.
 */
export function filesBelow(directory: string, wanted: FileFilter): { paths: string[]; skipped: Skipped[] } {
  const root = directory.replace(/\/+$/, "");
  const found: string[] = [];
  const skipped: Skipped[] = [];
  const pathsOfFolders = new Map<string, string>();
  const folders = [""];
  const linkedFolders: string[] = [];
  for (;;) {
    const folder = folders.pop() ?? firstOf(linkedFolders);
    if (folder === undefined) break;
    const folderPath = withoutSlash(`${root}/${folder}`);
    const id = fileId(folderPath);
    const before = id === undefined ? undefined : pathsOfFolders.get(id);
    if (before !== undefined) {
      skipped.push({ path: folderPath, reason: `the same folder as "${before}"` });
      continue;
    }
    if (id !== undefined) pathsOfFolders.set(id, folderPath);

    const entries = entriesOf(`${root}/${folder}`);
    const isCache = isHubCache(folderPath, entries);
    if (isCache) checkOneSnapshot(folderPath);
    const wantedNames = new Set<string>();
    for (const entry of entries) {
      if (entry.name.startsWith(".")) continue;
      const path = folder + entry.name;
      if (isCache && hubCacheParts.includes(entry.name)) {
        skipped.push({ path: `${root}/${path}`, reason: "a part of a cache whose files snapshots/ names" });
        continue;
      }
      const kind = kindOf(entry, `${root}/${path}`, () => wanted(path));
      if (kind === "folder") (entry.isSymbolicLink() ? linkedFolders : folders).push(`${path}/`);
      if (kind === "file" && !wanted(path)) continue;
      if (kind === "file") found.push(`${root}/${path}`);
      if (kind !== "other") wantedNames.add(entry.name);
    }
    checkNames(`${root}/${folder}`, wantedNames);
  }
  const files = eachFileOnce(inByteOrder(found));
  return { paths: files.paths, skipped: [...skipped, ...files.skipped] };
}

/** The cache of Hugging Face's hub: files by their hashes, and folders of links that give them their names. */
function isHubCache(path: string, entries: readonly Dirent[]): boolean {
  const has = (name: string) => entries.some((entry) => entry.name === name && entry.isDirectory());
  return (
    has("blobs") && has("snapshots") && (has("refs") || /^(datasets|models|spaces)--/.test(basename(path)))
  );
}
const hubCacheParts = ["blobs", "refs"];

/** Two versions of a data set are mostly the same texts, by other names for changed files. */
function checkOneSnapshot(cache: string): void {
  const [first, second] = inByteOrder(readdirSync(`${cache}/snapshots`));
  if (second === undefined) return;
  throw new UserError(`"${cache}" holds several versions of a data set`, {
    hint: `name one of them, e.g. ${cache}/snapshots/${first}`,
  });
}

/** Takes the first by its bytes: which link a folder is gone into by must not depend on the order of a listing. */
function firstOf(paths: string[]): string | undefined {
  paths.splice(0, paths.length, ...inByteOrder(paths));
  return paths.shift();
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

/** Some file systems do not say in a listing what an entry is; what a link is shows what it leads to. */
function kindOf(entry: Dirent, path: string, isWanted: () => boolean): "file" | "folder" | "other" {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "folder";
  if (entry.isFIFO() || entry.isSocket() || entry.isCharacterDevice() || entry.isBlockDevice())
    return "other";
  try {
    const stats = statSync(path);
    return stats.isFile() ? "file" : stats.isDirectory() ? "folder" : "other";
  } catch (error) {
    if (!isMissing(error)) throw unlistable(path, error);
    if (!isWanted()) return "other";
    throw new UserError(`"${path}" is a link that leads nowhere`, {
      hint: "remove it, or leave it out (--include says which files of a directory are meant)",
    });
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

/** As people write a folder. */
const withoutSlash = (path: string) => path.replace(/(?<=.)\/+$/, "");

function unlistable(path: string, error: unknown): UserError {
  return new UserError(`"${withoutSlash(path)}" cannot be listed: ${reasonNotRead(error)}`);
}
