import { endsStart, reserveFixed } from "../regions";
import { countPretokens } from "../words/word-tables";
import { slotCount, swapAutomata } from "./automaton-steps";
import {
  beginPieces,
  blockBytes,
  dropEnds,
  endCount,
  endPieces,
  finishDocument,
  pos,
  scanPiece,
} from "./scanner";

/**
 * Two splits that do not fuse into one automaton: the first cuts documents into pieces, the second each piece into
 * pretokens, as if it were a document.
 *
 *   ARRAY    TYPE   LENGTH   MEANING
 *   pieces   u32    2^16     `ends` as the first automaton has left them, while the second writes into `ends`
 */
let piecesStart: usize = 0;
const pieceCountMax: usize = 1 << 16;

/** Ends of the second automaton that are counted together: a block and its slots fit behind them. */
const endsAtOnce: u32 = 1 << 15;

/** Says whether there is a second automaton (`useSecondAutomaton`); false where there is no room for the pieces. */
export function usePieces(isUsed: bool): bool {
  piecesStart = isUsed ? reserveFixed(pieceCountMax << 2) : 0;
  return piecesStart !== 0 || !isUsed;
}

export function hasPieces(): bool {
  return piecesStart !== 0;
}

/** Counts the pretokens of the pieces that are settled, and forgets these; false where a table of words has no room. */
export function countPieces(): bool {
  const pieceCount = endCount - 1;
  const keptBytes = (slotCount + 1) << 2;
  memory.copy(piecesStart, endsStart, (pieceCount << 2) + keptBytes);
  beginPieces();
  swapAutomata();
  let hasRoom: bool = true;
  for (let piece: u32 = 1; piece <= pieceCount; piece++) {
    const end = load<i32>(piecesStart + (piece << 2));
    while (pos < end) {
      scanPiece(min(pos + blockBytes, end), end);
      hasRoom = hasRoom && (endCount < endsAtOnce || countEnds());
    }
    finishDocument(end);
    hasRoom = hasRoom && (endCount < endsAtOnce || countEnds());
  }
  hasRoom = hasRoom && countEnds();
  swapAutomata();
  memory.copy(endsStart, piecesStart + (pieceCount << 2), keptBytes);
  endPieces();
  return hasRoom;
}

function countEnds(): bool {
  if (endCount === 1) return true;
  if (!countPretokens(endCount - 1)) return false;
  dropEnds();
  return true;
}
