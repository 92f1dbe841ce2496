import { groupBy } from "#bytes";
import { scaled } from "#runtime";

/**
 * Finds special tokens in bytes: from left to right, the longest at each position, without overlaps. A document ends at
 * each of them.
 *
 * The runtime's substring search finds the next position where a token may begin. For all tokens with the same first
 * byte it searches the longest prefix that they share (`<|a|>` and `<|b|>` share `<|`). From there on a block is read
 * backwards (`TokenTrie`), which finds all tokens that begin in it. Blocks are short where such positions are rare, and
 * longer where they are frequent. A block is not shorter than the longest token, so no byte is read more than twice.
 */
export class SpecialTokenFinder {
  readonly longestBytes: number;
  /** The number of bytes read backwards; for tests. */
  visitedByteCount = 0;
  private readonly tokens: readonly Uint8Array[];
  /** The automaton, built when the first block is read: most texts have no special token. */
  private trie: TokenTrie | undefined;
  /** The prefixes; empty if there would be too many, and all of the text is read backwards. */
  private readonly prefixes: readonly Prefix[];
  private text: Buffer = Buffer.alloc(0);
  /** All tokens that begin before `blockEnd` and end by `blockLimit` are known. */
  private blockEnd = 0;
  private blockLimit = notRead;
  private blockBytes: number;
  private readonly shortestBlockBytes: number;
  private readonly longestBlockBytes: number;
  /**
   * The positions in the block where tokens begin, from last to first. The first `left` of them have not been reported
   * yet.
   */
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

  /** Sets the bytes to search, and forgets earlier findings. */
  reset(bytes: Uint8Array): void {
    this.text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    for (const prefix of this.prefixes) prefix.nextPos = -1;
    this.blockLimit = notRead;
  }

  /** Returns the length of the longest token at `pos` that ends by `limit`, or 0. */
  lengthAt(pos: number, limit: number): number {
    return pos < limit && this.find(pos, limit) === pos ? this.found.lengths[this.left - 1]! : 0;
  }

  /**
   * Returns the position of the first token at or after `pos` that ends by `limit`; `limit` if there is none. Until the
   * next `reset`, `pos` must not be lower than any earlier `pos` or result.
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

  /** Returns the first position from `from` on where a token may begin. */
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

/** A number above every position. Infinity would turn all positions into floating-point numbers. */
const nowhere = 0x7fffffff;
/**
 * The maximum number of prefixes. Searching for one takes 0.02 ns per byte, reading backwards 0.4 to 0.7 ns, so more
 * prefixes gain little.
 */
const prefixCountMax = 8;
const notRead = -1;
const shortestBlockBytes = scaled(64, 8);
const longestBlockBytes = scaled(1 << 14, 16);

type Prefix = {
  readonly bytes: Buffer;
  /** The position of its next occurrence; -1: not searched yet. */
  nextPos: number;
};

/** Returns the longest prefix that all of the tokens share. */
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

/**
 * TokenTrie: an Aho-Corasick automaton of the reversed tokens. It reads a text backwards; after each byte its state
 * tells the longest token that begins there. One pass over n bytes makes at most 2n moves, whatever the tokens are. A
 * search from left to right that tries each position would read a text of near misses again and again.
 *
 *   ARRAY            TYPE          LENGTH          MEANING
 *   labels           Uint8Array    stateCount      the byte that leads to the state from its parent
 *   firstChildren    Int32Array    stateCount + 1  children of state s: states firstChildren[s] to firstChildren[s + 1],
 *                                                  exclusive, by ascending label
 *   fallbacks        Int32Array    stateCount      the state to continue in if no child fits: that of the longest proper
 *                                                  suffix of the state's string that is also a state
 *   tokenLengths     Int32Array    stateCount      length of the longest token that was read completely; 0 = none
 *   rootChildren     Int32Array    256             the child of state 0 by its label; 0 = none
 *
 * State 0 is the root: the empty string. States are numbered level by level, so the children of a state are neighbours,
 * and each fallback is smaller than its state. Nothing is written after `buildTokenTrie`.
 *
 * The tokens "ab" and "b" give state 1 (b, a token of 1), and its child 2 (b, a: a token of 2): labels = [0, b, a],
 * firstChildren = [1, 2, 3, 3], fallbacks = [0, 0, 0], tokenLengths = [0, 1, 2].
 */
type TokenTrie = {
  readonly labels: Uint8Array;
  readonly firstChildren: Int32Array;
  readonly fallbacks: Int32Array;
  readonly tokenLengths: Int32Array;
  readonly rootChildren: Int32Array;
};

/**
 * Builds the automaton. 100,000 tokens take some 60 ms, which no signal interrupts.
 *
 * @param tokens each of at least one byte
 */
export function buildTokenTrie(tokens: readonly Uint8Array[]): TokenTrie {
  const keys = backwards(tokens);
  const stateCountMax = 1 + keys.bytes.length;
  const labels = new Uint8Array(stateCountMax);
  const firstChildren = new Int32Array(stateCountMax + 1);
  const tokenLengths = new Int32Array(stateCountMax);
  // The keys that begin with the string of state s are adjacent: keys firstKeys[s] to endKeys[s], exclusive.
  const firstKeys = new Int32Array(stateCountMax);
  const endKeys = new Int32Array(stateCountMax);
  endKeys[0] = keys.starts.length;

  let stateCount = 1;
  for (let state = 0, levelEnd = 1, depth = 0; state < stateCount; state++) {
    if (state === levelEnd) {
      levelEnd = stateCount;
      depth++;
    }
    const endKey = endKeys[state]!;
    firstChildren[state] = stateCount;
    let k = firstKeys[state]!;
    if (endKey - k > 1) sortByByte(keys, k, endKey, depth);
    while (k < endKey && byteOf(keys, k, depth) < 0) {
      tokenLengths[state] = depth;
      k++;
    }
    while (k < endKey) {
      const label = byteOf(keys, k, depth);
      const child = stateCount++;
      labels[child] = label;
      firstKeys[child] = k++;
      while (k < endKey && byteOf(keys, k, depth) === label) k++;
      endKeys[child] = k;
    }
  }
  firstChildren[stateCount] = stateCount;
  const rootChildren = new Int32Array(256);
  for (let child = 1; child < firstChildren[1]!; child++) rootChildren[labels[child]!] = child;
  const trie = {
    labels: labels.slice(0, stateCount),
    firstChildren: firstChildren.slice(0, stateCount + 1),
    fallbacks: new Int32Array(stateCount),
    tokenLengths: tokenLengths.slice(0, stateCount),
    rootChildren,
  };
  addFallbacks(trie);
  return trie;
}

/** The tokens, end to end, with the start and end of each. Sorting permutes `starts` and `ends`, not the bytes. */
type Keys = {
  readonly bytes: Uint8Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
};

function backwards(tokens: readonly Uint8Array[]): Keys {
  const bytes = new Uint8Array(tokens.reduce((sum, token) => sum + token.length, 0));
  const starts = new Int32Array(tokens.length);
  const ends = new Int32Array(tokens.length);
  let pos = 0;
  for (const [k, token] of tokens.entries()) {
    starts[k] = pos;
    for (let i = token.length - 1; i >= 0; i--) bytes[pos++] = token[i]!;
    ends[k] = pos;
  }
  return { bytes, starts, ends };
}

/** Returns the byte of key k at a distance from its end; -1 if the key has no more. */
function byteOf({ bytes, starts, ends }: Keys, k: number, depth: number): number {
  const pos = starts[k]! + depth;
  return pos < ends[k]! ? bytes[pos]! : -1;
}

/** Sorts keys [first, end) by their byte at `depth`: by insertion if there are few, else by counting. */
function sortByByte(keys: Keys, first: number, end: number, depth: number): void {
  const { starts, ends } = keys;
  if (end - first > insertedMax) {
    const places = new Int32Array(258).fill(first);
    for (let k = first; k < end; k++) places[byteOf(keys, k, depth) + 2]!++;
    for (let value = 1; value < 258; value++) places[value] = places[value]! + places[value - 1]! - first;
    const old = { ...keys, starts: starts.slice(first, end), ends: ends.slice(first, end) };
    for (let k = 0; k < end - first; k++) {
      const place = places[byteOf(old, k, depth) + 1]!++;
      starts[place] = old.starts[k]!;
      ends[place] = old.ends[k]!;
    }
    return;
  }
  for (let k = first + 1; k < end; k++) {
    const byte = byteOf(keys, k, depth);
    const start = starts[k]!;
    const keyEnd = ends[k]!;
    let place = k;
    for (; place > first && byteOf(keys, place - 1, depth) > byte; place--) {
      starts[place] = starts[place - 1]!;
      ends[place] = ends[place - 1]!;
    }
    starts[place] = start;
    ends[place] = keyEnd;
  }
}

const insertedMax = 32;

/** Fills in `fallbacks`, and the token lengths of states whose own string is not a token. */
function addFallbacks({ labels, firstChildren, fallbacks, tokenLengths, rootChildren }: TokenTrie): void {
  for (let state = 0; state < labels.length; state++) {
    tokenLengths[state] ||= tokenLengths[fallbacks[state]!]!;
    for (let child = firstChildren[state]!; child < firstChildren[state + 1]!; child++) {
      let fallback = state;
      let next = 0;
      while (next === 0 && fallback !== 0) {
        fallback = fallbacks[fallback]!;
        next =
          fallback === 0
            ? rootChildren[labels[child]!]!
            : childOf(labels, firstChildren, fallback, labels[child]!);
      }
      fallbacks[child] = next;
    }
  }
}

function childOf(labels: Uint8Array, firstChildren: Int32Array, state: number, label: number): number {
  const end = firstChildren[state + 1]!;
  let low = firstChildren[state]!;
  for (let high = end; low < high; ) {
    const middle = (low + high) >>> 1;
    if (labels[middle]! < label) low = middle + 1;
    else high = middle;
  }
  return low < end && labels[low] === label ? low : 0;
}

/**
 * TokenPlaces: positions where tokens begin, and the length of the longest token at each.
 *
 *   ARRAY     TYPE         LENGTH             MEANING
 *   places    Int32Array   a block or more    positions, descending
 *   lengths   Int32Array   the same           in bytes
 *
 * `matchBackwards` fills them from index 0 on; its caller knows how many are valid.
 */
type TokenPlaces = { readonly places: Int32Array; readonly lengths: Int32Array };

/**
 * Reads bytes [from, limit) backwards. Writes to `found` each position in [from, to) where a token begins that ends by
 * `limit`; there is room for each byte of [from, to). Returns how many positions there are.
 */
export function matchBackwards(
  trie: TokenTrie,
  bytes: Uint8Array,
  from: number,
  to: number,
  limit: number,
  { places, lengths }: TokenPlaces,
): number {
  const { labels, firstChildren, fallbacks, tokenLengths, rootChildren } = trie;
  let placeCount = 0;
  let state = 0;
  for (let pos = limit - 1; ; pos--) {
    if (state === 0) while (pos >= from && rootChildren[bytes[pos]!] === 0) pos--;
    if (pos < from) break;
    const byte = bytes[pos]!;
    let next = 0;
    while (next === 0 && state !== 0) {
      next = childOf(labels, firstChildren, state, byte);
      state = fallbacks[state]!;
    }
    state = next === 0 ? rootChildren[byte]! : next;
    const length = tokenLengths[state]!;
    if (length !== 0 && pos < to) {
      places[placeCount] = pos;
      lengths[placeCount++] = length;
    }
  }
  return placeCount;
}
