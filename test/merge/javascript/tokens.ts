import { grow } from "./grow.ts";

/**
 * Tokens: what each token id is made of. 0-255 are the bytes, merge k makes 256 + k.
 *
 *   ARRAY          TYPE           LENGTH     MEANING
 *   lefts          Int32Array     capacity   token id of the left half; none for the 256 bytes
 *   rights         Int32Array     capacity   token id of the right half
 *   lengths        Int32Array     capacity   bytes in the token
 *   tieKeys        Float64Array   capacity   of two tokens the greater key wins a tie; equal: compare bytes
 *   prefixBytes    Uint8Array     grows      the first bytes of each token, `prefixLengthMax` of them at most
 *   prefixStarts   Int32Array     capacity   where they stand
 *
 * Keeping only a prefix bounds the memory: a vocabulary of one repetitive word of 10 MB holds tokens of megabytes.
 * `prefixBytes` is empty where no rule asks for bytes.
 */
export type Tokens = {
  count: number;
  readonly lefts: Int32Array;
  readonly rights: Int32Array;
  readonly lengths: Int32Array;
  readonly tieKeys: Float64Array;
  readonly prefixLengthMax: number;
  prefixBytes: Uint8Array;
  prefixByteCount: number;
  readonly prefixStarts: Int32Array;
};

export function createTokens(capacity: number, prefixLengthMax: number): Tokens {
  const tokens: Tokens = {
    count: 256,
    lefts: new Int32Array(capacity),
    rights: new Int32Array(capacity),
    lengths: new Int32Array(capacity),
    tieKeys: new Float64Array(capacity),
    prefixLengthMax,
    prefixBytes: new Uint8Array(1 << 12),
    prefixByteCount: 256,
    prefixStarts: new Int32Array(capacity),
  };
  for (let byte = 0; byte < 256; byte++) {
    tokens.lengths[byte] = 1;
    tokens.prefixBytes[byte] = byte;
    tokens.prefixStarts[byte] = byte;
  }
  return tokens;
}

/** The token `left right`, the next id. Its tie key is the rule's to give. */
export function addToken(tokens: Tokens, left: number, right: number): number {
  const id = tokens.count++;
  tokens.lefts[id] = left;
  tokens.rights[id] = right;
  tokens.lengths[id] = tokens.lengths[left]! + tokens.lengths[right]!;
  if (tokens.prefixLengthMax > 0) writePrefix(tokens, id);
  return id;
}

export function prefixLength(tokens: Tokens, id: number): number {
  const length = tokens.lengths[id]!;
  return Math.min(length, tokens.prefixLengthMax);
}

function writePrefix(tokens: Tokens, id: number): void {
  const left = tokens.lefts[id]!;
  const right = tokens.rights[id]!;
  const start = tokens.prefixByteCount;
  const length = prefixLength(tokens, id);
  const leftLength = prefixLength(tokens, left);
  if (start + length > tokens.prefixBytes.length) {
    tokens.prefixBytes = grow(tokens.prefixBytes, tokens.prefixBytes.length * 2 + length);
  }
  const { prefixBytes, prefixStarts } = tokens;
  prefixStarts[id] = start;
  tokens.prefixByteCount += length;
  let from = prefixStarts[left]!;
  let pos = start;
  for (const end = start + leftLength; pos < end; ) prefixBytes[pos++] = prefixBytes[from++]!;
  from = prefixStarts[right]!;
  for (const end = start + length; pos < end; ) prefixBytes[pos++] = prefixBytes[from++]!;
}

/** Compares what is at hand of two tokens: the first `prefixLengthMax` bytes, then which ends first. */
export function comparePrefixes(tokens: Tokens, a: number, b: number): number {
  const { prefixBytes, prefixStarts } = tokens;
  const lengthA = prefixLength(tokens, a);
  const lengthB = prefixLength(tokens, b);
  let posA = prefixStarts[a]!;
  let posB = prefixStarts[b]!;
  for (const end = posA + Math.min(lengthA, lengthB); posA < end; posA++, posB++) {
    const difference = prefixBytes[posA]! - prefixBytes[posB]!;
    if (difference !== 0) return difference;
  }
  return lengthA - lengthB;
}

/** Whether token `id` is these bytes, however long it is. */
export function hasBytes(tokens: Tokens, id: number, bytes: Uint8Array): boolean {
  if (tokens.lengths[id] !== bytes.length) return false;
  const rest = [id];
  for (let pos = 0; rest.length > 0; ) {
    const token = rest.pop()!;
    if (token >= 256) rest.push(tokens.rights[token]!, tokens.lefts[token]!);
    else if (token !== bytes[pos++]) return false;
  }
  return true;
}
