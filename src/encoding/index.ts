// Encodes a corpus into files of ids, on all threads.

export { type CountedText, countTokensOf } from "./counted-text.ts";
export {
  addEncoded,
  countIds,
  countTokens,
  cutSettingsOf,
  type EncodedFile,
  type EncodedTask,
  type EncodedText,
  type EncodeIntoOptions,
  emptyEncodedSum,
  encodeCorpus,
  encodeInto,
  encodingBytesPerByte,
  encodingParts,
  encodingThreadsFor,
  hasOnlyQuickSteps,
  mergeBytesOfThread,
  startEncodingWorkers,
} from "./encode-corpus.ts";
