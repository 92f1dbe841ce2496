import { addCounts, piecesMax, type TokenCounts } from "../evaluation/evaluation.ts";
import type { PlacedWords } from "../evaluation/text-words.ts";
import {
  compareCuts,
  type WordBytes,
  type WordCutter,
  WordEncoder,
  type WordEncoding,
  type WordSlice,
} from "../evaluation/word-encoder.ts";
import { adoptKernelModule, kernelModule } from "../runtime/kernel.ts";
import { inTurns } from "../runtime/turns.ts";
import type { WordTable } from "../words/word-table.ts";
import { type AnswerOf, type JobThread, type RequestOf, startJobs } from "./job.ts";

/** What a thread that evaluates begins with: the tokenizers, and the code that all threads share. */
type EvaluationSetup = {
  readonly kernelModule: WebAssembly.Module;
  readonly tokenizers: readonly WordEncoding[];
};

// What it is asked, always by one of the tokenizers. All arrays are shared.

type EncodeRequest = {
  readonly tokenizer: number;
  readonly pretokens: Pretokens | null;
  readonly placed: PlacedTokens | null;
};
type PiecesRequest = {
  readonly tokenizer: number;
  readonly words: PlacedWords;
  readonly placed: readonly number[];
  /** Of all tokens, or of those that hold a byte of the word. */
  readonly withBlanks: boolean;
};
type CutsRequest = {
  readonly tokenizer: number;
  /** The tokenizer to compare with. */
  readonly other: number;
  readonly words: PlacedWords;
  /** 1 is written here for each placed word that the two cut differently. */
  readonly isDifferent: Uint8Array;
  readonly slice: WordSlice;
};

type Pretokens = { readonly words: WordBytes; readonly counts: Float64Array; readonly slice: WordSlice };
type PlacedTokens = {
  readonly words: PlacedWords;
  /** The number of tokens of each placed word is written here. */
  readonly tokenCounts: Uint32Array;
  readonly slice: WordSlice;
};

/** Words that are encoded between two turns of the event loop: some milliseconds. */
const wordsPerPart = 1 << 13;

/** What one thread of an evaluation does, the main one or a worker. It keeps the tables of the encoders it used last. */
export class EvaluationJob {
  private tokenizers: readonly WordEncoding[] = [];
  /** By tokenizer; the latest is the last. */
  private readonly encoders = new Map<number, WordEncoder>();

  begin({ kernelModule, tokenizers }: EvaluationSetup): void {
    adoptKernelModule(kernelModule);
    this.tokenizers = tokenizers;
  }

  /** The tokens of pretokens, by id. */
  *encode({ tokenizer, pretokens, placed }: EncodeRequest): Generator<undefined, Float64Array | null> {
    const encoder = this.encoder(tokenizer);
    const tokenCounts =
      pretokens === null ? null : new Float64Array(this.tokenizers[tokenizer]!.tokenStarts.length - 1);
    if (pretokens !== null) {
      for (const part of partsOf(pretokens.slice)) {
        encoder.addTokens(pretokens.words, pretokens.counts, part, tokenCounts!);
        yield;
      }
    }
    if (placed !== null) {
      for (const part of partsOf(placed.slice)) {
        encoder.countTokens(placed.words, part, placed.tokenCounts);
        yield;
      }
    }
    return tokenCounts;
  }

  /** The ids of each placed word. */
  *pieces({ tokenizer, words, placed, withBlanks }: PiecesRequest): Generator<undefined, Ids[]> {
    const encoder = this.encoder(tokenizer);
    return placed.map((p) => {
      const ids = withBlanks ? encoder.allIdsOf(words, p) : encoder.idsOf(words, p);
      return ids.slice(0, piecesMax);
    });
  }

  *cuts({ tokenizer, other, words, isDifferent, slice }: CutsRequest): Generator<undefined, void> {
    const cutters = [this.cutter(tokenizer), this.cutter(other)] as const;
    for (const part of partsOf(slice)) {
      compareCuts(words, part, cutters, isDifferent);
      yield;
    }
  }

  private cutter(tokenizer: number): WordCutter {
    return { tokenizer: this.tokenizers[tokenizer]!, encoder: this.encoder(tokenizer) };
  }

  private encoder(tokenizer: number): WordEncoder {
    const encoder = this.encoders.get(tokenizer) ?? new WordEncoder(this.tokenizers[tokenizer]!);
    this.encoders.delete(tokenizer);
    this.encoders.set(tokenizer, encoder);
    if (this.encoders.size > encodersMax) this.encoders.delete(this.encoders.keys().next().value!);
    return encoder;
  }
}

/** Each has tables of some 30 MB; two are compared. */
const encodersMax = 2;

type Ids = Uint16Array | Uint32Array;

function* partsOf({ first, end }: WordSlice): Generator<WordSlice> {
  for (let from = first; from < end; from += wordsPerPart) {
    yield { first: from, end: Math.min(end, from + wordsPerPart) };
  }
}

/** Who waits for a thread: for the one with this index, or for any. */
type Waiting = { readonly wanted: number | undefined; readonly take: (thread: number) => void };

type EncodedWords = {
  readonly tokenCounts: TokenCounts;
  readonly placedTokens: Uint32Array;
  readonly worker: number;
};

/**
 * The threads that encode the words of an evaluation. They run until `close`, text after text. With one thread, this one does
 * the work, in slices, unless a request may keep it from serving signals: then there is a worker.
 */
export class EvaluationThreads {
  private readonly here: EvaluationJob | undefined;
  private readonly workers: readonly JobThread<EvaluationJob>[] = [];
  /** Threads that have nothing to do, by index. This one is the first, if it works. */
  private readonly idle = new Set<number>();
  private readonly waiting: Waiting[] = [];

  constructor(
    private readonly tokenizers: readonly WordEncoding[],
    private readonly threadCount: number,
    mainWorks: boolean,
  ) {
    const setup = { kernelModule: kernelModule(), tokenizers };
    if (mainWorks && threadCount === 1) {
      this.here = new EvaluationJob();
      this.here.begin(setup);
    } else this.workers = startJobs("evaluating", threadCount);
    for (const worker of this.workers) void worker.ask("begin", setup);
    for (let thread = 0; thread < threadCount; thread++) this.idle.add(thread);
  }

  /**
   * Encodes the words of tables, either of which may be null. Returns the tokens of the pretokens, by id, each as often as its
   * count says; how many tokens each placed word has; and which worker has the tokenizer's tables now.
   */
  async encode(
    tokenizer: number,
    pretokens: WordTable | null,
    words: PlacedWords | null,
  ): Promise<EncodedWords> {
    const tokenCounts = new Float64Array(this.tokenizers[tokenizer]!.tokenStarts.length - 1);
    const placedTokens = new Uint32Array(new SharedArrayBuffer(4 * (words?.placedCount ?? 0)));
    const sizes = [pretokens?.wordCount ?? 0, words?.placedCount ?? 0] as const;
    // Each thread makes tables of the tokenizer for itself, which few words are not worth.
    const partCount = Math.min(this.threadCount, Math.ceil((sizes[0] + sizes[1]) / partWordsLeast) || 1);
    const answers = await Promise.all(
      Array.from({ length: partCount }, (_, part) => {
        const [first, second] = sizes.map((size) => sliceOf(size, part, partCount));
        return this.ask("encode", {
          tokenizer,
          pretokens: pretokens && { words: bytesOf(pretokens), counts: pretokens.counts, slice: first! },
          placed: words && { words, tokenCounts: placedTokens, slice: second! },
        });
      }),
    );
    for (const { answer } of answers) if (answer !== null) addCounts(tokenCounts, answer);
    return { tokenCounts, placedTokens, worker: answers[0]!.thread };
  }

  /** Which placed words two tokenizers cut differently: 1 for each of them. */
  async differencesOf(
    [tokenizer, other]: readonly [number, number],
    words: PlacedWords,
  ): Promise<Uint8Array> {
    const isDifferent = new Uint8Array(new SharedArrayBuffer(words.placedCount));
    const request = { tokenizer, other, words, isDifferent };
    const { placedCount } = words;
    const partCount = Math.min(this.threadCount, Math.ceil(placedCount / partWordsLeast) || 1);
    const parts = Array.from({ length: partCount }, (_, part) => sliceOf(placedCount, part, partCount));
    await Promise.all(parts.map((slice) => this.ask("cuts", { ...request, slice })));
    return isDifferent;
  }

  /** The ids of some placed words; without `withBlanks` only those that hold a byte of the word. */
  async piecesOf(
    tokenizer: number,
    words: PlacedWords,
    {
      placed,
      withBlanks,
      worker,
    }: { placed: readonly number[]; withBlanks: boolean; worker?: number | undefined },
  ) {
    return (await this.ask("pieces", { tokenizer, words, placed, withBlanks }, worker)).answer;
  }

  close(): void {
    for (const worker of this.workers) worker.end();
  }

  /** @param wanted who is to answer; anyone, if left out */
  private async ask<Method extends Asked>(
    method: Method,
    request: RequestOf<EvaluationJob, Method>,
    wanted?: number,
  ): Promise<{ readonly answer: AnswerOf<EvaluationJob, Method>; readonly thread: number }> {
    const thread = await new Promise<number>((take) => {
      this.waiting.push({ wanted, take });
      this.giveThreads();
    });
    try {
      if (this.here === undefined)
        return { answer: await this.workers[thread]!.ask(method, request), thread };
      const work = this.here[method](request as never) as Generator<
        undefined,
        AnswerOf<EvaluationJob, Method>
      >;
      return { answer: await inTurns(work), thread };
    } finally {
      this.idle.add(thread);
      this.giveThreads();
    }
  }

  /** Gives idle threads to those who wait. Who wants a certain one comes first: it has the tables for it. */
  private giveThreads(): void {
    const { idle, waiting } = this;
    for (const thread of [...idle]) {
      const own = waiting.findIndex(({ wanted }) => wanted === thread);
      const chosen = own >= 0 ? own : waiting.findIndex(({ wanted }) => wanted === undefined);
      if (chosen < 0) continue;
      idle.delete(thread);
      waiting.splice(chosen, 1)[0]!.take(thread);
    }
  }
}

type Asked = "encode" | "pieces" | "cuts";

const bytesOf = ({ bytes, starts }: WordTable) => ({ bytes, starts });

/** Encoding so many words takes some 0.5 s: as long as several threads need to be of use. */
const partWordsLeast = 1 << 20;

/** One of `partCount` parts of a table. */
const sliceOf = (wordCount: number, part: number, partCount: number): WordSlice => ({
  first: Math.floor((wordCount * part) / partCount),
  end: Math.floor((wordCount * (part + 1)) / partCount),
});
