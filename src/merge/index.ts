// Learns merges from words: from bytes or on top of a base, for several languages, with seed tokens, with superwords.
// These are one module because they use the same merge engine and its token numbers.

export * as extending from "./extend-vocabulary.ts";
export { learnFromBytes } from "./learn-from-bytes.ts";
export * as learning from "./learn-merges.ts";
export * as seeds from "./seed-tokens.ts";
