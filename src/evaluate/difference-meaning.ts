import type { differences, findings } from "#evaluation";

/**
 * The kinds of words other than `otherScripts`. Signs at both ends of a word are removed before it is matched, so
 * `"said,` is lower case. The first regular expression that matches decides.
 */
const kinds: readonly (readonly [name: string, regex: RegExp])[] = [
  ["signs", /^$/],
  ["numbers", /^[\p{N}.,:/-]+$/u],
  ["lower-case words", /^\p{Ll}[\p{Ll}\p{M}'’-]*$/u],
  ["capitalized words", /^\p{Lu}[\p{Ll}\p{M}'’-]*$/u],
  ["words in capitals", /^\p{Lu}[\p{Lu}\p{M}'’-]+$/u],
  ["words with digits, signs or inner capitals", /./su],
];
const otherScripts = "words in other scripts than Latin";

function kindOf(word: string): string {
  // A word includes the whitespace character before it in the text. A line feed is written as an escape (`\x0a`). So
  // first remove escapes at the start, and then other signs at both ends.
  const core = word.replace(/^(\\x[0-9a-f]{2})+/, "").replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{M}\p{N}]+$/gu, "");
  if (/(?!\p{Script=Latin})\p{L}/u.test(core)) return otherScripts;
  return kinds.find(([, regex]) => regex.test(core))![0];
}

/**
 * A kind of words is named if it saves or loses enough tokens: at least this share of what all the kinds that save
 * tokens save together.
 */
const namedLeast = 0.1;

/** Says what a difference means for the text. In the result, 0 means tokenizer a, and 1 means b. */
export function meaningOf(text: differences.TextDifference, characters: number): findings.FindingPart[] {
  const { name, tokensA, tokensB } = text;
  if (tokensA === 0 || tokensB === 0 || characters === 0) return [];
  const per = (tokens: number) => Math.round((1000 * tokens) / characters);
  const tokens = [
    `1,000 characters of ${name} are ${per(tokensA)} tokens with `,
    0,
    `, ${per(tokensB)} with `,
    1,
  ];
  const [fewer, ratio] = tokensA < tokensB ? [0, tokensB / tokensA] : [1, tokensA / tokensB];
  if (ratio < 1.0005) return [...tokens, "."];
  const more = ratio >= 2 ? `${ratio.toFixed(1)} times as much` : `${percentOf(ratio - 1)} more`;
  const costs = `. At the same price per token, the text costs ${percentOf(1 - 1 / ratio)} less with `;
  return [...tokens, costs, fewer, `; the same context holds ${more} text.${sourcesOf(text, fewer)}`];
}

/** Names the kinds of words in which tokenizer `fewer` saves or loses tokens, judged by the most frequent words. */
function sourcesOf({ mostFrequent }: differences.TextDifference, fewer: number): string {
  const savedBy = new Map<string, number>();
  for (const { word, count, piecesA, piecesB } of mostFrequent) {
    const saved = count * (piecesB.length - piecesA.length) * (fewer === 0 ? 1 : -1);
    savedBy.set(kindOf(word), (savedBy.get(kindOf(word)) ?? 0) + saved);
  }
  const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
  const counts = [...savedBy.values()];
  const all = sum(counts.filter((saved) => saved > 0));
  // If these words together save nothing, tokens are saved in other words, such as rarer ones, whose kinds are not
  // known.
  if (sum(counts) <= 0) return "";
  const named = [...savedBy]
    .map(([kind, saved]) => ({ kind, share: saved / all }))
    .filter(({ share }) => Math.abs(share) >= namedLeast)
    .toSorted((a, b) => b.share - a.share);
  const [first, ...others] = named.filter(({ share }) => share > 0) as [(typeof named)[0]];
  const losses = named.filter(({ share }) => share < 0).map(({ kind }) => kind);
  return [
    ` ${percentOf(first.share)} of the tokens that it saves are in ${first.kind}`,
    ...others.map(({ kind, share }) => `, ${percentOf(share)} in ${kind}`),
    ...(losses.length === 0 ? [] : [`; it needs more in ${losses.join(" and ")}`]),
    ".",
  ].join("");
}

const percentOf = (share: number) => `${(100 * share).toFixed(share < 0.0995 ? 1 : 0)} %`;
