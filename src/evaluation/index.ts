// Numbers about tokenizers, most of them from the tokens and words of texts, and the sentences that state them.

export * as differences from "./difference.ts";
export * as evaluations from "./evaluation.ts";
export * as excerpts from "./excerpts.ts";
export * as findings from "./finding.ts";
export * as measures from "./measures.ts";
export * as modelCosts from "./model-cost.ts";
export { NumberCounts } from "./number-counts.ts";
export * as textWords from "./text-words.ts";
export * as vocabularyStatistics from "./vocabulary-statistics.ts";
