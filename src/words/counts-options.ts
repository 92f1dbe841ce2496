import { UserError } from "../errors.ts";
import { describePattern } from "../pattern/pattern.ts";
import type { CountsOptions } from "./counts-format.ts";

/** The name of a counts file, or of this run, and the options its words were made with. */
export type Made = { readonly name: string; readonly options: CountsOptions };

/**
 * Throws a UserError that names the difference, if the options differ. Special tokens are compared as a set: their order
 * changes ids, not counts.
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

/** Whether the options are the same, special tokens as a set. */
export const hasOptions = (has: CountsOptions, options: CountsOptions) =>
  JSON.stringify(has.patterns) === JSON.stringify(options.patterns) &&
  tokenSet(has) === tokenSet(options) &&
  has.isLinewise === options.isLinewise;

/** The options of all files, null without files. A UserError if two differ. */
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
