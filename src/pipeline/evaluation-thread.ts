import { piecesMax } from "../evaluation/evaluation.ts";
import type { PlacedWords } from "../evaluation/text-words.ts";
import {
  compareCuts,
  type WordBytes,
  type WordCutter,
  WordEncoder,
  type WordEncoding,
  type WordSlice,
} from "../evaluation/word-encoder.ts";
import { adoptKernelModule } from "../runtime/kernel.ts";
import { describeFailure, type Failure } from "./serve-workers.ts";

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
