import { haveAllBytes } from "./token-table.ts";
import type { TokenizerParts } from "./tokenizer-parts.ts";

// Says for which tokenizers there are no offsets. The kernel finds offsets (src/kernel/text/offsets.ts).

/** Returns the reason why a tokenizer has no offsets; undefined if it has. */
export function toOffsets({ normalization, model, tokens }: TokenizerParts): string | undefined {
  const because = (why: string) => `this tokenizer has no offsets: ${why}`;
  if (normalization !== null)
    return because(`text is normalized (${normalization}), so its tokens are parts of the normalized text`);
  return haveAllBytes(model.byteIds, tokens)
    ? undefined
    : because(
        "its vocabulary lacks tokens for some bytes, so the tokens of a text may not contain all of it",
      );
}

/** Returns the reason why a tokenizer with offsets in bytes has none in characters; undefined if it has both. */
export const toTrims = ({ postProcessing }: TokenizerParts): string | undefined =>
  new Set(postProcessing?.trims).size > 1
    ? "this tokenizer has no offsets in characters, but only in bytes: two steps of its post-processor trim offsets in different ways"
    : undefined;
