import { closeSync } from "node:fs";
import { describeValue, textBuffers, typedArrayClass } from "#bytes";
import { inputSearch } from "#corpus";
import { asOption, scaled, UserError } from "#runtime";
import { CountsFileReader, type CountsSource, isText, openFile, readerOf } from "./counts-file-reader.ts";
import type { CountsOptions } from "./counts-format.ts";
import * as countsFormat from "./counts-format.ts";
import type { SpillingCounter } from "./spilling-counter.ts";
import { readTsvHead, sortedTsvChunks, type TsvHead, TsvReader } from "./tsv.ts";
import type { GivenWords, WordTable } from "./word-table.ts";

/** A text file whose header was read. `fd` is -1 if it will be opened again for its words. */
type TextFile = { readonly path: string; readonly fd: number; readonly head: TsvHead };

/** Word counts to add to those of a corpus. */
export type AddedCounts = Pick<CountsFiles, "paths" | "sources" | "hasUnsorted" | "addUnsortedTo" | "subset">;

/** The counts files that the user named. They exist, and their headers are consistent. */
export class CountsFiles {
  /** The options in the headers; null if there is no header. */
  readonly options: CountsOptions | null;
  /** The path, in quotes, of the first file without a header. */
  readonly withoutHeader?: string;
  /**
   * The path, in quotes, of the first file whose special tokens have another order than in `options`; undefined if
   * there is none.
   */
  readonly reordered: string | undefined;
  /** Files in the compact form that can be opened again. They are sorted: one pass can add up many of them. */
  readonly sources: readonly CountsSource[];
  /** Text files, and compact files that can be read only once, such as pipes. */
  private readonly others: readonly (TextFile | CountsFileReader)[];
  private readonly made: readonly countsFormat.Origin[];

  /**
   * Throws a UserError for a file that is missing, is not a counts file, or has a damaged header. Also throws one if a
   * file was made with other options than a file before it.
   *
   * @param opened descriptors, by path, of files that are already open and can be read only once
   */
  constructor(
    readonly paths: readonly string[],
    opened: ReadonlyMap<string, number> = new Map(),
  ) {
    const sources: CountsSource[] = [];
    const others: (TextFile | CountsFileReader)[] = [];
    const made: countsFormat.Origin[] = [];
    for (const path of paths) {
      const fd = opened.get(path) ?? openFile(path);
      const canReopen = !opened.has(path);
      if (isText(path)) {
        const head = readTsvHead(path, readerOf(path, fd));
        // The file is closed until its words are read, because there may be hundreds of files.
        if (canReopen) closeSync(fd);
        others.push({ path, fd: canReopen ? -1 : fd, head });
        if (head.options === null) this.withoutHeader ??= `"${path}"`;
        else made.push({ name: `"${path}"`, options: head.options });
        continue;
      }
      const reader = new CountsFileReader(path, fd);
      made.push({ name: `"${path}"`, options: reader.header });
      if (!canReopen) others.push(reader);
      else {
        sources.push({ path, totals: reader.totals });
        reader.close();
      }
    }
    this.options = countsFormat.commonOptions(made);
    const tokens = JSON.stringify(this.options?.specialTokens);
    this.reordered = made.find(({ options }) => JSON.stringify(options.specialTokens) !== tokens)?.name;
    this.sources = sources;
    this.others = others;
    this.made = made;
  }

  /** Throws a UserError with the hint if a file was made with options other than those of this run. */
  check(options: CountsOptions, hint: string): void {
    for (const made of this.made)
      countsFormat.checkOptions(made, { name: countsFormat.thisRun, options }, hint);
  }

  get nameOfHeader(): string | undefined {
    return this.made[0]?.name;
  }

  get hasUnsorted(): boolean {
    return this.others.length > 0;
  }

  /** Adds the words of the files that are not in `sources` to the counter. */
  addUnsortedTo(counter: SpillingCounter): Generator<undefined, void> {
    return addEach(this.others, counter);
  }

  subset(isMeant: (path: string) => boolean): AddedCounts {
    const others = this.others.filter(({ path }) => isMeant(path));
    return Object.assign(Object.create(this) as CountsFiles, {
      paths: this.paths.filter(isMeant),
      sources: this.sources.filter(({ path }) => isMeant(path)),
      others,
    });
  }
}

function* addEach(
  files: readonly (TextFile | CountsFileReader)[],
  counter: SpillingCounter,
): Generator<undefined, void> {
  for (const file of files) {
    yield* counter.startTask(null);
    yield* file instanceof CountsFileReader ? addWords(file, counter) : addText(file, counter);
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

/** Reads a text file to its end and closes it. */
function* addText(
  { path, fd: openFd, head }: TextFile,
  counter: SpillingCounter,
): Generator<undefined, void> {
  const fd = openFd < 0 ? openFile(path) : openFd;
  const read = readerOf(path, fd);
  const { options, rest } = openFd < 0 ? readTsvHead(path, read) : head;
  if (JSON.stringify(options) !== JSON.stringify(head.options)) {
    throw new UserError(`"${path}" was replaced while it was read`, { hint: "run again" });
  }
  const lines = new TsvReader(path, counter.words, options === null ? 1 : 2);
  lines.read(rest);
  while (lines.readNext(read) > 0) {
    yield;
    yield* counter.makeRoom();
  }
  lines.finish();
  closeSync(fd);
}

/** Returns the bytes of a file of word counts, in the form that its name implies. */
export function countsChunks(path: string, words: WordTable, options: CountsOptions): Iterable<Uint8Array> {
  return isText(path) ? sortedTsvChunks(words, options) : countsFormat.fileChunks(words, options);
}

/**
 * Returns the paths that one value of `--counts` names. If nothing has this path, and the value is a glob, these are
 * the files that match. Throws a UserError if none does. Any other value is returned as it is, even if no such file
 * exists.
 */
export function countsPathsOf(name: string): string[] {
  return inputSearch.pathsNamed(name, asOption("counts", `"${name}"`));
}

/** Decides when to yield to the event loop: a caller's iterator may take long for each word. */
type Pace = { readonly isDue: boolean; readonly restart: () => void };

/** @internal Counts files, together with words that a caller of the library passes. */
export class CountsFilesAndWords extends CountsFiles {
  constructor(
    paths: readonly string[],
    private readonly given: GivenWords,
    private readonly pace: Pace,
  ) {
    super(paths);
  }

  /** Words of the caller need not be sorted. */
  override get hasUnsorted(): boolean {
    return true;
  }

  override *addUnsortedTo(counter: SpillingCounter): Generator<undefined, void> {
    yield* super.addUnsortedTo(counter);
    yield* counter.startTask(null);
    const { pace } = this;
    const encoder = new TextEncoder();
    let index = 0;
    for (const entry of this.given) {
      if (pace.isDue) {
        yield;
        pace.restart();
      }
      const [word, count] = checkedEntry(entry, index++);
      const bytes = typeof word === "string" ? encoder.encode(word) : word;
      counter.words.add(textBuffers.of(bytes), 0, bytes.length, count);
      if (index % wordsPerSlice !== 0) continue;
      yield;
      yield* counter.makeRoom();
    }
  }
}

/** The number of words in a slice. The memory is checked between slices. */
const wordsPerSlice = scaled(1 << 15, 2);

function checkedEntry(entry: unknown, index: number): readonly [string | Uint8Array, number] {
  const what = `wordCounts[${index}]`;
  if (!Array.isArray(entry) || entry.length !== 2) {
    throw new UserError(`${what} is ${describeValue(entry)}, but must be a pair of a word and its count`, {
      hint: "a Map of words to counts has such entries; for a plain object, give Object.entries(object)",
    });
  }
  const [word, count] = entry;
  const isWord =
    typeof word === "string" ? word !== "" : typedArrayClass(word) === "Uint8Array" && word.length > 0;
  if (!isWord)
    throw new UserError(
      `${what} has the word ${describeValue(word)}, but a word must be a string or bytes, and not empty`,
    );
  if (!Number.isSafeInteger(count) || count < 1) {
    throw new UserError(
      `${what} has the count ${describeValue(count)}, but a count must be a whole number from 1 to 2^53 - 1`,
    );
  }
  return [word, count];
}
