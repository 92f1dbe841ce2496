import { bytesOf } from "#bytes";
import { compilePattern, type ResolvedPattern } from "#pattern";
import { UserError } from "#runtime";
import { type AddedToken, type Cutting, type Normalization, plainSpecial } from "#text";
import { buildModel, type EncodingModel, maxOf, type RankedMerges } from "./encoding-model.ts";
import { buildTokenTable, lazyTokenTable, type TokenTable } from "./token-table.ts";
import { copyTokenBytes, type Vocabulary } from "./vocabulary.ts";

/** The parts of a tokenizer that encoding needs. Plain data: they are posted to workers. */
export type EncodingParts = Cutting & {
  readonly model: EncodingModel;
  /** Every id fits 16 bits. */
  readonly isNarrow: boolean;
};

/** A tokenizer that was loaded. */
export type TokenizerParts = EncodingParts & {
  /** Special tokens that are never found in a text. Their ids can be appended and decoded. */
  readonly controlTokens?: readonly AddedToken[];
  readonly tokens: TokenTable;
  /** What its files do to the ids of a text at last; absent: nothing. Encoding leaves it to those who ask for it. */
  readonly postProcessing?: PostProcessing;
  /** For people: what was loaded, and how text is cut. */
  readonly description: {
    readonly path: string;
    readonly kind: string;
    readonly patternName: string | null;
    readonly patternSources: readonly string[];
    /** HF's names of what else a `tokenizer.json` has, in their order. */
    readonly decoder?: string;
    readonly postProcessor?: string;
  };
  /** What the files have and encoding does not apply, a sentence each. */
  readonly notes: readonly string[];
};

/** HF's post-processor, for one text. */
export type PostProcessing = {
  /** The ids that it puts before a text, and behind it. */
  readonly before: readonly number[];
  readonly after: readonly number[];
  /** The steps that take spaces off offsets, in order; whether each leaves a single one before a text's first token. */
  readonly trims: readonly boolean[];
  /** Why the above cannot be told. */
  readonly obstacle?: string;
};

/**
 * A vocabulary that grows: a base, which stays as it is, and what was learned beyond it.
 *
 *   FIELD            MEANING
 *   idLimit          size of the extended vocabulary: every id is below it
 *   tokens           the new tokens, ascending by id; the first has the id behind the base's last, added tokens included
 *   merges           the new merges, in the order learned, in ids; they come behind the base's
 *   specialTokens    new special tokens, ascending by id, behind the new tokens
 *   reservedTokens   special tokens that fill the vocabulary (`--pad-to`), ascending by id, behind all others
 *
 * A merge may make a token that the base has, though no merge of the base makes it. Then `merged` is that token's id, and
 * no token is new.
 */
export type Extension = {
  readonly idLimit: number;
  readonly tokens: readonly { readonly id: number; readonly bytes: Uint8Array }[];
  readonly merges: RankedMerges;
  readonly specialTokens: readonly AddedToken[];
  readonly reservedTokens: readonly AddedToken[];
};

/** All new tokens that are never merged. */
export const newSpecials = ({ specialTokens, reservedTokens }: Extension): readonly AddedToken[] => [
  ...specialTokens,
  ...reservedTokens,
];

/**
 * Numbering: the new ids of the tokens that stay. They are numbered from 0 in the order of their old ids, without gaps. Of
 * the merges the first `mergeCount` stay whose tokens do.
 *
 *   ARRAY   TYPE        LENGTH    MEANING
 *   newIds  Int32Array  idLimit   new id of each old one; -1 if it is gone, or never was
 */
export type Numbering = { readonly size: number; readonly newIds: Int32Array; readonly mergeCount: number };

export const removed = -1;

/** The new id of an id in a file. A UserError if its token is gone, or if it is not an id. */
export function newIdOf({ newIds }: Numbering, id: unknown, path: string, place: string): number {
  const newId = typeof id === "number" ? newIds[id] : undefined;
  if (newId !== undefined && newId !== removed) return newId;
  throw new UserError(`"${path}": ${place} has the id ${JSON.stringify(id)}, which no remaining token has`, {
    hint: "only bytes and added tokens always stay; make it an added token, or remove that part of the file",
  });
}

/** A special token that is not in the files; without an id it gets the next free one. */
export type SpecialTokenOption = { readonly text: string; readonly id: number | undefined };

/** What the user adds to files that do not have it. */
export type LoadOptions = {
  readonly pattern?: ResolvedPattern | undefined;
  readonly specialTokens?: readonly SpecialTokenOption[];
  /** Whether its training was asked to put bos in front of every text. Then no note says that encoding does not. */
  readonly asksForBos?: () => boolean;
};

/** All tokens beside the model's, whether they are found in a text or not. */
export const allAddedTokens = ({
  addedTokens,
  controlTokens = [],
}: TokenizerParts): readonly AddedToken[] => [...addedTokens, ...controlTokens];

/** The id of the special token that is put behind each input. An error names others if there is none. */
export function specialTokenId(parts: TokenizerParts, text: string, use = "to append"): number {
  const tokens = allAddedTokens(parts);
  const token = tokens.find(({ content }) => content === text);
  if (token !== undefined) return token.id;
  const some = tokens.slice(0, shownTokens).map(({ content }) => content);
  const moreCount = tokens.length - some.length;
  throw new UserError(`the tokenizer has no special token "${text}" ${use}`, {
    hint:
      some.length === 0
        ? "it has no special tokens at all"
        : `it has ${some.join(" ")}${moreCount > 0 ? ` and ${moreCount} more` : ""}`,
  });
}

const shownTokens = 5;

/** The merges of a vocabulary, in ids. */
export function mergesInIds({ tokenIds, mergeCount, left, right }: Vocabulary): RankedMerges {
  const ids = { left: new Int32Array(mergeCount), right: new Int32Array(mergeCount) };
  for (let k = 0; k < mergeCount; k++) {
    ids.left[k] = tokenIds[left[k]!]!;
    ids.right[k] = tokenIds[right[k]!]!;
  }
  return { ...ids, merged: tokenIds.slice(tokenIds.length - mergeCount) };
}

/**
 * The tokenizer of a vocabulary that was just trained, with the pattern it encodes by: what loading its files gives.
 *
 * @param merges those that it has; for some texts, those whose token is in them do
 */
export function trainedParts(
  vocabulary: Vocabulary,
  pattern: ResolvedPattern,
  normalization: Normalization | null,
  merges = mergesInIds(vocabulary),
): TokenizerParts {
  const { tokenIds, tokenBytes, specialTokens, specialIds } = vocabulary;
  const addedTokens = specialTokens.map((content, s) => ({ id: specialIds[s]!, content, ...plainSpecial }));
  const tokens = lazyTokenTable(() =>
    // A special token may have the id of a token: it is decoded as that one.
    buildTokenTable([
      ...addedTokens.map(({ id, content }) => [id, new TextEncoder().encode(content)] as const),
      ...Array.from(tokenIds, (id, token) => [id, copyTokenBytes(tokenBytes, token)] as const),
    ]),
  );
  return {
    model: buildModel({ byteIds: tokenIds.slice(0, 256), merges }),
    // HF's trainer also cuts after line ends; its tokenizer does not.
    pattern: compilePattern(pattern.sources),
    normalization,
    addsPrefixSpace: false,
    addedTokens,
    isNarrow: areNarrow(maxOf(tokenIds), addedTokens),
    tokens,
    description: {
      path: "",
      kind: "trained in this process",
      patternName: pattern.name,
      patternSources: pattern.sources,
    },
    notes: [],
  };
}

/** Whether every id fits 16 bits; `idMax` is the largest one of the model. */
export const areNarrow = (idMax: number, addedTokens: readonly AddedToken[]): boolean =>
  idMax <= narrowIdMax && addedTokens.every(({ id }) => id <= narrowIdMax);

/** The largest id of 16 bits. */
export const narrowIdMax = 0xffff;

/** A UserError if two files of a directory have other ids for bytes, or other merges: a change is made to all of them. */
export function checkSameTokenizer(base: TokenizerParts, other: TokenizerParts): void {
  if (haveSameMerges(base, other)) return;
  throw new UserError(
    `"${base.description.path}" and "${other.description.path}" are different tokenizers in one directory`,
    { hint: "name the file of the tokenizer that you mean" },
  );
}

/** Whether the ids of bytes and all merges are the same. */
export function haveSameMerges({ model: a }: TokenizerParts, { model: b }: TokenizerParts): boolean {
  const sameNumbers = (a: Int32Array, b: Int32Array) => Buffer.compare(bytesOf(a), bytesOf(b)) === 0;
  return (
    sameNumbers(a.byteIds, b.byteIds) &&
    sameNumbers(a.merges.left, b.merges.left) &&
    sameNumbers(a.merges.right, b.merges.right) &&
    sameNumbers(a.merges.merged, b.merges.merged)
  );
}

export function refuse(path: string, what: string, hint?: string): never {
  throw new UserError(`"${path}" cannot be reproduced exactly: ${what}`, hint === undefined ? {} : { hint });
}

/** The parts for another thread, to which a table that is made late cannot be sent. */
export const sendable = (parts: TokenizerParts): TokenizerParts => ({
  ...parts,
  tokens: { ...parts.tokens },
});
