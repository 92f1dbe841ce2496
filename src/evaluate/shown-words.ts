import type { evaluations } from "#evaluation";

/**
 * Selects words to show. Words that differ only in case or punctuation count as one: only the first of them is at the
 * front of the list. Other words with letters follow, then words without letters.
 */
export function shownWords(
  words: readonly evaluations.CostliestWord[],
  count: number,
): evaluations.CostliestWord[] {
  const seen = new Set([""]);
  const [first, later]: evaluations.CostliestWord[][] = [[], []];
  for (const one of words) {
    const letters = one.word.toLowerCase().replace(/[^\p{L}\p{M}]/gu, "");
    (seen.has(letters) ? later! : first!).push(one);
    seen.add(letters);
  }
  const hasLetters = ({ word }: evaluations.CostliestWord) => /\p{L}/u.test(word);
  return [...first!, ...later!.filter(hasLetters), ...later!.filter((one) => !hasLetters(one))].slice(
    0,
    count,
  );
}
