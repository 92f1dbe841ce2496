import { decodeCharacters } from "../../../src/bytes/byte-characters.ts";
import { alphabetOrder } from "../../../src/merge/fill-tie-rule.ts";
import type { Compat } from "../../../src/merge/merges.ts";
import { compareTokens, type LongTokens } from "./long-tokens.ts";
import type { Pairs } from "./pairs.ts";
import { hasBytes, type Tokens } from "./tokens.ts";

/**
 * Which of two pairs with equal counts is merged first. Each token has a tie key, a number; the pair with the greater
 * left key wins, then the one with the greater right key:
 *
 *   RULE          WINS                                            TIE KEY
 *   cs336         greater (bytes of left, bytes of right)         first 6 bytes as one number; equal keys: compare bytes
 *   huggingface   smaller (left id, right id), HF's own ids       minus that id
 *   rustbpe       smaller (left id, right id)                     minus the id
 */
export function pairWins(
  pairs: Pairs,
  tokens: Tokens,
  longTokens: LongTokens,
  p: number,
  q: number,
): boolean {
  const { lefts, rights } = pairs;
  const { tieKeys } = tokens;
  const leftP = lefts[p]!;
  const leftQ = lefts[q]!;
  if (leftP !== leftQ) {
    const difference = tieKeys[leftP]! - tieKeys[leftQ]!;
    return (difference !== 0 ? difference : compareTokens(longTokens, tokens, leftP, leftQ)) > 0;
  }
  const rightP = rights[p]!;
  const rightQ = rights[q]!;
  const difference = tieKeys[rightP]! - tieKeys[rightQ]!;
  return (difference !== 0 ? difference : compareTokens(longTokens, tokens, rightP, rightQ)) > 0;
}

/** How a rule gives tie keys, and how it names tokens. */
export type TieRule = {
  /** Whether ties are decided by the bytes of the tokens. */
  readonly comparesBytes: boolean;
  /** HF's special tokens as the bytes that their text stands for in byte-to-character form, if it is such a text. */
  readonly specialTokens: readonly (Uint8Array | null)[];
  /** The index of the special token that equals token `id`, or -1. */
  specialIndexOf(tokens: Tokens, id: number): number;
  tieKey(tokens: Tokens, id: number, specialIndex: number): number;
};

export function tieRuleOf(compat: Compat, specialTokens: readonly string[]): TieRule {
  const plain = { specialTokens: [], specialIndexOf: () => -1 };
  if (compat === "cs336") return { ...plain, comparesBytes: true, tieKey: prefixKey };
  if (compat === "rustbpe") return { ...plain, comparesBytes: false, tieKey: (_, id) => -id };
  return huggingfaceRule([...new Set(specialTokens)].map(decodeCharacters));
}

function huggingfaceRule(specialTokens: readonly (Uint8Array | null)[]): TieRule {
  const alphabetRanks = alphabetOrder();
  return {
    comparesBytes: false,
    specialTokens,
    specialIndexOf: (tokens, id) =>
      specialTokens.findIndex((bytes) => bytes !== null && hasBytes(tokens, id, bytes)),
    // Special tokens come first, so their keys are above 0, those of the alphabet and the merges at or below.
    tieKey(_, id, specialIndex) {
      if (specialIndex >= 0) return specialTokens.length - specialIndex;
      return -(id < 256 ? alphabetRanks[id]! : id);
    },
  };
}

const keyBytes = 6; // 48 bits: a whole number that a Float64 holds exactly

function prefixKey(tokens: Tokens, id: number): number {
  const start = tokens.prefixStarts[id]!;
  const length = Math.min(tokens.lengths[id]!, tokens.prefixLengthMax);
  let key = 0;
  for (let k = 0; k < keyBytes; k++) key = key * 256 + (k < length ? tokens.prefixBytes[start + k]! : 0);
  return key;
}
