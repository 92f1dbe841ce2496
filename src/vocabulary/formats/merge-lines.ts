import type { Vocabulary } from "../vocabulary.ts";
import { Chunk } from "./chunk.ts";
import { appendToken, plainSpelling } from "./token-text.ts";

/** The merges as `left right` lines in byte-to-character form, in the order learned. */
export function* mergeLines(vocabulary: Vocabulary): Generator<Uint8Array> {
  const { mergeCount, left, right, tokenBytes } = vocabulary;
  const chunk = new Chunk();
  for (let k = 0; k < mergeCount; k++) {
    appendToken(chunk, tokenBytes, left[k]!, plainSpelling);
    chunk.ascii(" ");
    appendToken(chunk, tokenBytes, right[k]!, plainSpelling);
    chunk.ascii("\n");
    if (chunk.isFull) yield chunk.take();
  }
  yield chunk.take();
}

/** What the record names the result by: SHA-256 over the merge lines, in hex. */
export function mergesSha256(vocabulary: Vocabulary): string {
  const hasher = new Bun.CryptoHasher("sha256");
  for (const chunk of mergeLines(vocabulary)) hasher.update(chunk);
  return hasher.digest("hex");
}
