import { closeSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../errors.ts";
import { writeAll } from "../runtime/file-calls.ts";
import { refusal } from "../runtime/system-error.ts";
import type { CountsOptions, CountsTotals } from "../words/counts-format.ts";
import { CountsWriter, countsFileHead, unknownTotals } from "../words/counts-writer.ts";
import type { SortedWords } from "../words/sorted-words.ts";
import type { WordTable } from "../words/word-table.ts";

/**
 * A sorted run: words of a part of the corpus in a counts file of their own, in the order of their bytes. It has words for
 * which memory has no room (`inputIndex` is null), or the words of one input, where those are wanted per input.
 */
export type SortedRun = {
  readonly path: string;
  readonly inputIndex: number | null;
  readonly totals: CountsTotals;
  /** The words of an input may also be in the thread's memory, with those of all others. */
  readonly isInMemoryToo: boolean;
  /** Why the file was not written, if so. No error, because the words are in memory too. */
  readonly failure: string | null;
  /** The words of an input, not sorted, while they are so few that the file is not written yet. */
  readonly table: WordTable | null;
};

/** Where sorted runs go. */
export type RunDirectory = {
  readonly directory: string;
  /** Why it cannot be written, if so. An error only when a run is to be written. */
  readonly problem?: { readonly message: string; readonly hint: string } | null;
};

export type SortedRunOptions = RunDirectory & {
  /** What the words are made with. */
  readonly countsOptions: CountsOptions;
  /** The memory that the words of each thread may take, and sorting them. */
  readonly wordBytesMax: number;
};

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
    writeAll(file, countsFileHead(countsOptions, unknownTotals));
    const totals = yield* writeWords(words, (chunk) => writeAll(file, chunk));
    writeAll(file, countsFileHead(countsOptions, totals), 0);
    return { path, inputIndex, totals, isInMemoryToo: false, failure: null, table: null };
  } catch (error) {
    throw refusal(`words cannot be kept in "${directory}"`, error, "set TMPDIR to a directory that has room");
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** Writes words behind the head of a counts file. `write` takes a chunk, which is valid during the call only. */
export function* writeWords(
  words: SortedWords,
  write: (chunk: Uint8Array) => void,
): Generator<undefined, CountsTotals> {
  const writer = new CountsWriter(write);
  for (let wordCount = 1; words.next(); wordCount++) {
    writer.add(words.word.bytes, 0, words.wordLength, words.count);
    if (wordCount % wordsPerSlice === 0) yield;
  }
  return writer.finish();
}

const wordsPerSlice = 1 << 15;

/** Removes a run whose words are in another one. What cannot be removed goes with its directory. */
export function removeSortedRun(path: string): void {
  rmSync(path, { force: true });
}
