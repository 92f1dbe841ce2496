import { byteCount, type JoinedText } from "./joined-text.ts";
import type { JoinedWords } from "./pair-ranking.ts";

/**
 * What a training learned, for a page: token numbers are the engine's, merge k makes 256 + k (src/merge/merges.ts,
 * src/vocabulary/ledger.ts). Plain data, which goes from the worker to the page.
 */
export type Learned = {
  readonly left: Int32Array;
  readonly right: Int32Array;
  /** The id of each token in the files. */
  readonly ids: Int32Array;
  readonly createdCounts: Float64Array;
  readonly endCounts: Float64Array;
  readonly pairCounts: Float64Array;
  readonly tokensAfter: Float64Array;
  readonly specialTokens: readonly string[];
  readonly specialIds: Int32Array;
};

export const mergeCountOf = ({ left }: Learned): number => left.length;

/** The bytes of a token, or the first `most` of them. */
export function bytesOfToken(learned: Learned, token: number, most = 512): Uint8Array {
  if (token < 0) return new TextEncoder().encode(learned.specialTokens[-1 - token]);
  const bytes: number[] = [];
  const stack = [token];
  while (stack.length > 0 && bytes.length < most) {
    const top = stack.pop()!;
    if (top < byteCount) bytes.push(top);
    else stack.push(learned.right[top - byteCount]!, learned.left[top - byteCount]!);
  }
  return Uint8Array.from(bytes);
}

export const idOfToken = ({ ids, specialIds }: Learned, token: number): number =>
  token < 0 ? specialIds[-1 - token]! : ids[token]!;

/** A token that a later merge put into a longer one. */
export type Absorption = { readonly token: number; readonly count: number };

/** What absorbed a token, the most places first. */
export function absorbersOf({ left, right, createdCounts }: Learned, token: number): Absorption[] {
  const found: Absorption[] = [];
  for (let merge = Math.max(0, token - byteCount + 1); merge < left.length; merge++) {
    if (left[merge] !== token && right[merge] !== token) continue;
    found.push({ token: byteCount + merge, count: createdCounts[byteCount + merge]! });
  }
  return found.sort((a, b) => b.count - a.count || a.token - b.token);
}

export type FoundWord = { readonly bytes: Uint8Array; readonly count: number };

/** The most frequent words in which the token stood at some step, and the number of all of them. */
export function wordsWith(words: JoinedWords, token: number, most: number) {
  const { bytes, joinedBy, starts, counts } = words;
  const found: number[] = [];
  for (let w = 0; w + 1 < starts.length; w++) {
    const [start, end] = [starts[w]!, starts[w + 1]!];
    if (holds({ bytes, joinedBy }, start, end, token)) found.push(w);
  }
  found.sort((a, b) => counts[b]! - counts[a]! || a - b);
  const shown = found.slice(0, most).map((w): FoundWord => {
    return { bytes: bytes.slice(starts[w]!, starts[w + 1]!), count: counts[w]! };
  });
  return { shown, wordCount: found.length, occurrences: found.reduce((sum, w) => sum + counts[w]!, 0) };
}

function holds({ bytes, joinedBy }: JoinedText, start: number, end: number, token: number): boolean {
  if (token < byteCount) return bytes.subarray(start, end).includes(token);
  return joinedBy.subarray(start, end).includes(token - byteCount);
}

/** Tokens whose bytes hold those of the query: the text itself first, with a space before it, what begins with it, the rest. */
export function findTokens(learned: Learned, query: string, most: number): number[] {
  const id = /^#(\d+)$/.exec(query)?.[1];
  if (id !== undefined) {
    const token = learned.ids.indexOf(Number(id));
    return token < 0 ? [] : [token];
  }
  const wanted = latin1(new TextEncoder().encode(query));
  if (wanted === "") return [];
  const classes: [number[], number[], number[], number[]] = [[], [], [], []];
  for (const [token, text] of textsOf(learned).entries()) {
    const at = text.indexOf(wanted);
    if (at < 0) continue;
    const rank = text === wanted ? 0 : text === ` ${wanted}` ? 1 : at === 0 ? 2 : 3;
    if (classes[rank].length < most) classes[rank].push(token);
  }
  return classes.flat().slice(0, most);
}

/** The bytes of all tokens, the first ones of long tokens, as characters. */
function textsOf({ left, right }: Learned): string[] {
  const texts = Array.from({ length: byteCount }, (_, byte) => String.fromCharCode(byte));
  for (const [merge, token] of left.entries())
    texts.push((texts[token]! + texts[right[merge]!]!).slice(0, searchedBytes));
  return texts;
}

const searchedBytes = 512;
const latin1 = (bytes: Uint8Array) => String.fromCharCode(...bytes);
