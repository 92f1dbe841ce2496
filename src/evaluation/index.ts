// Measures tokenizers on texts, from counted tokens and words. No clock, no screen.
// It is one module because measures, findings and excerpts come from the same counts of the same words.

export {
  type Difference,
  type DifferentWords,
  differenceOf,
  type MergeWithRank,
  type TextDifference,
  type TokenizerFacts,
} from "./difference.ts";
export { meaningOf } from "./difference-meaning.ts";
export {
  addCounts,
  type CostliestWord,
  type CountsById,
  type Evaluation,
  evaluationOf,
  type FullEvaluation,
  type NamedText,
  type NamedTokenizer,
  ratio,
  sumOf,
  type TextFacts,
  TokenizerMeasures,
  textFacts,
  truncate,
  usedCount,
  type VocabularyDetails,
  type WordCosts,
} from "./evaluation.ts";
export { type CutText, type Excerpt, selectExcerpts } from "./excerpts.ts";
export {
  cautionsOf,
  differenceOfTwo,
  type Finding,
  type FindingPart,
  findingOf,
  ownAndBest,
  shortTextBytes,
  spellFinding,
} from "./finding.ts";
export {
  bestOf,
  type CostParity,
  costMeasures,
  costsOf,
  digitMeasures,
  type Measure,
  type Measures,
  modelMeasures,
  parityCosts,
  parityMeasures,
  repeatsAnother,
  shownValue,
  type TermTokens,
  termMeasures,
  textMeasures,
  vocabularyMeasures,
} from "./measures.ts";
export { type ModelShape, readModelShape } from "./model-cost.ts";
export { NumberCounts } from "./number-counts.ts";
export type { SampleToken } from "./passages.ts";
export {
  countSpecialTokens,
  gatherTextWords,
  holdsWhiteSpace,
  placedAt,
  placedWordPattern,
  scatterTable,
  slicesOf,
  type TextWords,
  type WordSlice,
  wordAt,
} from "./text-words.ts";
export { isCutAlike, spansOf } from "./token-spans.ts";
export {
  type Share,
  scriptClasses,
  scriptOrKindOf,
  scriptShares,
  type VocabularyStatistics,
  vocabularyStatistics,
} from "./vocabulary-statistics.ts";
