// Measures tokenizers on texts, from counted tokens and words. No clock, no screen.
// It is one module because measures, findings and excerpts come from the same counts of the same words.

export type { Difference } from "./difference.ts";
export * as differences from "./difference.ts";
export { meaningOf } from "./difference-meaning.ts";
export type { Evaluation, FullEvaluation, TextFacts } from "./evaluation.ts";
export * as evaluations from "./evaluation.ts";
export { type CutText, type Excerpt, selectExcerpts } from "./excerpts.ts";
export type { Finding, FindingPart } from "./finding.ts";
export * as findings from "./finding.ts";
export type { Measure, Measures } from "./measures.ts";
export * as measures from "./measures.ts";
export { type ModelShape, readModelShape } from "./model-cost.ts";
export { NumberCounts } from "./number-counts.ts";
export type { SampleToken } from "./passages.ts";
export type { TextWords } from "./text-words.ts";
export * as textWords from "./text-words.ts";
export { isCutAlike, spansOf } from "./token-spans.ts";
export type { VocabularyStatistics } from "./vocabulary-statistics.ts";
export * as vocabularyStatistics from "./vocabulary-statistics.ts";
