import { usageError } from "../errors.ts";
import { wholeNumber } from "./option-values.ts";

/** `--vocab-size` where something is there already: `+N` is N new tokens, `N` the size of all. */
export type AskedSize = { readonly isMore: boolean; readonly count: number };

export function readAskedSize(text: string, what: string): AskedSize {
  const [size, ...more] = splitSizes(text);
  if (more.length > 0) throw usageError(`--vocab-size ${text}: ${what} makes one size at a time`);
  return askedSize(size!);
}

/**
 * The sizes in a list with commas between. `32,000` is one: its groups of three digits cannot all be sizes, which have 256
 * bytes at least. `300,400` are two.
 */
export function splitSizes(text: string): string[] {
  const isOne = /^\+?\d{1,3}(,\d{3}){1,2}$/.test(text);
  return isOne && text.split(",").some((group) => Number(group) < 256) ? [text] : text.split(",");
}

/** One size, or several with commas between, as typed. */
export const readAskedSizes = (text: string): AskedSize[] => splitSizes(text).map(askedSize);

function askedSize(text: string): AskedSize {
  const isMore = text.startsWith("+");
  return { isMore, count: wholeNumber("--vocab-size", isMore ? text.slice(1) : text, 1) };
}

/** The numbers of new tokens, ascending, for a base whose ids are below `idLimit`. */
export function newTokenCounts(sizes: readonly AskedSize[], idLimit: number): number[] {
  const counts = sizes.map(({ isMore, count }) => {
    if (isMore) return count;
    if (count > idLimit) return count - idLimit;
    throw usageError(
      `--vocab-size ${count} is not more than the base has: ${idLimit}`,
      "-n +8k adds 8,192 tokens to it",
    );
  });
  counts.sort((a, b) => a - b);
  const twice = counts.find((count, i) => count === counts[i + 1]);
  if (twice === undefined) return counts;
  throw usageError(`--vocab-size: ${idLimit + twice}, or +${twice}, is given twice`);
}
