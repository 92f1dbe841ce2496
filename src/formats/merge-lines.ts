import { host } from "#runtime";
import type { Vocabulary } from "#tokenizer";
import { mergeRows, plainSpelling } from "./rows.ts";

/**
 * The SHA-256 of the merge lines of each vocabulary, in hex. Making the lines takes longer than hashing them. So they
 * are hashed whenever they are made, instead of being made once more for the hash. In a browser they are not hashed,
 * because no record is written there.
 */
const digests = new WeakMap<Vocabulary, string>();

/** Yields the merges as `left right` lines in byte-to-character form, in the order learned. */
export function* mergeLines(vocabulary: Vocabulary): Generator<Uint8Array> {
  const hasher = host.hasSha256 ? host.createSha256() : null;
  for (const lines of mergeRows(vocabulary, ["", " ", "\n"], plainSpelling)) {
    hasher?.update(lines);
    yield lines;
  }
  if (hasher !== null) digests.set(vocabulary, hasher.digest("hex"));
}

/** Returns the SHA-256 of the merge lines, in hex: `mergesSha256` of the record. */
export function mergesSha256(vocabulary: Vocabulary): string {
  if (!digests.has(vocabulary)) for (const _ of mergeLines(vocabulary));
  return digests.get(vocabulary)!;
}
