import { UserError } from "../errors.ts";
import { describePattern } from "../pattern/pattern.ts";
import type { CountsOptions } from "./counts-format.ts";

/** Word counts, or a run, by their name and what they were made with. */
export type Made = { readonly name: string; readonly options: CountsOptions };

/**
 * A UserError that names what differs, if the words were made with other options than these. Special tokens are compared
 * as a set: their order changes ids, not counts.
 */
export function checkOptions({ name, options: has }: Made, other: Made, hint = againHint): void {
  const wanted = other.options;
  const differ = (what: string, had: string, wants: string): void => {
    if (had === wants) return;
    throw new UserError(`${name} was made with ${what} ${cut(had)}, and ${other.name} has ${cut(wants)}`, {
      hint,
    });
  };
  differ("the pattern", describePattern(has.patterns), describePattern(wanted.patterns));
  differ("the special tokens", tokenSet(has), tokenSet(wanted));
  differ("documents cut at line ends", String(has.isLinewise), String(wanted.isLinewise));
}

/** Whether words were made with these options. */
export const hasOptions = (has: CountsOptions, options: CountsOptions) =>
  JSON.stringify(has.patterns) === JSON.stringify(options.patterns) &&
  tokenSet(has) === tokenSet(options) &&
  has.isLinewise === options.isLinewise;

/** What the files were made with, which has to be the same; null where there are none. */
export function agreedOptions(files: readonly Made[]): CountsOptions | null {
  const [first, ...others] = files;
  if (first === undefined) return null;
  for (const other of others) checkOptions(other, first);
  return first.options;
}

const shownLengthMax = 300;
const cut = (text: string) => (text.length > shownLengthMax ? `${text.slice(0, shownLengthMax)}…` : text);

const tokenSet = ({ specialTokens }: CountsOptions) => JSON.stringify([...specialTokens].sort());

const againHint =
  "word counts add up only if they were made with the same options: count again, or change the options";
