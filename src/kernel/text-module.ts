// The text module of the kernel. It finds added tokens, normalizes texts, decodes ids, and finds offsets, parts with a
// limited number of ids, and what an edit changes. It is a module of its own, with its own memory, because most
// tokenizers do not need it to count words or to encode.

export {
  barredAddress,
  barredCount,
  followingAddress,
  givenPosition,
  holeCount,
  holesAddress,
  madeWindowAddress,
  madeWindowBytes,
  makeFollowing,
  makeWindow,
  windowAddress,
  windowPosition,
  windowReach,
} from "./text/cut-windows";
export { beginParts, endOfNextPart, endOfPart, nextPart, startOfLastPart, startOfPart } from "./text/cuts";
export {
  beginDecoding,
  decodedAddress,
  decodedCapacity,
  decodeIds,
  givenIdsAddress,
  givenIdsMax,
  measureIds,
  startsAddress,
  takenIds,
  tokensAddress,
} from "./text/decode";
export {
  beginOffsets,
  endOffsets,
  notesAddress,
  placedTextAddress,
  placeIds,
  spansAddress,
  useMarks,
  useTrims,
} from "./text/offsets";
export { beginRecoding, findRecodedSpans, recodedSpansAddress } from "./text/recode";
export {
  beginSections,
  endSegment,
  eventsAddress,
  factsOf,
  openText,
  pieceAddress,
  readBytes,
  sectionBytes,
  takePiece,
  useSections,
  waitingBytes,
  waitingNeed,
} from "./text/sections";
export {
  beginEdit,
  endId,
  firstId,
  madeCheckpointCount,
  madeCheckpointsAddress,
  nextStep,
  startEdit,
  stepFrom,
  stepTo,
} from "./text/sessions";
export { findOccurrence, occurrenceBytes, openOccurrences } from "./text/token-occurrences";
