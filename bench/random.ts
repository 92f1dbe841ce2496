/** Returns a source of seeded random numbers (xorshift32). */
export function randomSource(seed: number) {
  let state = seed | 0 || 1;
  const next = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
  return {
    /** Returns a whole number in [0, bound). */
    below: (bound: number) => next() % bound,
    /** Returns a number in [0, 1). */
    unit: () => next() / 2 ** 32,
  };
}
