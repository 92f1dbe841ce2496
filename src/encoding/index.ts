// Encodes a corpus into files of ids, on all threads.

export {
  addEncoded,
  type CountedIds,
  countIds,
  countTokens,
  cutSettingsOf,
  type EncodedFile,
  type EncodedTask,
  type EncodeIntoOptions,
  emptyEncodedSum,
  encodeInto,
  encodingBytesPerByte,
  encodingParts,
  encodingThreadsFor,
  hasOnlyQuickSteps,
  mergeBytesOfThread,
  startEncodingWorkers,
} from "./encode-corpus.ts";
export {
  type AskedFiles,
  type EncodedFiles,
  encodeIntoFiles,
  IdFiles,
  isPart,
  pathsToLock,
} from "./id-files.ts";
export { joinParts } from "./join-parts.ts";
export { checkEncodedBy } from "./shard-manifest.ts";
