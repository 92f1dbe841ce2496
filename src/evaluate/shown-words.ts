import type { evaluations } from "#evaluation";

/**
 * Returns the first `count` words to show. A word is new if it has letters or marks, and no earlier word has the same
 * ones, ignoring case. New words come first, then other words that have letters, then the rest.
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
