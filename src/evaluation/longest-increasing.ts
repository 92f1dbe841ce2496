/**
 * Indices of a longest subsequence of ascending numbers, all of them different: of [3, 1, 2] that is [1, 2]. By patience sorting:
 * `tails[l]` is the index of the smallest number at which an ascending subsequence of l + 1 numbers ends.
 */
export function longestIncreasing(numbers: ArrayLike<number>): Uint32Array {
  const tails: number[] = [];
  const before = new Int32Array(numbers.length);
  for (let i = 0; i < numbers.length; i++) {
    let low = 0;
    let high = tails.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (numbers[tails[middle]!]! < numbers[i]!) low = middle + 1;
      else high = middle;
    }
    before[i] = low === 0 ? -1 : tails[low - 1]!;
    tails[low] = i;
  }
  const longest = new Uint32Array(tails.length);
  for (let l = tails.length - 1, i = tails[l] ?? -1; l >= 0; l--, i = before[i]!) longest[l] = i;
  return longest;
}
