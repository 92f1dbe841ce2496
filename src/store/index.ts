// All paths that bpe writes: staging, publication, locks.

export * as fileChecksum from "./file-checksum.ts";
export { rename } from "./file-system.ts";
export * as outputLock from "./output-lock.ts";
export * as outputPlaces from "./output-place.ts";
export * as placesToWrite from "./places-to-write.ts";
export { ScratchDirectory } from "./scratch-directory.ts";
export * as stagedDirectory from "./staged-directory.ts";
export * as stagedFile from "./staged-file.ts";
export * as trustedFiles from "./trusted-files.ts";
export * as writtenPlaces from "./written-places.ts";
