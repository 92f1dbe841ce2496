import { compareBytes, createLongTokens, findPlace, insertAt, type LongTokens } from "./long-tokens.ts";
import { comparePrefixes, prefixLength, type Tokens } from "./tokens.ts";

/**
 * TokenIdentity: which token has these bytes. Two derivations can arrive at the same bytes ("a" + "aa", "aa" + "a"),
 * and under the rules that name tokens by their bytes they are one token.
 *
 *   ARRAY   TYPE         LENGTH          MEANING
 *   slots   Int32Array   power of 2      hash table over tokens short enough to be at hand whole: id + 1, 0 where empty
 *
 * Longer tokens are found in `long`.
 */
export type TokenIdentity = { readonly slots: Int32Array; readonly long: LongTokens };

/** Where a staged token belongs: `twin` is the token of the same bytes, or `noTwin`. */
export type Identified = { readonly twin: number; readonly place: number };

export const noTwin = -1;

export function createTokenIdentity(capacity: number): TokenIdentity {
  let slotCount = 1024;
  while (slotCount < capacity * 2) slotCount *= 2;
  return { slots: new Int32Array(slotCount), long: createLongTokens() };
}

export function identify(identity: TokenIdentity, tokens: Tokens, id: number): Identified {
  if (isLong(tokens, id)) {
    const { place, isEqual } = findPlace(identity.long, tokens, id);
    return { twin: isEqual ? identity.long.sorted[place]! : noTwin, place };
  }
  const { slots } = identity;
  const mask = slots.length - 1;
  let slot = hashPrefix(tokens, id) & mask;
  for (; slots[slot] !== 0; slot = (slot + 1) & mask) {
    const other = slots[slot]! - 1;
    if (comparePrefixes(tokens, id, other) === 0) return { twin: other, place: slot };
  }
  return { twin: noTwin, place: slot };
}

/** Remembers a token that was identified as new. */
export function remember(identity: TokenIdentity, tokens: Tokens, id: number, place: number): void {
  if (isLong(tokens, id)) insertAt(identity.long, tokens, place, id);
  else identity.slots[place] = id + 1;
}

/** Byte order of two tokens that are remembered, or bytes. */
export function compareTokens(identity: TokenIdentity, tokens: Tokens, a: number, b: number): number {
  if (isLong(tokens, a) && isLong(tokens, b)) return identity.long.labels[a]! - identity.long.labels[b]!;
  return compareBytes(tokens, a, b);
}

function isLong(tokens: Tokens, id: number): boolean {
  return tokens.lengths[id]! > tokens.prefixLengthMax;
}

function hashPrefix(tokens: Tokens, id: number): number {
  const { prefixBytes, prefixStarts } = tokens;
  let hash = 0;
  for (let pos = prefixStarts[id]!, end = pos + prefixLength(tokens, id); pos < end; pos++) {
    hash = Math.imul(hash, 0x01000193) ^ prefixBytes[pos]!;
  }
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  return hash ^ (hash >>> 13);
}
