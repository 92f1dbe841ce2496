import {
  addCounts,
  type CountedText,
  dearestMax,
  type Evaluation,
  evaluationOf,
  type TextFacts,
  type TokenCounts,
  TokenizerMeasures,
  textFacts,
} from "../evaluation/evaluation.ts";
import { placedWordsOf, type TextWords, wordCosts } from "../evaluation/text-words.ts";
import { inTurns } from "../runtime/turns.ts";
import { type EvaluateOptions, readText, startProgress, startThreads } from "./evaluation-run.ts";
import type { EvaluationThreads } from "./evaluation-threads.ts";
import type { Report } from "./stage-progress.ts";
import type { PreparedTokens } from "./token-counting.ts";

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
