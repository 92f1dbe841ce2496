import { closeSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { UserError } from "../errors.ts";
import { writeAll } from "../runtime/file-calls.ts";
import { codeOf, reasonOf } from "../runtime/system-error.ts";
import type { Problem } from "../store/scratch-directory.ts";
import type { CountsOptions, CountsTotals } from "../words/counts-format.ts";
import { CountsWriter, countsFileHead, unknownTotals } from "../words/counts-writer.ts";
import type { SortedWords } from "../words/sorted-words.ts";
import type { WordTable } from "../words/word-table.ts";

/**
 * A run: words of a part of the corpus, sorted, in a counts file of their own. Runs are what memory has no room for
 * (`inputIndex` is null), and the words of single inputs where those are wanted apart: the runs of an input are its
 * words.
 */
export type SortedRun = {
  readonly path: string;
  readonly inputIndex: number | null;
  readonly totals: CountsTotals;
  /** Of the words of a single input: they are also among the words that the thread holds. */
  readonly isHeldToo: boolean;
  /** Why the words are not there; only those that are held too may fail to be written. */
  readonly failure: string | null;
  /** The words, not sorted, as long as they are not written: of a single input, held too, and few. */
  readonly table: WordTable | null;
};

export type SortedRunOptions = {
  /** Where the runs go. */
  readonly directory: string;
  /** Why they cannot go there, if so: an error only when one is to be written. */
  readonly problem?: Problem | null;
  /** What the words are made with. */
  readonly countsOptions: CountsOptions;
  /** The memory that the words of each thread may take, and sorting them. */
  readonly wordBytesMax: number;
};

/** Writes sorted words as a run; yields between slices of some milliseconds. */
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
    const writer = new CountsWriter((chunk) => writeAll(file, chunk));
    for (let wordCount = 1; words.next(); wordCount++) {
      writer.add(words.word.bytes, 0, words.wordLength, words.count);
      if (wordCount % wordsPerSlice === 0) yield;
    }
    const totals = writer.finish();
    writeAll(file, countsFileHead(countsOptions, totals), 0);
    return { path, inputIndex, totals, isHeldToo: false, failure: null, table: null };
  } catch (error) {
    if (error instanceof UserError || codeOf(error) === "") throw error;
    throw new UserError(`words cannot be kept in "${directory}": ${reasonOf(error)}`, {
      hint: "set TMPDIR to a directory that has room",
    });
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

const wordsPerSlice = 1 << 15;

/** A run whose words are in another one. What cannot be removed goes with the directory. */
export function removeSortedRun(path: string): void {
  rmSync(path, { force: true });
}
