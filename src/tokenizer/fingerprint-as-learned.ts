import { encodeAsLearned } from "./encode-as-learned.ts";
import { fingerprintOf, probeText } from "./probe.ts";
import type { TokenizerParts } from "./tokenizer-parts.ts";

/**
 * Returns `behaviorFingerprint` for a tokenizer that was just learned. If it only cuts and merges, this takes a
 * fraction of the time.
 */
export function fingerprintAsLearned(parts: TokenizerParts): string {
  const ids = encodeAsLearned(parts, new TextEncoder().encode(probeText));
  if (ids !== undefined) return fingerprintOf(ids);
  const { behaviorFingerprint } = require("./fingerprint.ts") as typeof import("./fingerprint.ts");
  return behaviorFingerprint(parts);
}
