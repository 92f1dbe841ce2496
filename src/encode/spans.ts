/**
 * Spans: a long word while it is merged, so that neighbours are found without moving anything. A token that covers
 * symbols [p, q) is
 *
 *   ARRAY   TYPE         MEANING
 *   ids     Int32Array   its id at p, `covered` at the start of what it swallowed
 *   spans   Int32Array   q - p at p and again at q - 1: the left neighbour begins at p - spans[p - 1], the right one at
 *                        p + spans[p]
 *
 * "a b c" with "ab" merged: ids = [ab, covered, c], spans = [2, 2, 1].
 */
const covered = -1;

export function startSpans(spans: Int32Array, symbolCount: number): void {
  spans.fill(1, 0, symbolCount);
}

/** The tokens at `pos` and, right behind it, at `rightPos` become one. */
export function joinSpans(
  ids: Int32Array,
  spans: Int32Array,
  pos: number,
  rightPos: number,
  merged: number,
): void {
  const span = (spans[pos]! + spans[rightPos]!) | 0;
  ids[pos] = merged;
  ids[rightPos] = covered;
  spans[pos] = span;
  spans[pos + span - 1] = span;
}

/** Moves the ids of the tokens together at the front; returns how many they are. */
export function packTokens(ids: Int32Array, spans: Int32Array, symbolCount: number): number {
  let count = 0;
  for (let pos = 0; pos < symbolCount; pos += spans[pos]!) ids[count++] = ids[pos]!;
  return count;
}
