import { expectedTextBytes, type Input } from "../corpus/input.ts";
import { wordCosts } from "../evaluation/dearest-words.ts";
import {
  dearestMax,
  type Evaluation,
  evaluationOf,
  type NamedTokenizer,
  type TextFacts,
  TokenizerMeasures,
  textFacts,
} from "../evaluation/evaluation.ts";
import type { TokenCounts } from "../evaluation/measures.ts";
import type { WordEncoding } from "../evaluation/placed-word-encoder.ts";
import { gatherTextWords, placedWordPattern, placedWordsOf } from "../evaluation/text-words.ts";
import { type CompiledPattern, compilePattern } from "../pattern/pattern.ts";
import type { MemoryBudget } from "../runtime/memory-budget.ts";
import { inTurns } from "../runtime/turns.ts";
import type { ScratchDirectory } from "../store/scratch-directory.ts";
import type { TokenizerParts } from "../tokenizer/tokenizer-parts.ts";
import { type TableSize, tableBytes } from "../words/word-table.ts";
import { countWords } from "./count-words.ts";
import { encodingParts } from "./encode-corpus.ts";
import { EvaluationThreads } from "./evaluation-threads.ts";
import type { Report } from "./stage-progress.ts";
import { type CountPretokens, TokenCounting } from "./token-counting.ts";

/** A text among those that tokenizers are compared on. Its inputs are read several times, so none is a stream. */
export type NamedText = {
  readonly name: string;
  readonly inputs: readonly Input[];
  /** The inputs as the result names them. */
  readonly paths: readonly string[];
};

export type EvaluateOptions = {
  readonly tokenizers: readonly NamedTokenizer[];
  readonly texts: readonly NamedText[];
  readonly specialTokensAsText: boolean;
  /** How many threads work on so much text. */
  readonly workerCountFor: (textBytes: number) => number;
  readonly budget: MemoryBudget;
  /** For words that memory has no room for; the caller removes it. */
  readonly scratch: ScratchDirectory;
};

export type Evaluated = {
  readonly evaluation: Evaluation;
  /** Of each tokenizer and each of its texts: the tokens of the text, by id. */
  readonly tokenCounts: readonly (readonly TokenCounts[])[];
};

/**
 * Measures tokenizers on texts. Each text is read once for its words, and once for each pattern: what is encoded are the
 * distinct words, whose tokens are then counted as often as the words occur. Lets the event loop turn, and calls `report`,
 * between slices of work.
 */
export async function evaluate(options: EvaluateOptions, report: Report): Promise<Evaluated> {
  const { tokenizers, texts, specialTokensAsText } = options;
  const measures = tokenizers.map((tokenizer) => new TokenizerMeasures(tokenizer));
  const tokenCounts: TokenCounts[][] = tokenizers.map(() => []);
  const facts: TextFacts[] = [];
  const threads = threadsFor(options);
  try {
    for (const text of texts) {
      const { words, invalidBytes, count, workerCount } = await readText(text, options, report);
      const textFact = textFacts({ name: text.name, inputs: text.paths, invalidBytes }, words);
      facts.push(textFact);
      const counted = { inputs: text.inputs, words, count, workerCount, threads };
      const counting = new TokenCounting({ tokenizers, specialTokensAsText, ...counted }, report);
      for (const t of tokenizers.keys()) {
        const counts = await counting.tokensOf(t);
        const placed = placedWordsOf(words);
        const costs = await inTurns(wordCosts(words, await threads.tokenCountsOf(t, placed), dearestMax));
        const dearest = costs.dearest.map((word) => word.placed);
        const pieces = await threads.piecesOf(t, placed, dearest);
        measures[t]!.add(textFact, words, { tokenCounts: counts, costs, pieces });
        tokenCounts[t]!.push(counts);
      }
    }
  } finally {
    threads.close();
  }
  return { evaluation: evaluationOf(facts, measures), tokenCounts };
}

/** The words of a text, and what counts its pretokens. */
async function readText({ inputs }: NamedText, options: EvaluateOptions, report: Report) {
  const { budget, scratch, workerCountFor } = options;
  const workerCount = workerCountFor(expectedTextBytes(inputs));
  const count = async (
    pattern: CompiledPattern,
    sources: readonly string[],
    specialTokens: readonly string[],
  ) => {
    const memory = {
      budget,
      scratch,
      countsOptions: { patterns: sources, specialTokens, isLinewise: false },
    };
    const check = (size: TableSize) =>
      budget.check("the words of a text", tablesPerText * tableBytes(size), "measure a part of the text");
    return countWords({ inputs, pattern, specialTokens, workerCount, memory }, report, check);
  };
  const counted = await count(compilePattern([placedWordPattern]), [placedWordPattern], []);
  const words = await inTurns(gatherTextWords(counted.words));
  const invalidBytes = counted.statistics.reduce((sum, found) => sum + found.invalidByteCount, 0);
  const countPretokens: CountPretokens = async (...what) => (await count(...what)).words;
  return { words, invalidBytes, count: countPretokens, workerCount };
}

/** The words with their white space and the pretokens, each as counted and as threads share it. */
const tablesPerText = 4;

function threadsFor({ texts, tokenizers, workerCountFor, specialTokensAsText }: EvaluateOptions) {
  const textBytes = Math.max(...texts.map(({ inputs }) => expectedTextBytes(inputs)));
  // The backtracking matcher may take long for one word, and serves no signal meanwhile.
  const mainWorks =
    textBytes <= smallTextBytes && tokenizers.every(({ parts }) => parts.pattern.kind === "automata");
  const encodings = tokenizers.map(({ parts }) => wordEncodingOf(parts, specialTokensAsText));
  return new EvaluationThreads(encodings, workerCountFor(textBytes), mainWorks);
}

/** One word of so much text is encoded in some 0.1 s. */
const smallTextBytes = 4e6;

function wordEncodingOf(parts: TokenizerParts, specialTokensAsText: boolean): WordEncoding {
  const tokenStarts = new Uint32Array(new SharedArrayBuffer(parts.tokens.starts.byteLength));
  tokenStarts.set(parts.tokens.starts);
  return { parts: encodingParts(parts), specialTokensAsText, tokenStarts };
}
