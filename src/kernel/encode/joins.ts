import { EncodingModel } from "./model";

/**
 * Joins: where the two halves of a merge meet, in the table that src/encode/joins.ts builds and describes. A merge crosses a
 * place in a text only if some join fits around it.
 */

const multiplier0: u32 = 0x9e3779b1;
const multiplier1: u32 = 0x85ebca77;

const contextBytes: u32 = 3;

let lanes: usize = 0;
let slotBits: u32 = 0;
/** For l bytes on the left and r on the right whether there is any such join: 1 at 4 l + r. Most are never needed. */
let hasSizes: usize = 0;

export function useJoins(model: EncodingModel): void {
  lanes = model.joinLanes;
  slotBits = model.joinSlotBits;
  hasSizes = model.joinSizes;
}

/**
 * Whether some join fits between the three bytes `left`, the last one lowest, and the three bytes `right`, the first one
 * highest. Three bytes each are looked for as they are, and cut down to two and one.
 */
export function fitsJoin(left: u32, right: u32): bool {
  for (let leftCount = contextBytes; leftCount > 0; leftCount--) {
    const leftLane = (left & ((1 << (8 * leftCount)) - 1)) | (leftCount << 24);
    for (let rightCount = contextBytes; rightCount > 0; rightCount--) {
      if (load<u8>(hasSizes + 4 * leftCount + rightCount) === 0) continue;
      const rightLane = (right >> (8 * (contextBytes - rightCount))) | (rightCount << 24);
      if (hasJoin(leftLane, rightLane)) return true;
    }
  }
  return false;
}

function hasJoin(left: u32, right: u32): bool {
  const last: u32 = (1 << slotBits) - 1;
  let pos = ((left * multiplier0 + right) * multiplier1) >> (32 - slotBits);
  let found = load<u32>(lanes + (pos << 3));
  while (found !== 0) {
    if (found === left && load<u32>(lanes + (pos << 3), 4) === right) return true;
    pos = (pos + 1) & last;
    found = load<u32>(lanes + (pos << 3));
  }
  return false;
}
