// Learns merges from words.

export type { MergeProgress } from "./merge-memories.ts";
export {
  alphabetOrder,
  type KnownToken,
  limitsOf,
  type MergeOptions,
  type StartTokens,
  type TokenLimits,
  type TokenPair,
  tieOrderOf,
  tokenLimits,
} from "./merge-options.ts";
export type { Compat, LearnedPairs, Merges } from "./merges.ts";
export type { Length, Parity } from "./parity-merges.ts";
export { seedMerges } from "./seed-merges.ts";
export { bytesOfId, estimateMergeMemoryBytes, trainInPlace, trainMerges } from "./train-merges.ts";
