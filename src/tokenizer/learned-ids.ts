import { cutText } from "#pattern";
import { SpecialTokenFinder } from "#text";
import type { EncodingModel } from "./encoding-model.ts";
import type { EncodingParts } from "./tokenizer-parts.ts";

/**
 * Encodes a few kilobytes, special tokens included, with a tokenizer that was just learned: setting up the kernel's
 * encoder would take longer than learning a small vocabulary. Returns undefined if the tokenizer does more than cut and
 * merge.
 *
 * Merges are applied one after the other, in the order learned. The encoder instead always merges the pair of the
 * lowest rank. The result is the same, because every pair that contains a merged token was learned after that token.
 */
export function encodeAsLearned(parts: EncodingParts, text: Uint8Array): Int32Array | undefined {
  const { model, normalization, addsPrefixSpace, addedTokens } = parts;
  const hasFlags = addedTokens.some(
    ({ normalized, lstrip, rstrip, singleWord }) => normalized || lstrip || rstrip || singleWord,
  );
  if (normalization !== null || addsPrefixSpace || hasFlags) return undefined;
  if (model.dropsBytes || model.wholeTokens !== null) return undefined;
  const tokens = startTokens(parts, text);
  applyMerges(tokens, text, model);
  return idsOf(tokens);
}

/**
 * The tokens of a text while they are merged. A token is stored at the position of its first byte.
 *
 *   ARRAY      TYPE          LENGTH          MEANING
 *   ids        Int32Array    byteCount       id of the token at i; `noToken` inside one that was merged
 *   more       Int32Array    byteCount + 1   how many more bytes the token at i has after its first
 *   before     Int32Array    byteCount + 1   the value of `more` for the token that ends just before i
 *   isStart    Uint8Array    byteCount + 1   1 where a pretoken or a special token starts, and at the end of the text: no
 *                                            merge joins tokens across such a position
 */
type GrowingTokens = {
  readonly ids: Int32Array;
  readonly more: Int32Array;
  readonly before: Int32Array;
  readonly isStart: Uint8Array;
};

const noToken = -1;

/** Finds the special tokens and the pretokens. Each byte of a pretoken is a token at first. */
function startTokens({ model, pattern, addedTokens }: EncodingParts, text: Uint8Array): GrowingTokens {
  const ids = new Int32Array(text.length);
  const more = new Int32Array(text.length + 1);
  const before = new Int32Array(text.length + 1);
  const isStart = new Uint8Array(text.length + 1);
  for (let i = 0; i < text.length; i++) ids[i] = model.byteIds[text[i]!]!;
  const idByContent = new Map(addedTokens.map(({ content, id }) => [content, id]));
  const finder = new SpecialTokenFinder(addedTokens.map(({ content }) => Buffer.from(content)));
  finder.reset(text);
  for (let pos = 0; pos < text.length; ) {
    const start = finder.find(pos, text.length);
    for (const end of cutText(pattern, text.subarray(pos, start))) isStart[pos + end] = 1;
    if (start === text.length) break;
    pos = start + finder.lengthAt(start, text.length);
    ids[start] = idByContent.get(new TextDecoder().decode(text.subarray(start, pos)))!;
    more[start] = pos - start - 1;
    isStart[start] = isStart[pos] = 1;
  }
  return { ids, more, before, isStart };
}

/** Applies all merges in order. Each replaces all occurrences that its pair has at that time, from the left. */
function applyMerges(tokens: GrowingTokens, text: Uint8Array, model: EncodingModel): void {
  const { ids, more, before, isStart } = tokens;
  const { left, right, merged } = model.merges;
  const pairs = new Map<number, number[]>();
  const add = (leftId: number, rightId: number, position: number) => {
    const key = leftId * idFactor + rightId;
    const positions = pairs.get(key);
    if (positions === undefined) pairs.set(key, [position]);
    else positions.push(position);
  };
  const isMerged = mergedBytePairs(model);
  for (let i = 1; i < text.length; i++)
    if (isMerged[(text[i - 1]! << 8) | text[i]!] === 1 && isStart[i] === 0) add(ids[i - 1]!, ids[i]!, i - 1);
  for (let rank = 0; rank < merged.length; rank++) {
    const leftId = left[rank]!;
    const rightId = right[rank]!;
    const positions = pairs.get(leftId * idFactor + rightId);
    if (positions === undefined) continue;
    const id = merged[rank]!;
    for (const position of positions) {
      const middle = position + more[position]! + 1;
      // One of the two tokens may have been merged with another one since.
      if (ids[position] !== leftId || ids[middle] !== rightId) continue;
      const end = middle + more[middle]! + 1;
      ids[position] = id;
      ids[middle] = noToken;
      more[position] = before[end] = end - position - 1;
      const previous = position - before[position]! - 1;
      if (isStart[position] === 0) add(ids[previous]!, id, previous);
      if (isStart[end] === 0) add(id, ids[end]!, position);
    }
  }
}

/** Greater than any id: combines two ids into one number. */
const idFactor = 2 ** 27;

/**
 * Returns, for each pair of bytes, left << 8 | right, whether a merge has it. Most pairs of bytes in a text
 * have none.
 */
function mergedBytePairs({ byteIds, idLimit, merges: { left, right } }: EncodingModel): Uint8Array {
  const isMerged = new Uint8Array(1 << 16);
  // 1 + the byte that an id represents; 0 for an id of any other token.
  const byteAfter = new Uint16Array(idLimit);
  for (let byte = 0; byte < byteIds.length; byte++) byteAfter[byteIds[byte]!] = byte + 1;
  for (let rank = 0; rank < left.length; rank++) {
    const leftAfter = byteAfter[left[rank]!]!;
    const rightAfter = byteAfter[right[rank]!]!;
    if (leftAfter > 0 && rightAfter > 0) isMerged[((leftAfter - 1) << 8) | (rightAfter - 1)] = 1;
  }
  return isMerged;
}

function idsOf({ ids, more }: GrowingTokens): Int32Array {
  let count = 0;
  for (let i = 0; i < ids.length; i += more[i]! + 1) ids[count++] = ids[i]!;
  return ids.subarray(0, count);
}
