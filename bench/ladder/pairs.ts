/** The ids of a pair, combined into one number. Ids are below 2^26, so the number is below 2^52, and exact. */
export type PairKey = number;

const idLimit = 2 ** 26;

export const pairKey = (left: number, right: number): PairKey => left * idLimit + right;
export const leftOf = (key: PairKey): number => Math.floor(key / idLimit);
export const rightOf = (key: PairKey): number => key % idLimit;

/**
 * The bytes of each token, as a string with one character for each byte. JavaScript orders these strings like the
 * bytes.
 */
export type TokenBytes = string[];

export const byteTokens = (): TokenBytes =>
  Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte));

/**
 * Returns whether `key` wins a tie against `other` by the `cs336` rule: of two pairs with equal counts, the greater
 * one, by (left bytes, right bytes), is merged first.
 */
export function winsTie(tokenBytes: TokenBytes, key: PairKey, other: PairKey): boolean {
  const left = leftOf(key);
  const otherLeft = leftOf(other);
  if (left !== otherLeft) return tokenBytes[left]! > tokenBytes[otherLeft]!;
  return tokenBytes[rightOf(key)]! > tokenBytes[rightOf(other)]!;
}
