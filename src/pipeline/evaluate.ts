import { expectedTextBytes, type Input } from "../corpus/input.ts";
import { type Difference, differenceOf, type TextDifference } from "../evaluation/difference.ts";
import {
  addCounts,
  type Evaluation,
  evaluationOf,
  type NamedTokenizer,
  ratio,
  sumOf,
  type TextFacts,
  type TokenCounts,
  TokenizerMeasures,
  textFacts,
} from "../evaluation/evaluation.ts";
import { gatherTextWords, placedWordPattern } from "../evaluation/text-words.ts";
import type { WordEncoding } from "../evaluation/word-encoder.ts";
import { type CompiledPattern, compilePattern } from "../pattern/pattern.ts";
import type { MemoryBudget } from "../runtime/system-limits.ts";
import { inTurns } from "../runtime/turns.ts";
import type { ScratchDirectory } from "../store/scratch-directory.ts";
import { plainCutting } from "../text/cutting.ts";
import type { TokenizerParts } from "../tokenizer/tokenizer-parts.ts";
import { type TableSize, tableBytes } from "../words/word-table.ts";
import { countWords } from "./count-words.ts";
import { encodingParts, isQuick } from "./encode-corpus.ts";
import { EvaluationThreads } from "./evaluation-threads.ts";
import type { Report } from "./stage-progress.ts";
import {
  type CountPretokens,
  EvaluationProgress,
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
  /** How many threads work on so much text. */
  readonly workerCountFor: (textBytes: number) => number;
  /** A thread gets at least so many words of a text. */
  readonly partWordsLeast?: number;
  readonly budget: MemoryBudget;
  /** For words that memory has no room for; the caller removes it. */
  readonly scratch: ScratchDirectory;
};

/** A text that was read: its words, and what counts its tokens. */
async function readText({ inputs }: NamedText, options: EvaluateOptions, progress: EvaluationProgress) {
  const { budget, scratch, workerCountFor, tokenizers } = options;
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
    const corpus = { inputs, cutting: plainCutting(pattern, specialTokens), workerCount, memory };
    const counted = await countWords(corpus, progress.passReport, check);
    progress.endPass(sizeOf(inputs));
    return counted;
  };
  const counted = await count(compilePattern([placedWordPattern]), [placedWordPattern], []);
  const words = await inTurns(gatherTextWords(counted.words));
  const invalidBytes = counted.statistics.reduce((sum, found) => sum + found.invalidByteCount, 0);
  const countPretokens: CountPretokens = async (...what) => (await count(...what)).words;
  const counting = { tokenizers, inputs, words, workerCount };
  const tokens = await TokenCounting.begin({ ...counting, count: countPretokens }, progress);
  return { words, invalidBytes, tokens };
}

/** Shows how far the run is: it goes through each text for its words, and for each kind of pretokens. */
function startProgress(options: EvaluateOptions, report: Report): EvaluationProgress {
  const { texts, tokenizers } = options;
  const goCount = 1 + passCount(tokenizers.map(({ parts }) => parts));
  const textBytes = texts.reduce((sum, { inputs }) => sum + sizeOf(inputs), 0);
  return new EvaluationProgress(goCount * textBytes, report);
}

/** The words with their white space and the pretokens, each as counted and as threads share it. */
const tablesPerText = 4;

/** The threads that encode the words of all texts. The caller closes them. */
function startThreads(options: EvaluateOptions) {
  const { texts, tokenizers, workerCountFor, partWordsLeast } = options;
  const textBytes = Math.max(...texts.map(({ inputs }) => expectedTextBytes(inputs)));
  // What takes long is done by workers, because it serves no signal meanwhile.
  const mainWorks = textBytes <= smallTextBytes && tokenizers.every(({ parts }) => isQuick(parts));
  const encodings = tokenizers.map(({ parts }) => wordEncodingOf(parts));
  return new EvaluationThreads(encodings, workerCountFor(textBytes), mainWorks, partWordsLeast);
}

/** One word of so much text is encoded in some 0.1 s. */
const smallTextBytes = 4e6;

function wordEncodingOf(parts: TokenizerParts): WordEncoding {
  const { idLimit, tokenCount, ...table } = parts.tokens;
  const starts = new Uint32Array(new SharedArrayBuffer(table.starts.byteLength));
  const bytes = new Uint8Array(new SharedArrayBuffer(table.bytes.byteLength));
  starts.set(table.starts);
  bytes.set(table.bytes);
  return { parts: encodingParts(parts), tokens: { idLimit, tokenCount, bytes, starts } };
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
      const measuring: Promise<void>[] = [];
      for (const t of tokenizers.keys()) {
        const { pretokens, others } = await tokens.prepare(t);
        // The words are encoded while the text is read for the next tokenizer.
        const measured = threads.measure(t, pretokens, words).then(({ tokenCounts: counts, costs }) => {
          addCounts(counts, others);
          measures[t]!.add(textFact, counts, costs!);
          tokenCounts[t]!.push(counts);
        });
        measured.catch(() => {});
        measuring.push(measured);
      }
      await Promise.all(measuring);
    }
  } finally {
    threads.close();
  }
  return { evaluation: evaluationOf(facts, measures), tokenCounts };
}

export type CompareOptions = Omit<EvaluateOptions, "tokenizers" | "texts"> & {
  readonly tokenizers: readonly [a: NamedTokenizer, b: NamedTokenizer];
  readonly text: NamedText | null;
};

/** What differs between two tokenizers, and in how they cut a text, if there is one. */
export async function compareTokenizers(options: CompareOptions, report: Report): Promise<Difference> {
  const { tokenizers, text } = options;
  const [a, b] = tokenizers;
  const difference = await inTurns(differenceOf({ a: a.parts, b: b.parts }));
  return { ...difference, text: text === null ? null : await compareOnText({ ...options, text }, report) };
}

async function compareOnText(
  { text, ...options }: CompareOptions & { readonly text: NamedText },
  report: Report,
): Promise<TextDifference> {
  const run = { ...options, texts: [text] };
  const threads = startThreads(run);
  try {
    const { words, tokens } = await readText(text, run, startProgress(run, report));
    const tokensOf = async (t: number) => {
      const { pretokens, others } = await tokens.prepare(t);
      return sumOf((await threads.measure(t, pretokens, null)).tokenCounts) + sumOf(others);
    };
    const [tokensA, tokensB] = [await tokensOf(0), await tokensOf(1)];
    const { wordCount } = words;
    const { differentWords, ...listed } = await threads.compare(words);
    return {
      name: text.name,
      inputs: text.paths,
      tokensA,
      tokensB,
      words: wordCount,
      differentWords,
      differentShare: ratio(differentWords, wordCount),
      ...listed,
    };
  } finally {
    threads.close();
  }
}
