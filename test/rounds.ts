/** The factor for the number of rounds of each random test. From 1 on, exhaustive tests try all cases. */
const share = Number(process.env.BPE_TEST_ROUNDS ?? 0.2);

/** Whether exhaustive tests try all cases; a quick run tries a few. */
export const isThorough = share >= 1;

/** Returns the number of rounds of a random test. */
export const rounds = (count: number) => Math.ceil(count * share);

/** Returns all values in a thorough run, otherwise one, which depends on `turn`. */
export const turns = <T>(list: readonly T[], turn: number): readonly T[] =>
  isThorough ? list : [list[turn % list.length]!];

/**
 * Yields all numbers below the count in a thorough run, otherwise every fifth, beginning at one that depends on `turn`.
 */
export function* places(count: number, turn: number): Generator<number, void> {
  const step = isThorough ? 1 : 5;
  for (let place = turn % step; place < count; place += step) yield place;
}
