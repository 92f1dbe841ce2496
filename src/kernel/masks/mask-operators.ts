// Functions for generated loops, specified by `Ops` in src/pattern/mask-formulas.ts. Bit i of a mask is byte i of a
// block.

/** Returns the top bit of each byte of four vectors, as a mask. */
export function topBits(v0: v128, v1: v128, v2: v128, v3: v128): u64 {
  const low = <u32>(i8x16.bitmask(v0) | (i8x16.bitmask(v1) << 16));
  const high = <u32>(i8x16.bitmask(v2) | (i8x16.bitmask(v3) << 16));
  return <u64>low | ((<u64>high) << 32);
}

export function equal(v: v128, byte: i8): v128 {
  return i8x16.eq(v, i8x16.splat(byte));
}

/** Shifts the range so that one signed comparison suffices: SSE and AVX2 have no unsigned one. */
export function within(v: v128, first: i8, count: i8): v128 {
  return i8x16.lt_s(i8x16.add(v, i8x16.splat(-128 - first)), i8x16.splat(-128 + count));
}

/** Selects ASCII letters. */
export function letters(v: v128): v128 {
  return within(v128.or(v, i8x16.splat(0x20)), 97, 26);
}

/** Extends seeds, which are bits of `run`, upwards to the end of their run, by the carry of the addition. */
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

/** Copies bits at first bytes to the whole characters. `carry` is for a character of the previous block. */
export function overCharacters(leads: u64, carry: u64, continuation: u64): u64 {
  return leads | spread(((leads << 1) | carry) & continuation, continuation);
}

/**
 * Returns every `count`-th character of each run, from the first on. `runBefore` and `firstsBefore` are `run` and the
 * result of the previous block.
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

/** Returns the number of letters of an English contraction, or 0. `fold` is 0x20 to match capitals, too. */
export function contractionLetters(apostrophe: usize, fold: u32): u64 {
  const first = <u32>load<u8>(apostrophe, 1) | fold;
  if (first === 0x73 || first === 0x74 || first === 0x6d || first === 0x64) return 1;
  const second = <u32>load<u8>(apostrophe, 2) | fold;
  if (first === 0x6c && second === 0x6c) return 2;
  if ((first === 0x72 || first === 0x76) && second === 0x65) return 2;
  return 0;
}

/** Writes `base` plus the index of each bit. Up to three excess values follow the returned address. */
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
