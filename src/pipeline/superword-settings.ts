import type { Input } from "../corpus/input.ts";
import { UserError, usageError } from "../errors.ts";
import type { Compat } from "../merge/merges.ts";
import type { ResolvedPattern } from "../pattern/pattern.ts";
import { liftedPattern } from "./training-pattern.ts";

/** How superwords are learned: tokens that go over spaces (docs/superwords.md). */
export type SuperwordSettings = {
  /** Size of the vocabulary of the first stage, which is an ordinary training. */
  readonly fromVocabSize: number;
  /** How the second stage, and the finished tokenizer, cut text. The second stage is fed line by line. */
  readonly pattern: ResolvedPattern;
};

/**
 * SuperBPE's pattern of the second stage: numbers, runs of punctuation, and spaces before white space are cut off; all text
 * between them is one pretoken.
 */
export const usualSuperwordPattern = "\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]{2,}[\\r\\n/]*| +(?!\\S)";

type Asked = { readonly fromVocabSize: number; readonly pattern: string | undefined };

/**
 * What was asked for, checked. `names` is how the caller's options are called, for errors.
 *
 * @param vocabSizeLeast the smallest of the vocabularies that are to be made
 * @param baseSize bytes and special tokens
 */
export function settleSuperwords(
  { fromVocabSize, pattern = usualSuperwordPattern }: Asked,
  sizes: { readonly vocabSizeLeast: number; readonly baseSize: number },
  compat: Compat,
  names: { readonly from: string; readonly vocabSize: string },
): SuperwordSettings {
  if (fromVocabSize < sizes.baseSize) {
    throw usageError(
      `${names.from} ${fromVocabSize} is too small: 256 bytes and the special tokens need ${sizes.baseSize}`,
    );
  }
  if (fromVocabSize > sizes.vocabSizeLeast) {
    throw usageError(
      `${names.from} ${fromVocabSize} is more than ${names.vocabSize} ${sizes.vocabSizeLeast}`,
      "superwords begin at a part of the vocabulary, e.g. at three quarters of it",
    );
  }
  return { fromVocabSize, pattern: liftedPattern(pattern, compat) };
}

/** The corpus is read once for each stage: a UserError for an input that can be read only once. */
export function checkReadTwice(inputs: readonly Input[]): void {
  const once = inputs.find((input) => input.isStream);
  if (once === undefined) return;
  const name = once.path === "-" ? "standard input" : `"${once.path}"`;
  throw new UserError(`superwords need the corpus twice, and ${name} can be read only once`, {
    hint: "write it to a file first",
  });
}
