import { TextRoom } from "../corpus/text-room.ts";
import { UserError } from "../errors.ts";
import { totalsOf } from "../words/counts-writer.ts";
import { TableWords } from "../words/sorted-words.ts";
import { type PackedCounts, WordCounter } from "../words/word-counter.ts";
import { tableBytes } from "../words/word-table.ts";
import { type Run, type RunOptions, writeRun } from "./sorted-runs.ts";

/** What is counted between two looks at the memory: a window of the reader. */
const textBytesBetween = 1 << 20;
/** Words that are held too are not written by who counts as long as they are so few: the result does not wait for them. */
const unwrittenBytesMax = 1 << 23;

export type KeeperOptions = {
  /** Where runs go, and when. Without it no words are written to runs. */
  readonly runOptions?: RunOptions | undefined;
  /** How much text there is at most for all threads together, if it is known. */
  readonly textBytesMax?: number | undefined;
};

/**
 * Keeps the words of one thread: in counters, and in runs where memory has no room for more. Where the words of an
 * input are wanted apart, they are in runs of their own, and in memory too if there is room. Generators yield between
 * slices of work, for who has to stay responsive.
 */
export class WordKeeper {
  /** What is counted goes here. */
  readonly counter: WordCounter;
  readonly runs: Run[] = [];
  private readonly options: RunOptions | undefined;
  /** The input whose words the counter has, if they are wanted apart. */
  private apart: number | null = null;
  /** What was counted before, as far as memory has room for it. */
  private readonly held: WordCounter;
  private nameCount = 0;
  /** Of the tables in runs. */
  private unwrittenBytes = 0;

  /**
   * @param name of the thread, unique among those that write to one directory
   * @param room what texts take of the memory for words
   */
  constructor(
    { runOptions, textBytesMax }: KeeperOptions,
    private readonly name: string,
    private readonly room = new TextRoom(),
  ) {
    this.options = runOptions;
    this.counter = new WordCounter(textBytesMax);
    this.held = new WordCounter(textBytesMax);
  }

  get distinctWordCount(): number {
    return Math.max(this.counter.distinctWordCount, this.held.distinctWordCount);
  }

  /** Words are to come, of this input if they are wanted apart. */
  *startTask(apart: number | null): Generator<undefined, void> {
    if (apart !== this.apart) yield* this.setAside();
    this.apart = apart;
    yield* this.makeRoom();
  }

  /** To be called before a window of text is counted. */
  *makeRoom(): Generator<undefined, void> {
    const { options, counter, held } = this;
    if (options === undefined || this.hasRoom()) return;
    if (held.distinctWordCount > 0) this.runs.push(yield* this.runOf(held, null));
    if (this.hasRoom() || counter.distinctWordCount === 0) return;
    this.runs.push(yield* this.runOf(counter, this.apart));
  }

  /** Takes over the words of another thread. */
  *absorb(packed: PackedCounts): Generator<undefined, void> {
    const { options, counter } = this;
    const hasRoom = options === undefined || counter.memoryBytesWithPacked(packed) <= options.wordBytesMax;
    if (!hasRoom && counter.distinctWordCount > 0) this.runs.push(yield* this.runOf(counter, null));
    yield* counter.absorb(packed);
  }

  /**
   * No words are to come: the counter keeps what is there only if memory has had room for all, and nobody else is to have
   * that memory (`leavesMemory`).
   */
  *finish(otherRuns: readonly Run[] = [], leavesMemory = false): Generator<undefined, void> {
    const { counter, held, runs } = this;
    if (this.apart !== null || held.distinctWordCount > 0) {
      yield* this.setAside();
      this.apart = null;
      yield* held.moveInto(counter);
    }
    const hadNoRoom = [...runs, ...otherRuns].some((run) => run.inputIndex === null);
    const goes = hadNoRoom || (leavesMemory && this.options !== undefined);
    if (goes && counter.distinctWordCount > 0) runs.push(yield* this.runOf(counter, null));
  }

  private hasRoom(): boolean {
    const { options, counter, held } = this;
    if (!counter.hasRoomFor(textBytesBetween)) return false;
    const usedBytes = counter.memoryBytesWith(textBytesBetween) + held.memoryBytes + this.unwrittenBytes;
    return usedBytes + this.room.claimedBytes <= options!.wordBytesMax;
  }

  /** Other words are to come: those of an input that are wanted apart become a run. */
  private *setAside(): Generator<undefined, void> {
    const { options, counter, held, apart, runs } = this;
    if (options === undefined || counter.distinctWordCount === 0) return;
    // A table that takes in another one at most doubles.
    const canHold = 2 * (counter.memoryBytes + held.memoryBytes) + unwrittenBytesMax <= options.wordBytesMax;
    if (!canHold) {
      runs.push(yield* this.runOf(counter, apart));
      return;
    }
    if (apart !== null) runs.push(yield* this.copyOf(counter, apart));
    yield* counter.moveInto(held);
  }

  /** Moves all words of a counter into a run. */
  private *runOf(counter: WordCounter, inputIndex: number | null): Generator<undefined, Run> {
    const table = yield* counter.listWords();
    counter.clear();
    const words = yield* TableWords.sort(table);
    const run = yield* writeRun(words, this.nextName(), inputIndex, this.options!);
    words.release();
    return run;
  }

  /** Copies all words of a counter into a run, the first ones unwritten. Writing may fail: the words are not lost. */
  private *copyOf(counter: WordCounter, inputIndex: number): Generator<undefined, Run> {
    const table = yield* counter.listWords();
    const name = this.nextName();
    const unwrittenBytes = this.unwrittenBytes + tableBytes({ ...table, byteCount: table.bytes.length });
    if (unwrittenBytes <= unwrittenBytesMax) {
      this.unwrittenBytes = unwrittenBytes;
      return { path: name, inputIndex, totals: totalsOf(table), isHeldToo: true, failure: null, table };
    }
    const words = yield* TableWords.sort(table);
    try {
      const run = yield* writeRun(words, name, inputIndex, this.options!);
      return { ...run, isHeldToo: true };
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      const { totals } = words;
      return { path: name, inputIndex, totals, isHeldToo: true, failure: error.message, table: null };
    }
  }

  private nextName(): string {
    return `${this.name}-${this.nameCount++}`;
  }
}
