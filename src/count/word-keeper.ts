import { WordCounter } from "../words/counter.ts";
import { TableWords } from "../words/sorted-words.ts";
import { type Run, type RunOptions, writeRun } from "./runs.ts";

/** What is counted between two looks at the memory: a window of the reader. */
const textBytesBetween = 1 << 20;

/**
 * Keeps the words of one thread: in a counter, and in runs where memory has no room for more, or where the words of
 * an input are wanted apart. Generators yield between slices of work, for who has to stay responsive.
 */
export class WordKeeper {
  readonly counter = new WordCounter();
  readonly runs: Run[] = [];
  /** The input whose words the counter holds, if they are wanted apart. */
  private apart: number | null = null;

  /** @param name of the thread, unique among those that write to one directory */
  constructor(
    private readonly options: RunOptions | undefined,
    private readonly name: string,
  ) {}

  /** Words are to come, of this input if they are wanted apart. */
  *startTask(apart: number | null): Generator<undefined, void> {
    if (apart !== this.apart) yield* this.writeRun();
    this.apart = apart;
    yield* this.makeRoom();
  }

  /** To be called before a window of text is counted. */
  *makeRoom(): Generator<undefined, void> {
    const { options, counter } = this;
    if (options !== undefined && counter.memoryBytesWith(textBytesBetween) > options.wordBytesMax) {
      yield* this.writeRun();
    }
  }

  /** No words are to come: the counter keeps what is there only if it is all that this thread has. */
  *finish(): Generator<undefined, void> {
    if (this.apart !== null || this.runs.some((run) => run.inputIndex === null)) yield* this.writeRun();
    this.apart = null;
  }

  /** Moves all words of the counter into a run. */
  private *writeRun(): Generator<undefined, void> {
    const { counter, runs, options, apart } = this;
    if (counter.distinctWordCount === 0) return;
    if (options === undefined) throw new Error("words are wanted in runs, and there is no place for them");
    const words = new TableWords(counter.toWordTable());
    counter.clear();
    runs.push(yield* writeRun(words, `${this.name}-${runs.length}`, apart, options));
  }
}
