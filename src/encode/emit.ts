import { keptCountMask, narrowCountShift, wideCountShift, wideIdMask } from "./results.ts";

/** Where emitting stands: the next pretoken, and the number of ids written. */
export type EmitCursor = { word: number; idCount: number };

/**
 * Writes the ids of the pretokens from `cursor.word` on, until one is missing or all are written. A result is stored
 * whole; what it has beyond its ids is written over by the next one.
 */
export function emitNarrow(
  cursor: EmitCursor,
  wordCount: number,
  lanes: Int32Array,
  results: Float64Array,
  keptIds: Int32Array,
  ids: Uint16Array,
  view: DataView,
): void {
  let { word, idCount } = cursor;
  for (; word < wordCount; word++) {
    const lane1 = lanes[2 * word + 1]!;
    if (lane1 > 0) {
      view.setFloat64(idCount << 1, results[word]!, true);
      idCount = (idCount + (lane1 >>> narrowCountShift)) | 0;
      continue;
    }
    if (lane1 === 0) break;
    const from = lanes[2 * word]!;
    const count = lane1 & keptCountMask;
    for (let i = 0; i < count; i++) ids[idCount + i] = keptIds[from + i]!;
    idCount = (idCount + count) | 0;
  }
  cursor.word = word;
  cursor.idCount = idCount;
}

export function emitWide(
  cursor: EmitCursor,
  wordCount: number,
  lanes: Int32Array,
  keptIds: Int32Array,
  ids: Uint32Array,
): void {
  let { word, idCount } = cursor;
  for (; word < wordCount; word++) {
    const lane1 = lanes[2 * word + 1]!;
    if (lane1 > 0) {
      ids[idCount] = lanes[2 * word]!;
      ids[idCount + 1] = lane1 & wideIdMask;
      idCount = (idCount + (lane1 >>> wideCountShift)) | 0;
      continue;
    }
    if (lane1 === 0) break;
    const from = lanes[2 * word]!;
    const count = lane1 & keptCountMask;
    for (let i = 0; i < count; i++) ids[idCount + i] = keptIds[from + i]!;
    idCount = (idCount + count) | 0;
  }
  cursor.word = word;
  cursor.idCount = idCount;
}
