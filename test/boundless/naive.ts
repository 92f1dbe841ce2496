// BoundlessBPE in a few obvious lines: strings, Maps and JavaScript's own regular expressions. A token is the string of its
// bytes as Latin-1.
import { letterwiseScripts } from "../../src/pattern/scripts.ts";
import type { NaiveOptions } from "../merge/naive.ts";

export type NaiveOp = {
  readonly kind: "W" | "S";
  readonly count: number;
  readonly left: string;
  readonly right: string;
};

const wordPattern =
  /[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?:'[sSſ]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?:'[sSſ]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])?|\p{N}{1,3}| ?[^\p{White_Space}\p{L}\p{N}]+[\r\n/]*|\p{White_Space}*[\r\n]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu;
const letterwisePattern =
  / ?\p{L}\p{M}*|\p{N}{1,3}| ?[^\p{White_Space}\p{L}\p{N}]+[\r\n/]*|\p{White_Space}*[\r\n]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu;

const isLetterwise = (script: string) => (letterwiseScripts as readonly string[]).includes(script);

/** `scriptOf`: the name of a character's script; "Common" also for what has none. */
export function naivePretokens(text: string, scriptOf: (character: string) => string): string[] {
  const pretokens: string[] = [];
  let script = "";
  let start = 0;
  let end = 0;
  const cut = (to: number) =>
    pretokens.push(
      ...(text.slice(start, to).match(isLetterwise(script) ? letterwisePattern : wordPattern) ?? []),
    );
  let pos = 0;
  for (const character of text) {
    const found = scriptOf(character);
    pos += character.length;
    if (found === "Common") continue;
    if (found === "Inherited" || found === script) end = pos;
    else {
      if (script !== "") {
        cut(end);
        start = end;
      }
      script = found;
      end = pos;
    }
  }
  cut(text.length);
  return pretokens;
}

export const latin1 = (text: string) => Buffer.from(text).toString("latin1");
const utf8 = (token: string) => {
  const text = Buffer.from(token, "latin1").toString();
  return latin1(text) === token ? text : undefined;
};

type Word = { tokens: string[]; readonly count: number };
type Pair = { readonly left: string; readonly right: string; readonly count: number };

/** A run of n equal tokens holds its pair n / 2 times, rounded down. */
function countPairs(words: readonly Word[]): Pair[] {
  const pairs = new Map<string, { left: string; right: string; count: number }>();
  for (const { tokens, count } of words) {
    for (let i = 0; i + 1 < tokens.length; i++) {
      const [left, right] = [tokens[i]!, tokens[i + 1]!];
      const key = `${left}\u{10000}${right}`;
      const pair = pairs.get(key) ?? { left, right, count: 0 };
      pair.count += count;
      pairs.set(key, pair);
      if (left === right && tokens[i + 2] === left) i++;
    }
  }
  return [...pairs.values()];
}

const isBetter = (a: Pair, b: Pair) =>
  a.count !== b.count ? a.count > b.count : a.left !== b.left ? a.left < b.left : a.right < b.right;

function bestPair(words: readonly Word[], lengthMax: number): Pair | undefined {
  let best: Pair | undefined;
  for (const pair of countPairs(words)) {
    if (pair.left.length + pair.right.length > lengthMax) continue;
    if (best === undefined || isBetter(pair, best)) best = pair;
  }
  return best;
}

function mergePair(tokens: readonly string[], { left, right }: Pick<Pair, "left" | "right">): string[] {
  const merged: string[] = [];
  for (let i = 0; i < tokens.length; i++) {
    const isPair = tokens[i] === left && tokens[i + 1] === right;
    merged.push(isPair ? left + right : tokens[i]!);
    if (isPair) i++;
  }
  return merged;
}

function countedWords(sequences: readonly (readonly string[])[]): Word[] {
  const counts = new Map<string, { tokens: string[]; count: number }>();
  for (const tokens of sequences) {
    const key = JSON.stringify(tokens);
    const word = counts.get(key) ?? { tokens: [...tokens], count: 0 };
    word.count++;
    counts.set(key, word);
  }
  return [...counts.values()];
}

/** The bytes of one pretoken as tokens by the merges, in their order. */
const mergeWord = (word: string, merges: readonly Pick<Pair, "left" | "right">[]) =>
  merges.reduce((tokens, merge) => (tokens.length === 1 ? tokens : mergePair(tokens, merge)), [...word]);

export type NaiveSettings = {
  /** Tokens besides the 256 bytes that are asked for. */
  readonly tokenCount: number;
  readonly minFrequency?: number;
  readonly maxTokenLength?: number | null;
  readonly pretokens: (text: string) => string[];
};

/** The merges of words, which are counted. */
export function naiveMerges(
  counts: ReadonlyMap<string, number>,
  { mergeCount, minFrequency = 1, maxTokenLength }: NaiveOptions,
): Pair[] {
  const words = [...counts].map(([word, count]) => ({ tokens: [...word], count }));
  const merges: Pair[] = [];
  while (merges.length < mergeCount) {
    const best = bestPair(words, maxTokenLength ?? Number.POSITIVE_INFINITY);
    if (best === undefined || best.count < Math.max(1, minFrequency)) break;
    merges.push(best);
    for (const word of words) word.tokens = mergePair(word.tokens, best);
  }
  return merges;
}

/** The operations of both passes, from texts that are a document each. */
export function naiveBoundless(documents: readonly string[], settings: NaiveSettings): NaiveOp[] {
  const { tokenCount, minFrequency = 1, maxTokenLength = null, pretokens } = settings;
  const lengthMax = maxTokenLength ?? Number.POSITIVE_INFINITY;
  const cut = documents.map((text) => pretokens(text).map(latin1));
  const words = new Map<string, number>();
  for (const word of cut.flat()) words.set(word, (words.get(word) ?? 0) + 1);
  const merges = naiveMerges(words, { mergeCount: tokenCount, minFrequency, maxTokenLength });

  const made = new Set(merges.map(({ left, right }) => left + right));
  for (let byte = 0; byte < 128; byte++) made.add(String.fromCharCode(byte));
  const isEligible = (token: string) => {
    const text = utf8(token);
    if (text === undefined || !made.has(token) || !/\p{L}/u.test(text)) return false;
    return pretokens(text).length === 1 && mergeWord(token, merges).length === 1;
  };
  const eligible = new Set([...made].filter(isEligible));
  const runs = countedWords(cut.flatMap((tokens) => runsOf(tokens, eligible)));

  const ops: NaiveOp[] = [];
  const vocabulary = new Set(Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte)));
  const sizeMax = 256 + merges.length;
  for (let next = 0; vocabulary.size < sizeMax; ) {
    const best = bestPair(runs, lengthMax);
    const word = merges[next];
    const isSuper = best !== undefined && best.count >= minFrequency && best.count > (word?.count ?? -1);
    if (!isSuper && word === undefined) break;
    const pair = isSuper ? best : word!;
    ops.push({ kind: isSuper ? "S" : "W", ...pair });
    vocabulary.add(pair.left + pair.right);
    if (isSuper) for (const run of runs) run.tokens = mergePair(run.tokens, pair);
    else next++;
  }
  return ops;
}

/** The supermerges of runs until none is left: where two spell one token, it is one. */
export function naiveSupermerges(runs: readonly Word[]): Pair[] {
  const words = runs.map(({ tokens, count }) => ({ tokens, count }));
  const supermerges: Pair[] = [];
  for (let best = bestPair(words, Infinity); best !== undefined; best = bestPair(words, Infinity)) {
    supermerges.push(best);
    for (const word of words) word.tokens = mergePair(word.tokens, best);
  }
  return supermerges;
}

function runsOf(tokens: readonly string[], eligible: ReadonlySet<string>): string[][] {
  const runs: string[][] = [[]];
  for (const token of tokens) {
    if (eligible.has(token)) runs.at(-1)!.push(token);
    else runs.push([]);
  }
  return runs.filter((run) => run.length > 1);
}

/** The tokens of a document: merges inside of pretokens, then supermerges by their order in runs of whole ones. */
export function naiveEncode(
  text: string,
  ops: readonly NaiveOp[],
  pretokens: (text: string) => string[],
): string[] {
  const words = ops.filter(({ kind }) => kind === "W");
  const supers = ops.filter(({ kind }) => kind === "S");
  const parts = new Set(supers.flatMap(({ left, right }) => [left, right]));
  const encoded: string[] = [];
  let run: string[] = [];
  const endRun = () => {
    for (let rank = 0; rank < supers.length; ) {
      const merged = mergePair(run, supers[rank]!);
      rank = merged.length < run.length ? 0 : rank + 1;
      run = merged;
    }
    encoded.push(...run);
    run = [];
  };
  for (const pretoken of pretokens(text)) {
    const tokens = mergeWord(latin1(pretoken), words);
    if (tokens.length === 1 && parts.has(tokens[0]!)) run.push(tokens[0]!);
    else {
      endRun();
      encoded.push(...tokens);
    }
  }
  endRun();
  return encoded;
}
