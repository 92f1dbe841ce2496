// Learns merges from words.

export * as extending from "./extend-vocabulary.ts";
export { learnFromBytes } from "./learn-from-bytes.ts";
export * as learning from "./learn-merges.ts";
export * as seeds from "./seed-tokens.ts";
