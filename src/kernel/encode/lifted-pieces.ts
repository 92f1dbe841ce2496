import { endsStart } from "../regions";
import { beginIds, idsEnd } from "./emit";
import { encodePretokens, idBytes } from "./encode-words";
import { reserveTable, reserveTo, workAddress } from "./encoding-memory";
import { EncodingModel, tokenLengths } from "./model-layout";

/**
 * Pretokens as sequences of ids, for learning superwords: the ids of the pretokens of one call of `takeText` stand end to
 * end at `idsAddress`, and where each pretoken ends is listed beside them.
 *
 *   ARRAY       TYPE   LENGTH             MEANING
 *   pieceEnds   u32    pieceEndsMax       pieceEnds[0] is 0, pieceEnds[i + 1] the end of piece i, in bytes of ids
 *   lengths     u32    idLimit            model-layout.ts
 */
let pieceEnds: usize = 0;
let lengths: usize = 0;
let pieceCount: u32 = 0;

/** Every pretoken has an id or more for each of its bytes' tokens, and a slice has fewer bytes than this (text-loop.ts). */
const pieceEndsMax: u32 = 1 << 17;

/** Sets up the lists for the model; false without room. The ranks of the model only rise. */
export function beginPieces(modelHead: usize): bool {
  const model = changetype<EncodingModel>(modelHead);
  pieceEnds = reserveTable(4 * pieceEndsMax);
  lengths = tokenLengths(model);
  return pieceEnds !== 0 && lengths !== 0;
}

/** Forgets the pieces of the last call. */
export function startPieces(): void {
  beginIds(workAddress());
  pieceCount = 0;
  store<u32>(pieceEnds, 0);
}

/** Lists the `endCount - 1` pretokens of `ends`; false without room. */
export function listPieces(endCount: u32): bool {
  const textBytes = load<u32>(endsStart + ((endCount - 1) << 2)) - load<u32>(endsStart);
  const room = <u64>idsEnd + <u64>textBytes * idBytes() + 64;
  if (pieceCount + endCount > pieceEndsMax || !reserveTo(room)) return false;
  const firstId = idsEnd;
  if (!encodePretokens(endCount, <usize>room)) return false;
  if (idBytes() === 2) findEnds<u16>(firstId, endCount);
  else findEnds<u32>(firstId, endCount);
  return true;
}

/** A pretoken ends with the id at which the lengths of the ids add up to its own. */
function findEnds<T>(firstId: usize, endCount: u32): void {
  const start = workAddress();
  let textEnd = load<u32>(endsStart);
  let id = firstId;
  let pieceEnd = pieceEnds + (pieceCount << 2);
  for (let i: u32 = 1; i < endCount; i++) {
    const end = load<u32>(endsStart + (i << 2));
    while (textEnd < end) {
      textEnd += load<u32>(lengths + ((<usize>load<T>(id)) << 2));
      id += sizeof<T>();
    }
    assert(textEnd === end, "no token crosses the end of a pretoken");
    pieceEnd += 4;
    store<u32>(pieceEnd, <u32>(id - start));
  }
  pieceCount += endCount - 1;
}

/** Address of the ends, and how many pieces there are. */
export function pieceEndsAddress(): usize {
  return pieceEnds;
}

export function listedPieceCount(): u32 {
  return pieceCount;
}
