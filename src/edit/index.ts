// The commands prune, truncate, convert and image.

export { piecesInFirst } from "./prune-tokenizer.ts";
