import { ascii, escapeBytes } from "#bytes";
import { type differences, evaluations, type NumberCounts, textWords } from "#evaluation";
import { scaled } from "#runtime";
import { type AddedToken, cuttings, normalForms } from "#text";
import { TextEncoding, TextNotes, type TokenTable, type tokenizers, tokenTables } from "#tokenizer";
import type { WordTable } from "#words";

/** What a thread needs to encode words with a tokenizer. The token table is in shared memory. */
export type WordEncoding = {
  readonly parts: tokenizers.EncodingParts;
  readonly tokens: TokenTable;
  /** The cache of words is 2^cacheShrinkBits times smaller than usual, if memory is short. */
  readonly cacheShrinkBits: number;
};

type Ids = Uint16Array | Uint32Array;

/**
 * Encodes pretokens, and placed words: words with the whitespace character before them (text-words.ts). A token that is
 * only whitespace before the word is not a token of the word.
 */
export class WordEncoder {
  private readonly encoding: TextEncoding;
  /** What encoding noted about the last word. */
  private readonly notes = new TextNotes();
  private readonly addedTokens: ReadonlyMap<number, AddedToken>;
  /** Whether the tokens of a pretoken have exactly its bytes. */
  private readonly hasAllBytes: boolean;
  /** Whether the tokens of any text have exactly its bytes, because encoding neither changes a text nor drops bytes. */
  private readonly keepsBytes: boolean;
  /** For each id, whether it is a special token that is found in texts. These tokens are not text, and end a number. */
  private readonly isSpecial: Uint8Array;
  /** The ends of the tokens of the current word. */
  private readonly ends: number[] = [];

  constructor(readonly tokenizer: WordEncoding) {
    const { parts, cacheShrinkBits } = tokenizer;
    this.encoding = new TextEncoding(parts, this.notes, { cacheShrinkBits });
    this.addedTokens = new Map(parts.addedTokens.map((token) => [token.id, token]));
    this.isSpecial = new Uint8Array(tokenizer.tokens.idLimit);
    for (const { id, special } of parts.addedTokens) if (special) this.isSpecial[id] = 1;
    this.hasAllBytes = tokenTables.haveAllBytes(parts.model.byteIds, tokenizer.tokens);
    this.keepsBytes =
      this.hasAllBytes &&
      !cuttings.changesText(parts) &&
      !parts.addedTokens.some(({ lstrip, rstrip }) => lstrip || rstrip);
  }

  /** Encodes the pretokens of a slice. Adds the count of each of them to `tokenCounts[id]` for each of its ids. */
  addTokens(
    { bytes, starts, counts }: WordTable,
    slice: textWords.WordSlice,
    tokenCounts: Float64Array,
  ): void {
    const { encoding } = this;
    // The ids of a group come back as one list. The lengths of their tokens show where each word ends, but only if the
    // tokens have all bytes of the words. Otherwise each word is encoded separately.
    const wordsMax = this.hasAllBytes ? Number.POSITIVE_INFINITY : 1;
    for (const group of groupsOf(starts, slice, wordsMax)) {
      encoding.out.shrink();
      encoding.pushPretokens(bytes, starts, group.first, group.end);
      this.addGroup(starts, group, counts, tokenCounts);
      encoding.out.count = 0;
    }
  }

  /** Adds the counts of a group's words to `tokenCounts`. The ids of the words follow each other in the output. */
  private addGroup(
    starts: Uint32Array,
    { first, end }: textWords.WordSlice,
    counts: Float64Array,
    tokenCounts: Float64Array,
  ): void {
    const { starts: tokenStarts } = this.tokenizer.tokens;
    const { ids, count: idCount } = this.encoding.out;
    let i = 0;
    for (let word = first; word < end; word++) {
      const count = counts[word]!;
      let left = starts[word + 1]! - starts[word]!;
      for (; i < idCount && (left > 0 || word === end - 1); i++) {
        const id = ids[i]!;
        tokenCounts[id]! += count;
        left -= tokenStarts[id + 1]! - tokenStarts[id]!;
      }
    }
  }

  /**
   * Writes into `tokenCounts` how many tokens each placed word has, not counting tokens that are only whitespace. If
   * `words.hasDigit` is present, also adds the runs of digits in the words to `numbers`.
   */
  countTokens(
    words: textWords.TextWords,
    slice: textWords.WordSlice,
    tokenCounts: Uint32Array,
    numbers: NumberCounts,
  ): void {
    for (let p = slice.first; p < slice.end; p++) {
      const idCount = this.encode(words, p);
      tokenCounts[p] = idCount - this.whitespaceCount(words, p, idCount);
      // Normalization may add digits.
      if (words.hasDigit !== null && (words.hasDigit[p] === 1 || !this.keepsBytes))
        this.addNumbers(words.placed, p, idCount, numbers);
    }
  }

  /** Adds the runs of digits in a placed word to `numbers`. Its ids are the first `idCount` of the output. */
  private addNumbers(placed: WordTable, p: number, idCount: number, numbers: NumberCounts): void {
    const { isSpecial, ends, keepsBytes } = this;
    const { tokens } = this.tokenizer;
    const ids = this.encoding.out.ids.subarray(0, idCount);
    const bytes = keepsBytes
      ? placed.bytes
      : Buffer.concat(Array.from(ids, (id) => tokenTables.bytesOf(tokens, id)));
    let end = keepsBytes ? placed.starts[p]! : 0;
    let textStart = end;
    ends.length = 0;
    for (const id of ids) {
      const start = end;
      end += tokens.starts[id + 1]! - tokens.starts[id]!;
      ends.push(end);
      if (isSpecial[id] === 0) continue;
      numbers.add(bytes, textStart, start, ends, placed.counts[p]!);
      textStart = end;
    }
    numbers.add(bytes, textStart, end, ends, placed.counts[p]!);
  }

  /** Encodes a placed word. Returns the number of its ids, which are at the start of `encoding.out.ids`. */
  private encode({ placed: { bytes, starts } }: textWords.TextWords, p: number): number {
    const { encoding } = this;
    encoding.out.shrink();
    this.notes.clear();
    encoding.pushText(bytes, starts[p]!, starts[p + 1]!);
    const idCount = encoding.out.count;
    encoding.out.count = 0;
    return idCount;
  }

  /** Returns the ids of a placed word, except those that are only its whitespace. The next call overwrites the ids. */
  wordIdsOf(words: textWords.TextWords, p: number): Ids {
    const idCount = this.encode(words, p);
    return this.encoding.out.ids.subarray(this.whitespaceCount(words, p, idCount), idCount);
  }

  /** Returns the first tokens, escaped for people to read. Long tokens are cut off. */
  pieces(ids: Ids): string[] {
    const { tokens } = this.tokenizer;
    return Array.from(ids.subarray(0, piecesMax), (id) =>
      escapeBytes(evaluations.truncate(tokenTables.bytesOf(tokens, id))),
    );
  }

  /** Returns all ids of a placed word, including those of its whitespace. The next call overwrites them. */
  idsOf(words: textWords.TextWords, p: number): Ids {
    const idCount = this.encode(words, p);
    return this.encoding.out.ids.subarray(0, idCount);
  }

  /** Whether another tokenizer cuts a placed word into tokens with the same bytes. */
  cutsLike(other: WordEncoder, words: textWords.TextWords, p: number): boolean {
    const idCount = this.encode(words, p);
    if (other.encode(words, p) !== idCount) return false;
    const { bytes, starts } = this.tokenizer.tokens;
    const { bytes: otherBytes, starts: otherStarts } = other.tokenizer.tokens;
    const { ids } = this.encoding.out;
    const { ids: otherIds } = other.encoding.out;
    for (let i = 0; i < idCount; i++) {
      const start = starts[ids[i]!]!;
      const otherStart = otherStarts[otherIds[i]!]!;
      const length = starts[ids[i]! + 1]! - start;
      if (otherStarts[otherIds[i]! + 1]! - otherStart !== length) return false;
      for (let j = 0; j < length; j++) if (bytes[start + j] !== otherBytes[otherStart + j]) return false;
    }
    return true;
  }

  /** Counts the leading ids that are only whitespace before the word. */
  private whitespaceCount(words: textWords.TextWords, p: number, idCount: number): number {
    if (idCount === 0) return 0;
    const { starts } = this.tokenizer.tokens;
    const { ids } = this.encoding.out;
    let left = this.keepsBytes ? words.whitespaceBytes[p]! : this.bytesBefore(words, p);
    let count = 0;
    for (; left > 0 && count < idCount; count++) {
      left -= starts[ids[count]! + 1]! - starts[ids[count]!]!;
      if (left < 0) break;
    }
    return count;
  }

  /**
   * Returns how many bytes at the start of the tokens do not come from the word, but from what is before it: a prefix
   * space, if one is added, and the whitespace character. In the tokens, these characters may have other bytes than in
   * the text, for example after normalization.
   */
  private bytesBefore(words: textWords.TextWords, p: number): number {
    const { parts, tokens } = this.tokenizer;
    const bytesOf = (id: number) => (id < 0 ? 0 : tokens.starts[id + 1]! - tokens.starts[id]!);
    const text = textWords.placedAt(words, p);
    const whitespace = text.subarray(0, words.whitespaceBytes[p]!);
    const [id] = this.encoding.out.ids;
    const { firstTokenBytes } = this.notes;
    const isFirst = this.encoding.isDirect || firstTokenBytes !== undefined;
    const token = isFirst ? this.addedTokens.get(id!) : undefined;
    if (token !== undefined) {
      const content = Buffer.from(token.content);
      const before = token.normalized ? this.normalize(whitespace) : whitespace;
      const takenBytes = firstTokenBytes ?? content.length;
      return takenBytes <= before.length ? bytesOf(id!) : 0;
    }
    // Only the first byte of the normalized text is used. The rest may be wrong, because encoding does not normalize
    // special tokens.
    const isPrefixed = parts.addsPrefixSpace && this.normalize(text)[0] !== ascii.space;
    const before = [...(isPrefixed ? [ascii.space] : []), ...this.normalize(whitespace)];
    return before.reduce((sum, byte) => sum + bytesOf(parts.model.byteIds[byte]!), 0);
  }

  private normalize(text: Uint8Array): Uint8Array {
    const { normalization } = this.tokenizer.parts;
    return normalization === null
      ? text
      : Buffer.from(normalForms.normalize(Buffer.from(text).toString("utf8"), normalization));
  }
}

/** The maximum number of tokens that are listed for a word. */
const piecesMax = scaled(64, 3);

/** The maximum number of bytes that are encoded at once; a single word may be longer. */
const groupBytesMax = scaled(1 << 16, 32);

/** Groups consecutive words, up to `groupBytesMax` and `wordsMax`; a longer word is alone. */
function* groupsOf(
  starts: Uint32Array,
  { first, end }: textWords.WordSlice,
  wordsMax: number,
): Generator<textWords.WordSlice> {
  for (let from = first; from < end; ) {
    let to = from + 1;
    while (to < end && to - from < wordsMax && starts[to + 1]! - starts[from]! <= groupBytesMax) to++;
    yield { first: from, end: to };
    from = to;
  }
}

/** Marks the placed words that two tokenizers cut differently. */
export function compareCuts(
  words: textWords.TextWords,
  { first, end }: textWords.WordSlice,
  [a, b]: readonly [WordEncoder, WordEncoder],
  isDifferent: Uint8Array,
): void {
  for (let p = first; p < end; p++) isDifferent[p] = a.cutsLike(b, words, p) ? 0 : 1;
}

/** The maximum number of words that are listed as cut differently. */
const listedMax = 1000;

/** Lists the words that are marked as cut differently, the most frequent first. */
export function* differentWords(
  words: textWords.TextWords,
  isDifferent: Uint8Array,
  [a, b]: readonly [WordEncoder, WordEncoder],
): Generator<undefined, differences.DifferentWords> {
  const { counts } = words.placed;
  const isBefore = isMoreFrequent(words);
  const listed: number[] = [];
  let differentCount = 0;
  let distinctCount = 0;
  for (const { first, end } of textWords.slicesOf(isDifferent.length)) {
    for (let p = first; p < end; p++) {
      if (isDifferent[p] === 0) continue;
      differentCount += counts[p]!;
      distinctCount++;
      insertAmongFirst(listed, p, isBefore, listedMax);
    }
    yield;
  }
  return {
    differentWords: differentCount,
    distinctDifferentWords: distinctCount,
    mostFrequent: listed.map((p) => ({
      word: escapeBytes(evaluations.truncate(textWords.placedAt(words, p))),
      count: counts[p]!,
      piecesA: a.pieces(a.idsOf(words, p)),
      piecesB: b.pieces(b.idsOf(words, p)),
    })),
  };
}

type IsBefore = (item: number, other: number) => boolean;

/** Inserts an item into an ordered list of the `max` first items, if it belongs to them. */
function insertAmongFirst(list: number[], item: number, isBefore: IsBefore, max: number): void {
  let low = 0;
  let high = list.length;
  if (high === max && !isBefore(item, list[max - 1]!)) return;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(item, list[middle]!)) high = middle;
    else low = middle + 1;
  }
  list.splice(low, 0, item);
  if (list.length > max) list.length = max;
}

/** Returns a function that orders placed words by frequency, and equally frequent ones by their bytes. */
const isMoreFrequent =
  (words: textWords.TextWords): IsBefore =>
  (p, q) => {
    const { counts } = words.placed;
    return counts[p] === counts[q] ? compareBytes(words, p, 0, q, 0) < 0 : counts[p]! > counts[q]!;
  };

/** Compares the bytes of two placed words, without the given number of bytes at the start of each. */
function compareBytes(
  { placed: { bytes, starts } }: textWords.TextWords,
  p: number,
  skippedOfP: number,
  q: number,
  skippedOfQ: number,
): number {
  const end = starts[p + 1]!;
  const otherEnd = starts[q + 1]!;
  let pos = starts[p]! + skippedOfP;
  let other = starts[q]! + skippedOfQ;
  for (; pos < end && other < otherEnd; pos++, other++)
    if (bytes[pos] !== bytes[other]) return bytes[pos]! - bytes[other]!;
  return end - pos - (otherEnd - other);
}

/**
 * The maximum number of costliest words. The cost of a word is the number of its tokens beyond the first one, added up
 * over all its occurrences.
 */
export const costliestMax = 20;

/**
 * Computes the costs of the words of a text.
 *
 * @param tokenCounts the number of tokens of each placed word, without those of only whitespace
 */
export function* wordCosts(
  words: textWords.TextWords,
  tokenCounts: Uint32Array,
  encoder: WordEncoder,
): Generator<undefined, evaluations.WordCosts> {
  const { counts, wordCount: placedCount } = words.placed;
  const { wordOf, distinctCount } = words;
  const beyondFirst = new Float64Array(distinctCount);
  let singleTokenWords = 0;
  let continuedWords = 0;
  for (const { first, end } of textWords.slicesOf(placedCount)) {
    for (let p = first; p < end; p++) {
      const tokens = tokenCounts[p]!;
      if (tokens === 1) singleTokenWords += counts[p]!;
      if (tokens < 2) continue;
      continuedWords += counts[p]!;
      beyondFirst[wordOf[p]!]! += counts[p]! * (tokens - 1);
    }
    yield;
  }
  const costliest = yield* costliestOf(words, beyondFirst);
  const placesOf = new Map(costliest.map((word) => [word, [] as number[]]));
  for (let p = 0; p < placedCount; p++) placesOf.get(wordOf[p]!)?.push(p);
  const isBefore = isMoreFrequent(words);
  const costliestWords = costliest.map((word) => {
    const places = placesOf.get(word)!.sort((p, q) => (isBefore(p, q) ? -1 : 1));
    const sum = (numberOf: (p: number) => number) => places.reduce((all, p) => all + numberOf(p), 0);
    // The pieces of a word are those of its most frequent placed word.
    const bytes = textWords.wordAt(words, places[0]!);
    return {
      word: Buffer.from(evaluations.truncate(bytes)).toString("utf8"),
      bytes: bytes.length,
      count: sum((p) => counts[p]!),
      tokens: sum((p) => counts[p]! * tokenCounts[p]!),
      tokensBeyondFirst: beyondFirst[word]!,
      pieces: encoder.pieces(encoder.wordIdsOf(words, places[0]!)),
    };
  });
  return { singleTokenWords, continuedWords, costliestWords };
}

/** Returns the indices of the costliest text words (text-words.ts), the costliest first. */
function* costliestOf(words: textWords.TextWords, beyondFirst: Float64Array): Generator<undefined, number[]> {
  const { firstPlaced, whitespaceBytes } = words;
  const isCostlier = (a: number, b: number): boolean => {
    if (beyondFirst[a] !== beyondFirst[b]) return beyondFirst[a]! > beyondFirst[b]!;
    const [p, q] = [firstPlaced[a]!, firstPlaced[b]!];
    return compareBytes(words, p, whitespaceBytes[p]!, q, whitespaceBytes[q]!) < 0;
  };
  const costliest: number[] = [];
  for (const { first, end } of textWords.slicesOf(beyondFirst.length)) {
    for (let word = first; word < end; word++) {
      if (beyondFirst[word] !== 0) insertAmongFirst(costliest, word, isCostlier, costliestMax);
    }
    yield;
  }
  return costliest;
}
