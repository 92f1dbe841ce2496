import { type CompiledPattern, loadCompiler } from "#pattern";
import { type Normalization, normalize, stepIndices } from "./normalization.ts";
import type { PrefixRule, SectionSettings, TokenToFind } from "./text-sections.ts";

/** A token that is found in the text before the pattern cuts it. HF's name, and HF's flags. */
export type AddedToken = {
  readonly id: number;
  readonly content: string;
  /** Control, not text: with `--special-tokens-as-text` it stays text. */
  readonly special: boolean;
  /** Looked for in the normalized text between the other added tokens. */
  readonly normalized: boolean;
  /** Also takes the whitespace before (`lstrip`) or after (`rstrip`) it. */
  readonly lstrip: boolean;
  readonly rstrip: boolean;
  /** Counts only where no word character touches it. */
  readonly singleWord: boolean;
};

export const plainSpecial = {
  special: true,
  normalized: false,
  lstrip: false,
  rstrip: false,
  singleWord: false,
} as const;

/** How a text becomes pretokens. The same value for training, extending and encoding. Plain data. */
export type Cutting = {
  readonly pattern: CompiledPattern;
  readonly normalization: Normalization | null;
  /** A section that does not begin with a space is taken as if it did. */
  readonly addsPrefixSpace: boolean;
  /** Which sections these are, if not those that do not begin with a space. */
  readonly prefixRule?: PrefixRule;
  /** A line is such a section, too. */
  readonly isLinewise?: boolean;
  readonly addedTokens: readonly AddedToken[];
  /** Special tokens in the text stay text; left out: they are found. */
  readonly specialTokensAsText?: boolean;
};

/** Text that is cut at special tokens, then normalized if that is asked for, and cut by a pattern. */
export const plainCutting = (
  pattern: CompiledPattern,
  specialTokens: readonly string[] = [],
  normalization: Normalization | null = null,
): Cutting => ({
  pattern,
  normalization,
  addsPrefixSpace: false,
  addedTokens: specialTokens.map((content, id) => ({ id, content, ...plainSpecial })),
});

/** Whether text is changed before it is cut. */
export const changesText = ({ normalization, addsPrefixSpace }: Cutting) =>
  normalization !== null || addsPrefixSpace;

/** Whether an added token looks at the text next to it. */
export const looksAround = ({ addedTokens }: Pick<Cutting, "addedTokens">) =>
  addedTokens.some(({ lstrip, rstrip, singleWord }) => lstrip || rstrip || singleWord);

/** Whether none of the added tokens is found: all are special, and these stay text. */
const findsNone = ({ addedTokens, specialTokensAsText = false }: Cutting) =>
  addedTokens.every(({ special }) => special && specialTokensAsText);

/** Whether the pattern cuts a text unchanged, except for added tokens that do not look at their neighbours. */
export function isCutUnchanged(cutting: Cutting): boolean {
  const { addedTokens } = cutting;
  const areAlike = addedTokens.every(({ normalized }) => normalized === addedTokens[0]!.normalized);
  return !changesText(cutting) && (findsNone(cutting) || (areAlike && !looksAround(cutting)));
}

/** The tokens that are looked for while the text is cut, in some texts: none if that is done before. */
export const tokensWhileCutting = (cutting: Cutting): TokenToFind[] =>
  isCutUnchanged({ ...cutting, specialTokensAsText: false }) ? cutting.addedTokens.map(toFind) : [];

function toFind({ content, id, lstrip, rstrip, singleWord, special }: AddedToken): TokenToFind {
  const flags = [lstrip, rstrip, singleWord, special];
  return {
    bytes: new TextEncoder().encode(content),
    id,
    flags: flags.reduce((bits, flag, i) => bits | (Number(flag) << i), 0),
  };
}

/** Returns what is done to a text before the pattern cuts it. */
export function sectionSettings(cutting: Cutting): SectionSettings {
  const { addedTokens, normalization, addsPrefixSpace, prefixRule, isLinewise = false } = cutting;
  const inForm = (token: AddedToken) =>
    normalization === null ? token : { ...token, content: normalize(token.content, normalization) };
  return {
    early: addedTokens.filter(({ normalized }) => !normalized).map(toFind),
    late: addedTokens.filter(({ normalized }) => normalized).map((token) => toFind(inForm(token))),
    words: addedTokens.some(({ singleWord }) => singleWord) ? [...loadCompiler().wordCharacters()] : [],
    steps: normalization === null ? [] : stepIndices(normalization),
    addsSpace: addsPrefixSpace,
    ...(prefixRule !== undefined && { prefixRule }),
    isLinewise,
  };
}

/**
 * Whether a text can be cut into ranges by its bytes alone. It cannot if the text is changed before it is encoded (a normal
 * form, a prefix space), if a token looks at its neighbours, or if one kind of added tokens is looked for in what another
 * kind leaves.
 */
export function canBeCut(cutting: Cutting): boolean {
  const { addedTokens } = cutting;
  if (changesText(cutting) || looksAround(cutting)) return false;
  if (cutting.specialTokensAsText && addedTokens.some((token) => !token.special)) return false;
  return new Set(addedTokens.map((token) => token.normalized)).size < 2;
}

/** Whether a text can be cut into ranges by its bytes, at safe cuts among characters that normalization does not change. */
export function canBeCutSafely(cutting: Cutting): boolean {
  const isOnlyNormalized =
    cutting.normalization !== null &&
    cutting.addedTokens.every((token) => !token.normalized) &&
    canBeCut({ ...cutting, normalization: null });
  return canBeCut(cutting) || isOnlyNormalized;
}

/**
 * Where threads may cut a text: at every safe cut, at added tokens only, or nowhere. A text may be cut only at tokens that are
 * found before normalization. The text between two of them is normalized and searched on its own. If all are, it may also be
 * cut at safe cuts among characters that normalization does not change.
 */
export function textCutting(cutting: Cutting) {
  const inBytes = (tokens: readonly string[]): Uint8Array[] =>
    tokens.map((token) => new TextEncoder().encode(token));
  if (canBeCutSafely(cutting)) {
    return {
      pattern: cutting.pattern,
      normalization: cutting.normalization,
      specialTokens: inBytes(cuttingTokens(cutting)),
      keepsTextsWhole: false,
    };
  }
  const early = cutting.addedTokens.filter((token) => !token.normalized);
  const keepsTextsWhole =
    (cutting.specialTokensAsText ?? false) ||
    early.length === 0 ||
    cutting.prefixRule?.startsWith("start") ||
    looksAround({ addedTokens: early });
  return { pattern: null, specialTokens: inBytes(early.map(({ content }) => content)), keepsTextsWhole };
}

/** The added tokens at which a text is cut, if it can be cut. */
export const cuttingTokens = ({ addedTokens, specialTokensAsText }: Cutting): string[] =>
  specialTokensAsText ? [] : addedTokens.map(({ content }) => content);
