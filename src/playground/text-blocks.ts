import { ascii, escapeBytes, utf8 } from "#bytes";
import { type JoinedText, neverJoined } from "./joined-text.ts";

/**
 * TextBlock: a part of a text as the page displays it. It stays the same while more merges are applied. A *unit* is a
 * character with its combining marks, or `\xNN` for a byte of invalid or invisible text. No merge joins a *word* with
 * adjacent text.
 *
 *   ARRAY        TYPE         LENGTH          MEANING
 *   unitStarts   Uint32Array  unitCount + 1   position in the text, in bytes, where a unit begins
 *   unitOffsets  Uint32Array  unitCount + 1   position in `shown`, in UTF-16 units, where a unit begins
 *   wordStarts   Uint32Array  wordCount + 1   position in the text, in bytes, where a word begins
 *
 * The last item of each array is the end of the block.
 *
 * "é a\n" has shown = "é a↵", unitStarts = [0, 2, 3, 4, 5], unitOffsets = [0, 1, 2, 3, 4]; the pattern's
 * words are "é", " a", "\n".
 */
export type TextBlock = {
  readonly shown: string;
  readonly unitStarts: Uint32Array;
  readonly unitOffsets: Uint32Array;
  readonly wordStarts: Uint32Array;
  /** The number of words before the block. */
  readonly firstWord: number;
};

/**
 * A block ends after a word that ends with a line feed, unless another line feed follows. Once it has this many bytes,
 * it also ends before a space, and once it has twice as many, after any word.
 */
const blockBytes = 480;

export function blocksOf(text: JoinedText): TextBlock[] {
  const { bytes } = text;
  const blocks: TextBlock[] = [];
  let wordStarts: number[] = [];
  let firstWord = 0;
  for (const [start, end] of wordsOf(text)) {
    wordStarts.push(start);
    const isLineEnd = bytes[end - 1] === ascii.lineFeed && bytes[end] !== ascii.lineFeed;
    const length = end - wordStarts[0]!;
    const isLong = length >= blockBytes && (bytes[end] === ascii.space || length >= 2 * blockBytes);
    if (!isLineEnd && !isLong && end < bytes.length) continue;
    blocks.push(blockOf(bytes, Uint32Array.of(...wordStarts, end), firstWord));
    firstWord += wordStarts.length;
    wordStarts = [];
  }
  return blocks;
}

function* wordsOf({ bytes, joinedBy }: JoinedText): Generator<[start: number, end: number]> {
  for (let start = 0, pos = 1; pos <= bytes.length; pos++) {
    if (pos < bytes.length && joinedBy[pos]! < neverJoined) continue;
    yield [start, pos];
    start = pos;
  }
}

/** Combining marks and joiners, which belong to the previous character. */
const isMark = /^[\p{M}\p{Join_Control}\p{Variation_Selector}]$/u;

function blockOf(bytes: Uint8Array, wordStarts: Uint32Array, firstWord: number): TextBlock {
  const [from, end] = [wordStarts[0]!, wordStarts.at(-1)!];
  const [starts, offsets]: [number[], number[]] = [[], []];
  let shown = "";
  for (let pos = from; pos < end; ) {
    const length = Math.max(1, utf8.characterLengthAt(bytes, pos, end));
    const text = bytes[pos] === ascii.lineFeed ? "↵" : escapeBytes(bytes.subarray(pos, pos + length));
    const isEscaped = text.length === 4 * length;
    if (starts.length === 0 || !isMark.test(text)) {
      for (let byte = 0; byte < (isEscaped ? length : 1); byte++) {
        starts.push(pos + byte);
        offsets.push(shown.length + 4 * byte);
      }
    }
    shown += text;
    pos += length;
  }
  return {
    ...{ shown, wordStarts, firstWord },
    unitStarts: Uint32Array.of(...starts, end),
    unitOffsets: Uint32Array.of(...offsets, shown.length),
  };
}
