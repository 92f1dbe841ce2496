import { closeSync, constants, existsSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { filesMatching } from "../corpus/globs.ts";
import { UserError } from "../errors.ts";
import { reasonNotRead } from "../runtime/system-error.ts";
import type { CountsOptions, CountsTotals } from "../words/counts-format.ts";
import { agreedOptions, checkOptions, type Made } from "../words/counts-options.ts";
import { CountsReader, type ReadBytes } from "../words/counts-reader.ts";
import { countsFileChunks } from "../words/counts-writer.ts";
import { listCounts } from "../words/listed-frames.ts";
import { listedLinesMemory, readListedLines } from "../words/listed-lines.ts";
import { readTsvHead, type TsvHead } from "../words/tsv-head.ts";
import { TsvReader } from "../words/tsv-reader.ts";
import { sortedTsvChunks } from "../words/tsv-writer.ts";
import type { WordTable } from "../words/word-table.ts";
import type { SpillingCounter } from "./spilling-counter.ts";

/** Word counts in files: text where the name ends in `.tsv`, and on stdout (`-`), else the compact form. */
export const isText = (path: string) => path === "-" || path.endsWith(".tsv");

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
    const stats = fstatSync(fd);
    super(path, (into) => readSync(fd, into), stats.isFile() ? stats.size : undefined);
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

/** What was read of a text file when it was opened; `fd` is -1 where it is opened again for the rest. */
type TextFile = { readonly path: string; readonly fd: number; readonly head: TsvHead };

/** Files of word counts that the user named, each found to be there, and in their headers to agree. */
export class CountsFiles {
  /** What all were made with that say so; null where none does. */
  readonly options: CountsOptions | null;
  /** The first one that does not say what it was made with. */
  readonly untold?: string;
  /** The first one whose special tokens have another order than `options`. */
  readonly reordered: string | undefined;
  /** In the compact form: to be added up in one pass. */
  readonly sources: readonly CountsSource[];
  /** Text, and what can be read only once, as pipes are. */
  private readonly others: readonly (TextFile | CountsFileReader)[];
  private readonly made: readonly Made[];

  /**
   * A UserError for what is missing, foreign, damaged in its header, or made with other options than another.
   * @param opened files that are open in place of some of the paths, and can be read once
   */
  constructor(paths: readonly string[], opened: ReadonlyMap<string, number> = new Map()) {
    const sources: CountsSource[] = [];
    const others: (TextFile | CountsFileReader)[] = [];
    const made: Made[] = [];
    for (const path of paths) {
      const fd = opened.get(path) ?? openFile(path);
      const canReopen = !opened.has(path);
      if (isText(path)) {
        const head = readTsvHead(path, (into) => readSync(fd, into));
        // Hundreds of files are not kept open.
        if (canReopen) closeSync(fd);
        others.push({ path, fd: canReopen ? -1 : fd, head });
        if (head.options === null) this.untold ??= path;
        else made.push({ name: path, options: head.options });
        continue;
      }
      const reader = new CountsFileReader(path, fd);
      made.push({ name: path, options: reader.header });
      if (!canReopen) others.push(reader);
      else {
        sources.push({ path, totals: reader.totals, sign: 1 });
        reader.close();
      }
    }
    this.options = agreedOptions(made);
    const tokens = JSON.stringify(this.options?.specialTokens);
    this.reordered = made.find(({ options }) => JSON.stringify(options.specialTokens) !== tokens)?.name;
    this.sources = sources;
    this.others = others;
    this.made = made;
  }

  /** A UserError if a file was made with other options than these of the run. */
  check(options: CountsOptions): void {
    for (const made of this.made) checkOptions(made, { name: "this run", options });
  }

  /**
   * The words as a table, listed straight from the files: of one in the compact form, or of any number of text files. Null
   * where that is not possible, does not pay, or takes more than `memoryBytes`: then they are to be added up.
   */
  *listWords(memoryBytes: number): Generator<undefined, WordTable | null> {
    const { sources, others } = this;
    if (sources.length === 1 && others.length === 0) return yield* listSource(sources[0]!, memoryBytes);
    if (sources.length > 0 || others.length === 0) return null;
    const files: TextFile[] = [];
    for (const file of others) {
      if (file instanceof CountsFileReader || file.fd >= 0) return null;
      files.push(file);
    }
    const sizeBytes = files.reduce((sum, { path }) => sum + statSync(path).size, 0);
    if (sizeBytes * listedLinesMemory > memoryBytes) return null;
    return yield* readListedLines(openedInTurn(files), sizeBytes);
  }

  /** The first one that says what it was made with. */
  get toldBy(): string | undefined {
    return this.made[0]?.name;
  }

  get hasUnsorted(): boolean {
    return this.others.length > 0;
  }

  /** Adds what cannot be added up in one pass to the words of the counter. */
  *addUnsortedTo(counter: SpillingCounter): Generator<undefined, void> {
    for (const file of this.others) {
      yield* counter.startTask(null);
      yield* file instanceof CountsFileReader ? addWords(file, counter) : addText(file, counter);
    }
  }
}

function* addWords(reader: CountsFileReader, counter: SpillingCounter): Generator<undefined, void> {
  for (let words = 1; reader.next(); words++) {
    counter.words.add(reader.word, 0, reader.wordLength, reader.count);
    if (words % wordsPerSlice !== 0) continue;
    yield;
    yield* counter.makeRoom();
  }
}

/** Opens a text file, again if need be: `rest` is what was read of it behind its head, `read` gives what is behind that. */
function openText({ path, fd: openFd, head }: TextFile) {
  const fd = openFd < 0 ? openFile(path) : openFd;
  const read = (into: Uint8Array) => readSync(fd, into);
  const { options, rest } = openFd < 0 ? readTsvHead(path, read) : head;
  if (JSON.stringify(options) !== JSON.stringify(head.options)) {
    throw new UserError(`${path} was replaced while it was read`, { hint: "run again" });
  }
  return { fd, read, rest, hasHead: options !== null };
}

/** Lists a file in the compact form. */
function* listSource({ path }: CountsSource, memoryBytes: number): Generator<undefined, WordTable | null> {
  const reader = CountsFileReader.open(path);
  try {
    return yield* listCounts(reader, memoryBytes);
  } finally {
    reader.close();
  }
}

/** The lines of each of the files, which is open until the next one is asked for. */
function* openedInTurn(files: readonly TextFile[]): Generator<ReadBytes, void> {
  for (const file of files) {
    const { read, rest, fd } = openText(file);
    let left = rest;
    try {
      yield (into) => {
        if (left.length === 0) return read(into);
        const some = left.subarray(0, into.length);
        into.set(some);
        left = left.subarray(some.length);
        return some.length;
      };
    } finally {
      closeSync(fd);
    }
  }
}

/** Reads a text file to its end and closes it. */
function* addText(file: TextFile, counter: SpillingCounter): Generator<undefined, void> {
  const { fd, read, rest, hasHead } = openText(file);
  const lines = new TsvReader(file.path, counter.words, hasHead ? 2 : 1);
  lines.read(rest);
  while (lines.readNext(read) > 0) {
    yield;
    yield* counter.makeRoom();
  }
  lines.finish();
  closeSync(fd);
}

/** So few that they are not more text than what is counted between two looks at the memory. */
const wordsPerSlice = 1 << 15;

/** The bytes of a file of word counts, in the form that its name asks for. */
export function countsChunks(path: string, words: WordTable, options: CountsOptions): Iterable<Uint8Array> {
  return isText(path) ? sortedTsvChunks(words, options) : countsFileChunks(words, options);
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
    const stats = statSync(path);
    if (stats.isDirectory()) throw new UserError(`"${path}" is a directory, not a file of word counts`);
    if (!stats.isFile()) throw new UserError(`"${path}" is no regular file`);
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (error instanceof UserError) throw error;
    throw new UserError(`--counts "${path}": ${reasonNotRead(error)}`);
  }
}
