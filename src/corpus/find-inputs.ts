import { type Dirent, readdirSync, realpathSync, statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { countNoun, groupBy } from "#bytes";
import {
  asOption,
  exitCode,
  files,
  host,
  type Message,
  messages,
  phrase,
  systemError,
  UserError,
  withForwardSlashes,
} from "#runtime";
import type { NotText } from "./content.ts";
import { emptyCorpusError, type Input } from "./input.ts";
import { type InputOptions, inspectContent, inspectInput, parquetStreamError } from "./inspect-input.ts";

export type FoundInputs = {
  readonly inputs: readonly Input[];
  /**
   * The files and folders that are left out, with the reasons. The list does not have hidden files and folders, pipes,
   * sockets and devices, files that `include` does not select, and folders that match a glob.
   */
  readonly skipped: readonly Skipped[];
  /** The number of inputs for each name, in the order of the names. */
  readonly inputCounts?: readonly number[] | undefined;
};

/**
 * Finds and inspects the files that `names` name. A name is a file's path, `-` for standard input, or a directory, for
 * the files below it. If no such path exists, a name with `*`, `?` or `[` is a glob. A file whose content `bpe` cannot read (`NotText`) is
 * skipped in a directory that has other files to read; elsewhere it is an error.
 */
export function findCorpus(names: readonly string[], options: InputOptions = {}): FoundInputs {
  checkNames(names, options);
  const include = options.include ?? [];
  if (include.length > 0 && !names.some(files.isDirectory)) {
    throw new UserError(
      phrase`${asOption("include")} selects files in directories, but no directory is named`,
      {
        hint: phrase`name a directory, or leave out ${asOption("include")}`,
        exitCode: exitCode.usage,
      },
    );
  }
  const found = names.map((name) => findNamed(name, options));
  const inputs = found.flatMap((some) => some.inputs);
  const isEmpty = inputs.every((input) => input.sizeBytes === 0 && !input.isStream);
  if (isEmpty && !options.mayBeEmpty) throw emptyCorpusError(inputs);
  const inputCounts = found.map((some) => some.inputs.length);
  return { inputs, skipped: found.flatMap((some) => some.skipped), inputCounts };
}

/** Like `findCorpus`, but returns only the inputs. */
export const findInputs = (names: readonly string[], options: InputOptions = {}): Input[] => [
  ...findCorpus(names, options).inputs,
];

/** Checks the names of inputs, without reading any file. */
export function checkNames(names: readonly string[], { inputFormat: format }: InputOptions = {}): void {
  if (names.length === 0) {
    throw new UserError("no input", { hint: "name at least one text file", exitCode: exitCode.usage });
  }
  const standardInputs = names.filter((name) => name === "-");
  if (standardInputs.length > 1) {
    throw new UserError("standard input (-) is named more than once, but can be read only once", {
      hint: "leave out every - except one",
      exitCode: exitCode.usage,
    });
  }
  if (standardInputs.length === 1 && format === "parquet") throw parquetStreamError("-");
}

const noMatchHint =
  "check the path; globs match neither directories nor hidden files, so name those one by one";

/**
 * Returns the files that an argument names: the file with this path or, if there is none and the argument is a glob, the
 * files that match. Throws a UserError if no file matches the glob. Any other argument is returned as it is, even if no
 * such file exists. `shown` names the argument in the error.
 */
export function pathsNamed(name: string, shown: Message = `"${name}"`, hint = noMatchHint): string[] {
  if (!isGlob(name)) return [name];
  const { paths } = filesMatching(name);
  if (paths.length > 0) return paths;
  throw noMatchError(shown, hint);
}

const isGlob = (name: string) => /[*?[]/.test(name) && files.stat(name) === undefined;

const noMatchError = (shown: Message, hint = noMatchHint) =>
  new UserError(phrase`${shown}: no such file, and no file matches it as a glob`, { hint });

function findNamed(typed: string, options: InputOptions): FoundInputs {
  const name = withForwardSlashes(typed);
  if (name !== "-" && files.isDirectory(name)) return findInDirectory(name, options);
  if (!isGlob(name)) {
    return { inputs: [inspectInput(name, options)], skipped: [] };
  }
  const { paths, skipped } = filesMatching(name);
  if (paths.length === 0) throw noMatchError(`"${name}"`);
  return { inputs: paths.map((path) => inspectInput(path, options)), skipped };
}

function findInDirectory(directory: string, options: InputOptions): FoundInputs {
  const include = options.include ?? [];
  const { paths, skipped } = filesBelow(directory, includeFilter(include));
  const inputs: Input[] = [];
  const notText: (Skipped & NotText)[] = [];
  const look = (path: string) => {
    const found = inspectContent(path, options);
    if ("what" in found) notText.push({ path, reason: found.what, ...found });
    else inputs.push(found);
  };
  const isAbout = (path: string) => include.length === 0 && aboutData.test(basename(path));
  for (const path of paths) if (!isAbout(path)) look(path);
  const hasRecords = inputs.some(({ format }) => format !== "text");
  for (const path of paths.filter(isAbout)) {
    if (hasRecords) skipped.push({ path, reason: messages.spell(aboutRecords) });
    else look(path);
  }
  if (inputs.length === 0) throw emptyDirectoryError(directory, include, skipped, notText);
  skipped.push(...notText.map(({ path, reason }) => ({ path, reason })));
  const order = new Map(paths.map((path, i) => [path, i]));
  return {
    inputs: inputs.sort((a, b) => order.get(a.path)! - order.get(b.path)!),
    skipped: skipped.sort((a, b) => Buffer.compare(Buffer.from(a.path), Buffer.from(b.path))),
  };
}

const aboutRecords = phrase`metadata of the data files; to read it as well, give ${asOption("include", '"*"')}`;

/**
 * Returns the reason why a file was skipped, as a message. Only the reason `aboutRecords` names an option; a message
 * lets the caller spell that option.
 */
export const reasonSkipped = ({ reason }: Skipped): Message =>
  reason === messages.spell(aboutRecords) ? aboutRecords : reason;

/** Matches names of files that describe a data set instead of containing its texts. */
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

/**
 * Returns the error for a directory without text. It is about the first file that is not text, if there is one, because
 * the hint then says what to do with such a file.
 */
function emptyDirectoryError(
  directory: string,
  include: readonly string[],
  skipped: readonly Skipped[],
  notText: readonly (Skipped & NotText)[],
): UserError {
  const [first] = [...notText, ...skipped];
  if (first !== undefined) {
    const otherCount = notText.length + skipped.length - 1;
    const others =
      otherCount === 0
        ? ""
        : `, and ${countNoun(otherCount, "more file")} ${otherCount === 1 ? "was" : "were"} skipped`;
    return new UserError(
      phrase`no text found in "${directory}": "${first.path}" is ${first.reason}${others}`,
      { hint: notText[0]?.hint ?? "name a directory that contains text" },
    );
  }
  if (include.length === 0)
    return new UserError(
      `"${directory}" contains no file to read: hidden files, pipes and devices in directories are skipped`,
      {
        hint: "check the path; to read a hidden file or a pipe, name it",
      },
    );
  const globs = messages.joined(
    include.map((glob) => asOption("include", glob)),
    " or ",
  );
  return new UserError(phrase`no file in "${directory}" matches ${globs}`, {
    hint: "correct the glob: without a slash, it matches file names at any depth; with one, paths below the directory",
  });
}

/**
 * Returns the files that match a glob, each once, in byte order of their paths. A broken link is included, so that
 * reading it is an error.
 */
export function filesMatching(glob: string): ReturnType<typeof distinctFiles> {
  const matching = sortByBytes(
    [...host.pathsMatching(glob, glob.startsWith("/") ? "/" : ".")].map(withForwardSlashes),
  );
  const leadsNowhere = (path: string) => files.stat(path) === undefined;
  const distinct = distinctFiles(matching.filter(files.isFile));
  return { ...distinct, paths: sortByBytes([...distinct.paths, ...matching.filter(leadsNowhere)]) };
}

type FileFilter = (pathBelow: string) => boolean;

/**
 * Makes a filter of `--include` globs. As in a .gitignore file, a glob without a slash matches the file's name at any
 * depth; one with a slash matches the path below the directory.
 */
export function includeFilter(globs: readonly string[]): FileFilter {
  if (globs.length === 0) return () => true;
  const filters = globs.map(withForwardSlashes).map((text) => {
    const matches = host.globMatcher(text.replace(/^\.?\//, ""));
    if (text.includes("/")) return matches;
    return (path: string) => matches(path.slice(path.lastIndexOf("/") + 1));
  });
  return (path) => filters.some((matches) => matches(path));
}

/**
 * Returns the regular files below a directory that the filter accepts, in byte order of their paths. Hidden files and
 * folders are left out, and links are followed. If a file or folder has several paths, one is used, and `skipped` has
 * the others. `skipped` also has the internal folders of hub caches.
 */
export function filesBelow(directory: string, wanted: FileFilter): { paths: string[]; skipped: Skipped[] } {
  const root = directory.replace(/\/+$/, "");
  const found: string[] = [];
  const skipped: Skipped[] = [];
  const pathsOfFolders = new Map<string, string>();
  const folders = [""];
  let linkedFolders: string[] = [];
  while (folders.length + linkedFolders.length > 0) {
    // Links are sorted, so that the one through which a folder is visited does not depend on the order of listings.
    if (folders.length === 0) linkedFolders = sortByBytes(linkedFolders);
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
        skipped.push({
          path: `${root}/${path}`,
          reason:
            "an internal folder of a Hugging Face cache, whose files are read through its folder snapshots",
        });
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
  const distinct = distinctFiles(sortByBytes(found));
  return { paths: distinct.paths, skipped: [...skipped, ...distinct.skipped] };
}

/** Whether a folder is a cache of the Hugging Face Hub. */
function isHubCache(path: string, entries: readonly Dirent[]): boolean {
  const has = (name: string) => entries.some((entry) => entry.name === name && entry.isDirectory());
  return (
    has("blobs") && has("snapshots") && (has("refs") || /^(datasets|models|spaces)--/.test(basename(path)))
  );
}
const hubCacheParts = ["blobs", "refs"];

/** Throws a UserError if the cache has several versions of a data set, because most of their texts are the same. */
function checkOneSnapshot(cache: string): void {
  const [first, second] = sortByBytes(readdirSync(`${cache}/snapshots`));
  if (second === undefined) return;
  throw new UserError(`"${cache}" contains several versions of a data set`, {
    hint: `name the directory of one version, e.g. "${cache}/snapshots/${first}"`,
  });
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    if (files.hasReplacement(folder)) throw files.undecodableNameError(folder, true);
    throw listErrorOf(folder, error);
  }
}

/**
 * Returns the kind of a directory entry or, if it is a link, of the link's target. Throws a UserError for a wanted link
 * that is broken, and for any link whose target the system refuses to look up.
 */
function kindOf(entry: Dirent, path: string, isWanted: () => boolean): "file" | "folder" | "other" {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "folder";
  if (entry.isFIFO() || entry.isSocket() || entry.isCharacterDevice() || entry.isBlockDevice())
    return "other";
  try {
    const stats = statSync(path);
    return stats.isFile() ? "file" : stats.isDirectory() ? "folder" : "other";
  } catch (error) {
    if (!systemError.isMissing(error)) throw listErrorOf(path, error);
    if (!isWanted()) return "other";
    throw new UserError(`"${path}" is a broken link`, {
      hint: phrase`remove the link${messages.ifHas("include", phrase`, or select other files with ${asOption("include")}`)}`,
    });
  }
}

/**
 * Throws a UserError for a name that is not UTF-8, because such a name, decoded to a string, may denote another file.
 */
function refuseUndecodable(folder: string, names: ReadonlySet<string>): void {
  if (![...names].some(files.hasReplacement)) return;
  for (const bytes of readdirSync(folder, { encoding: "buffer" })) {
    const name = bytes.toString();
    if (names.has(name) && Buffer.compare(bytes, Buffer.from(name)) !== 0)
      throw files.undecodableNameError(`${folder}${name}`, true);
  }
}

const withoutSlash = (path: string) => path.replace(/(?<=.)\/+$/, "");

const listErrorOf = (path: string, error: unknown) =>
  systemError.refusal(`"${withoutSlash(path)}" cannot be listed`, error);

export type Skipped = {
  readonly path: string;
  /** Completes the message "PATH is …", e.g. `the same file as "a.txt"`. */
  readonly reason: string;
};

/** Keeps one path of each file: its real path if that is given, otherwise the first. `skipped` has the other paths. */
function distinctFiles(paths: readonly string[]): { paths: string[]; skipped: Skipped[] } {
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

/** Identifies the file at a path; undefined if the file system has no inode numbers. */
function fileId(path: string): string | undefined {
  const { dev, ino } = statSync(path, { bigint: true });
  return ino === 0n ? undefined : `${dev} ${ino}`;
}

/** Sorts paths by their bytes: an order that does not depend on language or operating system. */
export function sortByBytes(paths: readonly string[]): string[] {
  const keyed = paths.map((path) => ({ path, bytes: Buffer.from(path) }));
  return keyed.sort((a, b) => Buffer.compare(a.bytes, b.bytes)).map(({ path }) => path);
}
