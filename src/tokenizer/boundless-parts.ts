import type { ResolvedPattern } from "../pattern/pattern.ts";
import type { Operations } from "../vocabulary/operations.ts";
import { buildModel, maxOf, type RankedMerges } from "./encoding-model.ts";
import { areNarrow } from "./load/assemble-model.ts";
import { buildTokenTable } from "./token-table.ts";
import { plainSpecial, type TokenizerParts } from "./tokenizer-parts.ts";

type Made = {
  readonly operations: Pick<Operations, "areSuper" | "left" | "right" | "made">;
  /** The bytes of each token number. */
  readonly tokens: readonly Uint8Array[];
  readonly specialTokens: readonly string[];
  readonly pattern: ResolvedPattern;
  readonly path: string;
  readonly kind: string;
};

/** A tokenizer with supermerges. Token numbers are its ids, and special tokens come behind them. */
export function partsOfOperations({
  operations,
  tokens,
  specialTokens,
  pattern,
  path,
  kind,
}: Made): TokenizerParts {
  const addedTokens = specialTokens.map((content, s) => ({
    id: tokens.length + s,
    content,
    ...plainSpecial,
  }));
  return {
    model: buildModel({
      byteIds: Int32Array.from({ length: 256 }, (_, byte) => byte),
      merges: mergesOf(operations, 0),
      idMax: tokens.length - 1,
    }),
    supermerges: mergesOf(operations, 1),
    pattern: pattern.compiled,
    normalization: null,
    addsPrefixSpace: false,
    addedTokens,
    isNarrow: areNarrow(maxOf(operations.made), addedTokens),
    tokens: buildTokenTable([
      ...tokens.map((bytes, id) => [id, bytes] as const),
      ...addedTokens.map(({ id, content }) => [id, new TextEncoder().encode(content)] as const),
    ]),
    description: { path, kind, patternName: pattern.name, patternSources: pattern.sources },
    notes: [],
  };
}

/** The merges of one kind, in their order. */
function mergesOf({ areSuper, left, right, made }: Made["operations"], isSuper: number): RankedMerges {
  const ofKind = (ids: Int32Array) => ids.filter((_, k) => areSuper[k] === isSuper);
  return { left: ofKind(left), right: ofKind(right), merged: ofKind(made) };
}
