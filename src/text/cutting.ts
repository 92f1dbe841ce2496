import { type CompiledPattern, loadCompiler } from "#pattern";
import type { Normalization } from "./normalization.ts";
import * as normalForms from "./normalization.ts";
import {
  describeSections,
  type PrefixRule,
  type SectionSettings,
  type TokenToFind,
} from "./text-sections.ts";

export type { PrefixRule };

/** A token that is found in a text before the pattern cuts it. The fields are HF's, with HF's meaning. */
export type AddedToken = {
  readonly id: number;
  readonly content: string;
  /** Whether it is a special token. With `--special-tokens-as-text`, special tokens stay text. */
  readonly special: boolean;
  /** Whether it is searched for in the normalized text. The other added tokens are found before normalization. */
  readonly normalized: boolean;
  /** Whether it also consumes the whitespace before it. */
  readonly lstrip: boolean;
  /** Whether it also consumes the whitespace after it. */
  readonly rstrip: boolean;
  /** Whether it counts only where no word character is next to it. */
  readonly singleWord: boolean;
};

export const plainSpecial = {
  special: true,
  normalized: false,
  lstrip: false,
  rstrip: false,
  singleWord: false,
} as const;

/** How a text becomes pretokens, as plain data. */
export type Cutting = {
  readonly pattern: CompiledPattern;
  readonly normalization: Normalization | null;
  /** Whether spaces are put before sections, which are the parts of a text between added tokens. */
  readonly addsPrefixSpace: boolean;
  /** Which sections get a space if `addsPrefixSpace`; by default, all that do not begin with one. */
  readonly prefixRule?: PrefixRule;
  /** Whether each line gets a space, as a section does. */
  readonly isLinewise?: boolean;
  readonly addedTokens: readonly AddedToken[];
  /** Whether special tokens in the text stay text. By default they are found. */
  readonly specialTokensAsText?: boolean;
};

/**
 * Returns a cutting that splits text at special tokens, normalizes the sections between them if `normalization` is
 * given, and cuts the sections by a pattern.
 */
export const plain = (
  pattern: CompiledPattern,
  specialTokens: readonly string[] = [],
  normalization: Normalization | null = null,
): Cutting => ({
  pattern,
  normalization,
  addsPrefixSpace: false,
  addedTokens: specialTokens.map((content, id) => ({ id, content, ...plainSpecial })),
});

/** Whether text is changed before the pattern cuts it. */
export const changesText = ({ normalization, addsPrefixSpace }: Cutting) =>
  normalization !== null || addsPrefixSpace;

/** Whether some added token depends on the text next to it. */
export const looksAround = ({ addedTokens }: Pick<Cutting, "addedTokens">) =>
  addedTokens.some(({ lstrip, rstrip, singleWord }) => lstrip || rstrip || singleWord);

/** Whether no added token is ever found: all are special, and special tokens stay text. */
const findsNone = ({ addedTokens, specialTokensAsText = false }: Cutting) =>
  addedTokens.every(({ special }) => special && specialTokensAsText);

/**
 * Whether the pattern sees a text unchanged, except that added tokens are removed: either none are found, or all are
 * found in one search and none of them depends on its neighbours.
 */
export function isCutUnchanged(cutting: Cutting): boolean {
  const { addedTokens } = cutting;
  const areAlike = addedTokens.every(({ normalized }) => normalized === addedTokens[0]!.normalized);
  return !changesText(cutting) && (findsNone(cutting) || (areAlike && !looksAround(cutting)));
}

/**
 * Returns the tokens that the kernel searches for while it cuts a text; none if they are found before the text is cut
 * (`sectionSettings`).
 */
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

/** Returns how a text is cut into sections before the pattern cuts the sections. */
export function sectionSettings(cutting: Cutting): SectionSettings {
  const { addedTokens, normalization, addsPrefixSpace, prefixRule, isLinewise = false } = cutting;
  const inForm = (token: AddedToken) =>
    normalization === null
      ? token
      : { ...token, content: normalForms.normalize(token.content, normalization) };
  return {
    early: addedTokens.filter(({ normalized }) => !normalized).map(toFind),
    late: addedTokens.filter(({ normalized }) => normalized).map((token) => toFind(inForm(token))),
    words: addedTokens.some(({ singleWord }) => singleWord) ? [...loadCompiler().wordCharacters()] : [],
    steps: normalization === null ? [] : normalForms.stepIndices(normalization),
    addsSpace: addsPrefixSpace,
    ...(prefixRule !== undefined && { prefixRule }),
    isLinewise,
  };
}

/** Returns the section settings in the kernel's form. */
export const describe = (cutting: Cutting): Uint8Array<ArrayBuffer> =>
  describeSections(sectionSettings(cutting));

/**
 * Whether a text can be cut into ranges by its bytes alone. It cannot if the text is changed before it is cut (a normal
 * form, a prefix space), if some token depends on its neighbours, if only some of the added tokens are searched for in
 * the normalized text, or if special tokens stay text and there are other added tokens.
 */
export function canBeCut(cutting: Cutting): boolean {
  const { addedTokens } = cutting;
  if (changesText(cutting) || looksAround(cutting)) return false;
  if (cutting.specialTokensAsText && addedTokens.some((token) => !token.special)) return false;
  return new Set(addedTokens.map((token) => token.normalized)).size < 2;
}

/**
 * Whether a text can be cut into ranges by its bytes: either `canBeCut` is true, or normalization is the only obstacle,
 * and all added tokens are found before it. Then cuts are possible only among characters that normalization does not
 * change.
 */
export function canBeCutSafely(cutting: Cutting): boolean {
  const isOnlyNormalized =
    cutting.normalization !== null &&
    cutting.addedTokens.every((token) => !token.normalized) &&
    canBeCut({ ...cutting, normalization: null });
  return canBeCut(cutting) || isOnlyNormalized;
}

/**
 * Returns where threads may cut a text. If `canBeCutSafely`, they may cut at the added tokens that are found, and at
 * safe cuts; a normalization must not change the characters at a safe cut. Otherwise they may cut only at the added
 * tokens that are found before normalization, because the text between two of these is normalized and searched on its
 * own. With `keepsTextsWhole`, they may cut nowhere.
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

/** Returns the added tokens at which a text may be cut if `canBeCutSafely`. */
export const cuttingTokens = ({ addedTokens, specialTokensAsText }: Cutting): string[] =>
  specialTokensAsText ? [] : addedTokens.map(({ content }) => content);
