import { addCounts, type TokenCounts } from "../evaluation/measures.ts";
import type { WordEncoding } from "../evaluation/placed-word-encoder.ts";
import type { PlacedWords } from "../evaluation/text-words.ts";
import { kernelModule } from "../runtime/kernel.ts";
import { inTurns } from "../runtime/turns.ts";
import type { WordTable } from "../words/word-table.ts";
import {
  type EvaluationAnswer,
  type EvaluationRequest,
  EvaluationThread,
  type FromEvaluation,
  type ToEvaluation,
  type WordSlice,
} from "./evaluation-thread.ts";
import { type StartedWorkers, serveWorkers, startWorkers, type WorkerLink } from "./serve-workers.ts";

type Waiting = { readonly request: EvaluationRequest; readonly take: (answer: EvaluationAnswer) => void };

/**
 * The threads that encode the words of an evaluation. They run until `close`, text after text. With one thread, this one does
 * the work, in slices, unless a request may keep it from serving signals: then there is a worker.
 */
export class EvaluationThreads {
  private readonly here: EvaluationThread | undefined;
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

  /** The tokens of the words of a table, by id, each word as often as its count says. */
  async tokensOf(tokenizer: number, words: WordTable): Promise<TokenCounts> {
    const { bytes, starts, counts, wordCount } = words;
    const { tokenStarts } = this.tokenizers[tokenizer]!;
    const sum = new Float64Array(tokenStarts.length - 1);
    const request = { kind: "pretokens", tokenizer, words: { bytes, starts }, counts } as const;
    const slices = slicesOf(wordCount, this.threadCount);
    const answers = await Promise.all(slices.map((slice) => this.ask({ ...request, slice })));
    for (const { tokenCounts } of answers) addCounts(sum, tokenCounts!);
    return sum;
  }

  /** How many tokens each placed word has. */
  async tokenCountsOf(tokenizer: number, words: PlacedWords): Promise<Uint32Array> {
    const tokenCounts = new Uint32Array(new SharedArrayBuffer(4 * words.placedCount));
    const request = { kind: "placed", tokenizer, words, tokenCounts } as const;
    const slices = slicesOf(words.placedCount, this.threadCount);
    await Promise.all(slices.map((slice) => this.ask({ ...request, slice })));
    return tokenCounts;
  }

  /** Which placed words two tokenizers cut differently: 1 for each of them. */
  async differencesOf(
    [tokenizer, other]: readonly [number, number],
    words: PlacedWords,
  ): Promise<Uint8Array> {
    const isDifferent = new Uint8Array(new SharedArrayBuffer(words.placedCount));
    const request = { kind: "cuts", tokenizer, other, words, isDifferent } as const;
    const slices = slicesOf(words.placedCount, this.threadCount);
    await Promise.all(slices.map((slice) => this.ask({ ...request, slice })));
    return isDifferent;
  }

  /** The ids of placed words; without `withBlanks` only those that hold a byte of the word. */
  async piecesOf(tokenizer: number, words: PlacedWords, placed: readonly number[], withBlanks = false) {
    return (await this.ask({ kind: "pieces", tokenizer, words, placed, withBlanks })).pieces;
  }

  close(): void {
    for (const link of this.links) link.finish();
    this.workers?.terminate();
  }

  private ask(request: EvaluationRequest): Promise<EvaluationAnswer> {
    if (this.here !== undefined) return inTurns(this.here.answer(request));
    const answer = new Promise<EvaluationAnswer>((take) => {
      this.waiting.push({ request, take });
      this.idle.shift()?.();
    });
    return Promise.race([answer, this.serving!.then(() => answer)]);
  }

  private serve(workers: StartedWorkers): Promise<void> {
    return serveWorkers<ToEvaluation, FromEvaluation>(workers, (link) => {
      let asked: Waiting | undefined;
      const next = () => {
        asked = this.waiting.shift();
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
        take(answer);
      };
    });
  }
}

/** Below this, a second thread costs more than it saves. */
const sliceWordsLeast = 1 << 15;

function slicesOf(wordCount: number, threadCount: number): WordSlice[] {
  const sliceWords = Math.max(sliceWordsLeast, Math.ceil(wordCount / threadCount));
  const slices: WordSlice[] = [];
  for (let first = 0; first < wordCount; first += sliceWords) {
    slices.push({ first, end: Math.min(wordCount, first + sliceWords) });
  }
  return slices;
}
