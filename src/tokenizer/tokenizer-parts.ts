import { bytesOf } from "#bytes";
import { compiledPatterns } from "#pattern";
import { asOption, phrase, UserError } from "#runtime";
import { type AddedToken, type Cutting, cuttings, type Normalization } from "#text";
import type { EncodingModel, RankedMerges } from "./encoding-model.ts";
import * as encodingModels from "./encoding-model.ts";
import { findDocumentEnd } from "./model-settings.ts";
import type { TokenTable } from "./token-table.ts";
import * as tokenTables from "./token-table.ts";
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
  /** What HF's post-processor does with the ids of a text. Encoding leaves this to the caller. */
  readonly postProcessing?: PostProcessing;
  /**
   * Which spaces decoding removes from the start of a text: one space, or all spaces at the start of the first token.
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
  /** Sentences about what is unusual in the files, such as settings that encoding does not apply. */
  readonly notes: readonly string[];
};

/** What HF's post-processor does to one text. */
export type PostProcessing = {
  /** The ids that it puts before a text. */
  readonly before: readonly number[];
  /** The ids that it puts after a text. */
  readonly after: readonly number[];
  /** For each step that trims spaces from offsets, in order: whether it keeps one space before the first token. */
  readonly trims: readonly boolean[];
  /** The reason why the fields above are unknown, if they are. */
  readonly obstacle?: string;
};

/** A special token to add to those in the files. Without an id, it gets the next free one. */
export type SpecialTokenOption = { readonly text: string; readonly id: number | undefined };

/** Options for loading a tokenizer, mostly facts that its files may lack. */
export type LoadOptions = {
  readonly pattern?: compiledPatterns.ResolvedPattern | undefined;
  readonly specialTokens?: readonly SpecialTokenOption[];
  /**
   * The purpose of loading the tokenizer. With `base`, it will be extended, and `specialTokens` must be left out. With
   * `like`, its settings are taken (`--like`), and all other options must be left out.
   */
  readonly use?: "base" | "like";
  /** Whether the training record says that bos is put before every text. */
  readonly asksForBos?: () => boolean;
};

/** Returns all added tokens, whether they are found in a text or not. */
export const allAddedTokens = ({
  addedTokens,
  controlTokens = [],
}: TokenizerParts): readonly AddedToken[] => [...addedTokens, ...controlTokens];

/**
 * Returns the id of the added token that ends documents: the one with this name. Without a name, it is one with a
 * well-known name, or undefined if there is none. Throws a UserError if no added token has the given name.
 */
export function findDocumentEndId(parts: TokenizerParts, name?: string): number | undefined {
  const end = name ?? findDocumentEnd(allAddedTokens(parts).map(({ content }) => content));
  return end === undefined ? undefined : specialTokenId(parts, end, "document-end");
}

/**
 * Returns the id of the added token with this text. If there is none, throws a UserError that names `option`.
 */
export function specialTokenId(parts: TokenizerParts, text: string, option = "append-token"): number {
  const tokens = allAddedTokens(parts);
  const token = tokens.find(({ content }) => content === text);
  if (token !== undefined) return token.id;
  const some = tokens.slice(0, shownTokens).map(({ content }) => content);
  const moreCount = tokens.length - some.length;
  throw new UserError(phrase`${asOption(option, `"${text}"`)} is not a special token of the tokenizer`, {
    hint:
      some.length === 0
        ? "use another tokenizer: this one has no special tokens"
        : `name one of its special tokens: ${some.join(" ")}${moreCount > 0 ? ` and ${moreCount} more` : ""}`,
  });
}

const shownTokens = 5;

export function mergesInIds(vocabulary: Vocabulary): RankedMerges {
  const { tokenIds, idsAreNumbers, mergeCount, left, right } = vocabulary;
  const merged = tokenIds.slice(tokenIds.length - mergeCount);
  if (idsAreNumbers) return { left, right, merged };
  const ids = { left: new Int32Array(mergeCount), right: new Int32Array(mergeCount) };
  for (let k = 0; k < mergeCount; k++) {
    ids.left[k] = tokenIds[left[k]!]!;
    ids.right[k] = tokenIds[right[k]!]!;
  }
  return { ...ids, merged };
}

/**
 * Returns the tokenizer of a newly trained vocabulary with its encoding pattern.
 *
 * @param merges the merges to apply; default: all
 */
export function trained(
  vocabulary: Vocabulary,
  pattern: compiledPatterns.ResolvedPattern,
  normalization: Normalization | null,
  merges = mergesInIds(vocabulary),
): TokenizerParts {
  const { tokenIds, tokenBytes, specialTokens, specialIds } = vocabulary;
  const addedTokens = specialTokens.map((content, s) => ({
    id: specialIds[s]!,
    content,
    ...cuttings.plainSpecial,
  }));
  const tokens = tokenTables.lazy(() =>
    // A special and a learned token may share an id. Decoding then gives the learned token, because it comes later in
    // this list.
    tokenTables.build([
      ...addedTokens.map(({ id, content }) => [id, new TextEncoder().encode(content)] as const),
      ...Array.from(tokenIds, (id, token) => [id, tokenBytes.copy(token)] as const),
    ]),
  );
  const idMax = vocabulary.idsAreNumbers ? tokenIds.length - 1 : encodingModels.maxOf(tokenIds);
  return {
    model: encodingModels.build({ byteIds: tokenIds.slice(0, 256), merges, idMax }),
    pattern: compiledPatterns.forTexts(pattern),
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

/** Throws a UserError if two files of a directory differ in the ids of bytes or in merges. */
export function checkSame(base: TokenizerParts, other: TokenizerParts): void {
  if (haveSameMerges(base, other)) return;
  throw new UserError(
    `"${base.description.path}" and "${other.description.path}" are different tokenizers in one directory`,
    { hint: "name the file that you mean, not the directory" },
  );
}

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

export function refuse(path: string, what: string, hint = exactHint): never {
  throw new UserError(`"${path}" is not supported: ${what}`, { hint });
}

const exactHint =
  "bpe loads only tokenizers whose ids it can reproduce exactly; use this one with the library that it was made for";
