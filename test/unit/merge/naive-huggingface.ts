import type { Pair } from "../../../examples/learn.ts";
import * as byteCharacters from "../../../src/bytes/byte-characters.ts";
import { anyTwo, type NaiveOptions, type NaiveWords } from "./naive.ts";

/**
 * Does what HF's BpeTrainer does, step by step. `mergeCount` is the number of entries that the vocabulary may gain. As
 * in HF's trainer, the count of a merged pair is not updated. So a pair whose string is already a token can be merged a
 * second time, and is then listed twice.
 */
export function naiveHuggingface(
  words: NaiveWords,
  options: NaiveOptions & { specialTokens?: readonly string[] },
): Pair[] {
  const ids = new Map<string, number>();
  const add = (token: string) => ids.get(token) ?? ids.set(token, ids.size).size - 1;
  for (const special of options.specialTokens ?? []) add(special);
  for (const character of [...byteCharacters.characters].sort()) add(character);
  const vocabSize = ids.size + options.mergeCount;
  const strings = [...ids.keys()];
  const lengthLimit = options.maxTokenLength ?? Infinity;
  const { mayJoin = anyTwo } = options;
  const bytesOf = (id: number) => Buffer.from(byteCharacters.decode(strings[id]!)!).toString("latin1");

  const texts = [...words].map(([word, count]) => ({
    tokens: [...word].map((c) => ({ id: ids.get(byteCharacters.characters[c.charCodeAt(0)]!)!, length: 1 })),
    count,
  }));
  const pairCounts = new Map<string, number>();
  const queue: { left: number; right: number; count: number; words: Set<number> }[] = [];
  const created = new Map<string, Set<number>>();
  const keyOf = (left: number, right: number) => `${left} ${right}`;
  const change = (left: number, right: number, w: number, sign: number) => {
    const key = keyOf(left, right);
    pairCounts.set(key, (pairCounts.get(key) ?? 0) + sign * texts[w]!.count);
    if (sign > 0) created.set(key, (created.get(key) ?? new Set()).add(w));
  };
  const enqueueBorn = () => {
    for (const [key, createdIn] of created) {
      const [left, right] = key.split(" ").map(Number) as [number, number];
      const count = pairCounts.get(key)!;
      const isAllowed = mayJoin === anyTwo || mayJoin(bytesOf(left), bytesOf(right));
      if (count > 0 && isAllowed) queue.push({ left, right, count, words: createdIn });
    }
    created.clear();
  };
  texts.forEach(({ tokens }, w) => {
    for (let i = 0; i + 1 < tokens.length; i++) change(tokens[i]!.id, tokens[i + 1]!.id, w, 1);
  });
  enqueueBorn();

  const merges: Pair[] = [];
  while (strings.length < vocabSize && queue.length > 0) {
    let top = queue[0]!;
    for (const entry of queue) {
      const order = entry.count - top.count || top.left - entry.left || top.right - entry.right;
      if (order > 0) top = entry;
    }
    const count = pairCounts.get(keyOf(top.left, top.right))!;
    if (top.count !== count) {
      top.count = count;
      continue;
    }
    if (count < 1 || count < (options.minFrequency ?? 0)) break;
    queue.splice(queue.indexOf(top), 1);
    const { left, right } = top;
    const merged = strings[left]! + strings[right]!;
    if (!ids.has(merged)) strings.push(merged);
    const id = add(merged);
    merges.push({ left: strings[left]!, right: strings[right]!, count });
    for (const w of top.words) {
      const { tokens } = texts[w]!;
      for (let i = 0; i + 1 < tokens.length; i++) {
        if (tokens[i]!.id !== left || tokens[i + 1]!.id !== right) continue;
        const length = tokens[i]!.length + tokens[i + 1]!.length;
        tokens.splice(i, 2, { id, length });
        if (i > 0) {
          change(tokens[i - 1]!.id, left, w, -1);
          if (tokens[i - 1]!.length + length < lengthLimit) change(tokens[i - 1]!.id, id, w, 1);
        }
        if (i + 1 < tokens.length) {
          change(right, tokens[i + 1]!.id, w, -1);
          if (tokens[i + 1]!.length + length < lengthLimit) change(id, tokens[i + 1]!.id, w, 1);
        }
      }
    }
    enqueueBorn();
  }
  return merges;
}
