import { assert } from "../errors.ts";
import type { TokenWords, WordTable } from "../words/word-table.ts";
import { EncodingKernel } from "./encoding-kernel.ts";
import type { EncodingModel } from "./encoding-model.ts";
import { IdBuffer } from "./id-buffer.ts";
import type { TokenTable } from "./token-table.ts";

/**
 * What is encoded between two yields, in bytes and in words: with tables that are larger than the processor's caches, a new word
 * takes up to 4 µs, a long one 2 µs a byte. A longer word is encoded alone.
 */
const sliceBytes = 1 << 14;
const sliceWords = 1 << 12;

/**
 * The words as sequences of a tokenizer's ids, as its encoder cuts a pretoken, whole tokens included. No word may be empty,
 * and the model must have every byte. Yields between slices, and when the model is in the kernel.
 */
export function* segmentWords(
  words: WordTable,
  model: EncodingModel,
  tokens: Pick<TokenTable, "starts">,
): Generator<undefined, TokenWords> {
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

/** The end of the words from `first` on that are encoded together: one at least. */
function sliceEnd(starts: Uint32Array, first: number, wordCount: number): number {
  let end = first + 1;
  const last = Math.min(wordCount, first + sliceWords);
  while (end < last && starts[end + 1]! - starts[first]! <= sliceBytes) end++;
  return end;
}

/** Where the ids end that spell the next `byteCount` bytes. */
function idsEnd({ ids }: IdBuffer, from: number, byteCount: number, { starts }: Pick<TokenTable, "starts">) {
  let pos = from;
  for (let left = byteCount; left > 0; pos++) left -= starts[ids[pos]! + 1]! - starts[ids[pos]!]!;
  return pos;
}
