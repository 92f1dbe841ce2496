// The library for Bun, Node and browsers, which src/index.ts and src/browser.ts export.

export { StreamDecoder } from "./stream-decoder.ts";
export { partsOfJson } from "./text-tokenizer.ts";
export { Tokenizer } from "./tokenizer.ts";
export { TrainedTokenizer, trainTokenizer } from "./train-in-browser.ts";
