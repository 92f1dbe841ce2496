import type { Difference, TextDifference, TokenizerFacts } from "../evaluation/difference.ts";
import { type Line, piece } from "./terminal.ts";
import { counted, grouped } from "./units.ts";

/** How many of a kind are shown. */
const shownMax = 20;
const shownPiecesMax = 12;

type Names = readonly [a: string, b: string];

/** What differs between two tokenizers, for people. Lists show the first of each kind; `--json` has all. */
export function differenceText({ a, b, tokens, merges, text }: Difference, names: Names): Line[] {
  const token = (of: { token: string; id: number; isSpecial: boolean }) =>
    `${of.id} "${of.token}"${of.isSpecial ? " special" : ""}`;
  return [
    `${names[0]}: ${factsText(a)}`,
    `${names[1]}: ${factsText(b)}`,
    ...(samePattern(a, b) ? [] : ["they cut text by different patterns"]),
    "",
    heading(`tokens: ${grouped(tokens.inBoth)} in both`),
    ...list(`only in ${names[0]}`, tokens.onlyInA, token),
    ...list(`only in ${names[1]}`, tokens.onlyInB, token),
    ...list("with another id", tokens.moved, (of) => `"${of.token}" ${of.idA} -> ${of.idB}`),
    "",
    heading(`merges: ${grouped(merges.inBoth)} in both`),
    ...list(`only in ${names[0]}`, merges.onlyInA, (of) => `${of.rank} "${of.left}" "${of.right}"`),
    ...list(`only in ${names[1]}`, merges.onlyInB, (of) => `${of.rank} "${of.left}" "${of.right}"`),
    ...list(
      "in another order",
      merges.moved,
      (of) => `"${of.left}" "${of.right}" ${of.rankA} -> ${of.rankB}`,
    ),
    ...(text === null ? [] : ["", ...textLines(text, names)]),
  ];
}

const heading = (text: string) => [piece("bold", text)];

const factsText = ({ kind, pattern, vocabularySize, mergeCount }: TokenizerFacts) =>
  `${kind}, pattern ${pattern ?? "of its own"}, ${counted(vocabularySize, "token")}, ${counted(mergeCount, "merge")}`;

const samePattern = (a: TokenizerFacts, b: TokenizerFacts) =>
  (a.pattern !== null && a.pattern === b.pattern) ||
  JSON.stringify(a.patternSources) === JSON.stringify(b.patternSources);

function list<T>(what: string, items: readonly T[], shown: (item: T) => string): string[] {
  const lines = items.slice(0, shownMax).map((item) => `    ${shown(item)}`);
  const more = items.length > shownMax ? [`    and ${grouped(items.length - shownMax)} more`] : [];
  return [`  ${what}: ${grouped(items.length)}`, ...lines, ...more];
}

function textLines(text: TextDifference, names: Names): Line[] {
  const { name, words, differentWords, differentShare, distinctDifferentWords, mostFrequent } = text;
  const share = differentShare === null ? "" : ` (${(100 * differentShare).toFixed(2)} %)`;
  const pieces = (all: readonly string[]) =>
    all.slice(0, shownPiecesMax).join("|") + (all.length > shownPiecesMax ? "|…" : "");
  const shown = mostFrequent.slice(0, shownMax);
  const left = distinctDifferentWords - shown.length;
  return [
    heading(`text ${name}: ${counted(words, "word")}`),
    `  tokens: ${grouped(text.tokensA)} by ${names[0]}, ${grouped(text.tokensB)} by ${names[1]}`,
    `  words cut differently: ${grouped(differentWords)}${share}, ${grouped(distinctDifferentWords)} of them distinct`,
    ...shown.map(
      ({ count, piecesA, piecesB }) => `    ${grouped(count)} x ${pieces(piecesA)} -> ${pieces(piecesB)}`,
    ),
    ...(left > 0 ? [`    and ${grouped(left)} more`] : []),
  ];
}
