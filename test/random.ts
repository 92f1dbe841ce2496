/** Returns a random whole number from 0 to `below` - 1. */
export type Random = (below: number) => number;

/** Returns a random source (mulberry32). The same seed gives the same numbers. */
export function randomNumbers(seed: number): Random {
  return (below) => {
    seed = (seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

export const pick = <T>(random: Random, items: readonly T[]): T => items[random(items.length)]!;
