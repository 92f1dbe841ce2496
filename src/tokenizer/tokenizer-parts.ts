import { UserError } from "../errors.ts";
import { compilePattern } from "../pattern/compile.ts";
import type { ResolvedPattern } from "../pattern/pattern.ts";
import { type AddedToken, type Cutting, plainSpecial } from "../text/cutting.ts";
import { copyTokenBytes } from "../vocabulary/token-bytes.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import { buildModel, type EncodingModel, maxOf } from "./encoding-model.ts";
import { buildTokenTable, lateTokenTable, type TokenTable } from "./token-table.ts";

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
  /** For people: what was loaded, and how text is cut. */
  readonly description: {
    readonly path: string;
    readonly kind: string;
    readonly patternName: string | null;
    readonly patternSources: readonly string[];
  };
  /** What the files have and encoding does not apply, a sentence each. */
  readonly notes: readonly string[];
};

/** A special token that is not in the files; without an id it gets the next free one. */
export type SpecialTokenOption = { readonly text: string; readonly id: number | undefined };

/** What the user adds to files that do not have it. */
export type LoadOptions = {
  readonly pattern?: ResolvedPattern | undefined;
  readonly specialTokens?: readonly SpecialTokenOption[];
};

/** All tokens beside the model's, whether they are found in a text or not. */
export const allAddedTokens = ({
  addedTokens,
  controlTokens = [],
}: TokenizerParts): readonly AddedToken[] => [...addedTokens, ...controlTokens];

/** The id of the special token that is put behind each input. An error names others if there is none. */
export function specialTokenId(parts: TokenizerParts, text: string): number {
  const tokens = allAddedTokens(parts);
  const token = tokens.find(({ content }) => content === text);
  if (token !== undefined) return token.id;
  const some = tokens.slice(0, shownTokens).map(({ content }) => content);
  const moreCount = tokens.length - some.length;
  throw new UserError(`the tokenizer has no special token "${text}" to append`, {
    hint:
      some.length === 0
        ? "it has no special tokens at all"
        : `it has ${some.join(" ")}${moreCount > 0 ? ` and ${moreCount} more` : ""}`,
  });
}

const shownTokens = 5;

/** The tokenizer of a vocabulary that was just trained, with the pattern it encodes by: what loading its files gives. */
export function trainedParts(vocabulary: Vocabulary, pattern: ResolvedPattern): TokenizerParts {
  const { tokenIds, mergeCount, left, right, tokenBytes, specialTokens, specialIds } = vocabulary;
  const idsOf = (tokens: Int32Array) => tokens.map((token) => tokenIds[token]!);
  const addedTokens = specialTokens.map((content, s) => ({ id: specialIds[s]!, content, ...plainSpecial }));
  const tokens = lateTokenTable(() =>
    buildTokenTable([
      ...Array.from(tokenIds, (id, token) => [id, copyTokenBytes(tokenBytes, token)] as const),
      ...addedTokens.map(({ id, content }) => [id, new TextEncoder().encode(content)] as const),
    ]),
  );
  return {
    model: buildModel({
      byteIds: tokenIds.slice(0, 256),
      merges: { left: idsOf(left), right: idsOf(right), merged: tokenIds.slice(256, 256 + mergeCount) },
    }),
    // HF's trainer also cuts after line ends; its tokenizer does not.
    pattern: compilePattern(pattern.sources),
    normalization: null,
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

export function refuse(path: string, what: string, hint?: string): never {
  throw new UserError(`"${path}" cannot be reproduced exactly: ${what}`, hint === undefined ? {} : { hint });
}
