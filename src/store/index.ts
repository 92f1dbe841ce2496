// All paths that bpe writes: staging, publication, locks. This is one module because outputs and locks follow the same
// rules on who may write to a directory.

export { namesBelow } from "./existing-output.ts";
export { ChecksummedFile, checksumOf } from "./file-checksum.ts";
export { rename } from "./file-system.ts";
export type { Lock } from "./output-lock.ts";
export * as outputLock from "./output-lock.ts";
export { isWithin, type Place, pathOf, placeOf } from "./output-place.ts";
export { checkOutputDirectory, placesToWrite } from "./places-to-write.ts";
export { ScratchDirectory } from "./scratch-directory.ts";
export { type FormerResults, stageDirectory } from "./staged-directory.ts";
export * as stagedFile from "./staged-file.ts";
export { type Guard, noGuard } from "./staged-file.ts";
export * as trustedFiles from "./trusted-files.ts";
export {
  MisplacedOutput,
  type RunInput,
  type RunOutput,
  realPathOf,
  WrittenPlaces,
} from "./written-places.ts";
