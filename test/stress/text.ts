import { randomSource } from "../../bench/random.ts";

/** Returns made-up prose, in documents that `<|endoftext|>` separates. */
export function madeText(seed: number, sizeBytes: number): string {
  const random = randomSource(seed);
  const syllables = [
    "ka",
    "to",
    "ri",
    "sen",
    "mo",
    "al",
    "ver",
    "in",
    "th",
    "est",
    "ou",
    "é",
    "шо",
    "語",
    "qu",
    "be",
  ];
  const words = Array.from({ length: 20_000 }, () =>
    Array.from({ length: 1 + random.below(4) }, () => syllables[random.below(syllables.length)]).join(""),
  );
  const parts: string[] = [];
  for (let size = 0; size < sizeBytes; ) {
    // The third power makes the first words frequent.
    const word = words[Math.floor(random.unit() ** 3 * words.length)]!;
    const ending = random.below(300) === 0 ? "<|endoftext|>" : random.below(12) === 0 ? ".\n" : " ";
    parts.push(word, ending);
    size += word.length + ending.length;
  }
  return parts.join("");
}

/** Returns random words, nearly all distinct, so that counting them spills to disk if memory is short. */
export function manyWords(seed: number, wordCount: number): string {
  const random = randomSource(seed);
  return Array.from({ length: wordCount }, () => random.below(2 ** 31).toString(36)).join(" ");
}
