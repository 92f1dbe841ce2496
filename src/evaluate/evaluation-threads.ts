import {
  addCounts,
  type CountsById,
  type DifferentWords,
  NumberCounts,
  slicesOf,
  type TextWords,
  type WordCosts,
  type WordSlice,
} from "#evaluation";
import { type AnswerOf, type RequestOf, startJobs } from "#jobs";
import { adoptKernelModule, collectGarbage, kernelModule, runSliced, scaled } from "#runtime";
import type { WordTable } from "#words";
import { compareCuts, differentWords, WordEncoder, type WordEncoding, wordCosts } from "./word-encoder.ts";

/** The initial data of an evaluation thread: the tokenizers, and the code shared by all threads. */
type EvaluationSetup = {
  readonly kernelModule: WebAssembly.Module;
  readonly tokenizers: readonly WordEncoding[];
};

// A request is a part of the work on the words of a text. All arrays are in shared memory.

type MeasureRequest = {
  readonly tokenizer: number;
  readonly pretokens: WordTable | null;
  readonly words: TextWords | null;
  /** Receives the number of tokens of each placed word. */
  readonly placedTokens: Uint32Array;
  readonly part: Part;
};
type CompareRequest = {
  readonly words: TextWords;
  /** Receives 1 for each placed word that the two tokenizers cut differently. */
  readonly isDifferent: Uint8Array;
  readonly part: Part;
};

/** One of `partCount` parts of tables; `left[0]` counts the unfinished ones. */
type Part = { readonly index: number; readonly partCount: number; readonly left: Int32Array };

const slicesOfPart = ({ index, partCount }: Part, wordCount = 0): Generator<WordSlice> =>
  slicesOf(Math.floor((wordCount * (index + 1)) / partCount), Math.floor((wordCount * index) / partCount));

/** Whether all parts are done. The thread of the last part then computes the results over all words. */
const isLast = ({ left }: Part) => Atomics.sub(left, 0, 1) === 1;

/** The work of one evaluation thread, the main one or a worker. It keeps the tables of the encoders it used last. */
export class EvaluationJob {
  private tokenizers: readonly WordEncoding[] = [];
  /** By tokenizer, most recently used last. */
  private readonly encoders = new Map<number, WordEncoder>();

  begin({ kernelModule, tokenizers }: EvaluationSetup): void {
    adoptKernelModule(kernelModule);
    this.tokenizers = tokenizers;
  }

  /**
   * Counts the tokens of pretokens, by id, and the numbers of words; the last part also computes the costs of
   * the text's words.
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

  /** Compares the cuts of the first two tokenizers; the last part returns the words that differ. */
  compare(request: CompareRequest): Generator<undefined, DifferentWords | null> {
    return collectGarbageIn(this.compareWords(request));
  }

  private *compareWords({
    words,
    isDifferent,
    part,
  }: CompareRequest): Generator<undefined, DifferentWords | null> {
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

/** A comparison needs two. */
export const encodersMax = 2;

/**
 * Runs work on slices of words, collecting garbage: otherwise the runtime would let it grow to several times
 * the tables.
 */
function* collectGarbageIn<T>(work: Generator<undefined, T>): Generator<undefined, T> {
  let step = work.next();
  for (let done = 1; step.done !== true; step = work.next(), done++) {
    yield;
    if (done % slicesPerCollection === 0) collectGarbage();
  }
  return step.value;
}

/** A quarter of a million words, whose garbage takes some 20 MB. */
const slicesPerCollection = 32;

/** The results of a tokenizer on a text. */
type Measured = {
  readonly tokenCounts: CountsById;
  readonly numbers: NumberCounts;
  readonly costs: WordCosts | null;
};

type Asked = "measure" | "compare";
type Ask = <Method extends Asked>(
  method: Method,
  request: RequestOf<EvaluationJob, Method>,
) => Promise<AnswerOf<EvaluationJob, Method>>;

/**
 * The threads that encode the words of an evaluation. They run until `close`, text after text. With one
 * thread, the current one does the work in slices, unless that may keep it from handling signals: then there
 * is a worker.
 */
export class EvaluationThreads {
  readonly close: () => void;
  /** Request functions of the idle threads. */
  private readonly idle: Ask[];
  /** Each takes the next idle thread. */
  private readonly waiting: (() => void)[] = [];

  constructor(
    tokenizers: readonly WordEncoding[],
    readonly threadCount: number,
    mainWorks: boolean,
    private readonly partWordsLeast = defaultPartWordsLeast,
  ) {
    const setup = { kernelModule: kernelModule(), tokenizers };
    if (mainWorks && threadCount === 1) {
      const job = new EvaluationJob();
      job.begin(setup);
      this.idle = [
        (method, request) => runSliced(job[method](request as never) as Generator<undefined, never>),
      ];
      this.close = () => {};
      return;
    }
    const workers = startJobs<EvaluationJob>("evaluating", threadCount);
    for (const worker of workers) void worker.ask("begin", setup);
    this.idle = workers.map((worker) => (method, request) => worker.ask(method, request));
    this.close = () => {
      for (const worker of workers) worker.end();
    };
  }

  /**
   * Counts the tokens of the pretokens, by id, times their counts, and the costs of the words; either may be
   * null.
   */
  async measure(tokenizer: number, pretokens: WordTable | null, words: TextWords | null): Promise<Measured> {
    const placedCount = words?.placed.wordCount ?? 0;
    const placedTokens = new Uint32Array(new SharedArrayBuffer(4 * placedCount));
    const [first, ...others] = await this.inParts(placedCount + (pretokens?.wordCount ?? 0), (part) =>
      this.ask("measure", { tokenizer, pretokens, words, placedTokens, part }),
    );
    const { tokenCounts } = first!;
    for (const other of others) addCounts(tokenCounts, other.tokenCounts);
    const numbers = new NumberCounts();
    for (const part of [first!, ...others]) numbers.addAll(part.numbers);
    const costs = [first!, ...others].find(({ costs }) => costs !== null)?.costs ?? null;
    return { tokenCounts, numbers, costs };
  }

  /** Returns the words that the first two tokenizers cut differently. */
  async compare(words: TextWords): Promise<DifferentWords> {
    const { wordCount } = words.placed;
    const isDifferent = new Uint8Array(new SharedArrayBuffer(wordCount));
    const found = await this.inParts(wordCount, (part) => this.ask("compare", { words, isDifferent, part }));
    return found.find((words) => words !== null)!;
  }

  private inParts<Answer>(wordCount: number, ask: (part: Part) => Promise<Answer>): Promise<Answer[]> {
    // Each thread builds the tokenizer's tables for itself, which does not pay for few words.
    const partCount = Math.min(this.threadCount, Math.ceil(wordCount / this.partWordsLeast) || 1);
    const left = new Int32Array(new SharedArrayBuffer(4)).fill(partCount);
    return Promise.all(Array.from({ length: partCount }, (_, index) => ask({ index, partCount, left })));
  }

  /** Sends a request to the next idle thread. */
  private async ask<Method extends Asked>(method: Method, request: RequestOf<EvaluationJob, Method>) {
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

/** Encoding this many words takes some 0.5 s: enough for several threads to pay. */
const defaultPartWordsLeast = scaled(1 << 20, 4);
