import { piecesMax } from "../evaluation/evaluation.ts";
import { PlacedWordEncoder, type WordEncoding } from "../evaluation/placed-word-encoder.ts";
import { PretokenEncoder, type WordBytes } from "../evaluation/pretoken-counts.ts";
import type { PlacedWords } from "../evaluation/text-words.ts";
import { adoptKernelModule } from "../runtime/kernel.ts";
import { describeFailure, type Failure } from "./serve-workers.ts";

/** Words [first, end) of a table. */
export type WordSlice = { readonly first: number; readonly end: number };

/** What a thread that evaluates is asked: to encode words by one of the tokenizers. All arrays are shared. */
export type EvaluationRequest = { readonly tokenizer: number } & (
  | {
      readonly kind: "pretokens";
      readonly words: WordBytes;
      readonly counts: Float64Array;
      readonly slice: WordSlice;
    }
  | {
      readonly kind: "placed";
      readonly words: PlacedWords;
      /** The number of tokens of each placed word is written here. */
      readonly tokenCounts: Uint32Array;
      readonly slice: WordSlice;
    }
  | { readonly kind: "pieces"; readonly words: PlacedWords; readonly placed: readonly number[] }
);

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

/** What one thread of an evaluation does, the main one or a worker. It keeps the tables of the encoder it used last. */
export class EvaluationThread {
  private current:
    | { readonly key: string; readonly encoder: PlacedWordEncoder | PretokenEncoder }
    | undefined;

  constructor(private readonly tokenizers: readonly WordEncoding[]) {}

  *answer(request: EvaluationRequest): Generator<undefined, EvaluationAnswer> {
    const { tokenizer, kind, words } = request;
    if (kind === "pieces") {
      const encoder = this.placedEncoder(tokenizer);
      return {
        tokenCounts: null,
        pieces: request.placed.map((placed) => encoder.idsOf(words, placed).slice(0, piecesMax)),
      };
    }
    if (kind === "placed") {
      const encoder = this.placedEncoder(tokenizer);
      for (const part of partsOf(request.slice)) {
        encoder.countTokens(words, part, request.tokenCounts);
        yield;
      }
      return { tokenCounts: null, pieces: [] };
    }
    const encoder = this.pretokenEncoder(tokenizer);
    const tokenCounts = new Float64Array(this.tokenizers[tokenizer]!.tokenStarts.length - 1);
    for (const part of partsOf(request.slice)) {
      encoder.addTokens(words, request.counts, part, tokenCounts);
      yield;
    }
    return { tokenCounts, pieces: [] };
  }

  private placedEncoder(tokenizer: number): PlacedWordEncoder {
    return this.encoder(`placed ${tokenizer}`, () => new PlacedWordEncoder(this.tokenizers[tokenizer]!));
  }

  private pretokenEncoder(tokenizer: number): PretokenEncoder {
    return this.encoder(
      `pretokens ${tokenizer}`,
      () => new PretokenEncoder(this.tokenizers[tokenizer]!.parts),
    );
  }

  private encoder<T extends PlacedWordEncoder | PretokenEncoder>(key: string, make: () => T): T {
    if (this.current?.key !== key) this.current = { key, encoder: make() };
    return this.current.encoder as T;
  }
}

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
