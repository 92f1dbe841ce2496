import { usageError } from "../errors.ts";
import { wholeNumber } from "./option-values.ts";

/** `--vocab-size` where something is there already: `+N` is N new tokens, `N` the size of all. */
export type AskedSize = { readonly isMore: boolean; readonly count: number };

export function readAskedSize(text: string, what: string): AskedSize {
  if (text.includes(",")) throw usageError(`--vocab-size ${text}: ${what} makes one size at a time`);
  const isMore = text.startsWith("+");
  return { isMore, count: wholeNumber("--vocab-size", isMore ? text.slice(1) : text, 1) };
}
