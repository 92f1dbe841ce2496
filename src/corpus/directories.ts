import { type Dirent, readdirSync, statSync } from "node:fs";
import { basename } from "node:path";
import { UserError } from "../errors.ts";
import { hasReplacement, undecodable } from "../runtime/named-files.ts";
import { isMissing, refusal } from "../runtime/system-error.ts";
import { eachFileOnce, fileId, inByteOrder, type Skipped } from "./each-file-once.ts";
import type { FileFilter } from "./globs.ts";

/**
 * The regular files below a directory that the filter accepts, in byte order of their paths. Hidden files and folders are
 * left out, and so are pipes, sockets and devices. Links are followed. Each folder is visited once, by its own path rather
 * than through a link, and each file is taken once.
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
    refuseUndecodable(`${root}/${folder}`, wantedNames);
  }
  const files = eachFileOnce(inByteOrder(found));
  return { paths: files.paths, skipped: [...skipped, ...files.skipped] };
}

/** Whether a folder is a cache of Hugging Face's hub: files named by their hashes, and folders of links with their names. */
function isHubCache(path: string, entries: readonly Dirent[]): boolean {
  const has = (name: string) => entries.some((entry) => entry.name === name && entry.isDirectory());
  return (
    has("blobs") && has("snapshots") && (has("refs") || /^(datasets|models|spaces)--/.test(basename(path)))
  );
}
const hubCacheParts = ["blobs", "refs"];

/** Refuses several versions of a data set: they are mostly the same texts. */
function checkOneSnapshot(cache: string): void {
  const [first, second] = inByteOrder(readdirSync(`${cache}/snapshots`));
  if (second === undefined) return;
  throw new UserError(`"${cache}" holds several versions of a data set`, {
    hint: `name one of them, e.g. ${cache}/snapshots/${first}`,
  });
}

/** Takes the first path in byte order: through which link a folder is visited must not depend on the order of a listing. */
function firstOf(paths: string[]): string | undefined {
  paths.splice(0, paths.length, ...inByteOrder(paths));
  return paths.shift();
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (hasReplacement(folder)) throw undecodable(folder);
    throw unlistable(folder, error);
  }
}

/** What an entry, or the target of a link, is. Some file systems do not say it in a listing. */
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
 * Refuses names that are not UTF-8: their strings name nothing, or even another file. Only the bytes tell them from names
 * that contain the replacement character.
 */
function refuseUndecodable(folder: string, names: ReadonlySet<string>): void {
  if (![...names].some(hasReplacement)) return;
  for (const bytes of readdirSync(folder, { encoding: "buffer" })) {
    const name = bytes.toString();
    if (names.has(name) && !bytes.equals(Buffer.from(name))) throw undecodable(`${folder}${name}`);
  }
}

/** A folder as people write it. */
const withoutSlash = (path: string) => path.replace(/(?<=.)\/+$/, "");

const unlistable = (path: string, error: unknown) =>
  refusal(`"${withoutSlash(path)}" cannot be listed`, error);
