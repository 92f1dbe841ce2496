import type { Vocabulary } from "../vocabulary.ts";
import { mergeRows } from "./rows.ts";
import { plainSpelling } from "./token-text.ts";

/** The merges as `left right` lines in byte-to-character form, in the order learned. */
export const mergeLines = (vocabulary: Vocabulary): Generator<Uint8Array> =>
  mergeRows(vocabulary, ["", " ", "\n"], plainSpelling);

/** What the record names the result by: SHA-256 over the merge lines, in hex. */
export function mergesSha256(vocabulary: Vocabulary): string {
  const hasher = new Bun.CryptoHasher("sha256");
  for (const chunk of mergeLines(vocabulary)) hasher.update(chunk);
  return hasher.digest("hex");
}
