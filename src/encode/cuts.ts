import type { CutSettings } from "../corpus/plan-lines.ts";
import { type PatternName, patterns } from "../pattern/index.ts";
import type { EncodingParts, TokenizerParts } from "./tokenizer-parts.ts";

/**
 * Whether a text can be cut into ranges by its bytes alone. Not where what is encoded differs from what was read (a
 * normal form, a space put before), where a token reaches for its neighbours, or where one kind of added token is
 * looked for in what another one leaves: there a text is encoded by one worker, and several texts side by side.
 */
export function canBeCut(parts: EncodingParts, specialTokensAsText: boolean): boolean {
  const { addedTokens } = parts;
  if (parts.normalization !== null || parts.addsPrefixSpace) return false;
  if (addedTokens.some((token) => token.lstrip || token.rstrip || token.singleWord)) return false;
  if (specialTokensAsText && addedTokens.some((token) => !token.special)) return false;
  return new Set(addedTokens.map((token) => token.normalized)).size < 2;
}

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
