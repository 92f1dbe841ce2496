import { countNoun, formatBytes, groupBy, groupDigits } from "#bytes";
import type { Difference } from "./difference.ts";
import type { Evaluation, TokenizerResult } from "./evaluation.ts";

// The findings of an evaluation or of a difference, as sentences.

/** A piece of a sentence. A number is the index of a tokenizer, and is replaced by its name. */
export type FindingPart = string | number;

export type Finding = {
  /** The main sentence. */
  readonly sentence: readonly FindingPart[];
  /** Further sentences; may be empty. */
  readonly more: readonly FindingPart[];
  /** The most important number of the sentence, as it is spelled there. */
  readonly figure?: string;
};

/** Below this size, a single paragraph may dominate the measures. */
export const shortTextBytes = 50_000;

/**
 * Compares the first tokenizer with the best of the others; each text has the same weight. A lone tokenizer is
 * described by its bytes per token. Returns null if nothing can be said.
 */
export function of(evaluation: Evaluation): Finding | null {
  const pair = ownAndBest(evaluation);
  if (pair === null) return findingOfOne(evaluation);
  const { own, best, shares } = pair;
  const [first, second] = shares as [TextShare, TextShare | undefined];
  const mean = meanOf(shares);
  const tokenizerCount = evaluation.tokenizers.length;
  const among = mean > 1 && !isEqual(mean) ? `all ${tokenizerCount} tokenizers` : "the others";
  const onAverage = shares.length > 1 ? " on average" : "";
  const sameSize = bestOfSameSize(evaluation, best);
  const [ownSize, bestSize] = [own, best].map((t) => evaluation.tokenizers[t]!.vocabularySize);
  const details: FindingPart[][] = [
    ...(tokenizerCount > 2 ? [[`Of ${among}, `, best, ` needs the fewest tokens${onAverage}.`]] : []),
    ...(ownSize === bestSize ? [[`Both have ${countNoun(ownSize!, "token")}.`]] : []),
    ...(sameSize === null ? [] : [sentenceAtSize(ownSize!, own, sameSize)]),
  ];
  const more = joinSentences(details);
  const sized = (sentence: readonly FindingPart[]) =>
    ownSize === bestSize ? sentence : withSizes(sentence, evaluation);
  if (second === undefined)
    return {
      sentence: sized([`On ${first.text}, `, ...comparison(own, best, first.share), "."]),
      more,
      figure: lessOrMore(first.share),
    };
  if (shares.length === 2) {
    const lead = [`On ${first.text}, `, ...comparison(own, best, first.share)];
    return {
      sentence: sized([...lead, `; on ${second.text}, ${lessOrMore(second.share)}.`]),
      more,
      figure: lessOrMore(first.share),
    };
  }
  const { sentence, ...rest } = findingOfMany(own, best, shares);
  const average = [...comparison(own, best, mean), averageNote];
  return { ...rest, sentence: sized(sentence), more: joinSentences([...details, average]) };
}

const joinSentences = (sentences: readonly FindingPart[][]): FindingPart[] =>
  sentences.flatMap((parts, i) => (i === 0 ? parts : [" ", ...parts]));

/** Adds the size of a vocabulary to the first mention of each tokenizer: "b (2,000 tokens) needs …, a (1,000) …". */
function withSizes(sentence: readonly FindingPart[], { tokenizers }: Evaluation): FindingPart[] {
  const sized = new Set<number>();
  return sentence.flatMap((part) => {
    if (typeof part === "string" || sized.has(part)) return [part];
    sized.add(part);
    const { vocabularySize } = tokenizers[part]!;
    return [
      part,
      ` (${sized.size === 1 ? countNoun(vocabularySize, "token") : groupDigits(vocabularySize)})`,
    ];
  });
}

const averageNote = " on average (geometric mean; each text counts the same).";

type SameSize = { readonly other: number; readonly shares: readonly TextShare[] };

/**
 * Finds the tokenizer with the fewest tokens among the others whose vocabulary is as large as that of the first one.
 * Returns null if there is none, if the tokenizer `best` has that size itself, or if a text has no tokens.
 */
function bestOfSameSize({ tokenizers }: Evaluation, best: number): SameSize | null {
  const [own, ...others] = tokenizers as [TokenizerResult, ...TokenizerResult[]];
  const same = others.filter(({ vocabularySize }) => vocabularySize === own.vocabularySize);
  if (same.length === 0 || same.includes(tokenizers[best]!)) return null;
  const compared = same.map((of) => ({ other: tokenizers.indexOf(of), shares: sharesOf(own, of) }));
  if (compared.some(({ shares }) => shares.length < own.texts.length)) return null;
  return compared.reduce((a, b) => (meanOf(b.shares) > meanOf(a.shares) ? b : a));
}

/**
 * Compares the first tokenizer with another one of its size: "At 1,000 tokens, a needs 31 % fewer tokens than b on en,
 * 2.4 % more on code."
 */
function sentenceAtSize(size: number, own: number, { other, shares }: SameSize): FindingPart[] {
  const at = `At ${countNoun(size, "token")}, `;
  const [first, ...rest] = shares.toSorted((a, b) => distance(b) - distance(a)) as [TextShare];
  if (shares.length > listedTexts || (isEqual(first.share) && rest.length > 0)) {
    const { sentence } = findingOfMany(own, other, shares);
    const [start, ...parts] = sentence;
    return typeof start === "string" ? [at + start.replace(/^On/, "on"), ...parts] : [at, ...sentence];
  }
  const others = rest.map(({ text, share }) => `, ${lessOrMore(share)} on ${text}`);
  return [at, ...comparison(own, other, first.share), ` on ${first.text}${others.join("")}.`];
}

/** Says on which texts the first tokenizer (`own`) needs fewer tokens than the tokenizer `best`, and on which more. */
function findingOfMany(
  own: number,
  best: number,
  shares: readonly TextShare[],
): Pick<Finding, "sentence" | "figure"> {
  const equal = shares.filter(({ share }) => isEqual(share));
  if (equal.length === shares.length)
    return { sentence: [`On all ${shares.length} texts, `, ...comparison(own, best, 1), "."] };
  const unequal = shares.filter(({ share }) => !isEqual(share)).toSorted((a, b) => distance(b) - distance(a));
  const fewer = { word: "fewer", texts: unequal.filter(({ share }) => share < 1) };
  const more = { word: "more", texts: unequal.filter(({ share }) => share > 1) };
  if (more.texts.length === shares.length)
    return {
      sentence: [
        ...[best, " needs fewer tokens than ", own, ` on all ${shares.length} texts; `],
        ...[own, ` needs ${excessOf(more.texts)}.`],
      ],
      figure: amountOf(more.texts[0]!.share),
    };
  const [lead, other] = more.texts.length > fewer.texts.length ? [more, fewer] : [fewer, more];
  const rest = [
    ...(other.texts.length === 0 ? [] : [`, ${other.word} on ${textsOf(other.texts, shares.length)}`]),
    ...(equal.length === 0 ? [] : [`, equally many on ${countNoun(equal.length, "text")}`]),
  ];
  return {
    sentence: [
      own,
      ` needs ${lead.word} tokens than `,
      best,
      ` on ${textsOf(lead.texts, shares.length)}${rest.join("")}.`,
    ],
    figure: amountOf(lead.texts[0]!.share),
  };
}

/** Up to this many texts are listed, each with its number. */
const listedTexts = 3;

/** "novels (13 %) and code (3.4 %)", or for more texts "5 of 9 texts (up to 13 %, on novels)". */
function textsOf(texts: readonly TextShare[], textCount: number): string {
  const [first] = texts as [TextShare];
  if (texts.length <= listedTexts)
    return listNames(texts.map(({ text, share }) => `${text} (${amountOf(share)})`));
  const which = texts.length === textCount ? `all ${textCount}` : `${texts.length} of ${textCount}`;
  return `${which} texts (up to ${amountOf(first.share)}, on ${first.text})`;
}

/** "87 % more on code, 44 % on ml and 11 % on en", or for more texts "up to 87 % more, on code". */
function excessOf(texts: readonly TextShare[]): string {
  const [first] = texts as [TextShare];
  if (texts.length > listedTexts) return `up to ${lessOrMore(first.share)}, on ${first.text}`;
  const firstPercent = texts.find(({ share }) => share < 2);
  return listNames(
    texts.map(
      (one) => `${one === firstPercent ? lessOrMore(one.share) : amountOf(one.share)} on ${one.text}`,
    ),
  );
}

type TextShare = { readonly text: string; readonly share: number };

const distance = ({ share }: TextShare) => Math.abs(Math.log(share));

/** Says how long the tokens of the only tokenizer are, and how many it has. */
function findingOfOne({ tokenizers }: Evaluation): Finding | null {
  const measured = (tokenizers[0]?.texts ?? []).flatMap(({ text, bytesPerToken }) =>
    bytesPerToken === null ? [] : [{ text, bytesPerToken }],
  );
  if (tokenizers.length !== 1 || measured.length === 0) return null;
  const sorted = measured.toSorted((a, b) => b.bytesPerToken - a.bytesPerToken);
  const [most, least] = [sorted[0]!, sorted.at(-1)!];
  const on = ({ text, bytesPerToken }: typeof most) =>
    `${bytesPerToken.toFixed(2)} bytes per token on ${text}`;
  const range = sorted.length > 1 ? `, and ${least.bytesPerToken.toFixed(2)} on ${least.text}` : "";
  return {
    sentence: [0, ` averages ${on(most)}${range}.`],
    more: [0, ` has ${groupDigits(tokenizers[0]!.vocabularySize)} tokens.`],
  };
}

/**
 * Compares the first tokenizer (index `own`) with the other tokenizer that has the fewest tokens (index `best`). Each
 * text has the same weight. `shares` has, for each text on which both have tokens, the tokens of the first divided by
 * those of the best. Returns null if no other tokenizer has tokens on the same text as the first.
 */
export function ownAndBest({ tokenizers }: Evaluation) {
  const [own, ...others] = tokenizers;
  if (own === undefined || own.overall.tokens === 0) return null;
  const compared = others.flatMap((other) => {
    const shares = sharesOf(own, other);
    return shares.length === 0 ? [] : [{ best: tokenizers.indexOf(other), shares }];
  });
  if (compared.length === 0) return null;
  const { best, shares } = compared.reduce((a, b) => (meanOf(b.shares) > meanOf(a.shares) ? b : a));
  return { own: 0, best, shares };
}

const sharesOf = (own: TokenizerResult, other: TokenizerResult): TextShare[] =>
  own.texts
    .map(({ text, tokens }, i) => ({ text, share: tokens / other.texts[i]!.tokens }))
    .filter(({ share }) => share > 0 && share < Number.POSITIVE_INFINITY);

/** Returns the geometric mean, in which twice as many tokens on one text and half as many on another cancel out. */
const meanOf = (shares: readonly TextShare[]) =>
  Math.exp(shares.reduce((sum, { share }) => sum + Math.log(share), 0) / shares.length);

function comparison(own: number, other: number, share: number): FindingPart[] {
  if (isEqual(share)) return [own, " and ", other, " need equally many tokens"];
  return [own, ` needs ${lessOrMore(share)} tokens ${share >= 2 ? "as" : "than"} `, other];
}

/** Formats a ratio of tokens: "13 % fewer", "equally many", "2.5 times as many". */
function lessOrMore(share: number): string {
  if (isEqual(share)) return "equally many";
  return share >= 2 ? amountOf(share) : `${amountOf(share)} ${share < 1 ? "fewer" : "more"}`;
}

/** Formats a ratio of tokens without its direction: "13 %" for 0.87 and 1.13, "2.5 times as many". */
function amountOf(share: number): string {
  if (share >= 2) return `${share.toFixed(1)} times as many`;
  const percent = 100 * Math.abs(1 - share);
  return `${percent.toFixed(percent < 9.95 ? 1 : 0)} %`;
}

const isEqual = (share: number) => Math.abs(1 - share) < 0.0005;

/** Returns reasons not to trust a number: short texts, and texts that a tokenizer was trained on. */
export function cautionsOf({ texts }: Pick<Evaluation, "texts">): string[] {
  const short = texts.filter((text) => text.bytes < shortTextBytes);
  const sizes = listNames(short.map((text) => `${text.name} has ${formatBytes(text.bytes)}`));
  const learned = texts.filter(({ trainedBy }) => trainedBy.length > 0);
  const byLearners = groupBy(learned, ({ trainedBy }) => listNames(trainedBy));
  return [
    ...(short.length === 0 ? [] : [`${sizes}: below 50 kB a single paragraph may decide the number.`]),
    ...[...byLearners].map(([learners, texts]) => {
      const names = listNames(texts.map(({ name }) => name));
      const [are, their] = texts.length === 1 ? ["is", "its number is"] : ["are", "their numbers are"];
      return `${names} ${are} among the inputs that ${learners} learned from: ${their} too good.`;
    }),
  ];
}

/** Formats "a, b and c". */
const listNames = (names: readonly string[]) =>
  names.length < 2 ? names.join() : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;

/** Describes the differences between two tokenizers, a (0) and b (1). */
export function differenceOfTwo({ tokens, merges, text }: Difference): Finding {
  const own = [tokens.onlyInA.length, tokens.onlyInB.length] as const;
  const isSame = own[0] + own[1] + tokens.moved.length === 0;
  const vocabulary: FindingPart[] = isSame
    ? [0, " and ", 1, ` have the same ${countNoun(tokens.inBoth, "token")} and ids`]
    : [
        0,
        " and ",
        1,
        ` share ${countNoun(tokens.inBoth, "token")}, ${sharePercent(tokens.inBoth, own[0])} of `,
        0,
        ...(own[0] === own[1] ? [" and of ", 1] : [` and ${sharePercent(tokens.inBoth, own[1])} of `, 1]),
      ];
  const order =
    isSame && merges.moved.length > 0
      ? `, and ${countNoun(merges.moved.length, "merge")} in another order`
      : "";
  if (text === null || text.tokensA === 0 || text.tokensB === 0)
    return { sentence: [...vocabulary, `${order}.`], more: [] };
  const cut =
    text.differentWords === 0
      ? "; every word is cut alike."
      : `; ${((100 * text.differentWords) / text.words).toFixed(1)} % of the words of the text are cut differently.`;
  const needs = comparison(0, 1, text.tokensA / text.tokensB);
  return { sentence: [`On ${text.name}, `, ...needs, cut], more: [...vocabulary, `${order}.`] };
}

/** Formats the share of a vocabulary's tokens that another one has; 100 % only if it has them all. */
function sharePercent(inBoth: number, own: number): string {
  if (own === 0) return "100 %";
  const percent = (100 * inBoth) / (inBoth + own);
  return percent < 99 ? `${percent.toFixed(0)} %` : `${Math.min(99.9, percent).toFixed(1)} %`;
}

/** Joins the pieces of a sentence, with the names of tokenizers. */
export const spell = (
  parts: readonly FindingPart[],
  { tokenizers }: { readonly tokenizers: readonly { readonly name: string }[] },
) => parts.map((part) => (typeof part === "number" ? tokenizers[part]!.name : part)).join("");
