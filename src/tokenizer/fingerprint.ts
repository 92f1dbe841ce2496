import { createSha256, scaled } from "#runtime";
import probe from "../../docs/probe-1.json";
import { encodeAsLearned } from "./encode-as-learned.ts";
import { TextEncoding } from "./text-encoding.ts";
import type { TokenizerParts } from "./tokenizer-parts.ts";

/** A part of the probe text: a sentence in one script, or other text that tokenizers cut differently. */
export type ProbePart = { readonly name: string; readonly text: string };

/**
 * The parts of the probe text, in order. They never change: a different text would be a new version, in a
 * file of its own, and with another prefix of fingerprints.
 */
export const probeParts: readonly ProbePart[] = probe.parts;

/** The version of the probe text. Fingerprints begin with it. */
export const probeVersion = probe.version;

/** The text whose ids fingerprints are computed from. */
export const probeText = probeParts.map(({ text }) => text).join("");

/** The number of hexadecimal digits of the digest in a fingerprint. */
const digestDigits = 32;

/**
 * Returns a fingerprint of a tokenizer's behavior: a digest of the ids of the probe text. Special tokens in the text
 * are found, and nothing is added to the ids. Any program that encodes text can compute it (docs/doctor.md has the
 * recipe).
 */
export const behaviorFingerprint = (parts: TokenizerParts): string =>
  fingerprintOf(encodeShort({ ...parts, specialTokensAsText: false }, probeText));

/**
 * Returns `behaviorFingerprint` for a tokenizer that was just learned. If it only cuts and merges, this takes a
 * fraction of the time.
 */
export function fingerprintAsLearned(parts: TokenizerParts): string {
  const ids = encodeAsLearned(parts, new TextEncoder().encode(probeText));
  return ids === undefined ? behaviorFingerprint(parts) : fingerprintOf(ids);
}

/** Returns the fingerprint of a tokenizer that gives the probe text these ids. */
export const fingerprintOf = (ids: { join(separator: string): string }): string =>
  `${probeVersion}-${createSha256().update(ids.join(" ")).digest("hex").slice(0, digestDigits)}`;

/** Returns the ids of a short text. */
export const encodeShort = (parts: TokenizerParts, text: string): number[] => shortEncoder(parts)(text);

/** For short texts, the cache of words is 2^8 times smaller than usual, except at small scale. */
const cacheShrinkBits = scaled(8, 0);

/**
 * Returns a function that encodes a short text. It may be called any number of times, each time with special tokens
 * found or as text.
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
