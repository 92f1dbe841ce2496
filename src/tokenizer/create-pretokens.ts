import { createSplitter } from "../pattern/pattern.ts";
import { EncodingKernel } from "./encoding-kernel.ts";
import { KernelPretokens } from "./kernel-pretokens.ts";
import { packTokens } from "./packed-tokens.ts";
import type { PretokenEncoder } from "./pretoken-encoder.ts";
import { SplitterPretokens } from "./splitter-pretokens.ts";
import type { AddedToken, EncodingParts } from "./tokenizer-parts.ts";

/** The encoder at the end of the chain; `findsTokens` where it finds the added tokens, too, and so is the whole chain. */
export function createPretokens(
  parts: EncodingParts,
  specialTokensAsText: boolean,
): { encoder: PretokenEncoder; findsTokens: boolean } {
  const { model, pattern, isNarrow } = parts;
  if (pattern.kind === "automata" && pattern.automata.length === 1) {
    const findsTokens = areAllPlain(parts);
    const addedTokens = findsTokens ? parts.addedTokens : [];
    const kernel = new EncodingKernel(model, isNarrow, {
      addedTokens: packAddedTokens(addedTokens, specialTokensAsText),
    });
    const contents = addedTokens.map(({ content }) => Buffer.from(content));
    const encoder = KernelPretokens.create(kernel, pattern.automata[0]!, contents);
    if (encoder !== undefined) return { encoder, findsTokens };
  }
  const encoder = new SplitterPretokens(createSplitter(pattern), new EncodingKernel(model, isNarrow));
  return { encoder, findsTokens: false };
}

/** Whether the text goes to the pattern as it is, but for the added tokens in it, which look at nothing but themselves. */
function areAllPlain({ addedTokens, normalization, addsPrefixSpace }: EncodingParts): boolean {
  if (normalization !== null || addsPrefixSpace) return false;
  return addedTokens.every(
    ({ normalized, lstrip, rstrip, singleWord }) =>
      normalized === addedTokens[0]!.normalized && !lstrip && !rstrip && !singleWord,
  );
}

/** By their bytes; of equal ones the last counts. A token that is to stay text has the id -1. */
function packAddedTokens(addedTokens: readonly AddedToken[], specialTokensAsText: boolean) {
  return packTokens(
    new Map(
      addedTokens.map(({ content, special, id }) => [
        Buffer.from(content).toString("latin1"),
        special && specialTokensAsText ? -1 : id,
      ]),
    ),
  );
}
