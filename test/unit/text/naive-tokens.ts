/** A token found: its position and length. */
export type Found = [pos: number, length: number];

/**
 * Finds tokens by the definition: at each position the longest token that ends by `limit`, if any. The search continues
 * after each token or, with `overlapping`, one byte after its start.
 */
export function findNaively(
  tokens: readonly Uint8Array[],
  text: Uint8Array,
  from = 0,
  limit = text.length,
  overlapping = false,
): Found[] {
  const found: Found[] = [];
  for (let pos = from; pos < limit; ) {
    let length = 0;
    for (const token of tokens) {
      const isLonger = token.length > length && pos + token.length <= limit && token[0] === text[pos];
      if (isLonger && token.every((byte, i) => text[pos + i] === byte)) length = token.length;
    }
    if (length > 0) found.push([pos, length]);
    pos += length === 0 || overlapping ? 1 : length;
  }
  return found;
}
