// Learns merges from words: from bytes or beyond the tokens of a base, by language, over seeds and superwords. This is one
// module because all of them feed one engine, whose token numbers they share.

export * as extending from "./extend-vocabulary.ts";
export { learnFromBytes } from "./learn-from-bytes.ts";
export * as learning from "./learn-merges.ts";
export * as seeds from "./seed-tokens.ts";
