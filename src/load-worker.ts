// Entry of a thread that loads one tokenizer and hands it over.

import type { LoadedTokenizer, LoadRequest } from "./pipeline/load-apart.ts";
import { describeFailure, type Failure } from "./pipeline/thread-failure.ts";
import { loadTokenizerParts } from "./tokenizer/load/load-tokenizer.ts";

declare const self: {
  onmessage: (event: MessageEvent<LoadRequest>) => void;
  postMessage(message: LoadedTokenizer | { kind: "failed"; failure: Failure }): void;
};

self.onmessage = ({ data: { path, options, isDecoded } }) => {
  try {
    const { tokens, ...parts } = loadTokenizerParts(path, options);
    self.postMessage({ kind: "loaded", parts, tokens: isDecoded ? { ...tokens } : null });
  } catch (error) {
    self.postMessage({ kind: "failed", failure: describeFailure(error, "") });
  }
};
