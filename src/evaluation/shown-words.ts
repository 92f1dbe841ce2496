import type { CostliestWord } from "./evaluation.ts";

/** The words that people are shown: those with letters first, of each only one, whatever signs stand around it. */
export function shownWords(words: readonly CostliestWord[], count: number): CostliestWord[] {
  const seen = new Set([""]);
  const [first, later]: CostliestWord[][] = [[], []];
  for (const one of words) {
    const letters = one.word.toLowerCase().replace(/[^\p{L}\p{M}]/gu, "");
    (seen.has(letters) ? later! : first!).push(one);
    seen.add(letters);
  }
  const hasLetters = ({ word }: CostliestWord) => /\p{L}/u.test(word);
  return [...first!, ...later!.filter(hasLetters), ...later!.filter((one) => !hasLetters(one))].slice(
    0,
    count,
  );
}
