import { closeSync, fstatSync, readFileSync, readSync, type Stats, statSync } from "node:fs";
import { basename, join, posix } from "node:path";
import { recordedFiles } from "#formats";
import { host, isWindows, systemError, UserError } from "#runtime";
import { imageFile } from "#tokenizer";
import { rename } from "./file-system.ts";
import { lstatOrNull, namesBelow, namesIn, type Place, pathOf, statOrNull } from "./output-place.ts";
import * as trustedFiles from "./trusted-files.ts";

type ExistingOutput =
  | { readonly kind: "absent" }
  | { readonly kind: "empty"; readonly stats: Stats }
  | { readonly kind: "result"; readonly stats: Stats; readonly names: readonly string[] };

/**
 * Examines what is at a place, where an output is to be written, without changing it. Throws a UserError if something
 * is there that is neither an earlier result nor an empty directory, if it is a mount point, or if Windows keeps the
 * name for a device. Tries again if another run replaces or removes what is there meanwhile.
 */
export function inspectOutput(place: Place): ExistingOutput {
  for (let attempt = 1; ; attempt++) {
    try {
      return inspectOnce(place);
    } catch (error) {
      if (error instanceof UserError) throw error;
      if (!systemError.isMissing(error) || attempt === attemptsMax)
        throw systemError.refusal(`"${place.typed}"`, error);
    }
  }
}

const attemptsMax = 100;

/** Names of devices on Windows, also with an extension, as in nul.txt: whatever is written there goes to the device. */
const deviceName = /^(con|prn|aux|nul|(com|lpt)[0-9])(\..*)?$/i;

function inspectOnce(place: Place): ExistingOutput {
  const path = pathOf(place);
  if (isWindows && deviceName.test(place.name))
    throw refusedError(place, "Windows keeps this name for a device", "choose another name");
  const stats = lstatOrNull(path, place.typed);
  if (stats === null) return { kind: "absent" };
  if (stats.isSymbolicLink())
    throw refusedError(place, "it is a symbolic link", "name the directory that it leads to");
  if (!stats.isDirectory()) throw refusedError(place, "it is not a directory", "choose another name");
  if (isMountPoint(place))
    throw refusedError(
      place,
      "it is a mount point",
      `name a directory in it, e.g. "${join(path, "tokenizer")}"`,
    );
  const listed = listedNames(path);
  const directories = new Set([...listed].map((name) => name.split("/")[0]!));
  const names = namesBelow(path, (name) => directories.has(name));
  const isForeign = (name: string) => !listed.has(name) || lstatOrNull(join(path, name))?.isFile() === false;
  const foreign = names.filter(isForeign);
  // If another run has published meanwhile, `names` mixes two results, so the place is inspected again.
  if (lstatOrNull(path)?.ino !== stats.ino) return inspectOutput(place);
  if (names.length === 0) return { kind: "empty", stats };
  if (foreign.length === 0) return { kind: "result", stats, names };
  const more = foreign.length > 1 ? ` and ${foreign.length - 1} more` : "";
  throw refusedError(
    place,
    `it contains files that no earlier run of bpe wrote: "${foreign[0]}"${more}`,
    "choose a directory that is new, empty, or the result of an earlier run",
  );
}

/**
 * Returns the names of a directory's record, of the files that the record lists, and of images of tokenizers next to
 * any of these files. Returns an empty set if there is no valid record. The record may be forged, so it is invalid if a
 * listed name leads outside the directory.
 */
function listedNames(path: string): Set<string> {
  let record: unknown;
  try {
    record = JSON.parse(readRecord(join(path, recordedFiles.recordName)));
  } catch {
    return new Set();
  }
  const files = (record as { files?: unknown } | null)?.files;
  if (!Array.isArray(files) || !files.every(isListedName)) return new Set();
  const directories = ["", ...files.map((name: string) => posix.dirname(name))];
  const images = new Set(directories.map((directory) => posix.join(directory, imageFile.name)));
  return new Set([
    ...files,
    recordedFiles.recordName,
    ...[...images].filter((name) => isImage(join(path, name))),
  ]);
}

/**
 * Whether the file begins like an image of a tokenizer. Such a file belongs to the result, or to a smaller vocabulary
 * in a subdirectory of the result. False if the file cannot be read, or if its owner is not trusted.
 */
function isImage(path: string): boolean {
  try {
    const fd = trustedFiles.open(path);
    try {
      const head = Buffer.alloc(imageFile.magic.length);
      return (
        readSync(fd, head, 0, head.length, 0) === head.length && head.toString("latin1") === imageFile.magic
      );
    } finally {
      closeSync(fd);
    }
  } catch {
    return false;
  }
}

function readRecord(path: string): string {
  const fd = trustedFiles.open(path);
  try {
    return fstatSync(fd).size > recordBytesMax ? "" : readFileSync(fd, "utf8");
  } finally {
    closeSync(fd);
  }
}

/** The maximum size of a record that is read, far above any real one. */
const recordBytesMax = 64 * 1024 * 1024;

function isListedName(name: unknown): boolean {
  const parts = typeof name === "string" ? name.split("/") : [];
  return parts.length >= 1 && parts.length <= 2 && parts.every(isPlainName);
}

const isPlainName = (name: string) => name !== "" && name !== "." && name !== ".." && !/[\\\0]/.test(name);

/**
 * Whether the place is a mount point, which cannot be renamed. If the mount is of the same device as its parent, only
 * /proc/self/mountinfo shows it.
 */
function isMountPoint(place: Place): boolean {
  const path = pathOf(place);
  if (statSync(path).dev !== statSync(place.parent).dev) return true;
  try {
    const lines = readFileSync("/proc/self/mountinfo", "utf8").split("\n");
    return lines.some((line) => unescapeMount(line.split(" ")[4] ?? "") === path);
  } catch {
    return false;
  }
}

/** Unescapes a path of /proc/self/mountinfo, which encodes some characters: space as \040, backslash as \134. */
function unescapeMount(path: string): string {
  return path.replaceAll(/\\([0-7]{3})/g, (_, octal: string) =>
    String.fromCharCode(Number.parseInt(octal, 8)),
  );
}

function refusedError(place: Place, reason: string, hint: string): UserError {
  return new UserError(`"${place.typed}" is not replaced: ${reason}`, { hint });
}

/**
 * Matches the part after NAME in the names of kept results. `--keep N` leaves former results next to their place, and
 * names each by the start time of the run that made it:
 *
 *   NAME.20261120T020000Z      and, for another that began in the same second, NAME.20261120T020000Z-2
 */
const keptName = /^\.(\d{8}T\d{6}Z)(?:-(\d+))?$/;

/** Moves a former result to its kept name. Returns its new path. */
export function keepResult(path: string, place: Place): string {
  const stamp = stampOf(path);
  // The number is higher than that of any kept result of the same second, so the newer result has the higher number
  // even if results with lower numbers were removed.
  const n = Math.max(0, ...keptNames(place).flatMap((kept) => (kept.stamp === stamp ? kept.n : []))) + 1;
  const kept = `${pathOf(place)}.${stamp}${n === 1 ? "" : `-${n}`}`;
  rename(path, kept);
  return kept;
}

/** Lists the names that have the form of a kept result's name. */
const keptNames = (place: Place) =>
  namesIn(place.parent).flatMap((name) => {
    const [, stamp, n = 1] = keptName.exec(name.slice(place.name.length)) ?? [];
    return stamp !== undefined && name.startsWith(`${place.name}.`) ? [{ name, stamp, n: Number(n) }] : [];
  });

/**
 * Returns the places of all kept results, latest first. Leaves out what is not a result, and results of users who are
 * not trusted.
 */
export function findKeptPlaces(place: Place): Place[] {
  const found: { place: Place; stamp: string; n: number }[] = [];
  const parent = statOrNull(place.parent);
  for (const { name, stamp, n } of keptNames(place)) {
    const kept = { ...place, name };
    const stats = lstatOrNull(pathOf(kept));
    // Results of another user would count towards the N of `--keep`, and displace ours.
    if (parent === null || stats === null || !trustedFiles.isTrusted(stats, parent) || !isResult(kept))
      continue;
    found.push({ place: kept, stamp, n });
  }
  found.sort((a, b) => (a.stamp === b.stamp ? b.n - a.n : a.stamp < b.stamp ? 1 : -1));
  return found.map(({ place }) => place);
}

export function isResult(place: Place): boolean {
  try {
    return inspectOutput(place).kind === "result";
  } catch {
    return false;
  }
}

/**
 * Returns the start time of a result's run, to the second. If the record lacks a valid start time, returns the time
 * when the record was written.
 */
function stampOf(path: string): string {
  const fd = trustedFiles.open(join(path, recordedFiles.recordName));
  try {
    const record = JSON.parse(readFileSync(fd, "utf8")) as { readonly startedAt?: unknown } | null;
    const startedAt = record?.startedAt;
    const started = typeof startedAt === "string" ? stamp(new Date(startedAt)) : "";
    return keptName.test(`.${started}`) ? started : stamp(fstatSync(fd).mtime);
  } finally {
    closeSync(fd);
  }
}

const stamp = (time: Date) =>
  Number.isNaN(time.getTime()) ? "" : time.toISOString().replaceAll(/[-:]|\.\d+/g, "");

/**
 * Returns MARK of the hidden name `….keep-MARK` (output-lock.ts) for the result at `path`: a hash of its record. It
 * distinguishes a former result from its replacement, because no two records are equal: each has its own times.
 */
export function recordMark(path: string): string {
  const bytes = trustedFiles.readTrusted(join(path, recordedFiles.recordName));
  return host.xxHash64(bytes).toString(16).padStart(16, "0").slice(0, 8);
}

/**
 * Whether the result at a hidden path `….keep-MARK` is the former one, of whose record MARK is the hash. Before the
 * exchange, the new result is at this path.
 */
export function isMarked(path: string): boolean {
  try {
    return basename(path).endsWith(`.keep-${recordMark(path)}`);
  } catch {
    return false;
  }
}
