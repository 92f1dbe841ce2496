import type { CutOptions } from "../corpus/cut-into-ranges.ts";
import type { CutSettings } from "../corpus/plan-file.ts";
import { type NamedPattern, patterns } from "../pattern/pattern.ts";
import type { EncodingParts, TokenizerParts } from "./tokenizer-parts.ts";

/**
 * Whether a text can be cut into ranges by its bytes alone. It cannot if the text is changed before it is encoded (a normal
 * form, a prefix space), if a token looks at its neighbours, or if one kind of added tokens is looked for in what another
 * kind leaves.
 */
export function canBeCut(parts: EncodingParts, specialTokensAsText: boolean): boolean {
  const { addedTokens } = parts;
  if (parts.normalization !== null || parts.addsPrefixSpace) return false;
  if (addedTokens.some((token) => token.lstrip || token.rstrip || token.singleWord)) return false;
  if (specialTokensAsText && addedTokens.some((token) => !token.special)) return false;
  return new Set(addedTokens.map((token) => token.normalized)).size < 2;
}

/**
 * Where threads may cut a text: at every safe cut, at added tokens only, or nowhere. A text may be cut only at tokens that are
 * found before normalization. The text between two of them is normalized and searched on its own.
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

/** The added tokens at which a text is cut, if it can be cut. */
export const cuttingTokens = (parts: EncodingParts, specialTokensAsText: boolean): string[] =>
  specialTokensAsText ? [] : parts.addedTokens.map(({ content }) => content);

const knownSources: Readonly<Record<string, NamedPattern>> = patterns;

/** What the cuts of a plan for encoding depend on. A pattern with a name counts as what the name stands for. */
export function cutSettingsOf(parts: TokenizerParts, specialTokensAsText: boolean): CutSettings {
  const { patternName, patternSources } = parts.description;
  return {
    patterns: knownSources[patternName ?? ""]?.sources ?? patternSources,
    specialTokens: cuttingTokens(parts, specialTokensAsText),
    isLinewise: false,
  };
}
