import { exitCode, UserError } from "../errors.ts";
import { allowedMemoryBytes } from "./system-limits.ts";

/** The default limit, as a share of what the machine or the control group allows. */
const defaultShare = 0.8;

/** What the main thread and each worker need for themselves: code, compilers, windows of text. Measured: docs/words.md. */
const mainThreadBytes = 75e6;
export const workerBytes = 20e6;
/** The least memory in which a thread can count words. */
const wordBytesLeast = 40e6;

/** How the memory of this process is shared out: all of its resident set. */
export class MemoryBudget {
  readonly limitBytes: number;
  private readonly isAsked: boolean;

  /** @param askedBytes the limit that was asked for, if any */
  constructor(askedBytes?: number) {
    this.isAsked = askedBytes !== undefined;
    this.limitBytes = askedBytes ?? Math.floor(defaultShare * allowedMemoryBytes());
  }

  /** How many threads have room to count in; 1 is the main thread alone. */
  get workerCountMax(): number {
    const workers = Math.floor((this.limitBytes - mainThreadBytes) / (workerBytes + wordBytesLeast));
    return Math.max(1, workers);
  }

  /** What each thread may use beside what the threads need for themselves, in bytes. */
  shareBytes(threadCount: number): number {
    return Math.max(0, this.limitBytes - this.ownBytes(threadCount)) / threadCount;
  }

  private ownBytes(threadCount: number): number {
    return mainThreadBytes + (threadCount === 1 ? 0 : threadCount * workerBytes);
  }

  /** What all threads together may use for words, in bytes. A UserError if that is too little to work with. */
  wordBytesMax(workerCount: number): number {
    const ownBytes = this.ownBytes(workerCount);
    const leastBytes = ownBytes + workerCount * wordBytesLeast;
    if (this.limitBytes < leastBytes) {
      const threads = workerCount === 1 ? "counting" : `counting with ${workerCount} workers`;
      throw this.error(`${threads} needs at least ${megabytes(leastBytes)}`, [
        ...(workerCount === 1 ? [] : ["use fewer workers (-w 1)"]),
        `give it more: --memory-limit ${megabytes(leastBytes, "")}`,
      ]);
    }
    return this.limitBytes - ownBytes;
  }

  /** A UserError if `what` does not fit, which needs so many bytes beside the program itself. */
  check(what: string, neededBytes: number, remedy: string): void {
    if (mainThreadBytes + neededBytes <= this.limitBytes) return;
    throw this.error(`${what} needs about ${gigabytes(mainThreadBytes + neededBytes)}`, [
      `give it more (--memory-limit${this.isAsked ? "" : ", or a larger machine"})`,
      remedy,
    ]);
  }

  private error(what: string, remedies: readonly string[]): UserError {
    const of = this.isAsked ? "" : ` (${100 * defaultShare} % of what this process may use)`;
    return new UserError(`${what} of memory, and the limit is ${gigabytes(this.limitBytes)}${of}`, {
      hint: remedies.join(", or "),
      exitCode: exitCode.failed,
    });
  }
}

/** Rounded up, so that the number shown is enough. */
const megabytes = (bytes: number, space = " ") => `${Math.ceil(bytes / 1e6)}${space}MB`;

const gigabytes = (bytes: number) => (bytes < 1e9 ? megabytes(bytes) : `${(bytes / 1e9).toFixed(1)} GB`);
