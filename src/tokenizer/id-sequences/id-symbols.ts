import type { IdMerges } from "./id-merges.ts";

/** Symbols between two yields. */
const sliceSymbols = 1 << 14;

/** The symbols that tokens stand for, in order. Each part is valid until the next one is asked for. */
export function* symbolsOf(
  { alphabetSize, left, right }: IdMerges,
  ids: ArrayLike<number>,
): Generator<Uint32Array, void> {
  const symbols = new Uint32Array(sliceSymbols);
  let count = 0;
  // Right halves that wait for their left ones.
  const waiting: number[] = [];
  for (let i = 0; i < ids.length; i++) {
    waiting.push(ids[i]!);
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      for (; id >= alphabetSize; id = left[id - alphabetSize]!) waiting.push(right[id - alphabetSize]!);
      symbols[count++] = id;
      if (count < sliceSymbols) continue;
      yield symbols;
      count = 0;
    }
  }
  if (count > 0) yield symbols.subarray(0, count);
}
