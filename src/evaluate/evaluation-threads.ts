import {
  addCounts,
  type CountsById,
  compareCuts,
  type DifferentWords,
  differentWords,
  NumberCounts,
  slicesOf,
  type TextWords,
  type WordCosts,
  WordEncoder,
  type WordEncoding,
  type WordSlice,
  wordCosts,
} from "#evaluation";
import { type AnswerOf, type RequestOf, startJobs } from "#jobs";
import { adoptKernelModule, collectGarbage, kernelModule, runSliced, scaled } from "#runtime";
import type { WordTable } from "#words";

/** What a thread that evaluates begins with: the tokenizers, and the code that all threads share. */
type EvaluationSetup = {
  readonly kernelModule: WebAssembly.Module;
  readonly tokenizers: readonly WordEncoding[];
};

// What a thread is asked is a part of the work on the words of a text. All arrays are in shared memory.

type MeasureRequest = {
  readonly tokenizer: number;
  readonly pretokens: WordTable | null;
  readonly words: TextWords | null;
  /** The number of tokens of each placed word is written here. */
  readonly placedTokens: Uint32Array;
  readonly part: Part;
};
type CompareRequest = {
  readonly words: TextWords;
  /** 1 is written here for each placed word that the two tokenizers cut differently. */
  readonly isDifferent: Uint8Array;
  readonly part: Part;
};

/** One of `partCount` parts of tables; `left[0]` counts those that are not done. */
type Part = { readonly index: number; readonly partCount: number; readonly left: Int32Array };

const slicesOfPart = ({ index, partCount }: Part, wordCount = 0): Generator<WordSlice> =>
  slicesOf(Math.floor((wordCount * (index + 1)) / partCount), Math.floor((wordCount * index) / partCount));

/** Whether all parts are done. What then has to be found out of all words, the thread of the last part does. */
const isLast = ({ left }: Part) => Atomics.sub(left, 0, 1) === 1;

/** What one thread of an evaluation does, the main one or a worker. It keeps the tables of the encoders it used last. */
export class EvaluationJob {
  private tokenizers: readonly WordEncoding[] = [];
  /** By tokenizer; the latest is the last. */
  private readonly encoders = new Map<number, WordEncoder>();

  begin({ kernelModule, tokenizers }: EvaluationSetup): void {
    adoptKernelModule(kernelModule);
    this.tokenizers = tokenizers;
  }

  /** The tokens of pretokens, by id, and the numbers of words; with the last part, what the words of the text cost. */
  measure(request: MeasureRequest): Generator<undefined, Measured> {
    return collecting(this.measureWords(request));
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

  /** The words that the first two tokenizers cut differently, with the last part. */
  compare(request: CompareRequest): Generator<undefined, DifferentWords | null> {
    return collecting(this.compareWords(request));
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

/** Two are compared. */
export const encodersMax = 2;

/** Work on slices of words. Each word leaves garbage, which the runtime would let grow to several times the tables. */
function* collecting<T>(work: Generator<undefined, T>): Generator<undefined, T> {
  let step = work.next();
  for (let done = 1; step.done !== true; step = work.next(), done++) {
    yield;
    if (done % slicesPerCollection === 0) collectGarbage();
  }
  return step.value;
}

/** A quarter of a million words, whose garbage takes some 20 MB. */
const slicesPerCollection = 32;

/** What a tokenizer makes of a text. */
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
 * The threads that encode the words of an evaluation. They run until `close`, text after text. With one thread, this one does
 * the work, in slices, unless that may keep it from serving signals: then there is a worker.
 */
export class EvaluationThreads {
  readonly close: () => void;
  /** Asks a thread; of those that have nothing to do. */
  private readonly idle: Ask[];
  /** Each takes the next thread that has nothing to do. */
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

  /** The tokens of the pretokens, by id, each as often as it occurs, and what the words cost; either may be null. */
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

  /** The words that the first two tokenizers cut differently. */
  async compare(words: TextWords): Promise<DifferentWords> {
    const { wordCount } = words.placed;
    const isDifferent = new Uint8Array(new SharedArrayBuffer(wordCount));
    const found = await this.inParts(wordCount, (part) => this.ask("compare", { words, isDifferent, part }));
    return found.find((words) => words !== null)!;
  }

  private inParts<Answer>(wordCount: number, ask: (part: Part) => Promise<Answer>): Promise<Answer[]> {
    // Each thread makes tables of the tokenizer for itself, which few words are not worth.
    const partCount = Math.min(this.threadCount, Math.ceil(wordCount / this.partWordsLeast) || 1);
    const left = new Int32Array(new SharedArrayBuffer(4)).fill(partCount);
    return Promise.all(Array.from({ length: partCount }, (_, index) => ask({ index, partCount, left })));
  }

  /** Asks the next thread that has nothing to do. */
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

/** Encoding so many words takes some 0.5 s: as long as several threads need to be of use. */
const defaultPartWordsLeast = scaled(1 << 20, 4);
