/**
 * How thorough random and exhaustive tests are. `npm test` is a quick look: it has to come often. `npm run suite long`, each night,
 * makes twenty times as many rounds.
 */
const share = Number(process.env.BPE_TEST_ROUNDS ?? 0.2);

/** Whether all cases are tried; a quick run takes a few. */
export const isThorough = share >= 1;

/** How many rounds a random test makes. */
export const rounds = (count: number) => Math.ceil(count * share);

/** What every case is tried with: one of the list, another one for each `turn`; all of it in a thorough run. */
export const turns = <T>(list: readonly T[], turn: number): readonly T[] =>
  isThorough ? list : [list[turn % list.length]!];

/** The whole numbers below the count: each fifth, from another one on for each `turn`; all in a thorough run. */
export function* places(count: number, turn: number): Generator<number, void> {
  const step = isThorough ? 1 : 5;
  for (let place = turn % step; place < count; place += step) yield place;
}
