import { closeSync, openSync, readSync, statSync } from "node:fs";
import { UserError } from "../errors.ts";
import type { WordCounter } from "../words/counter.ts";
import type { CountsOptions } from "../words/counts-format.ts";
import { tableOfCountsFiles } from "../words/counts-merge.ts";
import { CountsReader, checkOptions } from "../words/counts-reader.ts";
import { countsFileChunks } from "../words/counts-writer.ts";
import { sortWordsByCount } from "../words/sort.ts";
import { TsvReader, tsvChunks } from "../words/tsv.ts";
import type { WordTable } from "../words/word-table.ts";

/** Word counts in files: text where the name ends in `.tsv`, else the compact form, which knows its options. */
export const isTsv = (path: string) => path.endsWith(".tsv");

/** Files of word counts, each open, its header read and found to fit. */
export class CountsFiles {
  private readonly tsvFiles: { path: string; fd: number }[] = [];
  private readonly readers: CountsReader[] = [];
  private readonly fds: number[] = [];

  /** A UserError for what is missing, foreign, damaged in its header or made with other options. */
  constructor(paths: readonly string[], options: CountsOptions) {
    for (const path of paths) {
      const fd = openFile(path);
      this.fds.push(fd);
      if (isTsv(path)) {
        this.tsvFiles.push({ path, fd });
        continue;
      }
      const reader = new CountsReader(path, (into) => readSync(fd, into));
      checkOptions(reader, options);
      this.readers.push(reader);
    }
  }

  /** Whether the sum can be had as a table, in one pass and without a counter. */
  get areSorted(): boolean {
    return this.tsvFiles.length === 0;
  }

  toWordTable(): WordTable {
    const table = tableOfCountsFiles(this.readers);
    this.close();
    return table;
  }

  /** Adds everything to the counter; yields between slices of some milliseconds. */
  *addTo(counter: WordCounter): Generator<undefined, void> {
    for (const reader of this.readers) {
      for (let words = 1; reader.next(); words++) {
        counter.add(reader.word, 0, reader.wordLength, reader.count);
        if (words % wordsPerSlice === 0) yield;
      }
    }
    const chunk = new Uint8Array(chunkSizeBytes);
    for (const { path, fd } of this.tsvFiles) {
      const tsv = new TsvReader(path, counter);
      for (let size = readSync(fd, chunk); size > 0; size = readSync(fd, chunk)) {
        tsv.read(chunk.subarray(0, size));
        yield;
      }
      tsv.finish();
    }
    this.close();
  }

  private close(): void {
    for (const fd of this.fds) closeSync(fd);
  }
}

const wordsPerSlice = 1 << 16;
const chunkSizeBytes = 1 << 20;

/** The bytes of a file of word counts, in the form that its name asks for. */
export function countsChunks(path: string, words: WordTable, options: CountsOptions): Iterable<Uint8Array> {
  return isTsv(path) ? tsvChunks(words, sortWordsByCount(words)) : countsFileChunks(words, options);
}

function openFile(path: string): number {
  try {
    if (statSync(path).isDirectory())
      throw new UserError(`"${path}" is a directory, not a file of word counts`);
    return openSync(path, "r");
  } catch (error) {
    if (error instanceof UserError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === "ENOENT" ? "no such file" : code === "EACCES" ? "permission denied" : code;
    throw new UserError(`--counts "${path}": ${reason}`);
  }
}
