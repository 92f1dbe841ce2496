import { assert, scaled } from "#runtime";
import { EncodingKernel, type EncodingModel, IdBuffer, type TokenTable } from "#tokenizer";
import type { WordTable, wordTables } from "#words";

/**
 * The maximum number of bytes encoded between two yields; a longer word is encoded alone. With tables larger than the
 * processor's caches, a long word takes 2 µs per byte.
 */
const sliceBytes = scaled(1 << 14, 32);
/** The maximum number of words encoded between two yields. A new word takes up to 4 µs. */
const sliceWords = scaled(1 << 12, 3);

/**
 * Encodes words, none of them empty, as pretokens: a word that is among the model's `wholeTokens` becomes that token
 * without merging. The model must have an id for every byte.
 */
export function* segmentWords(
  words: WordTable,
  model: EncodingModel,
  tokens: Pick<TokenTable, "starts">,
): Generator<undefined, wordTables.TokenWords> {
  const { wordCount, bytes, starts, counts } = words;
  const isNarrow = model.idLimit <= 0x10000;
  const kernel = new EncodingKernel(model, isNarrow);
  const ids = new IdBuffer(isNarrow);
  const tokenStarts = new Uint32Array(wordCount + 1);
  yield;
  for (let first = 0; first < wordCount; ) {
    const end = sliceEnd(starts, first, wordCount);
    const firstByte = starts[first]!;
    kernel.reserveText(starts[end]! - firstByte);
    kernel.text.bytes.set(bytes.subarray(firstByte, starts[end]!));
    const ends = Int32Array.from(starts.subarray(first, end + 1), (start) => start - firstByte);
    kernel.encode(ends, ends.length, ids);
    let pos = tokenStarts[first]!;
    for (let word = first; word < end; word++) {
      pos = idsEnd(ids, pos, starts[word + 1]! - starts[word]!, tokens);
      tokenStarts[word + 1] = pos;
    }
    assert(pos === ids.count, "the ids spell the words");
    first = end;
    yield;
  }
  return { wordCount, tokens: ids.take(), starts: tokenStarts, counts };
}

/** Returns the end of the words that are encoded together, starting with `first`: at least one word. */
function sliceEnd(starts: Uint32Array, first: number, wordCount: number): number {
  let end = first + 1;
  const last = Math.min(wordCount, first + sliceWords);
  while (end < last && starts[end + 1]! - starts[first]! <= sliceBytes) end++;
  return end;
}

/** Returns the end of the ids from `from` on that spell the next `byteCount` bytes. */
function idsEnd({ ids }: IdBuffer, from: number, byteCount: number, { starts }: Pick<TokenTable, "starts">) {
  let pos = from;
  for (let left = byteCount; left > 0; pos++) left -= starts[ids[pos]! + 1]! - starts[ids[pos]!]!;
  return pos;
}
