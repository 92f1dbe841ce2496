import { lowerThreshold, threshold } from "./count-threshold";
import { boundary, cellCount, cells, entries, isWide, stagedLefts, weights } from "./merge-regions";
import { lengthOf } from "./merge-tokens";
import { stepCount, stepOf, weightEndAt } from "./word-layout";

/**
 * Sketch: upper bounds of the counts of all pairs of a text, in little memory. Most pairs are rare, so a record for each would
 * be mostly for nothing, and each look at one a cache miss. A pair adds its weight to the cell of its hash; if a cell has less
 * than the threshold, so has every pair in it.
 *
 *   REGION        ELEMENT   ELEMENTS         MEANING
 *   entries       u32       2^sketchBits     the weight of all pairs of a cell, 2^32 - 1 for more
 *   stagedLefts   u16       2^sketchBits/16  a bit for each cell that has the threshold or more
 *
 * Both regions are free while the text is counted. Lists are then written into the first; the second stays until the next
 * merge.
 */
let sketchBits: u32 = 0;
/** 4 MB: so many cells are read from a near cache, and hold few rare pairs each where texts have millions. */
const sketchBitsMax: u32 = 20;
const sketchBitsMin: u32 = 4;
/** Cells of the text for each cell of the sketch. */
const textCellsPerCell: u32 = 16;
const cellMax: u64 = 0xffffffff;

/** How far the walk is. */
let pos: u32 = 1;
let step: u32 = 0;

/** The size of the sketch for this memory's text, as a power of two. */
export function wishedSketchBits(): u32 {
  let bits = sketchBitsMin;
  while (bits < sketchBitsMax && textCellsPerCell << (bits + 1) <= cellCount) bits++;
  return bits;
}

/** Begins a sketch of 2^bits cells, at most as many as are wished for. */
export function startSketch(bits: u32): void {
  sketchBits = bits;
  pos = 1;
  step = 0;
  memory.fill(entries, 0, (<usize>4) << sketchBits);
}

/** Adds up the pairs that begin in the next `work` cells of the text; false after the last. */
export function sketchSome(work: u32): bool {
  if (isWide) sketchPairs<u32>(work);
  else sketchPairs<u16>(work);
  return pos < cellCount;
}

function sketchPairs<T>(work: u32): void {
  const until = pos + min(cellCount - pos, work);
  const text = cells;
  const sketch = entries;
  const shift = 32 - sketchBits;
  const wordEnd = boundary;
  let at = pos;
  let weightEnd: u32 = 0;
  let weight: u64 = 0;
  while (at < until) {
    const left = <u32>load<T>(text + <usize>at * sizeof<T>());
    if (left === wordEnd) {
      at++;
      continue;
    }
    const next = at + lengthOf(left);
    const right = <u32>load<T>(text + <usize>next * sizeof<T>());
    if (right !== wordEnd) {
      if (at >= weightEnd) {
        step = stepOf(stepCount, step, at);
        weightEnd = weightEndAt(step);
        weight = load<u64>(weights + ((<usize>step) << 3));
      }
      const cell = sketch + ((<usize>(hashOf(left, right) >> shift)) << 2);
      store<u32>(cell, <u32>min<u64>(<u64>load<u32>(cell) + weight, cellMax));
    }
    at = next;
  }
  pos = at;
}

function hashOf(left: u32, right: u32): u32 {
  return (left * 0x9e3779b1 + right) * 0x85ebca77;
}

/** Address of the cells, and how many there are: JavaScript adds up those of several memories. */
export function sketchAddress(): usize {
  return entries;
}

export function sketchCellCount(): u32 {
  return 1 << sketchBits;
}

const tally = memory.data(64 * 4);

/** Lowers the threshold to what about so many cells have. */
export function lowerToSketch(pairsWanted: u32): void {
  memory.fill(tally, 0, 64 * sizeof<u32>());
  for (let cell: usize = 0; cell < (<usize>1) << sketchBits; cell++) {
    const sum = load<u32>(entries + (cell << 2));
    if (sum === 0) continue;
    const bits = tally + ((31 - <usize>clz(sum)) << 2);
    store<u32>(bits, load<u32>(bits) + 1);
  }
  lowerThreshold(tally, pairsWanted);
}

/** From now on the sketch tells which pairs may have the threshold. */
export function endSketch(): void {
  const least = <u32>min<u64>(threshold, cellMax);
  for (let word: usize = 0; word < (<usize>1) << (sketchBits - 4); word++) {
    let bits: u32 = 0;
    for (let bit: usize = 0; bit < 16; bit++) {
      bits |= u32(load<u32>(entries + ((word << 6) | (bit << 2))) >= least) << (<u32>bit);
    }
    store<u16>(stagedLefts + (word << 1), <u16>bits);
  }
}

/** Whether the pair may have the threshold. */
export function mayBeFrequent(left: u32, right: u32): bool {
  const cell = hashOf(left, right) >> (32 - sketchBits);
  return ((<u32>load<u16>(stagedLefts + ((<usize>(cell >> 4)) << 1)) >> (cell & 15)) & 1) !== 0;
}
