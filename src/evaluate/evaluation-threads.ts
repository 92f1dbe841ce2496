import { type differences, evaluations, NumberCounts, textWords } from "#evaluation";
import { jobs } from "#jobs";
import { host, kernels, runSliced, scaled } from "#runtime";
import type { WordTable } from "#words";
import { compareCuts, differentWords, WordEncoder, type WordEncoding, wordCosts } from "./word-encoder.ts";

/** The initial data of an evaluation thread. */
type EvaluationSetup = {
  readonly kernelModule: WebAssembly.Module;
  readonly tokenizers: readonly WordEncoding[];
};

// The arrays of requests are in shared memory.

type MeasureRequest = {
  readonly tokenizer: number;
  readonly pretokens: WordTable | null;
  readonly words: textWords.TextWords | null;
  /**
   * Receives the number of tokens of each placed word (text-words.ts), not counting tokens that are only whitespace.
   */
  readonly placedTokens: Uint32Array;
  readonly part: Part;
};
type CompareRequest = {
  readonly words: textWords.TextWords;
  /** Receives 1 for each placed word that the two tokenizers cut differently. */
  readonly isDifferent: Uint8Array;
  readonly part: Part;
};

/** One of `partCount` parts of the work. `left[0]` is the number of unfinished parts. */
type Part = { readonly index: number; readonly partCount: number; readonly left: Int32Array };

const slicesOfPart = ({ index, partCount }: Part, wordCount = 0): Generator<textWords.WordSlice> =>
  textWords.slicesOf(
    Math.floor((wordCount * (index + 1)) / partCount),
    Math.floor((wordCount * index) / partCount),
  );

/**
 * Marks a part as done. Returns whether all parts are done. Then the caller has to compute the results over all words.
 */
const isLast = ({ left }: Part) => Atomics.sub(left, 0, 1) === 1;

/** The job of an evaluation thread. It keeps the encoders that it used last. */
export class EvaluationJob {
  private tokenizers: readonly WordEncoding[] = [];
  /** The encoders by tokenizer, the most recently used last. */
  private readonly encoders = new Map<number, WordEncoder>();

  begin({ kernelModule, tokenizers }: EvaluationSetup): void {
    kernels.adoptModule(kernelModule);
    this.tokenizers = tokenizers;
  }

  /**
   * Counts the tokens of pretokens, and the numbers (runs of digits) in words. The thread that finishes the last part
   * also computes the costs of the text's words.
   */
  measure(request: MeasureRequest): Generator<undefined, Measured> {
    return collectGarbageIn(this.measureWords(request));
  }

  private *measureWords({
    tokenizer,
    pretokens,
    words,
    placedTokens,
    part,
  }: MeasureRequest): Generator<undefined, Measured> {
    const encoder = this.encoder(tokenizer);
    const tokenCounts = new Float64Array(this.tokenizers[tokenizer]!.tokens.idLimit);
    const numbers = new NumberCounts();
    for (const slice of slicesOfPart(part, pretokens?.wordCount)) {
      encoder.addTokens(pretokens!, slice, tokenCounts);
      yield;
    }
    for (const slice of slicesOfPart(part, words?.placed.wordCount)) {
      encoder.countTokens(words!, slice, placedTokens, numbers);
      yield;
    }
    const costs = isLast(part) && words !== null ? yield* wordCosts(words, placedTokens, encoder) : null;
    return { tokenCounts, numbers, costs };
  }

  /**
   * Compares how the first two tokenizers cut words. The call that finishes the last part returns the words that are
   * cut differently; all other calls return null.
   */
  compare(request: CompareRequest): Generator<undefined, differences.DifferentWords | null> {
    return collectGarbageIn(this.compareWords(request));
  }

  private *compareWords({
    words,
    isDifferent,
    part,
  }: CompareRequest): Generator<undefined, differences.DifferentWords | null> {
    const encoders = [this.encoder(0), this.encoder(1)] as const;
    for (const slice of slicesOfPart(part, words.placed.wordCount)) {
      compareCuts(words, slice, encoders, isDifferent);
      yield;
    }
    return isLast(part) ? yield* differentWords(words, isDifferent, encoders) : null;
  }

  private encoder(tokenizer: number): WordEncoder {
    const encoder = this.encoders.get(tokenizer) ?? new WordEncoder(this.tokenizers[tokenizer]!);
    this.encoders.delete(tokenizer);
    this.encoders.set(tokenizer, encoder);
    if (this.encoders.size > encodersMax) this.encoders.delete(this.encoders.keys().next().value!);
    return encoder;
  }
}

/** How many encoders a thread keeps: a comparison needs two. */
export const encodersMax = 2;

/**
 * Runs work that consists of slices of words, and collects garbage at intervals. Without these collections, the garbage
 * would grow to several times the size of the tables.
 */
function* collectGarbageIn<T>(work: Generator<undefined, T>): Generator<undefined, T> {
  let step = work.next();
  for (let done = 1; step.done !== true; step = work.next(), done++) {
    yield;
    if (done % slicesPerCollection === 0) host.collectGarbage();
  }
  return step.value;
}

/** The number of slices between two collections: a quarter of a million words, whose garbage takes some 20 MB. */
const slicesPerCollection = 32;

/** The results of a tokenizer on a text. */
type Measured = {
  readonly tokenCounts: evaluations.CountsById;
  readonly numbers: NumberCounts;
  readonly costs: evaluations.WordCosts | null;
};

type Asked = "measure" | "compare";
type Ask = <Method extends Asked>(
  method: Method,
  request: jobs.RequestOf<EvaluationJob, Method>,
) => Promise<jobs.AnswerOf<EvaluationJob, Method>>;

/**
 * The threads that encode the words of an evaluation, until `close`. All of them are workers, with one exception: if
 * there is only one thread and `mainWorks` is true, it is the current thread.
 */
export class EvaluationThreads {
  readonly close: () => void;
  /** Request functions of the idle threads. */
  private readonly idle: Ask[];
  /** Callers that wait for an idle thread, in order. */
  private readonly waiting: (() => void)[] = [];

  constructor(
    tokenizers: readonly WordEncoding[],
    readonly threadCount: number,
    mainWorks: boolean,
    private readonly partWordsLeast = defaultPartWordsLeast,
  ) {
    const setup = { kernelModule: kernels.sharedModule(), tokenizers };
    if (mainWorks && threadCount === 1) {
      const job = new EvaluationJob();
      job.begin(setup);
      this.idle = [
        (method, request) => runSliced(job[method](request as never) as Generator<undefined, never>),
      ];
      this.close = () => {};
      return;
    }
    const workers = jobs.startAll<EvaluationJob>("evaluating", threadCount);
    for (const worker of workers) void worker.ask("begin", setup);
    this.idle = workers.map((worker) => (method, request) => worker.ask(method, request));
    this.close = () => {
      for (const worker of workers) worker.end();
    };
  }

  /** Returns the counts of the tokens of `pretokens`, by id, and the numbers and costs of `words`. */
  async measure(
    tokenizer: number,
    pretokens: WordTable | null,
    words: textWords.TextWords | null,
  ): Promise<Measured> {
    const placedCount = words?.placed.wordCount ?? 0;
    const placedTokens = new Uint32Array(new SharedArrayBuffer(4 * placedCount));
    const [first, ...others] = await this.inParts(placedCount + (pretokens?.wordCount ?? 0), (part) =>
      this.ask("measure", { tokenizer, pretokens, words, placedTokens, part }),
    );
    const { tokenCounts } = first!;
    for (const other of others) evaluations.addCounts(tokenCounts, other.tokenCounts);
    const numbers = new NumberCounts();
    for (const part of [first!, ...others]) numbers.addAll(part.numbers);
    const costs = [first!, ...others].find(({ costs }) => costs !== null)?.costs ?? null;
    return { tokenCounts, numbers, costs };
  }

  /** Returns the words that the first two tokenizers cut differently. */
  async compare(words: textWords.TextWords): Promise<differences.DifferentWords> {
    const { wordCount } = words.placed;
    const isDifferent = new Uint8Array(new SharedArrayBuffer(wordCount));
    const found = await this.inParts(wordCount, (part) => this.ask("compare", { words, isDifferent, part }));
    return found.find((words) => words !== null)!;
  }

  private inParts<Answer>(wordCount: number, ask: (part: Part) => Promise<Answer>): Promise<Answer[]> {
    // Each thread builds the tables of a tokenizer for itself, which takes too long for few words.
    const partCount = Math.min(this.threadCount, Math.ceil(wordCount / this.partWordsLeast) || 1);
    const left = new Int32Array(new SharedArrayBuffer(4)).fill(partCount);
    return Promise.all(Array.from({ length: partCount }, (_, index) => ask({ index, partCount, left })));
  }

  /** Sends a request to the next thread that is idle. */
  private async ask<Method extends Asked>(method: Method, request: jobs.RequestOf<EvaluationJob, Method>) {
    while (this.idle.length === 0) await new Promise<void>((take) => this.waiting.push(take));
    const ask = this.idle.pop()!;
    try {
      return await ask(method, request);
    } finally {
      this.idle.push(ask);
      this.waiting.shift()?.();
    }
  }
}

/**
 * The default number of words for which one thread is enough. Encoding this many takes some 0.5 s, and with more words,
 * several threads are faster.
 */
const defaultPartWordsLeast = scaled(1 << 20, 4);
