import { encodeAsLearned } from "./encode-as-learned.ts";
import * as probe from "./probe.ts";
import type { TokenizerParts } from "./tokenizer-parts.ts";

/**
 * Returns `behaviorFingerprint` for a tokenizer that was just learned. If it only cuts and merges, this takes a
 * fraction of the time.
 */
export function fingerprintAsLearned(parts: TokenizerParts): string {
  const ids = encodeAsLearned(parts, new TextEncoder().encode(probe.text));
  if (ids !== undefined) return probe.fingerprintOf(ids);
  const { behaviorFingerprint } = require("./fingerprint.ts") as typeof import("./fingerprint.ts");
  return behaviorFingerprint(parts);
}
