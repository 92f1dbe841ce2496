/**
 * TokenTrie: an Aho-Corasick automaton of byte strings (tokens) that are written backwards. It reads a text backwards; at
 * each byte its state says which is the longest token that begins there. One pass over n bytes makes at most 2n moves,
 * whatever the tokens are. A search from left to right that tries each place would read a text of near misses again and
 * again.
 *
 *   ARRAY            TYPE          LENGTH          MEANING
 *   labels           Uint8Array    stateCount      the byte that leads to the state from its parent
 *   firstChildren    Int32Array    stateCount + 1  children of state s: states firstChildren[s] to firstChildren[s + 1],
 *                                                  exclusive, by ascending label
 *   fallbacks        Int32Array    stateCount      where to go on if no child fits: the state of the longest shorter
 *                                                  string that this state's string ends with
 *   tokenLengths     Int32Array    stateCount      length of the longest token that was read completely; 0 = none
 *   rootChildren     Int32Array    256             the child of state 0 by its label; 0 = none
 *
 * State 0 is the root: the empty string. States are numbered level by level, so the children of a state are neighbours,
 * and each fallback is smaller than its state. Nothing is written after `buildTokenTrie`.
 *
 * The tokens "ab" and "b" give state 1 (b, a token of 1), and its child 2 (b, a: a token of 2): labels = [0, b, a],
 * firstChildren = [1, 2, 3, 3], fallbacks = [0, 0, 0], tokenLengths = [0, 1, 2].
 */
export type TokenTrie = {
  readonly labels: Uint8Array;
  readonly firstChildren: Int32Array;
  readonly fallbacks: Int32Array;
  readonly tokenLengths: Int32Array;
  readonly rootChildren: Int32Array;
};

/** Builds the automaton; tokens without bytes are left out. */
export function buildTokenTrie(tokens: readonly Uint8Array[]): TokenTrie {
  const keys = tokens
    .filter((token) => token.length > 0)
    .map((token) => token.toReversed())
    .sort(Buffer.compare);
  const stateCountMax = 1 + keys.reduce((sum, key) => sum + key.length, 0);
  const labels = new Uint8Array(stateCountMax);
  const firstChildren = new Int32Array(stateCountMax + 1);
  const fallbacks = new Int32Array(stateCountMax);
  const tokenLengths = new Int32Array(stateCountMax);
  const depths = new Int32Array(stateCountMax);
  // The keys that begin with the string of state s are neighbours: keys[firstKeys[s]] to keys[endKeys[s]].
  const firstKeys = new Int32Array(stateCountMax);
  const endKeys = new Int32Array(stateCountMax);
  endKeys[0] = keys.length;

  let stateCount = 1;
  for (let state = 0; state < stateCount; state++) {
    const depth = depths[state]!;
    const endKey = endKeys[state]!;
    firstChildren[state] = stateCount;
    for (let k = firstKeys[state]!; k < endKey; ) {
      const key = keys[k]!;
      if (key.length === depth) {
        tokenLengths[state] = depth;
        k++;
        continue;
      }
      const child = stateCount++;
      labels[child] = key[depth]!;
      depths[child] = depth + 1;
      firstKeys[child] = k;
      while (k < endKey && keys[k]![depth] === labels[child]) k++;
      endKeys[child] = k;
    }
  }
  firstChildren[stateCount] = stateCount;

  for (let state = 0; state < stateCount; state++) {
    tokenLengths[state] ||= tokenLengths[fallbacks[state]!]!;
    for (let child = firstChildren[state]!; child < firstChildren[state + 1]!; child++) {
      let fallback = state;
      let next = 0;
      while (next === 0 && fallback !== 0) {
        fallback = fallbacks[fallback]!;
        next = childOf(labels, firstChildren, fallback, labels[child]!);
      }
      fallbacks[child] = next;
    }
  }

  const rootChildren = new Int32Array(256);
  for (let child = 1; child < firstChildren[1]!; child++) rootChildren[labels[child]!] = child;
  return {
    labels: labels.slice(0, stateCount),
    firstChildren: firstChildren.slice(0, stateCount + 1),
    fallbacks: fallbacks.slice(0, stateCount),
    tokenLengths: tokenLengths.slice(0, stateCount),
    rootChildren,
  };
}

/** The child of `state` that `label` leads to, or 0. */
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
 * TokenPlaces: where tokens begin, and the length of the longest token there.
 *
 *   ARRAY     TYPE         LENGTH             MEANING
 *   places    Int32Array   a block or more    positions, descending
 *   lengths   Int32Array   the same           in bytes
 *
 * `matchBackwards` fills them from index 0 on; its caller knows how many are valid.
 */
export type TokenPlaces = { readonly places: Int32Array; readonly lengths: Int32Array };

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
