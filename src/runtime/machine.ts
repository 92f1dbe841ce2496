import { readdirSync, readFileSync } from "node:fs";
import { availableParallelism, freemem, totalmem } from "node:os";
import { join, relative } from "node:path";
import { exitCode, UserError } from "./errors.ts";
import * as messages from "./message.ts";
import { asOption, type Message, phrase } from "./message.ts";

/**
 * Returns the memory in bytes that this process may use: the machine's memory or, if lower, the lowest limit of the
 * process's control groups.
 *
 * @param root the directory that holds /proc and /sys, for tests
 */
export function allowedMemoryBytes(root = "/"): number {
  const machineBytes = numberIn(join(root, "proc/meminfo"), /^MemTotal:\s+(\d+) kB/m) * 1024 || totalmem();
  return Math.min(machineBytes, ...groupsOf(root, "memory").map(groupLimitBytes));
}

/**
 * Returns the free part of `allowedMemoryBytes`, in bytes. On Linux, file cache that the system can reclaim counts as
 * free.
 */
export function freeMemoryBytes(root = "/"): number {
  const machineBytes = numberIn(join(root, "proc/meminfo"), /^MemAvailable:\s+(\d+) kB/m) * 1024;
  const left = groupsOf(root, "memory").map((group) => {
    const { directory, version } = group;
    const usageName = version === 2 ? "memory.current" : "memory.usage_in_bytes";
    const usedBytes = numberIn(join(directory, usageName), /^(\d+)/);
    const cachedBytes = numberIn(join(directory, "memory.stat"), /^(?:total_)?inactive_file (\d+)/m);
    return groupLimitBytes(group) - ((usedBytes || 0) - (cachedBytes || 0));
  });
  return Math.max(0, Math.min(machineBytes || freemem(), ...left));
}

/**
 * Returns the number of threads of this process that can run at a time: the number of cores that it may use or, if
 * lower, the lowest CPU quota of its control groups, rounded up.
 */
export function allowedCores(root = "/"): number {
  const quotas = groupsOf(root, "cpu").map(({ directory, version }) => {
    // "max" means no quota, and so does -1 in cgroup version 1.
    const [quota, period] =
      version === 2
        ? read(join(directory, "cpu.max")).split(" ").map(Number)
        : ["quota", "period"].map((name) => numberIn(join(directory, `cpu.cfs_${name}_us`), /^(\d+)/));
    const cores = Math.ceil(quota! / period!);
    return cores > 0 ? cores : Number.POSITIVE_INFINITY;
  });
  return Math.min(availableParallelism(), ...quotas);
}

/**
 * The files with the memory limits of a group, by version of control groups. `memory.high` counts as a limit, because a
 * group above it is not killed, but throttled until it is useless.
 */
const limitNames = { 1: ["memory.limit_in_bytes"], 2: ["memory.max", "memory.high"] } as const;

/**
 * Returns the lowest memory limit of one group. For a group without a limit, this is infinity in version 2, whose files
 * have "max", and a number above any machine's memory in version 1.
 */
function groupLimitBytes({ directory, version }: Group): number {
  const limits = limitNames[version].map((name) => numberIn(join(directory, name), /^(\d+)/));
  return Math.min(...limits.filter((bytes) => bytes > 0), Number.POSITIVE_INFINITY);
}

/** A control group, and the version of its hierarchy. */
type Group = { readonly directory: string; readonly version: 1 | 2 };

/** Returns the process's groups for a controller, from its own group to the root of the hierarchy. */
function groupsOf(root: string, controller: "memory" | "cpu"): readonly Group[] {
  if (root !== "/") return findGroups(root, controller);
  ownGroups[controller] ??= findGroups(root, controller);
  return ownGroups[controller];
}

/** The groups that `groupsOf` has found for this process. */
const ownGroups: { memory?: Group[]; cpu?: Group[] } = {};

function findGroups(root: string, controller: string): Group[] {
  const mounts = mountsOf(root, controller);
  const groups: Group[] = [];
  for (const line of read(join(root, "proc/self/cgroup")).split("\n")) {
    const [, controllers, path] = /^\d+:([^:]*):(\/.*)$/.exec(line) ?? [];
    if (controllers === undefined || path === undefined) continue;
    const mount = mounts.find(({ version }) =>
      version === 2 ? controllers === "" : controllers.split(",").includes(controller),
    );
    if (mount === undefined) continue;
    // In a container, the mount may show the container's own group as its root.
    const below = relative(mount.group, path);
    const parts = below === "" || below.startsWith("..") ? [] : below.split("/");
    for (let depth = parts.length; depth >= 0; depth--) {
      groups.push({
        directory: join(root, mount.point, ...parts.slice(0, depth)),
        version: mount.version,
      });
    }
  }
  return groups;
}

type Mount = { readonly point: string; readonly group: string; readonly version: 1 | 2 };

/**
 * Returns the mounts of the hierarchy of control groups that has the controller. A controller is in one hierarchy only:
 * in that of version 2, unless a hierarchy of version 1 has it.
 */
function mountsOf(root: string, controller: string): Mount[] {
  const mounts = read(join(root, "proc/self/mountinfo"))
    .split("\n")
    .flatMap((line): Mount[] => {
      const [front, back] = line.split(" - ");
      const [, , , group, point] = front!.split(" ");
      const [type, , options] = back?.split(" ") ?? [];
      if (group === undefined || point === undefined) return [];
      if (type === "cgroup2") return [{ point, group, version: 2 }];
      const isKnown = type === "cgroup" && options?.split(",").includes(controller);
      return isKnown ? [{ point, group, version: 1 }] : [];
    });
  const first = mounts.filter(({ version }) => version === 1);
  return first.length > 0 ? first : mounts;
}

/** Returns the peak resident memory of this process, in bytes: VmHWM on Linux. */
export function peakMemoryBytes(): number {
  const isLinux = process.platform === "linux";
  const kilobytes = isLinux ? numberIn("/proc/self/status", /^VmHWM:\s+(\d+) kB/m) : 0;
  if (kilobytes > 0) return kilobytes * 1024;
  const { maxRSS } = process.resourceUsage();
  return process.platform === "darwin" ? maxRSS : maxRSS * 1024;
}

const numberIn = (path: string, pattern: RegExp) => Number(pattern.exec(read(path))?.[1]);

function read(path: string): string {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

export const moreFilesHint = (neededCount = 0) =>
  `raise the limit: ulimit -n ${2 ** Math.ceil(Math.log2(Math.max(1024, neededCount)))}`;

/** The number of files that a worker opens, including those of its event loop. */
const filesPerWorker = 4;
/**
 * The number of files that the main thread may still open, in addition to those that it has open when the first check
 * is made.
 */
const filesOfMainThread = 12;

let openFiles: { readonly heldCount: number; readonly limit: number } | undefined;

/**
 * Throws a UserError if this process may not open the files that `workerCount` workers need. Without this check, the
 * runtime would end the process with a message of its own.
 */
export function checkOpenFiles(workerCount: number, root = "/"): void {
  openFiles ??= findOpenFiles(root);
  const { heldCount, limit } = openFiles;
  const neededCount = heldCount + filesOfMainThread + filesPerWorker * workerCount;
  if (neededCount <= limit) return;
  const workers = workerCount === 1 ? "a worker" : `${workerCount} workers`;
  throw new UserError(
    `with ${workers}, this process needs up to ${neededCount} open files, but may have only ${limit}`,
    {
      hint: phrase`${moreFilesHint(neededCount)}${messages.orFewerWorkers}`,
    },
  );
}

/**
 * Returns the number of open files, and their limit. On systems other than Linux, these are unknown: the result is 0
 * and infinity.
 */
function findOpenFiles(root: string): { heldCount: number; limit: number } {
  try {
    const heldCount = readdirSync(join(root, "proc/self/fd")).length;
    return { heldCount, limit: openFilesMax(root) };
  } catch (error) {
    // This call itself failed because the limit is reached.
    if ((error as NodeJS.ErrnoException).code === "EMFILE") throw error;
    return { heldCount: 0, limit: Number.POSITIVE_INFINITY };
  }
}

/** The number of files that this process may have open at once; infinity if that is unknown. */
export const openFilesMax = (root = "/") =>
  numberIn(join(root, "proc/self/limits"), /^Max open files\s+(\d+)/m) || Number.POSITIVE_INFINITY;

/** The default memory limit, as a share of `allowedMemoryBytes`. */
const defaultShare = 0.8;

/** The overhead of the main thread: code, compilers, windows of text (docs/internals/words.md). */
const mainThreadBytes = 75e6;
/** The overhead of each worker. */
export const workerBytes = 20e6;
/** The minimum number of bytes that a thread needs for its words. */
const wordBytesLeast = 40e6;

/**
 * Divides the memory limit of this process among its uses. The limit applies to the whole resident set of the process.
 */
export class MemoryBudget {
  readonly limitBytes: number;
  private readonly hasExplicitLimit: boolean;

  constructor(
    private readonly askedBytes?: number,
    private readonly heldBytes = 0,
  ) {
    this.hasExplicitLimit = askedBytes !== undefined;
    this.limitBytes = askedBytes ?? Math.floor(defaultShare * allowedMemoryBytes());
  }

  /** The maximum number of threads, including the main thread, that have enough memory for counting; at least 1. */
  get workerCountMax(): number {
    const leftBytes = this.limitBytes - mainThreadBytes - this.heldBytes;
    const workers = Math.floor(leftBytes / (workerBytes + wordBytesLeast));
    return Math.max(1, workers);
  }

  /** The bytes that each thread may use in addition to its overhead. */
  shareBytes(threadCount: number): number {
    return Math.max(0, this.limitBytes - this.ownBytes(threadCount)) / threadCount;
  }

  private ownBytes(threadCount: number): number {
    return mainThreadBytes + this.heldBytes + (threadCount === 1 ? 0 : threadCount * workerBytes);
  }

  /** Returns a budget in which `heldBytes` more bytes are in use. */
  withReserved(heldBytes: number): MemoryBudget {
    return new MemoryBudget(this.askedBytes, this.heldBytes + heldBytes);
  }

  /** The bytes that all threads together may use for words. Throws a UserError if that is too little to work with. */
  wordBytesMax(workerCount: number): number {
    const ownBytes = this.ownBytes(workerCount);
    const leastBytes = ownBytes + workerCount * wordBytesLeast;
    if (this.limitBytes < leastBytes) {
      const threads = workerCount === 1 ? "counting" : `counting with ${workerCount} workers`;
      throw this.error(`${threads} needs at least ${megabytes(leastBytes)}`, [
        ...(workerCount === 1 ? [] : [phrase`use fewer workers (${asOption("workers", 1, "w")})`]),
        phrase`raise the limit: ${asOption("memory-limit", megabytes(leastBytes, ""))}`,
      ]);
    }
    return this.limitBytes - ownBytes;
  }

  /**
   * Throws a UserError that names `what` if `neededBytes`, in addition to the memory of the program itself and to the
   * reserved bytes, exceed the limit.
   */
  check(what: string, neededBytes: number, remedy?: Message): void {
    const allBytes = mainThreadBytes + this.heldBytes + neededBytes;
    if (allBytes <= this.limitBytes) return;
    throw this.error(`${what} needs about ${gigabytes(allBytes)}`, [
      messages.ifHas(
        "memory-limit",
        phrase`raise ${asOption("memory-limit")}${this.hasExplicitLimit ? "" : ", or use a larger machine"}`,
        "use a larger machine",
      ),
      ...(remedy === undefined ? [] : [remedy]),
    ]);
  }

  private error(what: string, remedies: readonly Message[]): UserError {
    const of = this.hasExplicitLimit ? "" : ` (${100 * defaultShare} % of what this process may use)`;
    return new UserError(`${what} of memory; the limit is ${limitText(this.limitBytes)}${of}`, {
      hint: messages.joined(remedies, ", or "),
      exitCode: exitCode.failed,
      kind: "memory",
    });
  }
}

/** Rounds up, so that the number shown is enough. */
const megabytes = (bytes: number, space = " ") => `${Math.ceil(bytes / 1e6)}${space}MB`;

/** Writes a limit as text, rounded down so that it never claims too much. */
export function limitText(bytes: number): string {
  const tenths = (unit: number) => Math.floor((10 * bytes) / unit) / 10;
  if (bytes >= 1e9) return `${tenths(1e9).toFixed(1)} GB`;
  return bytes >= 1e6 ? `${tenths(1e6)} MB` : `${tenths(1e3)} kB`;
}

const gigabytes = (bytes: number) => (bytes < 1e9 ? megabytes(bytes) : `${(bytes / 1e9).toFixed(1)} GB`);

/**
 * The size of a corpus below which starting a worker and compiling its code cost more than they save
 * (docs/internals/measured.md).
 */
const smallCorpusBytes = 32e6;
/** A worker's memory on natural text: its tables, its window, its share of the runtime. */
const workerMemoryBytes = 200e6;

/**
 * Returns the default number of threads: 1 for a small corpus, otherwise the number of cores that this process may use,
 * or fewer if memory is short.
 */
export function defaultWorkerCount(corpusBytes: number): number {
  if (corpusBytes < smallCorpusBytes) return 1;
  const affordable = Math.floor(freeMemoryBytes() / workerMemoryBytes);
  return Math.max(1, Math.min(allowedCores(), affordable));
}

/**
 * Returns a function that chooses the number of threads for a text, given its size in bytes. The function returns
 * `asked` if that is defined. If not, it returns 1 for a text of fewer than `smallBytes`, and the default for a larger
 * one, but at most `workerCountMax`.
 */
export function workersFor(
  asked: number | undefined,
  workerCountMax: number,
  smallBytes = smallCorpusBytes,
): (textBytes: number) => number {
  if (asked !== undefined) return () => asked;
  return (textBytes) =>
    textBytes < smallBytes ? 1 : Math.min(defaultWorkerCount(textBytes), workerCountMax);
}
