import { rangeReader } from "#corpus";
import { scaled, UserError } from "#runtime";
import type { SortedRun, SortedRunOptions } from "./sorted-run.ts";
import type * as wordCounter from "./word-counter.ts";
import { WordCounter } from "./word-counter.ts";
import * as wordTables from "./word-table.ts";

/** The number of bytes of text that are counted between two checks of the memory. */
const textBytesBetween = scaled(1 << 20, 64);
/**
 * The maximum total size in bytes of the tables in `runs` that are not written yet (`copyToRun`). Only the cache needs
 * them as files, because their words are also in memory.
 */
const unwrittenBytesMax = scaled(1 << 23, 300);

/** An additional limit of the memory for words; infinite except at small scale. */
const wordBytesMax = scaled(Number.POSITIVE_INFINITY, 6000);

export type SpillingOptions = {
  /** Where sorted runs are written, and the memory limit. If left out, all words stay in memory. */
  readonly runOptions?: SortedRunOptions | undefined;
  /** An upper bound of the bytes of text that all threads together count, if known. */
  readonly textBytesMax?: number | undefined;
  /** The number of memories for words that exist at the same time, in all threads together. */
  readonly memoryCount?: number;
};

/** Loads the code for sorted runs on demand: usually, none are written. */
const codeForRuns = () => require("./sorted-run.ts") as typeof import("./sorted-run.ts");

/**
 * Counts the words of one thread: in memory, and in sorted runs when memory is full. If words are counted per input,
 * the words of each input go to sorted runs of their own, and also into memory if they fit.
 */
export class SpillingCounter {
  /** The counter for new words. */
  readonly words: WordCounter;
  readonly runs: SortedRun[] = [];
  private readonly options: SortedRunOptions | undefined;
  /** The input whose words are in `words`, if words are counted per input. */
  private inputIndex: number | null = null;
  /** Words of earlier inputs, if they fit into memory. */
  private readonly inMemory: WordCounter;
  private nameCount = 0;
  /** The size of those tables in `runs` that are not written yet. */
  private unwrittenBytes = 0;

  /**
   * @param name unique among the counters that write sorted runs to one directory
   * @param room tracks the part of the memory limit that texts have claimed
   */
  constructor(
    { runOptions, textBytesMax, memoryCount }: SpillingOptions,
    private readonly name: string,
    private readonly room = new rangeReader.TextMemory(),
  ) {
    this.options = runOptions && {
      ...runOptions,
      wordBytesMax: Math.min(runOptions.wordBytesMax, wordBytesMax),
    };
    this.words = new WordCounter(textBytesMax, undefined, memoryCount);
    this.inMemory = new WordCounter(textBytesMax, undefined, memoryCount);
  }

  get distinctWordCount(): number {
    return Math.max(this.words.distinctWordCount, this.inMemory.distinctWordCount);
  }

  /** Must be called before a task is counted. `inputIndex` is its input, if words are counted per input. */
  *startTask(inputIndex: number | null): Generator<undefined, void> {
    if (inputIndex !== this.inputIndex) yield* this.emptyWords();
    this.inputIndex = inputIndex;
    yield* this.makeRoom();
  }

  /**
   * Moves words to sorted runs if memory may not suffice for the words of another window. Must be called before each
   * window of text is counted.
   */
  *makeRoom(): Generator<undefined, void> {
    const { options, words, inMemory, runs } = this;
    if (options === undefined || this.hasRoom()) return;
    if (inMemory.distinctWordCount > 0) runs.push(yield* this.moveToRun(inMemory, null));
    if (this.hasRoom() || words.distinctWordCount === 0) return;
    runs.push(yield* this.moveToRun(words, this.inputIndex));
  }

  /** Adds the words of another thread. */
  *absorb(packed: wordCounter.PackedCounts): Generator<undefined, void> {
    const { options, words, runs } = this;
    const hasRoom = options === undefined || words.memoryBytesWithPacked(packed) <= options.wordBytesMax;
    if (!hasRoom && words.distinctWordCount > 0) runs.push(yield* this.moveToRun(words, null));
    yield* words.absorb(packed);
  }

  /**
   * Must be called after the last word. The words in memory end up in `words`. From there they move to a sorted run in
   * two cases: memory has been full before, so that a sorted run of this thread or of `otherRuns` has words of several
   * inputs; or another thread needs this memory, and sorted runs may be written.
   *
   * @param otherRuns the sorted runs of other threads
   * @param leavesMemory whether another thread needs this memory
   */
  *finish(otherRuns: readonly SortedRun[] = [], leavesMemory = false): Generator<undefined, void> {
    const { words, inMemory, runs } = this;
    if (this.inputIndex !== null || inMemory.distinctWordCount > 0) {
      yield* this.emptyWords();
      this.inputIndex = null;
      yield* inMemory.moveInto(words);
    }
    const hadNoRoom = [...runs, ...otherRuns].some((run) => run.inputIndex === null);
    const spills = hadNoRoom || (leavesMemory && this.options !== undefined);
    if (spills && words.distinctWordCount > 0) runs.push(yield* this.moveToRun(words, null));
  }

  private hasRoom(): boolean {
    const { options, words, inMemory } = this;
    if (!words.hasRoomFor(textBytesBetween)) return false;
    const usedBytes = words.memoryBytesWith(textBytesBetween) + inMemory.memoryBytes + this.unwrittenBytes;
    return usedBytes + this.room.claimedBytes <= options!.wordBytesMax;
  }

  /**
   * Empties `words`. If the words fit into memory, they move to `inMemory`; if words are counted per input, they are
   * also copied to a sorted run. If they do not fit, they move to a sorted run. Does nothing without `runOptions`.
   */
  private *emptyWords(): Generator<undefined, void> {
    const { options, words, inMemory, inputIndex, runs } = this;
    if (options === undefined || words.distinctWordCount === 0) return;
    // A table to which another is added grows to at most twice the size of both.
    const staysInMemory =
      2 * (words.memoryBytes + inMemory.memoryBytes) + unwrittenBytesMax <= options.wordBytesMax;
    if (!staysInMemory) {
      runs.push(yield* this.moveToRun(words, inputIndex));
      return;
    }
    if (inputIndex !== null) runs.push(yield* this.copyToRun(words, inputIndex));
    yield* words.moveInto(inMemory);
  }

  private *moveToRun(counter: WordCounter, inputIndex: number | null): Generator<undefined, SortedRun> {
    const table = yield* counter.listWords();
    counter.clear();
    return yield* codeForRuns().sortIntoRun(table, this.nextName(), inputIndex, this.options!);
  }

  /**
   * Copies all words of a counter into a sorted run. Writing is put off while the tables of such runs are small
   * (`unwrittenBytesMax`). A failure to write is no error, because the words are also in memory.
   */
  private *copyToRun(counter: WordCounter, inputIndex: number): Generator<undefined, SortedRun> {
    const table = yield* counter.listWords();
    const name = this.nextName();
    const unwrittenBytes =
      this.unwrittenBytes + wordTables.bytesOf({ ...table, byteCount: table.bytes.length });
    if (unwrittenBytes <= unwrittenBytesMax) {
      this.unwrittenBytes = unwrittenBytes;
      return {
        path: name,
        inputIndex,
        totals: wordTables.totalsOf(table),
        isInMemoryToo: true,
        failure: null,
        table,
      };
    }
    const totals = wordTables.totalsOf(table);
    try {
      const run = yield* codeForRuns().sortIntoRun(table, name, inputIndex, this.options!);
      return { ...run, isInMemoryToo: true };
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      return { path: name, inputIndex, totals, isInMemoryToo: true, failure: error.message, table: null };
    }
  }

  private nextName(): string {
    return `${this.name}-${this.nameCount++}`;
  }
}
