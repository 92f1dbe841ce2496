import { wordCosts } from "../evaluation/dearest-words.ts";
import {
  dearestMax,
  type Evaluation,
  evaluationOf,
  type TextFacts,
  TokenizerMeasures,
  textFacts,
} from "../evaluation/evaluation.ts";
import type { TokenCounts } from "../evaluation/measures.ts";
import { placedWordsOf } from "../evaluation/text-words.ts";
import { inTurns } from "../runtime/turns.ts";
import { type EvaluateOptions, readText, startThreads } from "./evaluation-run.ts";
import type { Report } from "./stage-progress.ts";

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
  try {
    for (const text of texts) {
      const { words, invalidBytes, tokens } = await readText(text, options, threads, report);
      const textFact = textFacts({ name: text.name, inputs: text.paths, invalidBytes }, words);
      facts.push(textFact);
      for (const t of tokenizers.keys()) {
        const counts = await tokens.tokensOf(t);
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
