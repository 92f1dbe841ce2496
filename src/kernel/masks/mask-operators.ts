// Functions for the loops that scripts/generate-mask-loops.ts generates from boundary formulas. Masks have 64 bits: bit
// i is byte i of a block. `Ops` in src/pattern/mask-formulas.ts specifies the operators.

/** Returns the top bit of each byte of four vectors, as a mask. */
export function topBits(v0: v128, v1: v128, v2: v128, v3: v128): u64 {
  const low = <u32>(i8x16.bitmask(v0) | (i8x16.bitmask(v1) << 16));
  const high = <u32>(i8x16.bitmask(v2) | (i8x16.bitmask(v3) << 16));
  return <u64>low | ((<u64>high) << 32);
}

export function equal(v: v128, byte: i8): v128 {
  return i8x16.eq(v, i8x16.splat(byte));
}

/**
 * Selects the bytes in [first, first + count). Shifts the range so that one signed comparison suffices, because SSE and
 * AVX2 do not compare bytes as unsigned numbers.
 */
export function within(v: v128, first: i8, count: i8): v128 {
  return i8x16.lt_s(i8x16.add(v, i8x16.splat(-128 - first)), i8x16.splat(-128 + count));
}

/** Selects ASCII letters. */
export function letters(v: v128): v128 {
  return within(v128.or(v, i8x16.splat(0x20)), 97, 26);
}

/**
 * Extends each seed upwards to the end of its run of bits in `run`: the carry of the addition propagates through the
 * run. All seeds must be bits of `run`.
 */
export function spread(seeds: u64, run: u64): u64 {
  return (((seeds + run) ^ run) | seeds) & run;
}

/** Extends each seed downwards to the beginning of its run. */
export function spreadDown(seeds: u64, run: u64): u64 {
  if (seeds === 0) return 0;
  for (let step: u64 = 1; step < 64; step <<= 1) {
    seeds |= run & (seeds >> step);
    run &= run >> step;
  }
  return seeds;
}

/** Moves bits at the last bytes of characters to their first bytes. */
export function backToLeads(bits: u64, continuation: u64): u64 {
  while (bits & continuation) bits = (bits & ~continuation) | ((bits & continuation) >> 1);
  return bits;
}

/**
 * Copies bits at the first bytes of characters to all of their bytes. `carry` is bit 63 of the result for the previous
 * block, because a character may continue in this block.
 */
export function overCharacters(leads: u64, carry: u64, continuation: u64): u64 {
  return leads | spread(((leads << 1) | carry) & continuation, continuation);
}

/**
 * Returns the first character of each run, and every `count`-th character after it. `run` has the characters of all
 * runs, `firsts` their first characters. `runBefore` is `run` of the previous block, and `firstsBefore` is the result
 * for that block.
 */
export function groups(firsts: u64, firstsBefore: u64, run: u64, runBefore: u64, count: u32): u64 {
  let inGroup = run;
  for (let k: u64 = 1; k < count; k++) inGroup &= (run << k) | (runBefore >> (64 - k));
  let next = ((firsts << count) | (firstsBefore >> (64 - count))) & inGroup;
  while (next) {
    firsts |= next;
    next = (next << count) & inGroup;
  }
  return firsts;
}

/**
 * Returns the number of letters of the English contraction after the apostrophe at this address, or 0 if none follows.
 * `fold` is 0x20 to match capitals, too; otherwise 0.
 */
export function contractionLetters(apostrophe: usize, fold: u32): u64 {
  const first = <u32>load<u8>(apostrophe, 1) | fold;
  if (first === 0x73 || first === 0x74 || first === 0x6d || first === 0x64) return 1;
  const second = <u32>load<u8>(apostrophe, 2) | fold;
  if (first === 0x6c && second === 0x6c) return 2;
  if ((first === 0x72 || first === 0x76) && second === 0x65) return 2;
  return 0;
}

/**
 * Writes `base` plus the index of each bit to `ends`, four at a time, so up to three excess values follow. Returns the
 * address after the last valid one.
 */
export function writeEnds(ends: usize, base: u32, begins: u64): usize {
  const next = ends + ((<usize>popcnt(begins)) << 2);
  while (begins) {
    store<u32>(ends, base + <u32>ctz(begins));
    begins &= begins - 1;
    store<u32>(ends, base + <u32>ctz(begins), 4);
    begins &= begins - 1;
    store<u32>(ends, base + <u32>ctz(begins), 8);
    begins &= begins - 1;
    store<u32>(ends, base + <u32>ctz(begins), 12);
    begins &= begins - 1;
    ends += 16;
  }
  return next;
}

/** The address after the ends that the last loop has written. */
export let endsAfter: usize = 0;

export function leaveEnds(ends: usize): void {
  endsAfter = ends;
}
