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
import {
  describeFailure,
  type Failure,
  type StartedWorkers,
  serveWorkers,
  startWorkers,
  type WorkerLink,
} from "./job.ts";

/** What a thread that evaluates is asked: to encode words by one of the tokenizers. All arrays are shared. */
export type EvaluationRequest = { readonly tokenizer: number } & (
  | {
      readonly kind: "encode";
      readonly pretokens: Pretokens | null;
      readonly placed: PlacedTokens | null;
    }
  | {
      readonly kind: "pieces";
      readonly words: PlacedWords;
      readonly placed: readonly number[];
      /** Of all tokens, or of those that hold a byte of the word. */
      readonly withBlanks: boolean;
    }
  | {
      readonly kind: "cuts";
      readonly words: PlacedWords;
      /** The tokenizer to compare with. */
      readonly other: number;
      /** 1 is written here for each placed word that the two cut differently. */
      readonly isDifferent: Uint8Array;
      readonly slice: WordSlice;
    }
);

type Pretokens = { readonly words: WordBytes; readonly counts: Float64Array; readonly slice: WordSlice };
type PlacedTokens = {
  readonly words: PlacedWords;
  /** The number of tokens of each placed word is written here. */
  readonly tokenCounts: Uint32Array;
  readonly slice: WordSlice;
};

/** What it answers: the tokens of pretokens, by id, and the ids of each placed word whose pieces were asked for. */
export type EvaluationAnswer = {
  readonly tokenCounts: Float64Array | null;
  readonly pieces: readonly ArrayLike<number>[];
};

/** What a thread begins with: the tokenizers, and the code that all threads share. */
export type EvaluationSetup = {
  readonly kernelModule: WebAssembly.Module;
  readonly tokenizers: readonly WordEncoding[];
};

export type ToEvaluation =
  | { readonly kind: "setup"; readonly setup: EvaluationSetup }
  | { readonly kind: "request"; readonly request: EvaluationRequest };
export type FromEvaluation = { readonly kind: "answer"; readonly answer: EvaluationAnswer };

/** Words that are encoded between two turns of the event loop: some milliseconds. */
const wordsPerPart = 1 << 13;

/** What one thread of an evaluation does, the main one or a worker. It keeps the tables of the encoders it used last. */
export class EvaluationThread {
  /** By tokenizer; the latest is the last. */
  private readonly encoders = new Map<number, WordEncoder>();

  constructor(private readonly tokenizers: readonly WordEncoding[]) {}

  *answer(request: EvaluationRequest): Generator<undefined, EvaluationAnswer> {
    switch (request.kind) {
      case "encode":
        return { tokenCounts: yield* this.encode(request), pieces: [] };
      case "pieces":
        return { tokenCounts: null, pieces: this.piecesOf(request) };
      case "cuts": {
        const cutters = [this.cutter(request.tokenizer), this.cutter(request.other)] as const;
        for (const part of partsOf(request.slice)) {
          compareCuts(request.words, part, cutters, request.isDifferent);
          yield;
        }
        return { tokenCounts: null, pieces: [] };
      }
    }
  }

  private *encode({
    tokenizer,
    pretokens,
    placed,
  }: RequestOf<"encode">): Generator<undefined, Float64Array | null> {
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

  private piecesOf({ tokenizer, words, placed, withBlanks }: RequestOf<"pieces">): Ids[] {
    const encoder = this.encoder(tokenizer);
    return placed.map((p) => {
      const ids = withBlanks ? encoder.allIdsOf(words, p) : encoder.idsOf(words, p);
      return ids.slice(0, piecesMax);
    });
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
type RequestOf<Kind> = EvaluationRequest & { readonly kind: Kind };

function* partsOf({ first, end }: WordSlice): Generator<WordSlice> {
  for (let from = first; from < end; from += wordsPerPart) {
    yield { first: from, end: Math.min(end, from + wordsPerPart) };
  }
}

/** What a worker does. */
export function serveEvaluation(
  post: (answer: FromEvaluation | { kind: "failed"; failure: Failure }) => void,
): (message: ToEvaluation) => void {
  let thread: EvaluationThread;
  return (message) => {
    try {
      if (message.kind === "setup") {
        adoptKernelModule(message.setup.kernelModule);
        thread = new EvaluationThread(message.setup.tokenizers);
        return;
      }
      const work = thread.answer(message.request);
      let step = work.next();
      while (!step.done) step = work.next();
      post({ kind: "answer", answer: step.value });
    } catch (error) {
      post({ kind: "failed", failure: describeFailure(error, "") });
    }
  };
}

type Answered = { readonly answer: EvaluationAnswer; readonly worker: number };

type Waiting = {
  readonly request: EvaluationRequest;
  readonly worker: number | undefined;
  readonly take: (answered: Answered) => void;
};

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
  private readonly here: EvaluationThread | undefined;
  private lastHere: Promise<unknown> = Promise.resolve();
  private readonly workers: StartedWorkers | undefined;
  private readonly waiting: Waiting[] = [];
  private readonly idle: (() => void)[] = [];
  private readonly links: WorkerLink<ToEvaluation>[] = [];
  /** Fails when a worker does. */
  private readonly serving: Promise<void> | undefined;

  constructor(
    private readonly tokenizers: readonly WordEncoding[],
    private readonly threadCount: number,
    mainWorks: boolean,
  ) {
    if (mainWorks && threadCount === 1) {
      this.here = new EvaluationThread(tokenizers);
      return;
    }
    this.workers = startWorkers("evaluating", threadCount);
    this.serving = this.serve(this.workers);
    // `run` passes the error on; without a run in progress nobody would take it.
    this.serving.catch(() => {});
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
        return this.ask({
          kind: "encode",
          tokenizer,
          pretokens: pretokens && { words: bytesOf(pretokens), counts: pretokens.counts, slice: first! },
          placed: words && { words, tokenCounts: placedTokens, slice: second! },
        });
      }),
    );
    for (const { answer } of answers)
      if (answer.tokenCounts !== null) addCounts(tokenCounts, answer.tokenCounts);
    return { tokenCounts, placedTokens, worker: answers[0]!.worker };
  }

  /** Which placed words two tokenizers cut differently: 1 for each of them. */
  async differencesOf(
    [tokenizer, other]: readonly [number, number],
    words: PlacedWords,
  ): Promise<Uint8Array> {
    const isDifferent = new Uint8Array(new SharedArrayBuffer(words.placedCount));
    const request = { kind: "cuts", tokenizer, other, words, isDifferent } as const;
    const { placedCount } = words;
    const partCount = Math.min(this.threadCount, Math.ceil(placedCount / partWordsLeast) || 1);
    const parts = Array.from({ length: partCount }, (_, part) => sliceOf(placedCount, part, partCount));
    await Promise.all(parts.map((slice) => this.ask({ ...request, slice })));
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
    return (await this.ask({ kind: "pieces", tokenizer, words, placed, withBlanks }, worker)).answer.pieces;
  }

  close(): void {
    for (const link of this.links) link.finish();
    this.workers?.terminate();
  }

  /** @param worker who is to answer; anyone, if left out */
  private ask(request: EvaluationRequest, worker?: number): Promise<Answered> {
    const { here, waiting, idle, serving } = this;
    if (here !== undefined) return this.answerHere(here, request);
    const answer = new Promise<Answered>((take) => {
      waiting.push({ request, worker, take });
    });
    for (const next of idle.splice(0)) next();
    return Promise.race([answer, serving!.then(() => answer)]);
  }

  /** One request at a time, in this thread. */
  private answerHere(here: EvaluationThread, request: EvaluationRequest): Promise<Answered> {
    const answered = this.lastHere.then(async () => ({
      answer: await inTurns(here.answer(request)),
      worker: 0,
    }));
    this.lastHere = answered.catch(() => {});
    return answered;
  }

  private serve(workers: StartedWorkers): Promise<void> {
    return serveWorkers<ToEvaluation, FromEvaluation>(workers, (link) => {
      const { workerIndex } = link;
      let asked: Waiting | undefined;
      const next = () => {
        // What is meant for this worker comes first: it has the tables for it.
        const { waiting } = this;
        const own = waiting.findIndex(({ worker }) => worker === workerIndex);
        const chosen = own >= 0 ? own : waiting.findIndex(({ worker }) => worker === undefined);
        [asked] = chosen < 0 ? [] : waiting.splice(chosen, 1);
        if (asked === undefined) this.idle.push(next);
        else link.send({ kind: "request", request: asked.request });
      };
      this.links.push(link);
      const setup = { kernelModule: kernelModule(), tokenizers: this.tokenizers };
      link.send({ kind: "setup", setup });
      next();
      return ({ answer }) => {
        const { take } = asked!;
        next();
        take({ answer, worker: workerIndex });
      };
    });
  }
}

const bytesOf = ({ bytes, starts }: WordTable) => ({ bytes, starts });

/** Encoding so many words takes some 0.5 s: as long as several threads need to be of use. */
const partWordsLeast = 1 << 20;

/** One of `partCount` parts of a table. */
const sliceOf = (wordCount: number, part: number, partCount: number): WordSlice => ({
  first: Math.floor((wordCount * part) / partCount),
  end: Math.floor((wordCount * (part + 1)) / partCount),
});
