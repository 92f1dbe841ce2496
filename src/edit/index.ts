// The commands prune, truncate, convert and image.

export { piecesInFirst } from "./prune-tokenizer.ts";
export type { Pieces } from "./truncate-vocabulary.ts";
