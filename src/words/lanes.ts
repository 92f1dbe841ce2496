/**
 * Words as lanes: four bytes to an Int32, little-endian, zero after the word's end: how lanes are cut and hashed for the word
 * cache of encoding. Counting has its words in the kernel (src/kernel/words/).
 */

/** Words of up to 7 bytes are short: two lanes, the top byte of the second left free for the length. */
export const shortBytesMax = 7;
/** Words of 8 to 15 bytes are middle: four lanes, the top byte of the last left free for the length. */
export const middleBytesMax = 15;

/** The bits of a lane that belong to a word with `bytesLeft` bytes in it or after it. */
export function laneMask(bytesLeft: number): number {
  if (bytesLeft <= 0) return 0;
  return bytesLeft >= 4 ? -1 : (1 << (8 * bytesLeft)) - 1;
}

// Odd and without structure: the golden ratio's multiplier, those of xxHash32, and one of a well-tested finalizer.
const multiplier0 = 0x9e3779b1 | 0;
const multiplier1 = 0x85ebca77 | 0;
const multiplier2 = 0xc2b2ae3d | 0;
const multiplier3 = 0x27d4eb2f | 0;
const finalMultiplier = 0x2c1b3c6d;

/**
 * Hash of a short word. Tables take their slots from the top bits, which every byte of both lanes reaches. No step
 * more: words that differ in a regular way (numbers, all words of two bytes) are spread better by a bare product than
 * by a mixed one, and English is counted 7 % faster.
 */
export function hashTwoLanes(lane0: number, lane1: number): number {
  return (Math.imul(lane0, multiplier0) + Math.imul(lane1, multiplier1)) | 0;
}

/**
 * Hash of a middle word. The product of a lane's top byte reaches the top byte alone, so each pair of lanes is mixed
 * before its second half is added: without that, words that differ in bytes 3 and 7 alone would share 256 hashes.
 */
export function hashFourLanes(lane0: number, lane1: number, lane2: number, lane3: number): number {
  let front = Math.imul(lane0, multiplier0);
  front = ((front ^ (front >>> 15)) + Math.imul(lane1, multiplier1)) | 0;
  let back = Math.imul(lane2, multiplier2);
  back = ((back ^ (back >>> 15)) + Math.imul(lane3, multiplier3)) | 0;
  let hash = (Math.imul(front ^ (front >>> 15), multiplier1) + back) | 0;
  hash ^= hash >>> 15;
  return Math.imul(hash, finalMultiplier);
}

/** Hash of a long word is a chain: `hashStart(length)`, then a step a lane, then `hashEnd`. */
export function hashStart(lengthBytes: number): number {
  return Math.imul(lengthBytes, multiplier2);
}

export function hashStep(hash: number, lane: number): number {
  hash = Math.imul(hash ^ lane, multiplier0);
  return hash ^ (hash >>> 15);
}

export function hashEnd(hash: number): number {
  hash = Math.imul(hash, multiplier1);
  hash ^= hash >>> 13;
  return Math.imul(hash, finalMultiplier);
}
