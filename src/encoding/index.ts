// Encodes a corpus into files of ids, on all threads.

export { type CountedText, countTokensOf } from "./counted-text.ts";
export * as corpusEncoding from "./encode-corpus.ts";
