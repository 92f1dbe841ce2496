/**
 * How many rounds a random test makes. `npm test` makes as many as a quick look needs; `npm run test:long` more of them, in all
 * test files that ask here.
 */
export const rounds = (count: number) => count * Number(process.env.BPE_TEST_ROUNDS ?? 1);
