import { closeSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { files, scaled, systemError, UserError } from "#runtime";
import type { CountsOptions } from "./counts-format.ts";
import * as countsFormat from "./counts-format.ts";
import type { SortedWords } from "./sorted-words.ts";
import * as sortedWords from "./sorted-words.ts";
import type * as wordTables from "./word-table.ts";
import type { WordTable } from "./word-table.ts";

/** A sorted run: words of a part of the corpus in a counts file, in the order of their bytes. */
export type SortedRun = {
  readonly path: string;
  /** The input from which all words come; null if they may come from several inputs. */
  readonly inputIndex: number | null;
  readonly totals: wordTables.CountsTotals;
  /** For a sorted run of one input: whether its words are also in the thread's memory. */
  readonly isInMemoryToo: boolean;
  /**
   * Why the file could not be written; null if it was written, or if writing it was put off. A failure is no error,
   * because the words are also in memory.
   */
  readonly failure: string | null;
  /** The words of the input, unsorted, if they are so few that writing the file was put off; otherwise null. */
  readonly table: WordTable | null;
};

export type RunDirectory = {
  readonly directory: string;
  /** Why the directory cannot be written. This is an error only if a sorted run must be written. */
  readonly problem?: { readonly message: string; readonly hint: string } | null;
};

export type SortedRunOptions = RunDirectory & {
  readonly countsOptions: CountsOptions;
  /** The memory in bytes that each thread may use for its words, and for sorting them. */
  readonly wordBytesMax: number;
};

/** Sorts words, writes them as a sorted run, and frees their memory. */
export function* sortIntoRun(
  table: WordTable,
  name: string,
  inputIndex: number | null,
  options: SortedRunOptions,
): Generator<undefined, SortedRun> {
  const words = yield* sortedWords.TableWords.sort(table);
  const run = yield* writeSortedRun(words, name, inputIndex, options);
  words.release();
  return run;
}

/** Writes words as a sorted run; yields between slices of some milliseconds. */
export function* writeSortedRun(
  words: SortedWords,
  name: string,
  inputIndex: number | null,
  { directory, problem, countsOptions }: Omit<SortedRunOptions, "wordBytesMax">,
): Generator<undefined, SortedRun> {
  if (problem) throw new UserError(problem.message, { hint: problem.hint });
  const path = join(directory, name);
  let fd: number | undefined;
  try {
    const file = openSync(path, "wx", 0o600);
    fd = file;
    files.writeAll(file, countsFormat.fileHead(countsOptions, countsFormat.unknownTotals));
    const totals = yield* writeWords(words, (chunk) => files.writeAll(file, chunk));
    files.writeAll(file, countsFormat.fileHead(countsOptions, totals), 0);
    return { path, inputIndex, totals, isInMemoryToo: false, failure: null, table: null };
  } catch (error) {
    throw systemError.refusal(
      `words cannot be written to "${directory}"`,
      error,
      "set TMPDIR to a directory with free space",
    );
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** Writes words after the head of a counts file. A chunk is valid only during the call of `write`. */
export function* writeWords(
  words: SortedWords,
  write: (chunk: Uint8Array) => void,
): Generator<undefined, wordTables.CountsTotals> {
  const writer = new countsFormat.Writer(write);
  for (let wordCount = 1; words.next(); wordCount++) {
    writer.add(words.word.bytes, 0, words.wordLength, words.count);
    if (wordCount % wordsPerSlice === 0) yield;
  }
  return writer.finish();
}

const wordsPerSlice = scaled(1 << 15, 2);

/** Removes a sorted run whose words were added to another one, if it still exists. */
export function removeSortedRun(path: string): void {
  rmSync(path, { force: true });
}
