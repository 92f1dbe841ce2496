import { closeSync, existsSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { filesMatching } from "../corpus/globs.ts";
import { UserError } from "../errors.ts";
import { reasonNotRead } from "../system-error.ts";
import type { CountsOptions, CountsTotals } from "../words/counts-format.ts";
import { CountsReader, checkOptions } from "../words/counts-reader.ts";
import { countsFileChunks } from "../words/counts-writer.ts";
import { sortedTsvChunks, TsvReader } from "../words/tsv.ts";
import type { WordTable } from "../words/word-table.ts";
import type { WordKeeper } from "./word-keeper.ts";

/** Word counts in files: text where the name ends in `.tsv`, else the compact form, which knows its options. */
export const isTsv = (path: string) => path.endsWith(".tsv");

/** A counts file that is read from its start whenever it is opened. */
export type CountsSource = {
  readonly path: string;
  readonly totals: CountsTotals;
  readonly sign: 1 | -1;
};

/** Reads a counts file in the compact form; its file is closed behind its last word, or by `close`. */
export class CountsFileReader extends CountsReader {
  private readonly file: { fd: number };

  constructor(path: string, fd: number) {
    super(path, (into) => readSync(fd, into));
    this.file = { fd };
  }

  static open(path: string): CountsFileReader {
    const fd = openFile(path);
    try {
      return new CountsFileReader(path, fd);
    } catch (error) {
      closeSync(fd);
      throw error;
    }
  }

  override next(): boolean {
    if (super.next()) return true;
    this.close();
    return false;
  }

  close(): void {
    if (this.file.fd >= 0) closeSync(this.file.fd);
    this.file.fd = -1;
  }
}

/** Files of word counts that the user named, each found to be there and, in its header, to fit. */
export class CountsFiles {
  /** In the compact form: to be added up in one pass. */
  readonly sources: readonly CountsSource[];
  /** Text, and what can be read only once, as pipes are. */
  private readonly others: { path: string; fd: number; reader: CountsFileReader | null }[] = [];

  /** A UserError for what is missing, foreign, damaged in its header or made with other options. */
  constructor(paths: readonly string[], options: CountsOptions) {
    const sources: CountsSource[] = [];
    for (const path of paths) {
      const fd = openFile(path);
      const reader = isTsv(path) ? null : new CountsFileReader(path, fd);
      if (reader !== null) checkOptions(reader, options);
      if (reader === null || !fstatSync(fd).isFile()) {
        this.others.push({ path, fd, reader });
        continue;
      }
      sources.push({ path, totals: reader.totals, sign: 1 });
      reader.close();
    }
    this.sources = sources;
  }

  get hasUnsorted(): boolean {
    return this.others.length > 0;
  }

  /** Adds what cannot be added up in one pass to the words of the keeper. */
  *addUnsortedTo(keeper: WordKeeper): Generator<undefined, void> {
    const { counter } = keeper;
    const chunk = new Uint8Array(chunkSizeBytes);
    for (const { path, fd, reader } of this.others) {
      yield* keeper.startTask(null);
      if (reader !== null) {
        for (let words = 1; reader.next(); words++) {
          counter.add(reader.word, 0, reader.wordLength, reader.count);
          if (words % wordsPerSlice !== 0) continue;
          yield;
          yield* keeper.makeRoom();
        }
        continue;
      }
      const tsv = new TsvReader(path, counter);
      for (let size = readSync(fd, chunk); size > 0; size = readSync(fd, chunk)) {
        tsv.read(chunk.subarray(0, size));
        yield;
        yield* keeper.makeRoom();
      }
      tsv.finish();
      closeSync(fd);
    }
  }
}

/** So few that they are not more text than what is counted between two looks at the memory. */
const wordsPerSlice = 1 << 15;
const chunkSizeBytes = 1 << 20;

/** The bytes of a file of word counts, in the form that its name asks for. */
export function countsChunks(path: string, words: WordTable, options: CountsOptions): Iterable<Uint8Array> {
  return isTsv(path) ? sortedTsvChunks(words) : countsFileChunks(words, options);
}

/** The files that `--counts` names: a path or, where there is none such, a glob. */
export function countsPathsOf(name: string): string[] {
  if (existsSync(name) || !/[*?[]/.test(name)) return [name];
  const { paths } = filesMatching(name);
  if (paths.length > 0) return paths;
  throw new UserError(`--counts "${name}": no such file, and no file matches it as a glob`, {
    hint: "hidden files are not matched",
  });
}

function openFile(path: string): number {
  try {
    if (statSync(path).isDirectory())
      throw new UserError(`"${path}" is a directory, not a file of word counts`);
    return openSync(path, "r");
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(`--counts "${path}": ${reasonNotRead(error)}`);
  }
}
