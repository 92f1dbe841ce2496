import { expectedTextBytes, type Input } from "../corpus/input.ts";
import {
  addCounts,
  type CountedText,
  dearestMax,
  type Evaluation,
  evaluationOf,
  type NamedTokenizer,
  type TextFacts,
  type TokenCounts,
  TokenizerMeasures,
  textFacts,
} from "../evaluation/evaluation.ts";
import {
  gatherTextWords,
  placedWordPattern,
  placedWordsOf,
  type TextWords,
  wordCosts,
} from "../evaluation/text-words.ts";
import type { WordEncoding } from "../evaluation/word-encoder.ts";
import { type CompiledPattern, compilePattern } from "../pattern/pattern.ts";
import type { MemoryBudget } from "../runtime/system-limits.ts";
import { inTurns } from "../runtime/turns.ts";
import type { ScratchDirectory } from "../store/scratch-directory.ts";
import type { TokenizerParts } from "../tokenizer/tokenizer-parts.ts";
import { type TableSize, tableBytes } from "../words/word-table.ts";
import { countWords } from "./count-words.ts";
import { encodingParts, isQuick } from "./encode-corpus.ts";
import { EvaluationThreads } from "./evaluation-threads.ts";
import type { Report } from "./stage-progress.ts";
import {
  type CountPretokens,
  EvaluationProgress,
  type PreparedTokens,
  passCount,
  sizeOf,
  TokenCounting,
} from "./token-counting.ts";

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

/** A text that was read: its words, and what counts its tokens. */
export async function readText(
  { inputs }: NamedText,
  options: EvaluateOptions,
  progress: EvaluationProgress,
) {
  const { budget, scratch, workerCountFor, tokenizers, specialTokensAsText } = options;
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
    const corpus = { inputs, pattern, specialTokens, workerCount, memory };
    const counted = await countWords(corpus, progress.passReport, check);
    progress.endPass(sizeOf(inputs));
    return counted;
  };
  const counted = await count(compilePattern([placedWordPattern]), [placedWordPattern], []);
  const words = await inTurns(gatherTextWords(counted.words));
  const invalidBytes = counted.statistics.reduce((sum, found) => sum + found.invalidByteCount, 0);
  const countPretokens: CountPretokens = async (...what) => (await count(...what)).words;
  const counting = { tokenizers, specialTokensAsText, inputs, words, workerCount };
  const tokens = await TokenCounting.begin({ ...counting, count: countPretokens }, progress);
  return { words, invalidBytes, tokens };
}

/** Shows how far the run is: it goes through each text for its words, and for each kind of pretokens. */
export function startProgress(options: EvaluateOptions, report: Report): EvaluationProgress {
  const { texts, tokenizers, specialTokensAsText } = options;
  const goCount =
    1 +
    passCount(
      tokenizers.map(({ parts }) => parts),
      specialTokensAsText,
    );
  const textBytes = texts.reduce((sum, { inputs }) => sum + sizeOf(inputs), 0);
  return new EvaluationProgress(goCount * textBytes, report);
}

/** The words with their white space and the pretokens, each as counted and as threads share it. */
const tablesPerText = 4;

/** The threads that encode the words of all texts. The caller closes them. */
export function startThreads({ texts, tokenizers, workerCountFor, specialTokensAsText }: EvaluateOptions) {
  const textBytes = Math.max(...texts.map(({ inputs }) => expectedTextBytes(inputs)));
  // What takes long is done by workers, because it serves no signal meanwhile.
  const mainWorks = textBytes <= smallTextBytes && tokenizers.every(({ parts }) => isQuick(parts));
  const encodings = tokenizers.map(({ parts }) => wordEncodingOf(parts, specialTokensAsText));
  return new EvaluationThreads(encodings, workerCountFor(textBytes), mainWorks);
}

/** One word of so much text is encoded in some 0.1 s. */
const smallTextBytes = 4e6;

function wordEncodingOf(parts: TokenizerParts, specialTokensAsText: boolean): WordEncoding {
  const { starts, bytes } = parts.tokens;
  const tokenStarts = new Uint32Array(new SharedArrayBuffer(starts.byteLength));
  const tokenBytes = new Uint8Array(new SharedArrayBuffer(bytes.byteLength));
  tokenStarts.set(starts);
  tokenBytes.set(bytes);
  return { parts: encodingParts(parts), specialTokensAsText, tokenBytes, tokenStarts };
}

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
  const { tokenizers, texts } = options;
  const measures = tokenizers.map((tokenizer) => new TokenizerMeasures(tokenizer));
  const tokenCounts: TokenCounts[][] = tokenizers.map(() => []);
  const facts: TextFacts[] = [];
  const threads = startThreads(options);
  const progress = startProgress(options, report);
  try {
    for (const text of texts) {
      const { words, invalidBytes, tokens } = await readText(text, options, progress);
      const textFact = textFacts({ name: text.name, inputs: text.paths, invalidBytes }, words);
      facts.push(textFact);
      const counted: Promise<CountedText>[] = [];
      for (const t of tokenizers.keys()) {
        // The words are encoded while the text is read for the next tokenizer.
        const encoding = encodeWords(t, await tokens.prepare(t), words, threads);
        encoding.catch(() => {});
        counted.push(encoding);
      }
      for (const [t, result] of (await Promise.all(counted)).entries()) {
        measures[t]!.add(textFact, words, result);
        tokenCounts[t]!.push(result.tokenCounts);
      }
    }
  } finally {
    threads.close();
  }
  return { evaluation: evaluationOf(facts, measures), tokenCounts };
}

async function encodeWords(
  tokenizer: number,
  { pretokens, others }: PreparedTokens,
  words: TextWords,
  threads: EvaluationThreads,
): Promise<CountedText> {
  const placedWords = placedWordsOf(words);
  const { tokenCounts, placedTokens, worker } = await threads.encode(tokenizer, pretokens, placedWords);
  addCounts(tokenCounts, others);
  const costs = await inTurns(wordCosts(words, placedTokens, dearestMax));
  const placed = costs.dearest.map((word) => word.placed);
  const pieces = await threads.piecesOf(tokenizer, placedWords, { placed, withBlanks: false, worker });
  return { tokenCounts, costs, pieces };
}
