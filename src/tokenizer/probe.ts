import { host } from "#runtime";
import probe from "../../docs/probe-1.json";

/** A part of the probe text: a sentence in one script, or other text that tokenizers cut differently. */
export type ProbePart = { readonly name: string; readonly text: string };

/** The parts of the probe text, in order. They never change: a different text would be a new version. */
export const parts: readonly ProbePart[] = probe.parts;

/** The version of the probe text. Fingerprints begin with it. */
export const version = probe.version;

/** The whole probe text. A tokenizer's fingerprint is computed from the ids that it gives this text. */
export const text = parts.map(({ text }) => text).join("");

const digestDigits = 32;

/** Returns the fingerprint of a tokenizer that gives the probe text these ids. */
export function fingerprintOf(ids: ArrayLike<number>): string {
  // This expression takes half the time of one with `join`, and a quarter of the time of one with `Array.from`.
  const text = JSON.stringify(Array.prototype.slice.call(ids)).slice(1, -1).replaceAll(",", " ");
  return `${version}-${host.createSha256().update(text).digest("hex").slice(0, digestDigits)}`;
}
