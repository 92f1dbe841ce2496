import type { CutOptions } from "../corpus/cut-finder.ts";
import type { CutSettings } from "../corpus/plan-line.ts";
import { type PatternName, patterns } from "../pattern/pattern.ts";
import type { EncodingParts, TokenizerParts } from "./tokenizer-parts.ts";

/**
 * Whether a text can be cut into ranges by its bytes alone. Not where what is encoded differs from what was read (a
 * normal form, a space put before), where a token reaches for its neighbours, or where one kind of added token is
 * looked for in what another one leaves.
 */
export function canBeCut(parts: EncodingParts, specialTokensAsText: boolean): boolean {
  const { addedTokens } = parts;
  if (parts.normalization !== null || parts.addsPrefixSpace) return false;
  if (addedTokens.some((token) => token.lstrip || token.rstrip || token.singleWord)) return false;
  if (specialTokensAsText && addedTokens.some((token) => !token.special)) return false;
  return new Set(addedTokens.map((token) => token.normalized)).size < 2;
}

/**
 * Where threads may cut a text: anywhere; or at added tokens alone; or nowhere. Only tokens that are found in the text as it
 * is are places: what is between two of these is normalized, and searched for other tokens, without a look beyond them.
 */
export function textCutting(parts: EncodingParts, specialTokensAsText: boolean): TextCutting {
  const inBytes = (tokens: string[]) => tokens.map((token) => new TextEncoder().encode(token));
  if (canBeCut(parts, specialTokensAsText)) {
    const specialTokens = inBytes(cuttingTokens(parts, specialTokensAsText));
    return { pattern: parts.pattern, specialTokens, keepsTextsWhole: false };
  }
  const early = parts.addedTokens.filter((token) => !token.normalized);
  const keepsTextsWhole =
    specialTokensAsText ||
    early.length === 0 ||
    early.some((token) => token.lstrip || token.rstrip || token.singleWord);
  return { pattern: null, specialTokens: inBytes(early.map(({ content }) => content)), keepsTextsWhole };
}

type TextCutting = CutOptions & { readonly keepsTextsWhole: boolean };

/** Added tokens at which a text that can be cut is cut. */
export const cuttingTokens = (parts: EncodingParts, specialTokensAsText: boolean): string[] =>
  specialTokensAsText ? [] : parts.addedTokens.map(({ content }) => content);

/** What the cuts of a plan for encoding depend on. A pattern that has a name counts as what the name stands for. */
export function cutSettingsOf(parts: TokenizerParts, specialTokensAsText: boolean): CutSettings {
  const { patternName, patternSources } = parts.description;
  return {
    patterns: patternName === null ? patternSources : patterns[patternName as PatternName].sources,
    specialTokens: cuttingTokens(parts, specialTokensAsText),
    isLinewise: false,
  };
}
