/**
 * Special tokens in bytes. Where they occur, a document ends; of two that begin at one place the longest counts, and
 * the search goes on behind it (leftmost, longest, not overlapping).
 *
 * Tokens with the same first byte make a group, and a group is searched for by the longest prefix its tokens share,
 * with the native substring search: `<|a|>` and `<|b|>` cost one search for `<|`, whatever their number.
 */
export class SpecialTokenFinder {
  /** Length of the longest token, 0 without any. */
  readonly longestBytes: number;
  private readonly groups: Group[];
  private text: Buffer = Buffer.alloc(0);

  constructor(tokens: readonly Uint8Array[]) {
    this.longestBytes = Math.max(0, ...tokens.map((token) => token.length));
    this.groups = [...Map.groupBy(tokens, (token) => token[0]!).values()].map((group) => ({
      tokens: group.map((token) => Buffer.from(token)).sort((a, b) => b.length - a.length),
      prefix: Buffer.from(sharedPrefix(group)),
      nextPos: -1,
    }));
  }

  /** The bytes to search from now on; what was found before is forgotten. */
  reset(bytes: Uint8Array): void {
    this.text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    for (const group of this.groups) group.nextPos = -1;
  }

  /** Length of the longest token at `pos` that ends by `limit`, or 0. */
  lengthAt(pos: number, limit: number): number {
    for (const group of this.groups) {
      for (const token of group.tokens) {
        const end = pos + token.length;
        if (end <= limit && this.text.compare(token, 0, token.length, pos, end) === 0) return token.length;
      }
    }
    return 0;
  }

  /**
   * Position of the first token at or after `pos` that ends by `limit`, or `limit`. Positions asked for must not fall
   * between two calls of `reset`.
   */
  find(pos: number, limit: number): number {
    for (let from = pos; ; ) {
      let first = limit;
      for (const group of this.groups) {
        if (group.nextPos < from) {
          const found = this.text.indexOf(group.prefix, from);
          group.nextPos = found < 0 ? nowhere : found;
        }
        if (group.nextPos < first) first = group.nextPos;
      }
      if (first >= limit || this.lengthAt(first, limit) > 0) return first;
      from = first + 1;
    }
  }
}

/** Behind every position. A small integer: one infinity would turn all positions into floating-point numbers. */
const nowhere = 0x7fffffff;

type Group = {
  readonly tokens: Buffer[];
  readonly prefix: Buffer;
  /** Where the prefix occurs next, as far as it is known; -1 = not searched yet. */
  nextPos: number;
};

function sharedPrefix(tokens: readonly Uint8Array[]): Uint8Array {
  const first = tokens[0]!;
  let length = first.length;
  for (const token of tokens) {
    let same = 0;
    while (same < length && same < token.length && token[same] === first[same]) same++;
    length = same;
  }
  return first.subarray(0, length);
}
