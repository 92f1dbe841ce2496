import { countPairs, mergePair, type Pair } from "../../../examples/learn.ts";
import * as byteCharacters from "../../../src/bytes/byte-characters.ts";
import type { Parity } from "../../../src/formats/training-json.ts";
import type { Compat } from "../../../src/tokenizer/merges.ts";
import { type NaiveOptions, type NaiveWords, textsOf } from "./naive.ts";

type Text = ReturnType<typeof textsOf>[number];

/** Learns merges by parity-aware training. Counts every pair of every language again for each merge. */
export function naiveParity(
  languages: readonly NaiveWords[],
  dev: readonly NaiveWords[] | null,
  { ratio, window, globalMerges }: Parity,
  compat: Compat,
  {
    mergeCount,
    minFrequency = 1,
    maxTokenLength = null,
    firstMerges = [],
  }: NaiveOptions & { firstMerges?: readonly (readonly [left: string, right: string])[] },
): Pair[] {
  const texts = languages.map(textsOf);
  const devTexts = dev?.map(textsOf);
  const measured = devTexts ?? texts;
  const startLengths = measured.map(lengthOf);
  const ids = new Map(Array.from({ length: 256 }, (_, byte) => [String.fromCharCode(byte), byte]));
  const merges: Pair[] = [];
  // With ratios, a language with an empty text has no length to compare, so it is done from the start.
  const done = new Set(ratio ? startLengths.flatMap((length, k) => (length === 0 ? [k] : [])) : []);
  const choices: number[] = [];
  const isHuggingface = compat === "huggingface";
  const isAllowed = (length: number) =>
    maxTokenLength === null ||
    (isHuggingface ? length === 2 || length < maxTokenLength : length <= maxTokenLength);

  const best = (all: readonly Text[]): Pair | undefined => {
    let winner: Pair | undefined;
    for (const pair of countPairs(all)) {
      if (!isAllowed(pair.left.length + pair.right.length)) continue;
      if (winner === undefined || wins(pair, winner, compat, ids)) winner = pair;
    }
    return winner !== undefined && winner.count >= Math.max(1, minFrequency) ? winner : undefined;
  };
  const choose = (): number => {
    const needs = measured.map((texts, k) =>
      ratio ? -(startLengths[k]! / lengthOf(texts) / ratio[k]!) : lengthOf(texts),
    );
    const out = new Set(done);
    for (;;) {
      let worst = -1;
      for (const [k, need] of needs.entries()) {
        if (!out.has(k) && (worst < 0 || need > needs[worst]!)) worst = k;
      }
      if (worst < 0) return 0;
      if (window === null) return worst;
      const share = choices.slice(-window.size).filter((k) => k === worst).length / window.size;
      if (share <= window.alpha / needs.length) return worst;
      out.add(worst);
      // If every language has been chosen too often, and none is done, the language that was left until last is chosen
      // nevertheless.
      if (out.size === needs.length && done.size === 0) return worst;
    }
  };

  while (merges.length < mergeCount) {
    let pair: Pair | undefined;
    const first = firstMerges[merges.length];
    if (first !== undefined) {
      pair = { left: first[0], right: first[1], count: 0 };
    } else if (merges.length < firstMerges.length + globalMerges) {
      pair = best(texts.flat());
      if (pair === undefined) break;
    } else {
      if (done.size === languages.length) break;
      const language = choose();
      choices.push(language);
      pair = best(texts[language]!);
      if (pair === undefined) {
        done.add(language);
        continue;
      }
    }
    const { left, right } = pair;
    const counts = texts.flatMap((all) =>
      [...countPairs(all)].filter((p) => p.left === left && p.right === right),
    );
    merges.push({ left, right, count: counts.reduce((sum, { count }) => sum + count, 0) });
    ids.set(left + right, ids.size);
    for (const text of [...texts, ...(devTexts ?? [])].flat())
      text.tokens = mergePair(text.tokens, left, right);
  }
  return merges;
}

const lengthOf = (texts: readonly Text[]) =>
  texts.reduce((sum, { tokens, count }) => sum + tokens.length * count, 0);

const inCharacters = (bytes: string) =>
  [...bytes].map((c) => byteCharacters.characters[c.charCodeAt(0)]!).join("");

function wins(a: Pair, b: Pair, compat: Compat, ids: ReadonlyMap<string, number>): boolean {
  if (a.count !== b.count) return a.count > b.count;
  const keysOf = {
    cs336: ({ left, right }: Pair) => [left, right],
    huggingface: ({ left, right }: Pair) => [inCharacters(left), inCharacters(right)],
    rustbpe: ({ left, right }: Pair) => [-ids.get(left)!, -ids.get(right)!],
  }[compat];
  const [keysA, keysB] = [keysOf(a), keysOf(b)];
  return keysA[0] !== keysB[0] ? keysA[0]! > keysB[0]! : keysA[1]! > keysB[1]!;
}
