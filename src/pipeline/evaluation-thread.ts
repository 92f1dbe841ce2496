import { compareCuts, type WordCutter } from "../evaluation/compare-cuts.ts";
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
  /** The latest is the last. */
  private readonly encoders = new Map<string, PlacedWordEncoder | PretokenEncoder>();

  constructor(private readonly tokenizers: readonly WordEncoding[]) {}

  *answer(request: EvaluationRequest): Generator<undefined, EvaluationAnswer> {
    switch (request.kind) {
      case "pieces":
        return { tokenCounts: null, pieces: this.piecesOf(request) };
      case "placed": {
        const encoder = this.placedEncoder(request.tokenizer);
        for (const part of partsOf(request.slice)) {
          encoder.countTokens(request.words, part, request.tokenCounts);
          yield;
        }
        return nothing;
      }
      case "cuts": {
        const cutters = [this.cutter(request.tokenizer), this.cutter(request.other)] as const;
        for (const part of partsOf(request.slice)) {
          compareCuts(request.words, part, cutters, request.isDifferent);
          yield;
        }
        return nothing;
      }
      case "pretokens": {
        const encoder = this.pretokenEncoder(request.tokenizer);
        const tokenCounts = new Float64Array(this.tokenizers[request.tokenizer]!.tokenStarts.length - 1);
        for (const part of partsOf(request.slice)) {
          encoder.addTokens(request.words, request.counts, part, tokenCounts);
          yield;
        }
        return { tokenCounts, pieces: [] };
      }
    }
  }

  private piecesOf(request: EvaluationRequest & { readonly kind: "pieces" }): Ids[] {
    const encoder = this.placedEncoder(request.tokenizer);
    return request.placed.map((placed) => {
      const { words, withBlanks } = request;
      const ids = withBlanks ? encoder.allIdsOf(words, placed) : encoder.idsOf(words, placed);
      return ids.slice(0, piecesMax);
    });
  }

  private cutter(tokenizer: number): WordCutter {
    return { tokenizer: this.tokenizers[tokenizer]!, encoder: this.placedEncoder(tokenizer) };
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
    const encoder = (this.encoders.get(key) as T | undefined) ?? make();
    this.encoders.delete(key);
    this.encoders.set(key, encoder);
    if (this.encoders.size > encodersMax) this.encoders.delete(this.encoders.keys().next().value!);
    return encoder;
  }
}

/** Each has tables of some 30 MB; two are compared. */
const encodersMax = 2;

type Ids = Uint16Array | Uint32Array;
const nothing: EvaluationAnswer = { tokenCounts: null, pieces: [] };

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
