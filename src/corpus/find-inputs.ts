import { type Dirent, readdirSync, realpathSync, statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { groupBy } from "#bytes";
import {
  exitCode,
  globMatcher,
  hasReplacement,
  isDirectory,
  isFile,
  isMissing,
  pathsMatching,
  refusal,
  statOf,
  UserError,
  undecodableNameError,
  withForwardSlashes,
} from "#runtime";
import { emptyCorpus, type Input } from "./input.ts";
import { type InputOptions, inspectInput, lookAt, noParquetStream } from "./inspect-input.ts";

export type FoundInputs = {
  readonly inputs: readonly Input[];
  /** Files of directories and globs that are not read. */
  readonly skipped: readonly Skipped[];
  /** How many inputs each of the names stands for, in their order. */
  readonly inputCounts?: readonly number[] | undefined;
};

/**
 * The files that the arguments name, in their order, each inspected. An argument is a path; or, if no such path exists, a
 * glob (`*`, `?`, `[]`, `**`; hidden files are left out); or a directory, which stands for the files below it. Files of
 * one argument are in byte order of their paths. A file that is not text is an error if it is named, and skipped in a
 * directory.
 */
export function findCorpus(names: readonly string[], options: InputOptions = {}): FoundInputs {
  checkNames(names, options);
  const include = options.include ?? [];
  if (include.length > 0 && !names.some(isDirectory)) {
    throw new UserError("--include selects files of a directory, and no directory is named", {
      hint: "name a directory, or the files themselves",
      exitCode: exitCode.usage,
    });
  }
  const found = names.map((name) => findNamed(name, options));
  const inputs = found.flatMap((some) => some.inputs);
  const isEmpty = inputs.every((input) => input.sizeBytes === 0 && !input.isStream);
  if (isEmpty && !options.mayBeEmpty) throw emptyCorpus(inputs);
  const inputCounts = found.map((some) => some.inputs.length);
  return { inputs, skipped: found.flatMap((some) => some.skipped), inputCounts };
}

/** The same, without the files that are skipped. */
export const findInputs = (names: readonly string[], options: InputOptions = {}): Input[] => [
  ...findCorpus(names, options).inputs,
];

/** Refuses names that are wrong by themselves. Reads no file. */
export function checkNames(names: readonly string[], { inputFormat: format }: InputOptions = {}): void {
  if (names.length === 0) {
    throw new UserError("no input", { hint: "name at least one text file", exitCode: exitCode.usage });
  }
  const standardInputs = names.filter((name) => name === "-");
  if (standardInputs.length > 1) {
    throw new UserError("standard input (-) is named twice, but can be read only once", {
      exitCode: exitCode.usage,
    });
  }
  if (standardInputs.length === 1 && format === "parquet") throw noParquetStream("-");
}

function findNamed(typed: string, options: InputOptions): FoundInputs {
  const name = withForwardSlashes(typed);
  if (name !== "-" && isDirectory(name)) return findBelow(name, options);
  if (name === "-" || name === "" || !/[*?[]/.test(name) || statOf(name) !== undefined) {
    return { inputs: [inspectInput(name, options)], skipped: [] };
  }
  const { paths, skipped } = filesMatching(name);
  if (paths.length === 0) {
    throw new UserError(`"${name}": no such file, and no file matches it as a glob`, {
      hint: "a glob matches no hidden files; put it in quotes, so that the shell does not expand it",
    });
  }
  return { inputs: paths.map((path) => inspectInput(path, options)), skipped };
}

function findBelow(directory: string, options: InputOptions): FoundInputs {
  const include = options.include ?? [];
  const { paths, skipped } = filesBelow(directory, includeFilter(include));
  const inputs: Input[] = [];
  const look = (path: string) => {
    const found = lookAt(path, options);
    if ("what" in found) skipped.push({ path, reason: found.what });
    else inputs.push(found);
  };
  const isAbout = (path: string) => include.length === 0 && aboutData.test(basename(path));
  for (const path of paths) if (!isAbout(path)) look(path);
  const hasRecords = inputs.some(({ format }) => format !== "text");
  for (const path of paths.filter(isAbout)) {
    if (hasRecords) skipped.push({ path, reason: "about the records beside it (--include takes it in)" });
    else look(path);
  }
  if (inputs.length === 0) throw nothingBelow(directory, include, skipped);
  const order = new Map(paths.map((path, i) => [path, i]));
  return {
    inputs: inputs.sort((a, b) => order.get(a.path)! - order.get(b.path)!),
    skipped: skipped.sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path))),
  };
}

/** Names of the files in data sets that describe the files of records. */
const aboutData = new RegExp(
  [
    String.raw`^(readme|licen[cs]e|copying|notice|citation|changelog|contributing)(\.(md|txt|rst|cff|bib))?$`,
    String.raw`^dataset_infos?\.json$`,
    String.raw`^(dataset_dict|dataset-metadata|state)\.json$`,
    "^_(success|metadata|common_metadata)$",
    String.raw`^(md5|sha\d+)sums?(\.txt)?$`,
    String.raw`\.(md5|sha1|sha256|crc)$`,
  ].join("|"),
  "i",
);

function nothingBelow(directory: string, include: readonly string[], skipped: readonly Skipped[]): UserError {
  const [first] = skipped;
  if (first !== undefined) {
    return new UserError(`there is no text below "${directory}": "${first.path}" is ${first.reason}`, {
      hint: `skipped in all: ${skipped.length}; --binary text also reads files that are not text`,
    });
  }
  const what =
    include.length === 0 ? "no file" : `no file that --include ${include.join(", --include ")} describes`;
  return new UserError(`there is ${what} below "${directory}"`, { hint: "hidden files are not read" });
}

/**
 * The files that a glob names (`*`, `?`, `[]`, `**`), in byte order of their paths; hidden files are left out. Links are
 * followed, and each file is named once. A link that leads nowhere is named, so that reading it is an error.
 */
export function filesMatching(glob: string): ReturnType<typeof eachFileOnce> {
  const matching = inByteOrder(
    [...pathsMatching(glob, glob.startsWith("/") ? "/" : ".")].map(withForwardSlashes),
  );
  const leadsNowhere = (path: string) => statOf(path) === undefined;
  const files = eachFileOnce(matching.filter(isFile));
  return { ...files, paths: inByteOrder([...files.paths, ...matching.filter(leadsNowhere)]) };
}

type FileFilter = (pathBelow: string) => boolean;

/**
 * A filter of `--include` globs: without any, every file is meant. As in a .gitignore file, a glob with a slash describes
 * the path below the directory, and one without describes the name of a file at any depth.
 */
export function includeFilter(globs: readonly string[]): FileFilter {
  if (globs.length === 0) return () => true;
  const filters = globs.map(withForwardSlashes).map((text) => {
    const matches = globMatcher(text.replace(/^\.?\//, ""));
    if (text.includes("/")) return matches;
    return (path: string) => matches(path.slice(path.lastIndexOf("/") + 1));
  });
  return (path) => filters.some((matches) => matches(path));
}

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
  let linkedFolders: string[] = [];
  while (folders.length + linkedFolders.length > 0) {
    // Through which link a folder is visited must not depend on the order of a listing.
    if (folders.length === 0) linkedFolders = inByteOrder(linkedFolders);
    const folder = (folders.pop() ?? linkedFolders.shift())!;
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

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (hasReplacement(folder)) throw undecodableNameError(folder);
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
    throw new UserError(`"${path}" is a broken link`, {
      hint: "remove it, or select other files with --include",
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
    if (names.has(name) && Buffer.compare(bytes, Buffer.from(name)) !== 0)
      throw undecodableNameError(`${folder}${name}`);
  }
}

const withoutSlash = (path: string) => path.replace(/(?<=.)\/+$/, "");

const unlistable = (path: string, error: unknown) =>
  refusal(`"${withoutSlash(path)}" cannot be listed`, error);

export type Skipped = {
  readonly path: string;
  /** Follows "is" in a message. */
  readonly reason: string;
};

/**
 * Leaves one of several paths of the same file: its own path, if it is among them and the others are links to it; else
 * the first. The order stays.
 */
function eachFileOnce(paths: readonly string[]): { paths: string[]; skipped: Skipped[] } {
  const pathsById = groupBy(paths, (path) => fileId(path) ?? path);
  if (pathsById.size === paths.length) return { paths: [...paths], skipped: [] };
  const kept = new Set<string>();
  const skipped: Skipped[] = [];
  for (const same of pathsById.values()) {
    const chosen = same.find((path) => same.length > 1 && realpathSync(path) === resolve(path)) ?? same[0]!;
    kept.add(chosen);
    for (const path of same) {
      if (path !== chosen) skipped.push({ path, reason: `the same file as "${chosen}"` });
    }
  }
  return { paths: paths.filter((path) => kept.has(path)), skipped };
}

/** Names the file that a path leads to, whatever the path; undefined where the file system does not number its files. */
function fileId(path: string): string | undefined {
  const { dev, ino } = statSync(path, { bigint: true });
  return ino === 0n ? undefined : `${dev} ${ino}`;
}

/** Sorts paths by their bytes: an order that does not depend on language or operating system. */
export function inByteOrder(paths: readonly string[]): string[] {
  const keyed = paths.map((path) => ({ path, bytes: Buffer.from(path) }));
  return keyed.sort((a, b) => Buffer.compare(a.bytes, b.bytes)).map(({ path }) => path);
}
