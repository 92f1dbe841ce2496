import { createSha256, scaled } from "#runtime";
import probe from "../../docs/probe-1.json";
import { encodeAsLearned } from "./learned-ids.ts";
import { TextEncoding } from "./text-encoding.ts";
import type { TokenizerParts } from "./tokenizer-parts.ts";

/** A part of the probe text: a sentence in one script, or something else that tokenizers cut differently. */
export type ProbePart = { readonly name: string; readonly text: string };

/**
 * The parts of the probe text, in order. They never change: other texts would be another version, with another file and
 * another prefix of the fingerprint.
 */
export const probeParts: readonly ProbePart[] = probe.parts;

/** Its version, with which fingerprints begin. */
export const probeVersion = probe.version;

/** The text whose ids a fingerprint is a digest of. */
export const probeText = probeParts.map(({ text }) => text).join("");

/** Hexadecimal digits of the digest that a fingerprint has. */
const digestDigits = 32;

/**
 * Returns the fingerprint of what a tokenizer does: a digest of the ids of the probe text, with special tokens found and
 * nothing put around it. Any program that encodes text can compute it (docs/doctor.md has the recipe).
 */
export const behaviorFingerprint = (parts: TokenizerParts): string =>
  digestOf(encodeShort({ ...parts, specialTokensAsText: false }, probeText));

/** The same for a tokenizer that was just learned, in a fraction of the time if it only cuts and merges. */
export function fingerprintAsLearned(parts: TokenizerParts): string {
  const ids = encodeAsLearned(parts, new TextEncoder().encode(probeText));
  return ids === undefined ? behaviorFingerprint(parts) : digestOf(ids);
}

const digestOf = (ids: { join(separator: string): string }) =>
  `${probeVersion}-${createSha256().update(ids.join(" ")).digest("hex").slice(0, digestDigits)}`;

/** The ids of a short text. */
export const encodeShort = (parts: TokenizerParts, text: string): number[] => shortEncoder(parts)(text);

/** The cache of words is this many times smaller, as a power of two; the tiny one of tests stays. */
const cacheShrinkBits = scaled(8, 0);

/** Encodes short texts, one after the other. */
export function shortEncoder(parts: TokenizerParts): (text: string) => number[] {
  const encoding = new TextEncoding(parts, undefined, { cacheShrinkBits, cuts: "nowhere" });
  const encoder = new TextEncoder();
  return (text) => {
    const bytes = encoder.encode(text);
    encoding.pushText(bytes, 0, bytes.length);
    return Array.from(encoding.out.flush());
  };
}
