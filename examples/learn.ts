// Byte-level BPE on one page, to be read from top to bottom. Five words are the whole subject:
//
//   token       some bytes: here a string with a character for each byte, so "é" is "Ã©"
//   pair        two adjacent tokens in a word, and how often they occur
//   merge       the most frequent pair becomes one new token, everywhere
//   merges      all of these pairs, in the order learned
//   vocabulary  each token and its id: the 256 bytes, then what the merges made
//
// `bun examples/learn.ts [file]` learns from a file, or from this page. `bpe` learns the same, but counts pairs once.
export type Token = string;
export type Pair = { readonly left: Token; readonly right: Token; count: number };
export type Counts = ReadonlyMap<string, number>;
export type Vocabulary = Map<Token, number>;
export type Tokenizer = { readonly vocabulary: Vocabulary; readonly merges: readonly Pair[] };
/** The trainer to imitate: how it decides between equally frequent pairs, orders the bytes, and reads a text. */
export type Rule = "cs336" | "huggingface" | "rustbpe";

/** GPT-2's words: a space belongs to the word after it. No token crosses the edge of a word. */
export const wordsOf = (text: string): string[] => (text.match(pattern) ?? []).map(bytesOf);
const pattern =
  /'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu;
export const bytesOf = (text: string) => Buffer.from(text, "utf8").toString("latin1");
export const textOf = (bytes: string) => Buffer.from(bytes, "latin1").toString("utf8");

export function train(text: string, size: number, rule: Rule = "cs336"): Tokenizer {
  const texts = rule === "huggingface" ? text.split(/(?<=\n)/) : [text]; // Hugging Face reads line by line.
  const counts = new Map<string, number>();
  for (const word of texts.flatMap(wordsOf)) counts.set(word, (counts.get(word) ?? 0) + 1);
  return trainOnWords(counts, size, rule);
}

/** Merges the best pair, again and again, until the vocabulary is large enough or no pair is left that may merge. */
export function trainOnWords(counts: Counts, size: number, rule: Rule, mayMerge = (_: Pair) => true) {
  const words = Array.from(counts, ([word, count]) => ({ tokens: [...word], count }));
  const vocabulary = byteVocabulary(rule);
  const merges: Pair[] = [];
  while (vocabulary.size < size) {
    const best = bestPair(countPairs(words).filter(mayMerge), vocabulary, rule);
    if (best === undefined) break;
    for (const word of words) word.tokens = mergePair(word.tokens, best.left, best.right);
    vocabulary.set(best.left + best.right, vocabulary.size);
    merges.push(best);
  }
  return { vocabulary, merges };
}

export function byteVocabulary(rule: Rule): Vocabulary {
  const bytes = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte));
  const isSeen = (byte: string) => /[!-~¡-¬®-ÿ]/.test(byte); // Hugging Face's first ids are these bytes: "!" is 0.
  if (rule === "huggingface") bytes.sort((a, b) => Number(isSeen(b)) - Number(isSeen(a)));
  return new Map(bytes.map((byte, id) => [byte, id]));
}

/** Every pair, with how often it occurs: "a a" occurs twice in "aaa". */
export function countPairs(words: Iterable<{ tokens: readonly Token[]; count: number }>): Pair[] {
  const pairs = new Map<string, Pair>();
  for (const { tokens, count } of words) {
    for (let i = 0; i + 1 < tokens.length; i++) {
      const [left, right] = [tokens[i]!, tokens[i + 1]!];
      pairs.getOrInsert(keyOf(left, right), { left, right, count: 0 }).count += count;
    }
  }
  return [...pairs.values()];
}
export const keyOf = (left: Token, right: Token) => `${left}→${right}`; // An arrow is no byte.

export function bestPair(pairs: readonly Pair[], vocabulary: Vocabulary, rule: Rule): Pair | undefined {
  const isBetter = (a: Pair, b: Pair) => {
    if (a.count !== b.count) return a.count > b.count;
    const [x, y] = a.left === b.left ? [a.right, b.right] : [a.left, b.left];
    return rule === "cs336" ? x > y : vocabulary.get(x)! < vocabulary.get(y)!;
  };
  return pairs.reduce((best, pair) => (isBetter(pair, best) ? pair : best), pairs[0]!);
}

/** Makes one token of `left` and `right` wherever they are adjacent, from the left: "a a a" becomes "aa a". */
export function mergePair(tokens: readonly Token[], left: Token, right: Token): Token[] {
  const merged: Token[] = [];
  for (const token of tokens)
    merged.push(token === right && merged.at(-1) === left ? merged.pop()! + token : token);
  return merged;
}

export function encode(text: string, { vocabulary, merges }: Tokenizer): number[] {
  const ranks = new Map(merges.map(({ left, right }, rank) => [keyOf(left, right), rank]));
  return wordsOf(text).flatMap((word) => encodeWord(word, ranks).map((token) => vocabulary.get(token)!));
}

/** Merges the pair that training merged first, again and again, until there is none. */
export function encodeWord(word: string, ranks: ReadonlyMap<string, number>): Token[] {
  for (const tokens = [...word]; ; ) {
    const learned = tokens.slice(1).map((right, i) => ranks.get(keyOf(tokens[i]!, right)) ?? Infinity);
    const first = learned.indexOf(Math.min(...learned));
    if ((learned[first] ?? Infinity) === Infinity) return tokens;
    tokens.splice(first, 2, tokens[first]! + tokens[first + 1]!);
  }
}

export function decode(ids: readonly number[], { vocabulary }: Tokenizer): string {
  const tokens = [...vocabulary.keys()]; // In the order of their ids: 0, 1, 2, …
  return textOf(ids.map((id) => tokens[id]!).join(""));
}

if (import.meta.main) {
  const text = await Bun.file(process.argv[2] ?? import.meta.path).text();
  const tokenizer = train(text, 600);
  const quote = (token: Token) => JSON.stringify(textOf(token));
  console.log("The first merges, and how often each pair occurred:\n");
  for (const { left, right, count } of tokenizer.merges.slice(0, 12))
    console.log(`${String(count).padStart(7)}  ${quote(left)} + ${quote(right)} -> ${quote(left + right)}`);
  console.log("\nHow the longest token came to be:\n");
  let tokens = [...[...tokenizer.vocabulary.keys()].reduce((a, b) => (b.length > a.length ? b : a))];
  for (const { left, right } of tokenizer.merges) {
    const merged = mergePair(tokens, left, right);
    if (merged.length < tokens.length) console.log(`  ${(tokens = merged).map(quote).join(" ")}`);
  }
  const ids = encode(text, tokenizer);
  const begin = ids.slice(0, 200).map((id) => decode([id], tokenizer));
  console.log(`\n${bytesOf(text).length} bytes are ${ids.length} tokens. They begin:\n\n${begin.join("|")}`);
}
