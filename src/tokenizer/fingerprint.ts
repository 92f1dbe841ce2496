import { scaled } from "#runtime";
import * as probe from "./probe.ts";
import { TextEncoding } from "./text-encoding.ts";
import type { TokenizerParts } from "./tokenizer-parts.ts";

/**
 * Returns the fingerprint of a tokenizer's behavior: a digest of the ids of the probe text. docs/doctor.md publishes
 * the recipe, so that other programs can compute it.
 */
export const ofBehavior = (parts: TokenizerParts): string =>
  probe.fingerprintOf(encodeShort({ ...parts, specialTokensAsText: false }, probe.text));

export const encodeShort = (parts: TokenizerParts, text: string): number[] => shortEncoder(parts)(text);

/**
 * Makes the cache of words 2^8 times smaller than usual, which suffices for short texts. At small scale, the cache has
 * its usual size.
 */
const cacheShrinkBits = scaled(8, 0);

/**
 * Returns a function that encodes short texts. A call may say whether special tokens are read as text instead of being
 * found.
 */
export function shortEncoder(
  parts: TokenizerParts,
): (text: string, specialTokensAsText?: boolean) => number[] {
  const encoding = new TextEncoding(parts, undefined, { cacheShrinkBits, cuts: "nowhere" });
  const encoder = new TextEncoder();
  return (text, specialTokensAsText = parts.specialTokensAsText ?? false) => {
    const bytes = encoder.encode(text);
    encoding.noteIn(undefined, specialTokensAsText);
    encoding.pushText(bytes, 0, bytes.length);
    return Array.from(encoding.out.flush());
  };
}
