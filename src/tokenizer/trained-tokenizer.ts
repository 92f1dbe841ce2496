import { compilePattern, type ResolvedPattern } from "../pattern/pattern.ts";
import { copyTokenBytes } from "../vocabulary/token-bytes.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";
import { buildModel, maxOf } from "./encoding-model.ts";
import { areNarrow } from "./load/assemble-model.ts";
import { buildTokenTable, lateTokenTable } from "./token-table.ts";
import { plainSpecial, type TokenizerParts } from "./tokenizer-parts.ts";

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
