import { basename } from "node:path";
import { groupBy } from "#bytes";
import type { Input, RangeStatistics } from "#corpus";
import { type Message, systemError, UserError } from "#runtime";
import { trustedFiles } from "#store";
import type { CacheDirectory } from "./cache-directory.ts";
import * as cacheDirectory from "./cache-directory.ts";
import {
  makeEntry,
  readSum,
  readSumHeader,
  type SumTerm,
  sumFileParts,
  sumOfEntries,
  verifyEntry,
} from "./cache-entries.ts";
import { FileIndex, type FileState, hashInput, stateOf } from "./content-hash.ts";
import { CountsFileReader } from "./counts-file-reader.ts";
import type { CountsOptions } from "./counts-format.ts";
import * as countsFormat from "./counts-format.ts";
import { type SortedRun, writeSortedRun } from "./sorted-run.ts";
import type { SortedWords } from "./sorted-words.ts";
import * as sortedWords from "./sorted-words.ts";
import type { WordTable } from "./word-table.ts";

/**
 * How to build a word table from the cache: the sum to start with, entries to add and to subtract, and contents to
 * count because the cache lacks them.
 */
export type Plan = {
  /** The index of the sum to start with; undefined if there is none. */
  readonly sumIndex: number | undefined;
  /** Entries to add. Each is listed as often as it is added. */
  readonly added: readonly cacheDirectory.EntryId[];
  /** Entries to subtract. Each is listed once, with the number of times it is subtracted. */
  readonly removed: readonly (readonly [id: cacheDirectory.EntryId, times: number])[];
  /** Contents that the cache lacks. */
  readonly missing: ReadonlySet<cacheDirectory.EntryId>;
};

/**
 * Returns the plan with the fewest contents to count. Among several such plans, returns the one that reads the fewest
 * files; an entry that is added twice counts as two files.
 *
 * @param wanted the contents of the inputs, with their numbers of occurrences
 */
export function makePlan(
  wanted: ReadonlyMap<cacheDirectory.EntryId, number>,
  hasEntry: (id: cacheDirectory.EntryId) => boolean,
  sums: readonly (readonly SumTerm[])[],
): Plan {
  const plans = [undefined, ...sums.keys()].flatMap((sumIndex) => {
    const terms = sumIndex === undefined ? [] : sums[sumIndex]!;
    const plan = planWith(wanted, hasEntry, sumIndex, terms);
    return plan === undefined ? [] : [plan];
  });
  const filesToRead = ({ sumIndex, added, removed }: Plan) =>
    (sumIndex === undefined ? 0 : 1) + added.length + removed.length;
  return plans.reduce((best, plan) => {
    const less = plan.missing.size - best.missing.size || filesToRead(plan) - filesToRead(best);
    return less < 0 ? plan : best;
  });
}

function planWith(
  wanted: ReadonlyMap<cacheDirectory.EntryId, number>,
  hasEntry: (id: cacheDirectory.EntryId) => boolean,
  sumIndex: number | undefined,
  terms: readonly SumTerm[],
): Plan | undefined {
  const added: cacheDirectory.EntryId[] = [];
  const removed: [cacheDirectory.EntryId, number][] = [];
  const missing = new Set<cacheDirectory.EntryId>();
  const timesInSum = new Map(terms.map(([id, times]) => [id, times]));
  for (const id of new Set([...wanted.keys(), ...timesInSum.keys()])) {
    const more = (wanted.get(id) ?? 0) - (timesInSum.get(id) ?? 0);
    if (more === 0) continue;
    if (hasEntry(id)) {
      for (let left = more; left > 0; left--) added.push(id);
      if (more < 0) removed.push([id, -more]);
    } else if (timesInSum.has(id)) {
      // Without its entry, a content can neither be subtracted from this sum nor added to it.
      return undefined;
    } else {
      missing.add(id);
    }
  }
  return { sumIndex, added, removed, missing };
}

type CacheSettings = {
  readonly countsOptions: CountsOptions;
  /** Identifies everything that affects how text is cut: program, runtime, and the tables of the pattern. */
  readonly version: string;
  readonly warn: (message: Message) => void;
  readonly nowMs: () => number;
  /** A directory of this run. If the cache can be written, it is on the cache's file system. */
  readonly scratchPath: () => string;
};

/**
 * How many sums are kept for each set of options and each part of a corpus (such as a language) that is counted
 * separately: the current sum and its predecessor.
 */
const sumsKept = 2;

type KnownInput = {
  readonly state: FileState;
  readonly optionsHash: string;
  sha256: string | undefined;
};

type Sum = { readonly name: string; readonly terms: readonly SumTerm[] };

export class Cache {
  private inputs: readonly Input[] = [];
  /** The state of each input; undefined for one that is not cached, such as a stream. */
  private known: (KnownInput | undefined)[] = [];
  private readonly index: FileIndex;
  private readonly group: string;
  /** The statistics of those contents whose words are in the cache. */
  private readonly statistics = new Map<cacheDirectory.EntryId, RangeStatistics>();
  /** Sums whose headers were read, by name. A name always means the same sum. */
  private readonly readSums = new Map<string, Sum>();
  private readonly unusableFiles = new Set<string>();
  private writtenCount = 0;
  private planned: { readonly plan: Plan; readonly sum: Sum | undefined } | undefined;

  constructor(
    private readonly directory: CacheDirectory,
    private readonly settings: CacheSettings,
  ) {
    this.index = new FileIndex(this.indexContent());
    if (this.index.isDamaged) {
      settings.warn(`"${directory.pathOf(cacheDirectory.indexName)}" is damaged: files are hashed again`);
    }
    this.group = cacheDirectory.groupHash(settings.version, settings.countsOptions);
  }

  /** Hashes inputs whose content may be in the cache or among `others`. Yields the number of bytes just hashed. */
  *identify(
    inputs: readonly Input[],
    others: readonly cacheDirectory.EntryId[] = [],
  ): Generator<number, void> {
    // For each part of a corpus, `identify` is called again with the same inputs.
    if (this.inputs === inputs && others.length === 0) return;
    this.inputs = inputs;
    this.known = inputs.map((input) => this.examine(input));
    const ids = [
      ...this.entries(),
      ...this.sums().flatMap(({ terms }) => terms.map(([id]) => id)),
      ...others,
    ];
    const starts = new Set(ids.map(cacheDirectory.idStartOf));
    for (const [inputIndex, known] of this.known.entries()) {
      if (known === undefined || known.sha256 !== undefined) continue;
      // A file is hashed here only if a content of its size was seen before.
      if (!starts.has(cacheDirectory.idStart(known.optionsHash, inputs[inputIndex]!.sizeBytes))) continue;
      yield* this.hash(inputIndex, known);
    }
  }

  /**
   * Plans how to get the words of the inputs, except those in `had`, which are already counted or not wanted.
   * Afterwards, `statisticsOf` returns statistics for the inputs whose words are in the cache.
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
      for (const id of wanted.keys()) this.statistics.delete(id);
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
   * Adds up the words of the plan, sorted. Returns undefined if a file turned out to be unusable; then `plan` must be
   * called again.
   */
  *addUp(): Generator<undefined, WordTable | undefined> {
    const { plan, sum } = this.planned!;
    const sumOf = (ids: readonly cacheDirectory.EntryId[]) =>
      sumOfEntries(
        ids.map((id) => this.directory.pathOf(cacheDirectory.entryName(id))),
        this.settings.countsOptions,
      );
    try {
      const added = yield* sumOf(plan.added);
      if (sum === undefined) return added;
      const table = readSum(this.directory.pathOf(sum.name));
      yield;
      const removed = plan.removed.flatMap(([id, times]) => Array<cacheDirectory.EntryId>(times).fill(id));
      return sortedWords.addTable(sortedWords.addTable(table, added), yield* sumOf(removed), -1);
    } catch (error) {
      const isSumWrong = error instanceof sortedWords.NegativeSumError;
      this.setAside(isSumWrong ? new cacheDirectory.DamagedFile(this.directory.pathOf(sum!.name)) : error);
      return undefined;
    }
  }

  statisticsOf(inputIndex: number): RangeStatistics | undefined {
    const id = this.idOf(inputIndex);
    return id === undefined ? undefined : this.statistics.get(id);
  }

  /** Whether the words of an input can be stored in the cache once they are counted. */
  canKeep(inputIndex: number): boolean {
    return this.directory.isWritable && this.known[inputIndex] !== undefined;
  }

  /** Hashes given inputs that can be cached and have not been hashed, so that their words can be stored. */
  *hashMissing(inputIndices: readonly number[]): Generator<undefined, void> {
    for (const inputIndex of inputIndices) {
      const known = this.known[inputIndex];
      if (known === undefined || known.sha256 !== undefined) continue;
      for (const _ of this.hash(inputIndex, known)) yield;
    }
  }

  /**
   * Stores the words of the counted inputs, which are in `runs`, and their statistics.
   *
   * @param statistics by input; undefined for inputs of other parts of the corpus
   * @param inHaste whether to store only words that are already on disk
   */
  *keep(
    runs: readonly SortedRun[],
    statistics: readonly (RangeStatistics | undefined)[],
    inHaste: boolean,
  ): Generator<undefined, void> {
    const byInput = groupBy(runs, (run) => run.inputIndex);
    for (const [inputIndex, found] of statistics.entries()) {
      const isKept = found === undefined || this.statisticsOf(inputIndex) !== undefined;
      if (isKept || !this.canKeep(inputIndex)) continue;
      const own = byInput.get(inputIndex) ?? [];
      if (inHaste && own.some(({ table }) => table !== null)) continue;
      yield* this.keepInput(inputIndex, own, found);
    }
  }

  /** Stores the words of an input, if its file is certainly the one that was hashed. */
  private *keepInput(
    inputIndex: number,
    runs: readonly SortedRun[],
    statistics: RangeStatistics,
  ): Generator<undefined, void> {
    const { directory } = this;
    const known = this.known[inputIndex]!;
    const id = this.idOf(inputIndex);
    const failure = runs.find((run) => run.failure !== null)?.failure;
    if (failure !== undefined) return directory.stopKeeping(new UserError(failure!));
    if (id === undefined || !(yield* this.isAsHashed(inputIndex, known))) return;
    try {
      const writeRun: SortedRun[] = [];
      for (const run of runs) writeRun.push(yield* this.written(run));
      const countsPath = writeRun.length === 1 ? writeRun[0]!.path : yield* this.joinRuns(writeRun);
      makeEntry(countsPath, directory.pathOf(cacheDirectory.entryName(id)), id, statistics);
    } catch (error) {
      return directory.stopKeeping(error);
    }
    this.statistics.set(id, statistics);
    directory.markNeeded(cacheDirectory.entryName(id));
    yield;
  }

  /** Whether a file is still the one that was hashed. */
  private *isAsHashed(inputIndex: number, known: KnownInput): Generator<undefined, boolean> {
    try {
      const { path } = this.inputs[inputIndex]!;
      if (stateOf(path, this.settings.nowMs()).key !== known.state.key) return false;
      if (known.state.isSettled) return true;
      // The file was written just before the run, so a later write may have given it the same timestamp. Hashing it
      // again shows whether it has changed.
      const { sha256 } = known;
      for (const _ of this.hash(inputIndex, known)) yield;
      return known.sha256 === sha256;
    } catch (error) {
      if (systemError.userErrorOf(error) === undefined) throw error;
      return false;
    }
  }

  private *written(run: SortedRun): Generator<undefined, SortedRun> {
    return run.table === null ? run : yield* this.writeWords(yield* sortedWords.TableWords.sort(run.table));
  }

  private writeWords(words: SortedWords): Generator<undefined, SortedRun> {
    const { countsOptions, scratchPath } = this.settings;
    const options = { countsOptions, directory: scratchPath() };
    return writeSortedRun(words, `entry-${this.writtenCount++}`, null, options);
  }

  /** Merges sorted runs, possibly none, into one counts file. Returns its path. */
  private *joinRuns(runs: readonly SortedRun[]): Generator<undefined, string> {
    const readers: CountsFileReader[] = [];
    try {
      for (const { path } of runs) readers.push(CountsFileReader.open(path));
      return (yield* this.writeWords(
        new sortedWords.SumOfWords(readers.map((words) => ({ words, times: 1 }))),
      )).path;
    } finally {
      for (const reader of readers) reader.close();
    }
  }

  /**
   * Stores the index. Also stores `words`, the sum of the inputs that `isMeant` selects, if the words of all of them
   * are in the cache, but their sum is not. `partCount` is the number of parts of the corpus that have sums of their
   * own.
   */
  keepSum(words: WordTable, isMeant: (inputIndex: number) => boolean, partCount: number): void {
    const { directory } = this;
    const terms = this.terms(isMeant);
    const name = cacheDirectory.sumName(this.group, cacheDirectory.shortHash(keyOf(terms)));
    if (terms.length > 0 && !this.sums().some((sum) => sum.name === name)) {
      directory.write(name, `${this.settings.scratchPath()}/sum`, () =>
        sumFileParts(words, this.settings.countsOptions, terms),
      );
      const older = directory.filesOf(this.sumNames()).slice(sumsKept * partCount);
      for (const old of older) directory.remove(old.name);
    }
    this.keepIndex();
  }

  keepIndex(): void {
    const { directory, settings } = this;
    const content = this.index.contentOver(this.indexContent());
    if (content === null) return;
    const temporaryPath = `${settings.scratchPath()}/index`;
    directory.write(cacheDirectory.indexName, temporaryPath, () => [Buffer.from(content, "latin1")]);
  }

  private readonly indexContent = () => this.directory.read(cacheDirectory.indexName).toString("latin1");

  /** Returns the content of each input: "empty" for an empty file, undefined for an input that was not hashed. */
  contents(): (cacheDirectory.EntryId | "empty" | undefined)[] {
    return this.inputs.map(({ sizeBytes, isStream }, inputIndex) =>
      sizeBytes === 0 && !isStream ? "empty" : this.idOf(inputIndex),
    );
  }

  /** Like `contents`, but also undefined for an input if it is not certain that this content was counted. */
  countedContents(): (cacheDirectory.EntryId | "empty" | undefined)[] {
    return this.contents().map((id) => (id === "empty" || this.statistics.has(id ?? "") ? id : undefined));
  }

  touchEntries(entries = this.entries()): void {
    for (const id of this.timesOf(() => true).keys()) {
      if (entries.has(id)) this.directory.touch(cacheDirectory.entryName(id));
    }
  }

  private examine(input: Input): KnownInput | undefined {
    const { isStream, path, sizeBytes, device, inode } = input;
    if (isStream || sizeBytes === 0) return undefined;
    try {
      const state = stateOf(path, this.settings.nowMs());
      // A file that has changed since it was found is not cached: if it has grown, only a part of it will be read.
      if (!state.key.startsWith(`${device} ${inode} ${sizeBytes} `)) return undefined;
      return {
        state,
        optionsHash: cacheDirectory.optionsHash(this.group, input),
        sha256: this.index.find(state),
      };
    } catch {
      // The error is reported when the input is read.
      return undefined;
    }
  }

  private *hash(inputIndex: number, known: KnownInput): Generator<number, void> {
    known.sha256 = yield* hashInput(this.inputs[inputIndex]!);
    this.index.add(known.state, known.sha256);
  }

  /** Verifies the entries of a plan, and records the statistics of its contents. */
  private *verify({ added, removed }: Plan, sum: Sum | undefined): Generator<undefined, void> {
    const { directory, statistics } = this;
    for (const id of new Set([...added, ...removed.map(([id]) => id)])) {
      statistics.set(id, verifyEntry(directory.pathOf(cacheDirectory.entryName(id)), id));
      yield;
    }
    for (const [id, , found] of sum?.terms ?? []) statistics.set(id, found);
  }

  /**
   * Stops using the file that `error` is about, if it is a damaged, missing, unreadable or untrusted file of the cache.
   * Warns unless it is missing. Rethrows any other error.
   */
  private setAside(error: unknown): void {
    const isDamaged = error instanceof cacheDirectory.DamagedFile || error instanceof countsFormat.FileError;
    const path =
      isDamaged || error instanceof trustedFiles.Untrusted
        ? error.path
        : (error as NodeJS.ErrnoException).path;
    if (path === undefined) throw error;
    const name = basename(path);
    if (!cacheDirectory.isCacheFile(name) || this.unusableFiles.has(name)) throw error;
    this.unusableFiles.add(name);
    if (systemError.codeOf(error) === "ENOENT") return;
    const reason = isDamaged
      ? "is damaged"
      : error instanceof trustedFiles.Untrusted
        ? `is not used (${error.reason})`
        : `cannot be read (${systemError.reasonOf(error)})`;
    const remedy =
      cacheDirectory.entryIdOf(name) === undefined ? "entries will be added up" : "text will be counted";
    this.settings.warn(`"${path}" ${reason}: its ${remedy} again`);
    // An untrusted file may be another user's, so it is not removed.
    if (!(error instanceof trustedFiles.Untrusted)) this.directory.remove(name);
  }

  private idOf(inputIndex: number): cacheDirectory.EntryId | undefined {
    const known = this.known[inputIndex];
    if (known?.sha256 === undefined) return undefined;
    return cacheDirectory.entryId(known.optionsHash, this.inputs[inputIndex]!.sizeBytes, known.sha256);
  }

  private timesOf(isMeant: (inputIndex: number) => boolean): Map<cacheDirectory.EntryId, number> {
    const times = new Map<cacheDirectory.EntryId, number>();
    for (const inputIndex of this.inputs.keys()) {
      const id = isMeant(inputIndex) ? this.idOf(inputIndex) : undefined;
      if (id !== undefined) times.set(id, (times.get(id) ?? 0) + 1);
    }
    return times;
  }

  private entries(): Set<cacheDirectory.EntryId> {
    const usable = this.directory.names().filter((name) => !this.unusableFiles.has(name));
    return new Set(usable.flatMap((name) => cacheDirectory.entryIdOf(name) ?? []));
  }

  private sumNames(): string[] {
    return this.directory.names().filter((name) => cacheDirectory.isSumOf(this.group, name));
  }

  private sums(): Sum[] {
    return this.sumNames().flatMap((name) => {
      if (this.unusableFiles.has(name)) return [];
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

  /** Returns the terms of the sum of some inputs; empty unless the cache has all their words. */
  private terms(isMeant: (inputIndex: number) => boolean): SumTerm[] {
    const isWhole = this.inputs.every(
      ({ sizeBytes, isStream }, i) =>
        !isMeant(i) || (sizeBytes === 0 && !isStream) || this.statisticsOf(i) !== undefined,
    );
    if (!isWhole) return [];
    return [...this.timesOf(isMeant)].map(([id, times]): SumTerm => [id, times, this.statistics.get(id)!]);
  }
}

/** Returns a key of terms that does not depend on their order. */
const keyOf = (terms: readonly SumTerm[]) =>
  terms
    .map(([id, times]) => `${id} ${times}`)
    .sort()
    .join("\n");
