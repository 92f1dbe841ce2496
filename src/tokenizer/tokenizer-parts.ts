import { bytesOf } from "#bytes";
import { compiledForTexts, type ResolvedPattern } from "#pattern";
import { UserError } from "#runtime";
import { type AddedToken, type Cutting, type Normalization, plainSpecial } from "#text";
import { buildModel, type EncodingModel, maxOf, type RankedMerges } from "./encoding-model.ts";
import { findDocumentEnd } from "./model-settings.ts";
import { buildTokenTable, lazyTokenTable, type TokenTable } from "./token-table.ts";
import type { Vocabulary } from "./vocabulary.ts";

/** The parts of a tokenizer that encoding needs. Plain data, which is posted to workers. */
export type EncodingParts = Cutting & {
  readonly model: EncodingModel;
  /** Whether every id fits into 16 bits. */
  readonly isNarrow: boolean;
};

/** A loaded tokenizer. */
export type TokenizerParts = EncodingParts & {
  /** Special tokens that are never found in a text. Their ids can still be appended, and decoded. */
  readonly controlTokens?: readonly AddedToken[];
  readonly tokens: TokenTable;
  /**
   * What HF's post-processor does with the ids of a text, if the files have one. Encoding leaves this to the caller.
   */
  readonly postProcessing?: PostProcessing;
  /**
   * Which spaces at the start of a text decoding removes, like HF's Strip and Metaspace: one, or all spaces at the
   * start of the first token.
   */
  readonly leadingSpaces?: "one" | "first token";
  /** What was loaded, and how text is cut, for people to read. */
  readonly description: {
    readonly path: string;
    readonly kind: string;
    readonly patternName: string | null;
    readonly patternSources: readonly string[];
    /** HF's name of the decoder in a `tokenizer.json`; the names of several are joined in order. */
    readonly decoder?: string;
    /** HF's name of the post-processor in a `tokenizer.json`; the names of several are joined in order. */
    readonly postProcessor?: string;
  };
  /** Sentences about settings in the files that encoding does not apply. */
  readonly notes: readonly string[];
};

/** What HF's post-processor does to one text. */
export type PostProcessing = {
  /** The ids that it puts before a text. */
  readonly before: readonly number[];
  /** The ids that it puts after a text. */
  readonly after: readonly number[];
  /**
   * Its steps that trim spaces from offsets, in order: for each, whether it keeps one space before the first token of a
   * text.
   */
  readonly trims: readonly boolean[];
  /** The reason why the fields above are unknown, if they are. */
  readonly obstacle?: string;
};

/**
 * Extension: what was learned on top of an unchanged base.
 *
 *   FIELD            MEANING
 *   idLimit          size of the extended vocabulary: every id is less than this
 *   tokens           the new tokens, ascending by id; their ids follow those of the base and its added tokens
 *   merges           the new merges as ids, in the order learned; they follow the base's merges
 *   specialTokens    new special tokens, ascending by id; their ids follow those of the new tokens
 *   reservedTokens   special tokens that fill the vocabulary (`--pad-to`), ascending by id, after all others
 *
 * A merge may produce a token that the base has although no merge of the base produces it. Then `merged` has
 * the id of that token, and the merge adds no token.
 */
export type Extension = {
  readonly idLimit: number;
  readonly tokens: readonly { readonly id: number; readonly bytes: Uint8Array }[];
  readonly merges: RankedMerges;
  readonly specialTokens: readonly AddedToken[];
  readonly reservedTokens: readonly AddedToken[];
};

/** Returns the new tokens that are never merged. */
export const newSpecials = ({ specialTokens, reservedTokens }: Extension): readonly AddedToken[] => [
  ...specialTokens,
  ...reservedTokens,
];

/**
 * Numbering: the new ids of kept tokens. They are numbered from 0 in the order of their old ids, without
 * gaps. Of the merges whose tokens are kept, the first `mergeCount` are kept.
 *
 *   ARRAY   TYPE        LENGTH    MEANING
 *   newIds  Int32Array  idLimit   new id of each old id; -1 if its token was removed, or never existed
 */
export type Numbering = { readonly size: number; readonly newIds: Int32Array; readonly mergeCount: number };

export const removed = -1;

/** Returns the new id of an id in a file. Throws a UserError if the id's token was removed, or if it is not an id. */
export function newIdOf({ newIds }: Numbering, id: unknown, path: string, place: string): number {
  const newId = typeof id === "number" ? newIds[id] : undefined;
  if (newId !== undefined && newId !== removed) return newId;
  throw new UserError(`"${path}": ${place} has the id ${JSON.stringify(id)}, which no remaining token has`, {
    hint: "only bytes and added tokens are always kept: make this token an added token, or remove that part of the file",
  });
}

/** A special token to add to those in the files. Without an id, it gets the next free one. */
export type SpecialTokenOption = { readonly text: string; readonly id: number | undefined };

/** What the user states for files without a pattern or special tokens. */
export type LoadOptions = {
  readonly pattern?: ResolvedPattern | undefined;
  readonly specialTokens?: readonly SpecialTokenOption[];
  /**
   * Whether the tokenizer was trained to put bos before every text. If so, no note says that encoding does not add it.
   */
  readonly asksForBos?: () => boolean;
};

/** Returns all added tokens, whether they are found in a text or not. */
export const allAddedTokens = ({
  addedTokens,
  controlTokens = [],
}: TokenizerParts): readonly AddedToken[] => [...addedTokens, ...controlTokens];

/**
 * Returns the id of the special token that ends documents: the token with this name, or else a well-known
 * one. Returns undefined if there is none. Throws a UserError if no special token has this name.
 */
export function findDocumentEndId(parts: TokenizerParts, name?: string): number | undefined {
  const end = name ?? findDocumentEnd(allAddedTokens(parts).map(({ content }) => content));
  return end === undefined ? undefined : specialTokenId(parts, end, "to end documents");
}

/**
 * Returns the id of the special token with this text. If there is none, throws an error that names other special
 * tokens. `use` says what the token is for.
 */
export function specialTokenId(parts: TokenizerParts, text: string, use = "to append"): number {
  const tokens = allAddedTokens(parts);
  const token = tokens.find(({ content }) => content === text);
  if (token !== undefined) return token.id;
  const some = tokens.slice(0, shownTokens).map(({ content }) => content);
  const moreCount = tokens.length - some.length;
  throw new UserError(`the tokenizer has no special token "${text}" ${use}`, {
    hint:
      some.length === 0
        ? "it has no special tokens"
        : `it has ${some.join(" ")}${moreCount > 0 ? ` and ${moreCount} more` : ""}`,
  });
}

const shownTokens = 5;

/** Returns the merges of a vocabulary as ids. */
export function mergesInIds({ tokenIds, mergeCount, left, right }: Vocabulary): RankedMerges {
  const ids = { left: new Int32Array(mergeCount), right: new Int32Array(mergeCount) };
  for (let k = 0; k < mergeCount; k++) {
    ids.left[k] = tokenIds[left[k]!]!;
    ids.right[k] = tokenIds[right[k]!]!;
  }
  return { ...ids, merged: tokenIds.slice(tokenIds.length - mergeCount) };
}

/**
 * Returns the tokenizer of a newly trained vocabulary with its encoding pattern. Loading its files gives the same.
 *
 * @param merges the merges to apply; to encode given texts, the merges whose tokens occur in them suffice
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
    // A special token may share the id of a learned token. Decoding then gives the learned token, so it comes
    // later.
    buildTokenTable([
      ...addedTokens.map(({ id, content }) => [id, new TextEncoder().encode(content)] as const),
      ...Array.from(tokenIds, (id, token) => [id, tokenBytes.copy(token)] as const),
    ]),
  );
  const idMax = maxOf(tokenIds);
  return {
    model: buildModel({ byteIds: tokenIds.slice(0, 256), merges, idMax }),
    pattern: compiledForTexts(pattern),
    normalization,
    addsPrefixSpace: false,
    addedTokens,
    isNarrow: fitNarrowIds(idMax, addedTokens),
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

/** Whether every id fits into 16 bits. `idMax` is the largest id of the model. */
export const fitNarrowIds = (idMax: number, addedTokens: readonly AddedToken[]): boolean =>
  idMax <= narrowIdMax && addedTokens.every(({ id }) => id <= narrowIdMax);

/** The largest 16-bit id. */
export const narrowIdMax = 0xffff;

/**
 * Throws a UserError if two files of a directory have different ids of bytes, or different merges, because a change
 * applies to all files of the directory.
 */
export function checkSameTokenizer(base: TokenizerParts, other: TokenizerParts): void {
  if (haveSameMerges(base, other)) return;
  throw new UserError(
    `"${base.description.path}" and "${other.description.path}" are different tokenizers in one directory`,
    { hint: "name the file of the tokenizer that you mean" },
  );
}

/** Whether the ids of bytes and all merges are equal. */
export function haveSameMerges({ model: a }: TokenizerParts, { model: b }: TokenizerParts): boolean {
  const sameNumbers = (a: Int32Array, b: Int32Array) => Buffer.compare(bytesOf(a), bytesOf(b)) === 0;
  return (
    sameNumbers(a.byteIds, b.byteIds) &&
    sameNumbers(a.merges.left, b.merges.left) &&
    sameNumbers(a.merges.right, b.merges.right) &&
    sameNumbers(a.merges.merged, b.merges.merged) &&
    sameNumbers(a.merges.firstTied ?? noTies, b.merges.firstTied ?? noTies)
  );
}

const noTies = new Int32Array(0);

/**
 * Throws a UserError for a model whose merges start from characters. `work` is a participle for what cannot be done
 * with it, such as "pruned".
 */
export function refuseCharacters({ model, description }: TokenizerParts, work: string, hint: string): void {
  if (model.beginning === undefined) return;
  throw new UserError(
    `"${description.path}" cannot be ${work}: it is not a byte-level tokenizer; its merges start from characters`,
    { hint },
  );
}

export function refuse(path: string, what: string, hint?: string): never {
  throw new UserError(`"${path}" cannot be reproduced exactly: ${what}`, hint === undefined ? {} : { hint });
}
