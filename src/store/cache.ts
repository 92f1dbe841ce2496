import { basename } from "node:path";
import type { Input } from "../corpus/input.ts";
import { CountsFileReader } from "../count/counts-files.ts";
import type { RangeStatistics } from "../count/range-counter.ts";
import { type SortedRun, writeSortedRun } from "../count/sorted-runs.ts";
import { UserError } from "../errors.ts";
import { codeOf, reasonOf } from "../runtime/system-error.ts";
import type { CountsOptions } from "../words/counts-format.ts";
import { CountsFileError } from "../words/counts-header.ts";
import { addTable, takeOff } from "../words/sorted-tables.ts";
import { type SortedWords, TableWords } from "../words/sorted-words.ts";
import { SumOfWords } from "../words/sum-of-words.ts";
import type { WordTable } from "../words/word-table.ts";
import type { CacheDirectory } from "./cache-directory.ts";
import { makeEntry, openEntry, verifyEntry } from "./cache-entries.ts";
import * as names from "./cache-names.ts";
import { makePlan, type Plan } from "./cache-plan.ts";
import { readSum, readSumHeader, type SumTerm, sumFileParts, sumOfEntries } from "./cache-sums.ts";
import { Damaged } from "./checked-files.ts";
import { hashInput } from "./content-hash.ts";
import { FileIndex, type FileState, stateOf } from "./file-index.ts";
import { Untrusted } from "./trusted-files.ts";

export type CacheSettings = {
  readonly countsOptions: CountsOptions;
  /** Of all that cuts words, the tables of the pattern among it: another may cut them elsewhere. */
  readonly version: string;
  readonly warn: (message: string) => void;
  /** The time, as `Date.now()` tells it. */
  readonly nowMs: () => number;
  /** A directory of this run, on the file system of the cache. */
  readonly scratchPath: () => string;
};

/** How many sums are kept for one set of options: the last, and the one before. */
const sumsKept = 2;

/** An input as the cache sees it. */
type Known = {
  readonly state: FileState;
  readonly optionsHash: string;
  sha256: string | undefined;
};

type Sum = { readonly name: string; readonly terms: readonly SumTerm[] };

/** The words of contents that were counted before, for one run and its options. */
export class Cache {
  private inputs: readonly Input[] = [];
  /** What is known of each input; undefined for one that is not cached. */
  private known: (Known | undefined)[] = [];
  private readonly index: FileIndex;
  private readonly group: string;
  /** What was met in the contents whose words are had. */
  private readonly statistics = new Map<names.EntryId, RangeStatistics>();
  /** Sums whose headers were read, by their names, which never stand for others. */
  private readonly readSums = new Map<string, Sum>();
  /** Files that turned out to be of no use. */
  private readonly useless = new Set<string>();
  private writtenCount = 0;
  private planned: { readonly plan: Plan; readonly sum: Sum | undefined } | undefined;

  constructor(
    private readonly directory: CacheDirectory,
    private readonly settings: CacheSettings,
  ) {
    this.index = new FileIndex(this.indexContent());
    if (this.index.isDamaged) {
      settings.warn(`"${directory.pathOf(names.indexName)}" is damaged: files are hashed again`);
    }
    this.group = names.groupHash(settings.version, settings.countsOptions);
  }

  /**
   * Finds out which contents the inputs have, as far as they may have been seen before: in the cache, or among `others`.
   * Yields how many bytes were hashed since it yielded last.
   */
  *identify(inputs: readonly Input[], others: readonly names.EntryId[] = []): Generator<number, void> {
    this.inputs = inputs;
    this.known = inputs.map((input) => this.look(input));
    const ids = [
      ...this.entries(),
      ...this.sums().flatMap(({ terms }) => terms.map(([id]) => id)),
      ...others,
    ];
    const starts = new Set(ids.map(names.idStartOf));
    for (const [inputIndex, known] of this.known.entries()) {
      if (known === undefined || known.sha256 !== undefined) continue;
      // Of files never seen only those are read that are as large as a content that was.
      if (!starts.has(names.idStart(known.optionsHash, inputs[inputIndex]!.sizeBytes))) continue;
      yield* this.hash(inputIndex, known);
    }
  }

  /**
   * Finds out which inputs' words the cache has, beside those whose words are had already: `statisticsOf` tells. Yields
   * between slices of work.
   */
  *plan(had: ReadonlySet<number>): Generator<undefined, void> {
    for (;;) {
      const entries = this.entries();
      const sums = this.sums();
      const wanted = this.timesOf((inputIndex) => !had.has(inputIndex));
      const plan = makePlan(
        wanted,
        (id) => entries.has(id),
        sums.map(({ terms }) => terms),
      );
      const sum = plan.sumIndex === undefined ? undefined : sums[plan.sumIndex]!;
      try {
        yield* this.verify(plan, sum);
      } catch (error) {
        this.setAside(error);
        continue;
      }
      this.planned = { plan, sum };
      if (sum !== undefined) this.directory.touch(sum.name);
      this.touchEntries(entries);
      return;
    }
  }

  /**
   * Adds up the words that `plan` found, in ascending order; the counts of some may be 0. Undefined if that was not
   * possible: then the plan is to be made again. Yields between slices of work.
   */
  *addUp(): Generator<undefined, WordTable | undefined> {
    const { plan, sum } = this.planned!;
    const pathOf = (id: names.EntryId) => this.directory.pathOf(names.entryName(id));
    try {
      const plus = yield* sumOfEntries(plan.added.map(pathOf), this.settings.countsOptions);
      if (sum === undefined) return plus;
      const path = this.directory.pathOf(sum.name);
      const { table } = readSum(path);
      yield;
      for (const [id, times] of plan.removed) {
        const { reader, close } = openEntry(pathOf(id), this.settings.countsOptions);
        try {
          if (!(yield* takeOff(table, reader, times))) throw new Damaged(path);
        } finally {
          close();
        }
      }
      return plus.wordCount === 0 ? table : addTable(table, plus);
    } catch (error) {
      this.setAside(error);
      return undefined;
    }
  }

  /** What was met in an input, if its words are known. */
  statisticsOf(inputIndex: number): RangeStatistics | undefined {
    const id = this.idOf(inputIndex);
    return id === undefined ? undefined : this.statistics.get(id);
  }

  /** Whether the words of an input can be kept when they are counted. */
  canKeep(inputIndex: number): boolean {
    return this.directory.isWritable && this.known[inputIndex] !== undefined;
  }

  /** Hashes the inputs that are to be counted; to be done meanwhile. Yields between slices of some milliseconds. */
  *hashMissing(): Generator<undefined, void> {
    for (const [inputIndex, known] of this.known.entries()) {
      if (known === undefined || known.sha256 !== undefined) continue;
      for (const _ of this.hash(inputIndex, known)) yield;
    }
  }

  /**
   * Keeps the words of the inputs that were counted, which are in `runs`, and what was met in them; yields between
   * slices of some milliseconds.
   * @param inHaste only of those whose words are written
   */
  *keep(
    runs: readonly SortedRun[],
    statistics: readonly RangeStatistics[],
    inHaste: boolean,
  ): Generator<undefined, void> {
    const byInput = Map.groupBy(runs, (run) => run.inputIndex);
    for (const [inputIndex, found] of statistics.entries()) {
      if (this.statisticsOf(inputIndex) !== undefined || !this.canKeep(inputIndex)) continue;
      const own = byInput.get(inputIndex) ?? [];
      if (inHaste && own.some(({ table }) => table !== null)) continue;
      yield* this.keepInput(inputIndex, own, found);
    }
  }

  /** Nothing is kept of an input that is not for certain what was hashed. */
  private *keepInput(
    inputIndex: number,
    runs: readonly SortedRun[],
    statistics: RangeStatistics,
  ): Generator<undefined, void> {
    const { directory } = this;
    const known = this.known[inputIndex]!;
    const id = this.idOf(inputIndex);
    const failure = runs.find((run) => run.failure !== null)?.failure;
    if (failure !== undefined) return directory.giveUp(new UserError(failure!));
    if (id === undefined || !(yield* this.isAsHashed(inputIndex, known))) return;
    try {
      const written: SortedRun[] = [];
      for (const run of runs) written.push(yield* this.written(run));
      const countsPath = written.length === 1 ? written[0]!.path : yield* this.joined(written);
      makeEntry(countsPath, directory.pathOf(names.entryName(id)), id, statistics);
    } catch (error) {
      return directory.giveUp(error);
    }
    this.statistics.set(id, statistics);
    directory.need(names.entryName(id));
    yield;
  }

  /** Whether a file is still what was hashed. One that is gone or shorter is not: the words are counted all the same. */
  private *isAsHashed(inputIndex: number, known: Known): Generator<undefined, boolean> {
    try {
      const { path } = this.inputs[inputIndex]!;
      if (stateOf(path, this.settings.nowMs()).key !== known.state.key) return false;
      if (known.state.isSettled) return true;
      // Written to just before the run, and within the grain of the clock perhaps once more.
      const { sha256 } = known;
      for (const _ of this.hash(inputIndex, known)) yield;
      return known.sha256 === sha256;
    } catch (error) {
      if (!(error instanceof UserError) && codeOf(error) === "") throw error;
      return false;
    }
  }

  private *written(run: SortedRun): Generator<undefined, SortedRun> {
    return run.table === null ? run : yield* this.writeWords(yield* TableWords.sort(run.table));
  }

  private writeWords(words: SortedWords): Generator<undefined, SortedRun> {
    const { countsOptions, scratchPath } = this.settings;
    const options = { countsOptions, directory: scratchPath() };
    return writeSortedRun(words, `entry-${this.writtenCount++}`, null, options);
  }

  /** One counts file of several, or of none. */
  private *joined(runs: readonly SortedRun[]): Generator<undefined, string> {
    const readers: CountsFileReader[] = [];
    try {
      for (const { path } of runs) readers.push(CountsFileReader.open(path));
      return (yield* this.writeWords(new SumOfWords(readers.map((words) => ({ words, sign: 1 }))))).path;
    } finally {
      for (const reader of readers) reader.close();
    }
  }

  /** Keeps the sum of all contents, if its terms are known, and what was learned about files. */
  keepSum(words: WordTable): void {
    const { directory } = this;
    const terms = this.terms();
    if (terms !== undefined && keyOf(terms) !== keyOf(this.planned?.sum?.terms ?? [])) {
      const name = names.sumName(this.group, names.shortHash(keyOf(terms)));
      directory.write(name, `${this.settings.scratchPath()}/sum`, () =>
        sumFileParts(words, this.settings.countsOptions, terms),
      );
      const older = directory.filesOf(this.sumNames()).slice(sumsKept);
      for (const old of older) directory.remove(old.name);
    }
    this.keepIndex();
  }

  /** Keeps what was learned about files. */
  keepIndex(): void {
    const { directory, settings } = this;
    const content = this.index.contentOver(this.indexContent());
    if (content === null) return;
    const temporaryPath = `${settings.scratchPath()}/index`;
    directory.write(names.indexName, temporaryPath, () => [Buffer.from(content, "latin1")]);
  }

  private readonly indexContent = () => this.directory.read(names.indexName).toString("latin1");

  /** The content of each input, as far as it is identified. Of a stream nothing is known beforehand. */
  contents(): (names.EntryId | "empty" | undefined)[] {
    return this.inputs.map(({ sizeBytes, isStream }, inputIndex) =>
      sizeBytes === 0 && !isStream ? "empty" : this.idOf(inputIndex),
    );
  }

  /** The same when all is counted: only what was counted for certain. */
  countedContents(): (names.EntryId | "empty" | undefined)[] {
    return this.contents().map((id) => (id === "empty" || this.statistics.has(id ?? "") ? id : undefined));
  }

  /** Notes that the entries of the inputs are still wanted. */
  touchEntries(entries = this.entries()): void {
    for (const id of this.timesOf(() => true).keys()) {
      if (entries.has(id)) this.directory.touch(names.entryName(id));
    }
  }

  private look(input: Input): Known | undefined {
    const { isStream, path, sizeBytes, device, inode } = input;
    if (isStream || sizeBytes === 0) return undefined;
    try {
      const state = stateOf(path, this.settings.nowMs());
      // It may have grown since it was found: then what is read is not all of it.
      if (!state.key.startsWith(`${device} ${inode} ${sizeBytes} `)) return undefined;
      return {
        state,
        optionsHash: names.optionsHash(this.group, input),
        sha256: this.index.find(state),
      };
    } catch {
      // Whoever reads it tells why.
      return undefined;
    }
  }

  private *hash(inputIndex: number, known: Known): Generator<number, void> {
    known.sha256 = yield* hashInput(this.inputs[inputIndex]!);
    this.index.add(known.state, known.sha256);
  }

  /** Notes what was met in the contents that the plan has; `Damaged` for an entry of them that is not whole. */
  private *verify({ added, removed }: Plan, sum: Sum | undefined): Generator<undefined, void> {
    const { directory, statistics } = this;
    statistics.clear();
    for (const id of new Set([...added, ...removed.map(([id]) => id)])) {
      statistics.set(id, verifyEntry(directory.pathOf(names.entryName(id)), id));
      yield;
    }
    for (const [id, , found] of sum?.terms ?? []) statistics.set(id, found);
  }

  /** A file that is damaged, gone or not to be read is not used; everything else is thrown again. */
  private setAside(error: unknown): void {
    const isDamaged = error instanceof Damaged || error instanceof CountsFileError;
    const path = isDamaged || error instanceof Untrusted ? error.path : (error as NodeJS.ErrnoException).path;
    if (path === undefined) throw error;
    const name = basename(path);
    if (!names.isOurs(name) || this.useless.has(name)) throw error;
    this.useless.add(name);
    if (codeOf(error) === "ENOENT") return;
    const reason = isDamaged
      ? "is damaged"
      : error instanceof Untrusted
        ? `is not used (${error.reason})`
        : `cannot be read (${reasonOf(error)})`;
    const remedy = names.entryIdOf(name) === undefined ? "added up" : "counted";
    this.settings.warn(`"${path}" ${reason}: what was in it is ${remedy} again`);
    // What another user put there is his to remove; what is counted takes its name, if it may.
    if (!(error instanceof Untrusted)) this.directory.remove(name);
  }

  private idOf(inputIndex: number): names.EntryId | undefined {
    const known = this.known[inputIndex];
    if (known?.sha256 === undefined) return undefined;
    return names.entryId(known.optionsHash, this.inputs[inputIndex]!.sizeBytes, known.sha256);
  }

  /** The contents of the inputs, or some of them, and how often each occurs. */
  private timesOf(isMeant: (inputIndex: number) => boolean): Map<names.EntryId, number> {
    const times = new Map<names.EntryId, number>();
    for (const inputIndex of this.inputs.keys()) {
      const id = isMeant(inputIndex) ? this.idOf(inputIndex) : undefined;
      if (id !== undefined) times.set(id, (times.get(id) ?? 0) + 1);
    }
    return times;
  }

  private entries(): Set<names.EntryId> {
    const usable = this.directory.names().filter((name) => !this.useless.has(name));
    return new Set(usable.flatMap((name) => names.entryIdOf(name) ?? []));
  }

  private sumNames(): string[] {
    return this.directory.names().filter((name) => names.isSumOf(this.group, name));
  }

  private sums(): Sum[] {
    return this.sumNames().flatMap((name) => {
      if (this.useless.has(name)) return [];
      const read = this.readSums.get(name);
      if (read !== undefined) return [read];
      try {
        const sum = { name, terms: readSumHeader(this.directory.pathOf(name)).terms };
        this.readSums.set(name, sum);
        return [sum];
      } catch (error) {
        this.setAside(error);
        return [];
      }
    });
  }

  /** The terms of the sum of all inputs; undefined if one of them is not known. */
  private terms(): SumTerm[] | undefined {
    const isWhole = this.inputs.every(
      ({ sizeBytes, isStream }, i) => (sizeBytes === 0 && !isStream) || this.statisticsOf(i) !== undefined,
    );
    if (!isWhole) return undefined;
    return [...this.timesOf(() => true)].map(([id, times]): SumTerm => [id, times, this.statistics.get(id)!]);
  }
}

/** The same for the same terms, in whatever order. */
const keyOf = (terms: readonly SumTerm[]) =>
  terms
    .map(([id, times]) => `${id} ${times}`)
    .sort()
    .join("\n");
