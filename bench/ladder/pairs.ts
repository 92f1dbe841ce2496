/** The ids of a pair in one number. Ids are below 2^26, so keys are below 2^52. */
export type PairKey = number;

const idLimit = 2 ** 26;

export const pairKey = (left: number, right: number): PairKey => left * idLimit + right;
export const leftOf = (key: PairKey): number => Math.floor(key / idLimit);
export const rightOf = (key: PairKey): number => key % idLimit;

/** The bytes of each token, one character for each. JavaScript orders these strings like the bytes. */
export type TokenBytes = string[];

export const byteTokens = (): TokenBytes =>
  Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte));

/** The `cs336` rule: of two pairs with equal counts, the greater by (left bytes, right bytes) wins. */
export function winsTie(tokenBytes: TokenBytes, key: PairKey, other: PairKey): boolean {
  const left = leftOf(key);
  const otherLeft = leftOf(other);
  if (left !== otherLeft) return tokenBytes[left]! > tokenBytes[otherLeft]!;
  return tokenBytes[rightOf(key)]! > tokenBytes[rightOf(other)]!;
}
