import { UserError } from "../errors.ts";
import { describePattern } from "../pattern/pattern.ts";
import { xxHash64 } from "../runtime/host.ts";

/**
 * Word counts in binary form: written by `--save-counts`, read by `--counts`. Numbers are little-endian.
 *
 *   PART     SIZE      MEANING
 *   magic    8         "bpecount"
 *   version  4         3
 *   frames   any       first the header as JSON (counts-writer.ts), then words; the last frame is empty
 *
 *   FRAME     SIZE     MEANING
 *   size      4        bytes of the payload
 *   checksum  8        xxHash64 of the payload; its seed is the checksum of the frame before, 0 for the first with words
 *   payload   size
 *
 * The checksums are a chain: a frame that is changed, missing or out of place is found before it is used. The header is
 * outside of the chain, and padded with spaces to one size for all totals: where the totals are not known at first, it is
 * written again at the end. What it says of the words is checked when all are read.
 *
 *   WORD      SIZE     MEANING
 *   shared    varint   bytes that the word shares with the one before it in the frame
 *   rest      varint   bytes that follow, at least 1
 *   bytes     rest
 *   count     varint   at least 1
 *
 * Words come in ascending order of their bytes through all frames. " the" counted 12 times after " that" is
 * 3, 1, "e", 12. A varint has seven bits a byte, the lowest first, the top bit set where another byte follows.
 */
export const magic = new TextEncoder().encode("bpecount");
export const formatVersion = 3;
export const frameHeadBytes = 12;

/** What the words were made with: counts made with other options must not be added up. */
export type CountsOptions = {
  /** Sources of the pattern's splits, in order. */
  readonly patterns: readonly string[];
  readonly specialTokens: readonly string[];
  /** Whether documents were cut at the ends of lines. */
  readonly isLinewise: boolean;
};

/** How many distinct words there are, how many bytes these have, and how often they occur in all. */
export type CountsTotals = {
  readonly wordCount: number;
  readonly byteCount: number;
  readonly pretokenCount: number;
};

/** The header: the options and the totals. */
export type CountsHeader = CountsOptions & CountsTotals;

export function checksumOf(payload: Uint8Array, seed: bigint): bigint {
  return xxHash64(payload, seed);
}

/** The name of a counts file, or of this run, and the options its words were made with. */
export type CountsOrigin = { readonly name: string; readonly options: CountsOptions };

/**
 * Throws a UserError that names the difference, if the options differ. Special tokens are compared as a set: their order
 * changes ids, not counts.
 */
export function checkOptions(
  { name, options: has }: CountsOrigin,
  other: CountsOrigin,
  hint = againHint,
): void {
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
export function agreedOptions(files: readonly CountsOrigin[]): CountsOptions | null {
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
