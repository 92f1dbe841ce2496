// Learns merges from words.

export type { MergeProgress } from "./merge-memories.ts";
export {
  alphabetOrder,
  type KnownToken,
  limitsOf,
  type MergeOptions,
  type StartTokens,
  type TokenPair,
  tieOrderOf,
  tokenLimits,
} from "./merge-options.ts";
export type { Length } from "./parity-merges.ts";
export { seedMerges } from "./seed-merges.ts";
export { segmentWords } from "./segment-words.ts";
export { bytesOfId, estimateMergeMemoryBytes, trainInPlace, trainMerges } from "./train-merges.ts";
