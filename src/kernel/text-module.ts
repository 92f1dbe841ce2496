// The text module of the kernel. It prepares a text before it is cut into pretokens; decodes ids; finds offsets, parts
// with a limited number of ids, the effect of edits, and special tokens at which a file is cut into ranges. It is a
// separate module with a memory of its own, because counting and encoding do not need it with most tokenizers: those
// that neither change texts nor have tokens that depend on their neighbours.

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
