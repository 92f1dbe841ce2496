import { TextMemory } from "../corpus/range-reader.ts";
import { UserError } from "../errors.ts";
import { totalsOf } from "../words/counts-writer.ts";
import { TableWords } from "../words/sorted-words.ts";
import { type PackedCounts, WordCounter } from "../words/word-counter.ts";
import { tableBytes } from "../words/word-table.ts";
import { type SortedRun, type SortedRunOptions, writeSortedRun } from "./sorted-runs.ts";

/** Text that is counted between two looks at the memory: a window of the reader. */
const textBytesBetween = 1 << 20;
/** Sorted runs whose words are in memory too are left unwritten up to this size: the result need not wait for them. */
const unwrittenBytesMax = 1 << 23;

export type SpillingOptions = {
  /** Where sorted runs go, and when. Left out: all words stay in memory. */
  readonly runOptions?: SortedRunOptions | undefined;
  /** Upper bound of the text that all threads together count, if it is known. */
  readonly textBytesMax?: number | undefined;
  /** How many memories for words all threads have at a time. */
  readonly memoryCount?: number;
};

/**
 * Counts the words of one thread: in memory, and in sorted runs where memory has no room for more. The words of an input
 * that are counted per input go to sorted runs of their own, and into memory too if there is room. Generators yield
 * between slices of work.
 */
export class SpillingCounter {
  /** The words counted now go here. */
  readonly words: WordCounter;
  readonly runs: SortedRun[] = [];
  private readonly options: SortedRunOptions | undefined;
  /** The input that `words` is of, if that is counted per input. */
  private inputIndex: number | null = null;
  /** Words counted before, as far as memory has room for them. */
  private readonly inMemory: WordCounter;
  private nameCount = 0;
  /** Size of the tables in `runs`, which are not written yet. */
  private unwrittenBytes = 0;

  /**
   * @param name unique among those that write sorted runs to one directory
   * @param room memory for words that texts have claimed
   */
  constructor(
    { runOptions, textBytesMax, memoryCount }: SpillingOptions,
    private readonly name: string,
    private readonly room = new TextMemory(),
  ) {
    this.options = runOptions;
    this.words = new WordCounter(textBytesMax, undefined, memoryCount);
    this.inMemory = new WordCounter(textBytesMax, undefined, memoryCount);
  }

  get distinctWordCount(): number {
    return Math.max(this.words.distinctWordCount, this.inMemory.distinctWordCount);
  }

  /** To be called before words of another task come. `inputIndex` is its input, if that is counted per input. */
  *startTask(inputIndex: number | null): Generator<undefined, void> {
    if (inputIndex !== this.inputIndex) yield* this.setAside();
    this.inputIndex = inputIndex;
    yield* this.makeRoom();
  }

  /** To be called before a window of text is counted. */
  *makeRoom(): Generator<undefined, void> {
    const { options, words, inMemory, runs } = this;
    if (options === undefined || this.hasRoom()) return;
    if (inMemory.distinctWordCount > 0) runs.push(yield* this.moveToRun(inMemory, null));
    if (this.hasRoom() || words.distinctWordCount === 0) return;
    runs.push(yield* this.moveToRun(words, this.inputIndex));
  }

  /** Takes over the words of another thread. */
  *absorb(packed: PackedCounts): Generator<undefined, void> {
    const { options, words, runs } = this;
    const hasRoom = options === undefined || words.memoryBytesWithPacked(packed) <= options.wordBytesMax;
    if (!hasRoom && words.distinctWordCount > 0) runs.push(yield* this.moveToRun(words, null));
    yield* words.absorb(packed);
  }

  /**
   * To be called when no more words come. All words end in `words` if memory had room for them, else in sorted runs. They
   * also go to sorted runs if another thread needs this memory (`leavesMemory`).
   *
   * @param otherRuns those of other threads
   */
  *finish(otherRuns: readonly SortedRun[] = [], leavesMemory = false): Generator<undefined, void> {
    const { words, inMemory, runs } = this;
    if (this.inputIndex !== null || inMemory.distinctWordCount > 0) {
      yield* this.setAside();
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

  /** Empties `words`: those of an input that is counted per input become a sorted run, and stay in memory if there is room. */
  private *setAside(): Generator<undefined, void> {
    const { options, words, inMemory, inputIndex, runs } = this;
    if (options === undefined || words.distinctWordCount === 0) return;
    // A table that takes in another one at most doubles.
    const staysInMemory =
      2 * (words.memoryBytes + inMemory.memoryBytes) + unwrittenBytesMax <= options.wordBytesMax;
    if (!staysInMemory) {
      runs.push(yield* this.moveToRun(words, inputIndex));
      return;
    }
    if (inputIndex !== null) runs.push(yield* this.copyToRun(words, inputIndex));
    yield* words.moveInto(inMemory);
  }

  /** Moves all words of a counter into a sorted run. */
  private *moveToRun(counter: WordCounter, inputIndex: number | null): Generator<undefined, SortedRun> {
    const table = yield* counter.listWords();
    counter.clear();
    const words = yield* TableWords.sort(table);
    const run = yield* writeSortedRun(words, this.nextName(), inputIndex, this.options!);
    words.release();
    return run;
  }

  /** Copies all words of a counter into a sorted run. The first runs are not written, and writing may fail: the words are in memory. */
  private *copyToRun(counter: WordCounter, inputIndex: number): Generator<undefined, SortedRun> {
    const table = yield* counter.listWords();
    const name = this.nextName();
    const unwrittenBytes = this.unwrittenBytes + tableBytes({ ...table, byteCount: table.bytes.length });
    if (unwrittenBytes <= unwrittenBytesMax) {
      this.unwrittenBytes = unwrittenBytes;
      return { path: name, inputIndex, totals: totalsOf(table), isInMemoryToo: true, failure: null, table };
    }
    const words = yield* TableWords.sort(table);
    try {
      const run = yield* writeSortedRun(words, name, inputIndex, this.options!);
      return { ...run, isInMemoryToo: true };
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      const { totals } = words;
      return { path: name, inputIndex, totals, isInMemoryToo: true, failure: error.message, table: null };
    }
  }

  private nextName(): string {
    return `${this.name}-${this.nameCount++}`;
  }
}
