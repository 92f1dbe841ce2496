import {
  accessSync,
  closeSync,
  constants,
  lstatSync,
  lutimesSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  type Stats,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { groupDigits, schema } from "#bytes";
import { corpusInputs, type Input, type RangeStatistics } from "#corpus";
import { asOption, files, host, type Message, phrase, systemError, UserError } from "#runtime";
import { outputPlaces, rename, trustedFiles } from "#store";
import type { CountsOptions } from "./counts-format.ts";

/**
 * The names of a cache's files. Files with other names are neither read nor removed.
 *
 *   bpe-index                          maps files to contents (content-hash.ts)
 *   bpe-OPTIONS-SIZE-SHA256.words      an entry: the words of one content, read with these options (cache-entries.ts)
 *   bpe-GROUP-ID.sum                   the summed words of entries that share a run's options (cache-entries.ts)
 *   bpe-OUTPUT.result                  the sources and the files of an output (`Result`)
 *
 * SIZE is in bytes. OPTIONS, GROUP, ID and OUTPUT are 16 hexadecimal digits. While a file is being written, it is in a
 * hidden directory of its process; the directory of a dead process is removed.
 */
export const indexName = "bpe-index";
export const sumName = (group: string, id: string) => `bpe-${group}-${id}.sum`;
const resultName = (outputPath: string) => `bpe-${shortHash(outputPath)}.result`;

/** Identifies a content: the hash of how its input is read, its size, and its SHA-256. */
export type EntryId = string;

export const entryId = (optionsHash: string, sizeBytes: number, sha256: string): EntryId =>
  `${optionsHash}-${sizeBytes}-${sha256}`;
export const entryName = (id: EntryId) => `bpe-${id}.words`;

export const entryIdCheck = schema.textLike(
  /^[0-9a-f]{16}-\d{1,16}-[0-9a-f]{64}$/,
  "not the identifier of a cache entry",
);

export function entryIdOf(name: string): EntryId | undefined {
  return /^bpe-([0-9a-f]{16}-\d{1,16}-[0-9a-f]{64})\.words$/.exec(name)?.[1];
}

/** The part of an id without the SHA-256, to look up whether any content of this size is known. */
export const idStart = (optionsHash: string, sizeBytes: number) => `${optionsHash}-${sizeBytes}`;
export const idStartOf = (id: EntryId) => id.slice(0, id.lastIndexOf("-"));

export const isSumOf = (group: string, name: string) =>
  name.startsWith(`bpe-${group}-`) && /^bpe-[0-9a-f]{16}-[0-9a-f]{16}\.sum$/.test(name);

/** Whether a file may be removed to shrink the cache. */
export const isCacheFile = (name: string) =>
  entryIdOf(name) !== undefined || /^bpe-([0-9a-f]{16}-[0-9a-f]{16}\.sum|[0-9a-f]{16}\.result)$/.test(name);

/**
 * The version of the words in caches. Increment it if a change of the code gives other words for the same bytes and
 * options, but leaves the pattern tables unchanged.
 */
export const wordsVersion = 3;

/** Returns the hash of a run's settings for counting. `version` covers program, runtime and pattern tables. */
export function groupHash(
  version: string,
  { patterns, specialTokens, normalization, isLinewise }: CountsOptions,
): string {
  const normalized = !normalization ? [] : [normalization];
  return shortHash(JSON.stringify([version, patterns, [...specialTokens].sort(), isLinewise, ...normalized]));
}

/**
 * Returns the hash of everything that changes an input's words, apart from its bytes: the settings of the run
 * (`group`), and how the input is read.
 */
export function optionsHash(
  group: string,
  { format, compression, textField }: Pick<Input, "format" | "compression" | "textField">,
): string {
  return shortHash(
    JSON.stringify([group, format, compression, corpusInputs.hasFields(format) ? textField : null]),
  );
}

export function shortHash(text: string): string {
  return host.createSha256().update(text).digest("hex").slice(0, 16);
}

export class DamagedFile extends Error {
  constructor(readonly path: string) {
    super(`"${path}" is damaged`);
  }
}

/**
 * Parses and checks JSON. Throws `DamagedFile` if it is invalid. A valid checksum does not make the check unnecessary,
 * because anyone can compute a checksum.
 */
export function parseChecked<T>(path: string, json: string, check: schema.Check<T>): T {
  try {
    return check(JSON.parse(json), "");
  } catch (error) {
    if (error instanceof schema.Mismatch || error instanceof SyntaxError) throw new DamagedFile(path);
    throw error;
  }
}

/** Opens a file, passes it to `read`, and closes it. Adds the path to errors of reading, which lack it. */
export function withFile<T>(path: string, read: (fd: number) => T): T {
  const fd = trustedFiles.open(path);
  try {
    return read(fd);
  } catch (error) {
    throw withPath(path, error);
  } finally {
    closeSync(fd);
  }
}

export function withPath(path: string, error: unknown): unknown {
  return error instanceof Error && "code" in error ? Object.assign(error, { path }) : error;
}

/** Checks the statistics of a range that a file of the cache states. */
export const statisticsCheck: schema.Check<RangeStatistics> = schema.object({
  textBytes: schema.wholeNumber(),
  documentCount: schema.wholeNumber(),
  invalidByteCount: schema.wholeNumber(),
  firstInvalidByte: schema.wholeNumber(-1),
  // Entries that older versions wrote have no checksum.
  crc32: schema.optional(schema.wholeNumber(0, 2 ** 32 - 1)),
});

/** Returns the real path of a cache, which need not exist. A link at the path is followed. */
function realPathOfCache(path: string): string {
  try {
    return outputPlaces.pathOf(
      outputPlaces.placeOf(trustedFiles.followLinks(path.replace(/(?<=.)[/\\]+$/, ""))),
    );
  } catch (error) {
    if (error instanceof trustedFiles.Untrusted) throw error;
    // The error is reported when the directory is created.
    return path;
  }
}

/**
 * The directory of a cache. Several runs may use it at once without a lock: a file is written in the directory of its
 * run, then renamed. Files left incomplete by a power failure are found by their checksums.
 */
export class CacheDirectory {
  /** Whether files can be written to the cache. If not, nothing more is stored in it. */
  isWritable = true;
  /** Files that this run needs, which `shrinkTo` must not remove. */
  private readonly used = new Set<string>();
  private readonly stats: Stats;
  private hasWarnedOfOthers = false;
  private readonly untrusted = new Set<string>();

  constructor(
    readonly path: string,
    private readonly warn: (message: Message) => void,
  ) {
    try {
      const real = realPathOfCache(path);
      mkdirSync(real, { recursive: true });
      readdirSync(path);
      this.stats = statSync(path);
      trustedFiles.checkOwner(real, this.stats);
    } catch (error) {
      if (error instanceof trustedFiles.Untrusted)
        throw new UserError(phrase`${asOption("cache")} ${error.parts.message}`, { hint: error.parts.hint });
      throw systemError.refusal(
        phrase`${asOption("cache", `"${path}"`)} cannot be used`,
        error,
        "name a directory of its own for the cache",
      );
    }
    try {
      accessSync(path, constants.W_OK | constants.X_OK);
    } catch (error) {
      this.stopKeeping(error);
    }
  }

  /** Stores nothing more for the rest of the run, and warns once. Rethrows an error that is a bug of this program. */
  stopKeeping(error: unknown): void {
    if (systemError.userErrorOf(error) === undefined) throw error;
    if (!this.isWritable) return;
    this.isWritable = false;
    this.warn(
      `the cache "${this.path}" cannot be written: ${systemError.reasonOf(error)}; this run stores nothing more in it`,
    );
  }

  pathOf(name: string): string {
    return join(this.path, name);
  }

  /** Lists the names of the files. In a world-writable directory, leaves out cache files of untrusted users. */
  names(): string[] {
    const names = readdirSync(this.path);
    const { stats } = this;
    if (!trustedFiles.isOpenToAll(stats)) return names;
    const trusted = names.filter((name) => {
      const found = isCacheFile(name) ? lstatOrUndefined(this.pathOf(name)) : undefined;
      return found === undefined || trustedFiles.isTrusted(found, stats);
    });
    const leftOutCount = names.length - trusted.length;
    if (leftOutCount > 0 && !this.hasWarnedOfOthers) {
      this.hasWarnedOfOthers = true;
      this.warn(
        `the cache "${this.path}" is world-writable: ${leftOutCount === 1 ? "a file of another user is" : `${leftOutCount} files of other users are`} not used`,
      );
    }
    return trusted;
  }

  /** Returns the content of a small file; empty if it is missing, unreadable or untrusted. */
  read(name: string): Buffer {
    try {
      return trustedFiles.readTrusted(this.pathOf(name));
    } catch (error) {
      if (error instanceof trustedFiles.Untrusted && !this.untrusted.has(name)) {
        this.untrusted.add(name);
        this.warn(error.parts.message);
      }
      return Buffer.alloc(0);
    }
  }

  setAside(name: string, remedy: string): void {
    this.warn(`"${this.pathOf(name)}" is damaged: ${remedy}`);
    this.remove(name);
  }

  /** Writes a whole file. If that fails, nothing more is stored in the cache. */
  write(name: string, temporaryPath: string, partsOf: () => readonly Uint8Array[]): void {
    this.attempt(() => {
      const fd = openSync(temporaryPath, "w");
      try {
        for (const part of partsOf()) files.writeAll(fd, part);
      } finally {
        closeSync(fd);
      }
      rename(temporaryPath, this.pathOf(name));
      this.used.add(name);
    });
  }

  /** Runs `change` if the cache is writable. If `change` fails, calls `stopKeeping`. */
  attempt(change: () => void): void {
    if (!this.isWritable) return;
    try {
      change();
    } catch (error) {
      this.stopKeeping(error);
    }
  }

  markNeeded(name: string): void {
    this.used.add(name);
  }

  /** Marks an existing file as needed, and updates its time of last use. */
  touch(name: string): void {
    this.markNeeded(name);
    if (!this.isWritable) return;
    const now = Date.now() / 1000;
    try {
      lutimesSync(this.pathOf(name), now, now);
    } catch {}
  }

  /** Removes a file if possible. A failure is ignored. */
  remove(name: string): void {
    if (!this.isWritable) return;
    try {
      rmSync(this.pathOf(name), { force: true });
    } catch {}
  }

  /** Returns the regular files among these, most recently used first. */
  filesOf(names: readonly string[]): CachedFile[] {
    const files = names.flatMap((name): CachedFile[] => {
      const stats = lstatOrUndefined(this.pathOf(name));
      return stats?.isFile() ? [{ name, sizeBytes: stats.size, usedMs: stats.mtimeMs }] : [];
    });
    return files.sort((a, b) => b.usedMs - a.usedMs);
  }

  /**
   * Removes the least recently used files until the cache has at most `limitBytes`, but spares files that this run
   * needs.
   */
  shrinkTo(limitBytes: number): void {
    if (!this.isWritable) return;
    const files = this.filesOf(this.names().filter(isCacheFile));
    let sizeBytes = files.reduce((sum, file) => sum + file.sizeBytes, 0);
    for (const file of files.toReversed()) {
      if (sizeBytes <= limitBytes) return;
      if (this.used.has(file.name)) continue;
      this.remove(file.name);
      sizeBytes -= file.sizeBytes;
    }
    if (sizeBytes > limitBytes) {
      this.warn(
        phrase`the cache "${this.path}" still has ${groupDigits(sizeBytes)} bytes, more than ${groupDigits(limitBytes)} (${asOption("cache-limit")}), because this run used every entry in it; a later run that does not use them will remove them, unless ${asOption("cache-limit")} is raised`,
      );
    }
  }
}

type CachedFile = { readonly name: string; readonly sizeBytes: number; readonly usedMs: number };

function lstatOrUndefined(path: string): Stats | undefined {
  try {
    return lstatSync(path);
  } catch {
    return undefined;
  }
}

/** The sources of an output. A run with equal sources whose output files are unchanged has nothing to do. */
export type ResultSources = {
  readonly version: string;
  readonly bunVersion: string;
  /** The code that made the output (`codeIdentity` in src/runtime/version.ts). */
  readonly code: string;
  /** Every option that changes the bytes of the output, or the order of its ids. */
  readonly settings: object;
  readonly inputs: readonly (readonly [path: string, content: string])[];
  readonly counts: readonly (readonly [path: string, sha256: string])[];
};

/**
 * The sources and the files of an output. The file that stores them has a line with the xxHash64 of the rest, then this
 * object as JSON.
 */
export type Result = { readonly madeOf: ResultSources; readonly files: Files };
type Files = readonly (readonly [path: string, sha256: string])[];

/** Stores the current files of an output with their sources. */
export function rememberResult(
  cache: CacheDirectory,
  temporaryPath: string,
  place: string,
  otherFiles: readonly string[],
  madeOf: ResultSources,
): void {
  const files = filesOf(place, otherFiles);
  if (files === undefined) return;
  const json = JSON.stringify({ madeOf, files } satisfies Result);
  cache.write(resultName(place), temporaryPath, () => [Buffer.from(`${checksumOf(json)}\n${json}`)]);
}

/** Reads the stored result of an output; undefined if it is missing, cannot be read, or is damaged (with a warning). */
export function readResult(cache: CacheDirectory, place: string): Result | undefined {
  const name = resultName(place);
  const content = cache.read(name).toString();
  if (content === "") return undefined;
  const lineEnd = content.indexOf("\n");
  const json = content.slice(lineEnd + 1);
  try {
    if (content.slice(0, Math.max(0, lineEnd)) !== checksumOf(json)) throw new DamagedFile(name);
    parseChecked(name, json, resultFields);
    // The text is parsed again, because results are compared as text, and the checked object may have its fields in
    // another order.
    return JSON.parse(json) as Result;
  } catch (error) {
    if (!(error instanceof DamagedFile)) throw error;
    cache.setAside(name, "the output is made again");
    return undefined;
  }
}

const filesCheck = schema.list(schema.tuple(schema.text, schema.text));
const resultFields = schema.object({
  madeOf: schema.object({
    version: schema.text,
    bunVersion: schema.text,
    code: schema.text,
    settings: schema.object({}),
    inputs: filesCheck,
    counts: filesCheck,
  }),
  files: filesCheck,
});

export function isUpToDate(
  result: Result,
  place: string,
  otherFiles: readonly string[],
  madeOf: ResultSources,
): boolean {
  if (JSON.stringify(result.madeOf) !== JSON.stringify(madeOf)) return false;
  return JSON.stringify(filesOf(place, otherFiles)) === JSON.stringify(result.files);
}

export const contentsOf = ({ madeOf }: Result): string[] => madeOf.inputs.map(([, content]) => content);

const checksumOf = (json: string) => host.xxHash64(json).toString(16);

/**
 * Returns the path and SHA-256 of each file of an output. Returns undefined if the output is not a directory. Also
 * returns undefined if a file is missing, cannot be read, is not a regular file, or may be another user's.
 */
function filesOf(place: string, otherFiles: readonly string[]): Files | undefined {
  try {
    if (!lstatSync(place).isDirectory()) return undefined;
    const paths = [...outputPlaces.namesBelow(place).map((name) => join(place, name)), ...otherFiles];
    return paths.map((path) => [
      path,
      host.createSha256().update(trustedFiles.readTrusted(path)).digest("hex"),
    ]);
  } catch {
    return undefined;
  }
}
