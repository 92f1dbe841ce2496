import { addCounts, type TokenCounts } from "../evaluation/evaluation.ts";
import type { PlacedWords } from "../evaluation/text-words.ts";
import type { WordEncoding, WordSlice } from "../evaluation/word-encoder.ts";
import { kernelModule } from "../runtime/kernel.ts";
import { inTurns } from "../runtime/turns.ts";
import type { WordTable } from "../words/word-table.ts";
import {
  type EvaluationAnswer,
  type EvaluationRequest,
  EvaluationThread,
  type FromEvaluation,
  type ToEvaluation,
} from "./evaluation-thread.ts";
import { type StartedWorkers, serveWorkers, startWorkers, type WorkerLink } from "./serve-workers.ts";

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
