import { encodeWord } from "../../../examples/learn.ts";
import * as byteCharacters from "../../../src/bytes/byte-characters.ts";
import { assembleModel, assembleTokens, scanParsed } from "../../../src/formats/assemble-model.ts";
import { patterns } from "../../../src/pattern/named-patterns.ts";
import * as compiledPatterns from "../../../src/pattern/pattern.ts";
import { plainSpecial } from "../../../src/text/cutting.ts";
import type { TokenizerParts } from "../../../src/tokenizer/tokenizer-parts.ts";
import { ranksOf } from "../merge/naive.ts";

/** A tokenizer in a simple form, in which tokens are strings of code points from 0 to 255, one for each byte. */
export type NaiveTokenizer = {
  readonly ids: ReadonlyMap<string, number>;
  /** Tokens that are never removed: bytes, and added tokens. */
  readonly fixed: ReadonlySet<string>;
  readonly merges: readonly (readonly [string, string])[];
  /** Whether a pretoken that equals a token becomes this token without merging. */
  readonly ignoresMerges: boolean;
};

/** Merges a pretoken, the lowest rank first, without producing the token `without`. */
export function mergeNaively({ merges }: NaiveTokenizer, pretoken: string, without?: string): string[] {
  const kept = without === undefined ? merges : merges.filter(([left, right]) => left + right !== without);
  return encodeWord(pretoken, ranksOf(kept));
}

const isReachedByMerging = (tokenizer: NaiveTokenizer, token: string) =>
  mergeNaively(tokenizer, token).length === 1;

/** Returns the tokens that pruning leaves. After each removal, finds and sorts again all tokens that can be removed. */
export function pruneNaively(
  tokenizer: NaiveTokenizer,
  counts: ReadonlyMap<string, number>,
  size: number,
): Set<string> {
  const { ids, fixed, ignoresMerges } = tokenizer;
  const now = new Map(counts);
  const left = new Set(ids.keys());
  for (const token of ids.keys()) {
    const isReached = fixed.has(token) || ignoresMerges || isReachedByMerging(tokenizer, token);
    if (!isReached) left.delete(token);
  }
  const give = (token: string, count: number) => {
    if (left.has(token)) now.set(token, (now.get(token) ?? 0) + count);
    else for (const part of mergeNaively(tokenizer, token, token)) give(part, count);
  };
  while (left.size > size) {
    const needed = new Set<string>();
    for (const token of left) {
      if (token.length === 1 || !isReachedByMerging(tokenizer, token)) continue;
      for (const part of mergeNaively(tokenizer, token, token)) needed.add(part);
    }
    const leaves = [...left].filter((token) => !needed.has(token) && !fixed.has(token));
    leaves.sort((a, b) => (now.get(a) ?? 0) - (now.get(b) ?? 0) || ids.get(b)! - ids.get(a)!);
    const rarest = leaves[0];
    if (rarest === undefined) break;
    left.delete(rarest);
    give(rarest, now.get(rarest) ?? 0);
  }
  return left;
}

/** Returns the merges without duplicates. Of equal merges, the last one stays. */
const distinctMerges = ({ merges }: NaiveTokenizer) =>
  merges.filter(([left, right], i) => !merges.slice(i + 1).some(([l, r]) => l === left && r === right));

/**
 * Keeps only the first merges of a tokenizer: as many as leave at most `size` tokens. Merges at the end that add no
 * token are removed, too.
 */
export function truncateNaively(tokenizer: NaiveTokenizer, size: number): NaiveTokenizer {
  const { ids, fixed } = tokenizer;
  const all = distinctMerges(tokenizer);
  let found: NaiveTokenizer | undefined;
  for (let count = 0; count <= all.length; count++) {
    const first = { ...tokenizer, merges: all.slice(0, count) };
    const stays = [...ids].filter(([token]) => fixed.has(token) || isReachedByMerging(first, token));
    if (stays.length > size) break;
    if (stays.length !== found?.ids.size) found = { ...first, ids: new Map(stays) };
  }
  return found!;
}

export const bytes = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte));
const characters = (token: string) => byteCharacters.encode(Buffer.from(token, "latin1"));
const pattern = compiledPatterns.compile(patterns.gpt2.sources);

/** Converts a naive tokenizer into the form of one loaded from files. */
export function partsOf({ ids, fixed, merges, ignoresMerges }: NaiveTokenizer): TokenizerParts {
  const entries = Object.fromEntries(Array.from(ids, ([token, id]) => [characters(token), id]));
  const pairs = merges.map(([left, right]) => [characters(left), characters(right)] as const);
  const scanned = scanParsed(entries, pairs, "");
  const addedTokens = [...fixed]
    .filter((token) => token.length > 1)
    .map((content) => ({ id: ids.get(content)!, content, ...plainSpecial }));
  return {
    model: assembleModel(scanned, { ignoresMerges, unknownToken: null }),
    pattern,
    normalization: null,
    addsPrefixSpace: false,
    addedTokens,
    isNarrow: true,
    tokens: assembleTokens(scanned.vocab, addedTokens),
    description: { path: "", kind: "", patternName: null, patternSources: [] },
    notes: [],
  };
}

/** Returns a random tokenizer with few letters. */
export function madeTokenizer(random: (below: number) => number): NaiveTokenizer {
  const letters = [..."abcd"].slice(0, 2 + random(3));
  const known = [...letters];
  const merges: [string, string][] = [];
  const mergeCount = 1 + random(25);
  while (merges.length < mergeCount) {
    const [left, right] = [known[random(known.length)]!, known[random(known.length)]!];
    if (left.length + right.length > 12) continue;
    merges.push([left, right]);
    if (!known.includes(left + right)) known.push(left + right);
  }
  for (let k = random(4); k > 0; k--) {
    const alone = Array.from({ length: 2 + random(5) }, () => letters[random(letters.length)]!).join("");
    if (!known.includes(alone)) known.push(alone);
  }
  const made = known.filter((token) => token.length > 1);
  const order = [...bytes, ...made].map((token) => [random(1000), token] as const);
  order.sort(([a], [b]) => a - b);
  // Some ids have no token.
  let id = 0;
  const ids = new Map(order.map(([, token]) => [token, (id += 1 + (random(9) === 0 ? 1 : 0))]));
  const added = made.filter(() => random(12) === 0);
  return { ids, fixed: new Set([...bytes, ...added]), merges, ignoresMerges: random(2) === 0 };
}
