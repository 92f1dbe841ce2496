import { groupBy } from "./group-by.ts";
import { buildTokenTrie, matchBackwards, type TokenPlaces, type TokenTrie } from "./token-trie.ts";

/**
 * Finds special tokens in bytes: leftmost, longest, not overlapping. Where one occurs, a document ends.
 *
 * The native substring search finds the next place where a token may begin: for all tokens with the same first byte it
 * looks for the longest prefix that they share (`<|a|>` and `<|b|>` share `<|`). From there a block is read backwards
 * (`token-trie.ts`), which shows all tokens that begin in it. Blocks are short where such places are rare, and longer where
 * they are frequent. A block is not shorter than the longest token, so no byte is read more than twice.
 */
export class SpecialTokenFinder {
  /** Length of the longest token; 0 if there is none. */
  readonly longestBytes: number;
  /** How many bytes were read backwards; for tests. */
  visitedByteCount = 0;
  private readonly tokens: readonly Uint8Array[];
  /** Made when the first block is read: most texts have no special token. */
  private trie: TokenTrie | undefined;
  /** Empty if there would be too many: then everything is read backwards. */
  private readonly prefixes: readonly Prefix[];
  private text: Buffer = Buffer.alloc(0);
  /** The tokens that begin before `blockEnd` and end by `blockLimit` are known. */
  private blockEnd = 0;
  private blockLimit = notRead;
  private blockBytes: number;
  private readonly shortestBlockBytes: number;
  private readonly longestBlockBytes: number;
  /** Where tokens begin in the block, from last to first. The first `left` of them are still ahead. */
  private found: TokenPlaces = { places: new Int32Array(0), lengths: new Int32Array(0) };
  private left = 0;

  constructor(tokens: readonly Uint8Array[]) {
    this.tokens = tokens.filter((token) => token.length > 0);
    this.longestBytes = this.tokens.reduce((longest, token) => Math.max(longest, token.length), 0);
    this.shortestBlockBytes = Math.max(shortestBlockBytes, this.longestBytes);
    this.longestBlockBytes = Math.max(longestBlockBytes, this.longestBytes);
    this.blockBytes = this.shortestBlockBytes;
    const groups = [...groupBy(this.tokens, (token) => token[0]!).values()];
    const prefixes = groups.length > prefixCountMax ? [] : groups.map((group) => sharedPrefix(group));
    this.prefixes = prefixes.map((prefix) => ({ bytes: Buffer.from(prefix), nextPos: -1 }));
  }

  /** Sets the bytes to search, and forgets what was found before. */
  reset(bytes: Uint8Array): void {
    this.text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    for (const prefix of this.prefixes) prefix.nextPos = -1;
    this.blockLimit = notRead;
  }

  /** Length of the longest token at `pos` that ends by `limit`, or 0. */
  lengthAt(pos: number, limit: number): number {
    return pos < limit && this.find(pos, limit) === pos ? this.found.lengths[this.left - 1]! : 0;
  }

  /**
   * Position of the first token at or after `pos` that ends by `limit`; `limit` if there is none. Until the next `reset`
   * no call may give a lower position than an earlier call gave or returned.
   */
  find(pos: number, limit: number): number {
    if (limit !== this.blockLimit) {
      this.blockLimit = limit;
      this.blockEnd = pos;
      this.left = 0;
    }
    for (;;) {
      const { places } = this.found;
      while (this.left > 0 && places[this.left - 1]! < pos) this.left--;
      if (this.left > 0) return places[this.left - 1]!;
      const candidate = this.nextCandidate(Math.max(pos, this.blockEnd));
      if (candidate >= limit) return limit;
      this.readBlock(candidate);
    }
  }

  /** The first position from `from` on where a token may begin. */
  private nextCandidate(from: number): number {
    if (this.prefixes.length === 0) return this.tokens.length === 0 ? nowhere : from;
    let first = nowhere;
    for (const prefix of this.prefixes) {
      if (prefix.nextPos < from) {
        const found = this.text.indexOf(prefix.bytes, from);
        prefix.nextPos = found < 0 ? nowhere : found;
      }
      if (prefix.nextPos < first) first = prefix.nextPos;
    }
    return first;
  }

  /** Finds all tokens that begin in a block from `from` on. */
  private readBlock(from: number): void {
    const { text, blockLimit, longestBytes } = this;
    const isNear = from - this.blockEnd < this.shortestBlockBytes;
    this.blockBytes = isNear
      ? Math.min(2 * this.blockBytes, this.longestBlockBytes)
      : this.shortestBlockBytes;
    if (this.found.places.length < this.blockBytes) {
      this.found = { places: new Int32Array(this.blockBytes), lengths: new Int32Array(this.blockBytes) };
    }
    this.blockEnd = Math.min(from + this.blockBytes, blockLimit);
    const stop = Math.min(this.blockEnd + longestBytes - 1, blockLimit);
    this.trie ??= buildTokenTrie(this.tokens);
    this.left = matchBackwards(this.trie, text, from, this.blockEnd, stop, this.found);
    this.visitedByteCount += stop - from;
  }
}

/** After every position. Not infinity, which would turn all positions into floating-point numbers. */
const nowhere = 0x7fffffff;
/** Searching for one prefix takes 0.02 ns a byte, reading backwards 0.4 to 0.7: more prefixes gain little. */
export const prefixCountMax = 8;
const notRead = -1;
const shortestBlockBytes = 64;
export const longestBlockBytes = 1 << 14;

type Prefix = {
  readonly bytes: Buffer;
  /** Where it occurs next; -1 = not searched yet. */
  nextPos: number;
};

/** The longest prefix that all of the tokens share, at most `bytesMax` bytes of it. */
export function sharedPrefix(tokens: readonly Uint8Array[], bytesMax = Number.POSITIVE_INFINITY): Uint8Array {
  const first = tokens[0]!;
  let length = Math.min(first.length, bytesMax);
  for (const token of tokens) {
    let same = 0;
    while (same < length && same < token.length && token[same] === first[same]) same++;
    length = same;
  }
  return first.subarray(0, length);
}
