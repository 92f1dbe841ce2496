/**
 * Joins: where the two halves of a merge meet. A merge crosses a place in a text only if the bytes on both sides of it
 * are those on both sides of some merge's join; so where no join fits, no token ever lies across.
 *
 * A join is known by up to three bytes on each side, fewer if a half is shorter. Its own halves were tokens before it,
 * with joins of their own: so the one where they meet is all that a merge adds.
 *
 *   LANE   MEANING (a slot has two; open addressing, at most half full, home = top bits of the hash)
 *   0      the last bytes of the left half, the last one lowest, and their number << 24; 0 in a free slot
 *   1      the first bytes of the right half, the first one highest, and their number << 24
 *
 * "é" is c3 a9. The join of "é" and "é" is [2 << 24 | c3a9, 2 << 24 | c3a9]. Only joins between two characters that are
 * not ASCII are kept: elsewhere nobody asks.
 */
export type Joins = {
  readonly lanes: Int32Array;
  readonly slotBits: number;
  /** For l bytes on the left and r on the right whether there is any such join: 1 at 4 l + r. Most are never needed. */
  readonly hasSizes: Uint8Array;
};

const contextBytes = 3;

export function allocateJoins(joinCount: number): Joins {
  let slotBits = 4;
  while (2 ** slotBits < 2 * joinCount) slotBits++;
  return { lanes: new Int32Array(2 * 2 ** slotBits), slotBits, hasSizes: new Uint8Array(16) };
}

export function addJoin({ lanes, slotBits, hasSizes }: Joins, left: number, right: number): void {
  hasSizes[4 * (left >> 24) + (right >> 24)] = 1;
  let pos = homeOf(left, right, slotBits);
  while (lanes[pos] !== 0 && (lanes[pos] !== left || lanes[pos + 1] !== right))
    pos = (pos + 2) & (lanes.length - 1);
  lanes[pos] = left;
  lanes[pos + 1] = right;
}

// The edges of tokens, in the form of the lanes. A token of less than three bytes is its own edge on either side.

/** The last bytes of what ends before `end`. */
export function lastBytes(bytes: Uint8Array, end: number): number {
  let lane = 0;
  const start = Math.max(0, end - contextBytes);
  for (let pos = start; pos < end; pos++) lane = (lane << 8) | bytes[pos]!;
  return lane | ((end - start) << 24);
}

/** The first bytes of what begins at `start`. */
export function firstBytes(bytes: Uint8Array, start: number): number {
  let lane = 0;
  const end = Math.min(bytes.length, start + contextBytes);
  for (let pos = start; pos < end; pos++) lane = (lane << 8) | bytes[pos]!;
  return lane | ((end - start) << 24);
}

/** The first bytes of two tokens put together, from the first bytes of each. */
export function joinFirst(left: number, right: number): number {
  const leftCount = left >> 24;
  const takenCount = Math.min(contextBytes - leftCount, right >> 24);
  if (takenCount === 0) return left;
  const taken = (right & bytesMask) >> (8 * ((right >> 24) - takenCount));
  return ((left & bytesMask) << (8 * takenCount)) | taken | ((leftCount + takenCount) << 24);
}

/** The same for the last bytes. */
export function joinLast(left: number, right: number): number {
  const rightCount = right >> 24;
  const takenCount = Math.min(contextBytes - rightCount, left >> 24);
  if (takenCount === 0) return right;
  const taken = left & ((1 << (8 * takenCount)) - 1);
  return (taken << (8 * rightCount)) | (right & bytesMask) | ((rightCount + takenCount) << 24);
}

/** The first byte of a right half. */
export const firstByte = (right: number) => (right & bytesMask) >> (8 * ((right >> 24) - 1));

const bytesMask = 0xffffff;

/**
 * Whether some join fits between the three bytes `left` and the three bytes `right`. Three bytes each are looked for as
 * they are, and cut down to two and one.
 */
export function fitsJoin({ lanes, slotBits, hasSizes }: Joins, left: number, right: number): boolean {
  for (let leftCount = contextBytes; leftCount > 0; leftCount--) {
    const leftLane = (left & ((1 << (8 * leftCount)) - 1)) | (leftCount << 24);
    for (let rightCount = contextBytes; rightCount > 0; rightCount--) {
      if (hasSizes[4 * leftCount + rightCount] === 0) continue;
      const rightLane = (right >> (8 * (contextBytes - rightCount))) | (rightCount << 24);
      let pos = homeOf(leftLane, rightLane, slotBits);
      while (lanes[pos] !== 0) {
        if (lanes[pos] === leftLane && lanes[pos + 1] === rightLane) return true;
        pos = (pos + 2) & (lanes.length - 1);
      }
    }
  }
  return false;
}

function homeOf(left: number, right: number, slotBits: number): number {
  const hash = Math.imul((Math.imul(left, 0x9e3779b1) + right) | 0, 0x85ebca77);
  return (hash >>> (32 - slotBits)) << 1;
}
