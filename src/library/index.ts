// The library for Bun, Node and browsers. The packages' entries are src/index.ts and src/browser.ts.

export { StreamDecoder } from "./stream-decoder.ts";
export { partsOfJson } from "./text-tokenizer.ts";
export { Tokenizer } from "./tokenizer.ts";
export { TrainedTokenizer, trainTokenizer } from "./train-in-browser.ts";
