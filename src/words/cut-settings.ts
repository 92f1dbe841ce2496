import type { compiledPatterns } from "#pattern";
import type { Normalization } from "#text";
import type { Compat } from "#tokenizer";
import type { CountsOptions } from "./counts-format.ts";

/** How text becomes pretokens, and which trainer is imitated. */
export type CutSettings = {
  readonly specialTokens: readonly string[];
  /** The normalization of text between special tokens; null if there is none. */
  readonly normalization: Normalization | null;
  readonly pattern: compiledPatterns.ResolvedPattern;
  readonly compat: Compat;
  /** Only with `huggingface`: a text is not cut at line ends or special tokens, only by the pattern. */
  readonly wholeTexts?: true;
  /** Only with `huggingface`: a text is not cut at special tokens. */
  readonly specialTokensAsText?: true;
};

/** Returns the options that must be equal before word counts can be added up. */
export const countsOptionsOf = ({
  pattern,
  specialTokens,
  normalization,
  compat,
  wholeTexts,
  specialTokensAsText,
}: CutSettings): CountsOptions => ({
  patterns: pattern.sources,
  specialTokens: wholeTexts || specialTokensAsText ? [] : specialTokens,
  normalization,
  isLinewise: compat === "huggingface" && !wholeTexts,
});
