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

/**
 * An added token. The kernel finds the `addedTokens` of a `Cutting` in a text before the pattern cuts the text. The
 * fields mean what they mean in HF's tokenizer.json.
 */
export type AddedToken = {
  readonly id: number;
  readonly content: string;
  /** Whether it is a special token. With `--special-tokens-as-text`, special tokens stay text. */
  readonly special: boolean;
  /** Whether the token is searched for in the normalized text. If not, it is found before normalization. */
  readonly normalized: boolean;
  /** Whether it also consumes the whitespace before it. */
  readonly lstrip: boolean;
  /** Whether it also consumes the whitespace after it. */
  readonly rstrip: boolean;
  /** Whether it is found only where no word character is next to it. */
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
  /** Which sections get a space if `addsPrefixSpace` is set; by default, all that do not begin with a space. */
  readonly prefixRule?: PrefixRule;
  /** Whether a space is also put before each line of a section, by the same rule. */
  readonly isLinewise?: boolean;
  readonly addedTokens: readonly AddedToken[];
  /** Whether special tokens in the text stay text. By default they are found. */
  readonly specialTokensAsText?: boolean;
};

/**
 * Returns a cutting whose added tokens are all special. They are found first; the sections between them are normalized,
 * if `normalization` is given, and cut by the pattern.
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

/** Whether no added token is ever found: there are none, or all are special and special tokens stay text. */
const findsNone = ({ addedTokens, specialTokensAsText = false }: Cutting) =>
  addedTokens.every(({ special }) => special && specialTokensAsText);

/**
 * Whether the pattern is certain to see the text between added tokens unchanged. This requires that there is no
 * normalization and no prefix space. Also, added tokens must be either never found, or all found in one search,
 * whatever is next to them.
 */
export function isCutUnchanged(cutting: Cutting): boolean {
  const { addedTokens } = cutting;
  const areAlike = addedTokens.every(({ normalized }) => normalized === addedTokens[0]!.normalized);
  return !changesText(cutting) && (findsNone(cutting) || (areAlike && !looksAround(cutting)));
}

/**
 * Returns the tokens that the kernel searches for while it cuts a text. There are none if an earlier step finds the
 * added tokens (`sectionSettings`).
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
 * Whether the bytes of a text alone tell where it can be cut into ranges. They do not in two cases: a normalization or
 * a prefix space changes the text; an added token depends on its neighbours, is found in a second search, or is found
 * although special tokens stay text.
 */
export function canBeCut(cutting: Cutting): boolean {
  const { addedTokens } = cutting;
  if (changesText(cutting) || looksAround(cutting)) return false;
  if (cutting.specialTokensAsText && addedTokens.some((token) => !token.special)) return false;
  return new Set(addedTokens.map((token) => token.normalized)).size < 2;
}

/**
 * Whether a text can be cut into ranges by its bytes. This is so if `canBeCut` is true, or if normalization is the only
 * obstacle and all added tokens are found before it. In the second case, a cut is possible at an added token, and
 * otherwise only between characters that normalization does not change.
 */
export function canBeCutSafely(cutting: Cutting): boolean {
  const isOnlyNormalized =
    cutting.normalization !== null &&
    cutting.addedTokens.every((token) => !token.normalized) &&
    canBeCut({ ...cutting, normalization: null });
  return canBeCut(cutting) || isOnlyNormalized;
}

/**
 * Returns where threads may cut a text. They may cut nowhere if the result has `keepsTextsWhole`. Otherwise they may
 * cut at its `specialTokens` and, if its `pattern` is not null, also at safe cuts.
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
