// Entry of a thread that loads one tokenizer and hands it over.
import { loadTokenizerParts } from "./encode/load/load.ts";
import type { LoadedTokenizer, LoadRequest } from "./encode/load/load-apart.ts";
import { describeFailure, type Failure } from "./workers/failure.ts";

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
