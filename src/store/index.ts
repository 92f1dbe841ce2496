// All paths that bpe writes: staging, publication, locks, cache. This is one module because outputs, locks and the
// cache follow the same rules on who may write to a directory.

export { Cache } from "./cache.ts";
export {
  CacheDirectory,
  contentsOf,
  type EntryId,
  isUpToDate,
  type ResultSources,
  readResult,
  rememberResult,
  wordsVersion,
} from "./cache-directory.ts";
export { describeCounts } from "./content-hash.ts";
export { ChecksummedFile, checksumOf } from "./file-checksum.ts";
export { isHeldOpen, retryWhileHeldOpen } from "./held-open.ts";
export {
  describeHolder,
  type Holder,
  heldError,
  isLock,
  isLockedHere,
  type Lock,
  takeLock,
  takeLockNow,
} from "./output-lock.ts";
export { isWithin, type Place, pathOf, placeOf } from "./output-place.ts";
export { checkOutputDirectory, placesToWrite } from "./places-to-write.ts";
export { ScratchDirectory } from "./scratch-directory.ts";
export { type FormerResults, stageDirectory } from "./staged-directory.ts";
export {
  checkOutputFile,
  type Guard,
  noGuard,
  placeOfFile,
  stageFile,
  withStaged,
  writeStaged,
} from "./staged-file.ts";
export { followLinks, openToAppend, openTrusted, removeTrusted, Untrusted } from "./trusted-files.ts";
export {
  MisplacedOutput,
  type RunInput,
  type RunOutput,
  realPathOf,
  WrittenPlaces,
} from "./written-places.ts";
