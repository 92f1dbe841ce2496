// The part of the kernel that a text goes through before it is cut into pretokens, in a memory of its own. It is a separate
// module: most tokenizers neither change their texts nor have tokens that look at their neighbours.

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
