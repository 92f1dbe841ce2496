import { findPair, noRank } from "./pair-ranks";

/**
 * Merges a short word in place: `ids` are the addresses of `symbolCount` ids of 32 bits, `ranks` of the rank of each and the
 * next one, both filled in. Quadratic, and the fastest way for the few bytes that words have. Returns the number of ids
 * left.
 */
export function mergeScanned(ids: usize, symbolCount: u32, ranks: usize, mergedIds: usize): u32 {
  let count = symbolCount;
  while (true) {
    let best = noRank;
    let bestPos: u32 = 0;
    for (let i: u32 = 0; i + 1 < count; i++) {
      const rank = load<i32>(ranks + (i << 2));
      if (rank < best) {
        best = rank;
        bestPos = i;
      }
    }
    if (best === noRank) return count;
    const merged = load<i32>(mergedIds + (best << 2));
    const id = ids + (bestPos << 2);
    const rank = ranks + (bestPos << 2);
    store<i32>(id, merged);
    count--;
    for (let i = bestPos + 1, to: usize = 4; i < count; i++, to += 4) {
      store<i32>(id + to, load<i32>(id + to, 4));
      store<i32>(rank + to, load<i32>(rank + to, 4));
    }
    if (bestPos > 0) store<i32>(rank - 4, findPair(load<i32>(id - 4), merged));
    if (bestPos + 1 < count) store<i32>(rank, findPair(merged, load<i32>(id, 4)));
  }
}
