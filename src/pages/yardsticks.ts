/**
 * What pages say about usual values. These were measured with the published tokenizers that `largestShares` lists, on 1
 * MB each of books, web pages and code.
 */
export const usual = {
  published: "Published tokenizers average 3.6 to 4.5 bytes per token in English, 3.3 to 4.1 in code.",
  usedShare: "4 to 33 % in 1 MB of text",
};

/** A kind of learned tokens whose share is compared with what is usual. */
export type KindOfTokens = "neverUsed" | "intermediate" | "runs" | "partsOfCharacters";

const measuredSizes = [1_000, 4_000, 16_000, 32_000, 64_000, 128_000];

/**
 * The largest share of the learned tokens, in percent, that was measured at each size in November 2026: in 40 trainings
 * of 1,000 to 64,000 tokens (patterns gpt2 and o200k, on 30 MB of English books, 20 MB of web pages, 20 MB of texts in
 * 46 languages and 12 MB of code), and in GPT-2, GPT-4, GPT-4o, Llama 2, Llama 3, Qwen 2.5, DeepSeek V3, Mistral Nemo,
 * Command R+, Gemma 3, Yi and Claude, each at the nearest size.
 */
const largestShares: Record<KindOfTokens, readonly number[]> = {
  // How often the tokens of published tokenizers occurred in their training is unknown, and the largest of the 40
  // trainings had 64,000 tokens. So the share at 128,000 is that at 64,000.
  neverUsed: [0.3, 1.7, 5.7, 14, 23, 23],
  intermediate: [15, 20, 18, 21, 23, 23],
  runs: [0.7, 0.6, 0.6, 0.5, 1, 0.6],
  partsOfCharacters: [25, 14, 5.6, 3.4, 2.2, 1.2],
};

/** What the shares were measured with, as the page says it. */
export const comparedWith = "12 published tokenizers and 40 trainings";

/**
 * Returns the largest usual share of a kind of tokens, from 0 to 1, at the nearest measured size; null for a size below
 * half the smallest measured one.
 */
export function mostOf(kind: KindOfTokens, size: number): number | null {
  if (size < measuredSizes[0]! / 2) return null;
  const distance = (measured: number) => Math.abs(Math.log(measured / size));
  const nearest = measuredSizes.reduce((a, b) => (distance(b) < distance(a) ? b : a));
  return largestShares[kind][measuredSizes.indexOf(nearest)]! / 100;
}
