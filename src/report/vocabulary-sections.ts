import { grouped } from "../bytes/quantities.ts";
import { longestWithLetters, shapeOf } from "../bytes/token-shape.ts";
import { decadesAxis, percent } from "../pages/axes.ts";
import { tokenBytesOf } from "../tokenizer/token-table.ts";
import type { Share } from "../tokenizer/vocabulary-statistics.ts";
import { barChart, histograms, keyHtml, type Line, lineChart } from "./charts.ts";
import { html, type Section, tokenHtml } from "./html.ts";
import { hasLetters, type ReportTokenizer } from "./report-data.ts";

const pointsPerDecade = 12;
/** So few tokens are shown one by one: a toy corpus has no curve. */
const fewTokens = 24;
const tableRanks = [1, 10, 100, 1000, 10_000, 100_000];

/** Tokens by how often they occur, the most frequent first; null if no tokenizer was counted on a text. */
export function frequencySection(tokenizers: readonly ReportTokenizer[]): Section | null {
  const ranked = tokenizers.flatMap((tokenizer, colour) => {
    const { name, counts } = tokenizer;
    if (counts === undefined) return [];
    const { sorted, leftOut } = countsByRank(tokenizer, counts.endCounts);
    return sorted.length === 0 ? [] : [{ name, colour, of: counts.of, sorted, leftOut }];
  });
  if (ranked.length === 0) return null;
  const [only] = tokenizers;
  const usedCount = ranked[0]!.sorted.length + ranked[0]!.leftOut;
  if (tokenizers.length === 1 && usedCount <= fewTokens) return fewTokensSection(only!);
  const lines: Line[] = ranked.map(({ name, colour, sorted }) => ({
    name,
    colour,
    points: ranksOf(sorted).map((rank) => {
      const count = sorted[rank - 1]!;
      const label = `rank ${grouped(rank)}: ${grouped(count)} times${ranked.length > 1 ? `, ${name}` : ""}`;
      return { x: rank, y: count, label };
    }),
  }));
  const ranks = lines.flatMap((line) => line.points.map(({ x }) => x));
  const occurrences = lines.flatMap((line) => line.points.map(({ y }) => y));
  const chart = lineChart({
    title: "How often the tokens of each rank occur",
    x: decadesAxis("rank of the token", ranks),
    y: decadesAxis("occurrences", occurrences),
    lines,
  });
  const longest = Math.max(...ranked.map(({ sorted }) => sorted.length));
  const leftOut = sum(ranked.map((one) => one.leftOut));
  return {
    id: "frequency",
    title: "Rank and frequency",
    text: html`How often the tokens occur in ${ranked[0]!.of}, the most frequent first. Tokens that do not occur are
      left out.${
        leftOut === 0
          ? undefined
          : ` So are ${grouped(leftOut)} that occur less often than the last pair that was merged: intermediate tokens and rare bytes.`
      }`,
    content: html`<figure>${chart}</figure>`,
    table: {
      head: ["rank", ...ranked.map(({ name }) => name)],
      rows: [
        ...tableRanks
          .filter((rank) => rank <= longest)
          .map((rank) => [
            grouped(rank),
            ...ranked.map(({ sorted }) => (rank <= sorted.length ? grouped(sorted[rank - 1]!) : "–")),
          ]),
        ["tokens on the line", ...ranked.map(({ sorted }) => grouped(sorted.length))],
      ],
    },
  };
}

const usedIdsOf = ({ counts }: ReportTokenizer) =>
  counts === undefined ? [] : [...counts.endCounts.keys()].filter((id) => counts.endCounts[id]! > 0);

/** Each token that occurs, with a bar: a toy corpus has no curve. */
function fewTokensSection(tokenizer: ReportTokenizer): Section {
  const { tokens, counts } = tokenizer;
  const { of, endCounts } = counts!;
  const ids = usedIdsOf(tokenizer).sort((a, b) => endCounts[b]! - endCounts[a]! || a - b);
  const groups = ids.map((id) => ({
    name: tokenHtml(tokenBytesOf(tokens, id)),
    values: [endCounts[id]!],
    texts: [grouped(endCounts[id]!)],
  }));
  return {
    id: "frequency",
    title: "Tokens by frequency",
    text: `How often the tokens occur in ${of}. All others do not occur.`,
    content: barChart({ title: "Tokens by frequency", kind: "token", series: ["occurrences"], groups }),
  };
}

/**
 * The counts above 0, the highest first. Where they are those of the training, tokens that are rarer than all that were
 * learned to stay are left out: intermediate tokens have few occurrences left, and would end the line with a cliff.
 */
export function countsByRank(
  { merges, ledger }: Pick<ReportTokenizer, "merges" | "ledger">,
  counts: Float64Array,
): { sorted: Float64Array; leftOut: number } {
  let least = 1;
  if (ledger !== undefined && ledger.endCounts === counts) {
    let low = Number.POSITIVE_INFINITY;
    const { merged } = merges;
    for (let k = 0; k < merged.length; k++) {
      const id = merged[k]!;
      const count = counts[id]!;
      if (count > 0 && count < low && !ledger.isIntermediate(id)) low = count;
    }
    if (low < Number.POSITIVE_INFINITY) least = low;
  }
  const sorted = counts.slice().sort().reverse();
  const kept = firstBelow(sorted, least);
  return { sorted: sorted.subarray(0, kept), leftOut: firstBelow(sorted, 1) - kept };
}

/** The first place of a count below the bound among falling counts; how many there are, if there is none. */
function firstBelow(sorted: Float64Array, bound: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! < bound) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * Ranks at equal factors from each other, from 1 to the last, and the last one of each step of the counts: many rare tokens
 * share a count, and a straight line over such a step would be none of the curve.
 */
function ranksOf(sorted: Float64Array): number[] {
  const last = sorted.length;
  const ranks = new Set<number>();
  const count = Math.ceil(Math.log10(last) * pointsPerDecade);
  for (let i = 0; i <= count; i++) ranks.add(Math.round(last ** (count === 0 ? 0 : i / count)));
  for (let below = 2; below <= stepsShown; below++) {
    const first = firstBelow(sorted, below);
    if (first > 0 && first < last) ranks.add(first).add(first + 1);
  }
  return [...ranks].sort((a, b) => a - b);
}

/** Steps of the counts below this one are wide enough to be seen. */
const stepsShown = 5;

const lengthLeast = 2;
const lengthMost = 16;

/**
 * How many tokens there are of each length in bytes. Special tokens are left out, and single bytes, which every vocabulary has.
 * Null without others.
 */
export function lengthSection(tokenizers: readonly ReportTokenizer[]): Section | null {
  const counted = tokenizers.map(countLengths);
  const counts = counted.map(({ classes }) => classes);
  if (counts.every((of) => sum(of) === 0)) return null;
  const names = counts[0]!.map((_, i) =>
    i + lengthLeast <= lengthMost ? String(i + lengthLeast) : `${lengthMost + 1}+`,
  );
  const shares = counts.map((of) => of.map((count) => count / Math.max(1, sum(of))));
  const panels = tokenizers.map(({ name }, i) => ({
    name,
    note: `${(counted[i]!.byteCount / Math.max(1, sum(counts[i]!))).toFixed(1)} bytes on average`,
    shares: shares[i]!,
    colour: i,
  }));
  return {
    id: "lengths",
    title: "Token lengths",
    isWide: tokenizers.length > 4,
    text: `The tokens of two bytes and more by their length${
      tokenizers.length > 1 ? "; the outline is the mean of all tokenizers" : ""
    }.`,
    content: histograms("bytes", names, panels),
    table: {
      head: ["bytes", ...tokenizers.flatMap(({ name }) => [name, "share"])],
      rows: names.map((name, i) => [
        name,
        ...counts.flatMap((of, t) => [grouped(of[i]!), percent(shares[t]![i]!)]),
      ]),
    },
  };
}

/** How many tokens there are of each class of lengths, and the bytes of all. */
function countLengths({ lengths, addedTokens }: ReportTokenizer) {
  const classes = new Array<number>(lengthMost + 2 - lengthLeast).fill(0);
  let byteCount = 0;
  const learned = lengths.slice();
  for (const { id } of addedTokens) learned[id] = 0;
  // Not `for … of`: over many numbers its iterator is compiled for as long as the loop takes.
  for (let id = 0; id < learned.length; id++) {
    const length = learned[id]!;
    if (length < lengthLeast) continue;
    classes[(length > lengthMost ? lengthMost + 1 : length) - lengthLeast]!++;
    byteCount += length;
  }
  return { classes, byteCount };
}

/** Scripts that have bars; the table has all. */
const scriptsShown = 14;

/** Tokens by the script of their first letter, or by kind, of each tokenizer: `shares[tokenizer]`. Null where one has all. */
export function scriptSection(
  tokenizers: readonly ReportTokenizer[],
  shares: readonly (readonly Share[])[],
): Section | null {
  const countOf = (list: readonly Share[], name: string) =>
    list.find((share) => share.name === name)?.tokenCount ?? 0;
  const shareOf = (list: readonly Share[], name: string) =>
    countOf(list, name) / Math.max(1, sum(list.map(({ tokenCount }) => tokenCount)));
  const largestShare = (name: string) => Math.max(...shares.map((list) => shareOf(list, name)));
  const names = [...new Set(shares.flatMap((list) => list.map(({ name }) => name)))].sort(
    (a, b) => largestShare(b) - largestShare(a),
  );
  if (names.length < 2) return null;
  const series = tokenizers.length === 1 ? ["tokens"] : tokenizers.map(({ name }) => name);
  const groups = names.slice(0, scriptsShown).map((name) => {
    const values = shares.map((list) => shareOf(list, name));
    return { name, values, texts: values.map((value) => (value === 0 ? "–" : percent(value))) };
  });
  return {
    id: "scripts",
    title: "Scripts",
    isWide: tokenizers.length > 3,
    text: "The tokens of two bytes and more by the script of their first letter; without a letter, by what they hold.",
    content: barChart({ title: "Tokens by script", kind: "script", series, groups }),
    table: {
      head: ["script", ...series],
      rows: names.map((name) => [name, ...shares.map((list) => grouped(countOf(list, name)))]),
    },
  };
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

/** The longest tokens that have a letter: no whitespace tokens, no separator tokens. `longest`: their ids, of each tokenizer. */
export function longestSection(
  tokenizers: readonly ReportTokenizer[],
  longest: readonly (readonly number[])[],
): Section | null {
  if (longest.every((ids) => ids.length === 0)) return null;
  return {
    id: "longest",
    title: "Longest tokens",
    isWide: tokenizers.length > 1,
    text: "The longest tokens that have a letter. Whitespace tokens, separator tokens and digits are left out.",
    content: html`<div class="columns${tokenizers.length > 1 ? " several" : ""}">${tokenizers.map(
      (
        { name, tokens, lengths },
        i,
      ) => html`<div>${tokenizers.length > 1 ? html`<h3>${keyHtml(i)}${name}</h3>` : undefined}
<ol class="tokens">${longest[i]!.map(
        (id) =>
          html`<li>${tokenHtml(tokenBytesOf(tokens, id), lengths[id]!)} <span class="quiet">${grouped(lengths[id]!)} bytes, id ${id}</span></li>`,
      )}</ol></div>`,
    )}</div>`,
  };
}

/** Of the longest tokens that whose tree is shown first: it is no repetition, and occurs, if any does. */
export function firstShownOf({ tokens, counts }: ReportTokenizer, longest: readonly number[]): number {
  const varied = longest.filter((id) => {
    const characters = [...Buffer.from(tokenBytesOf(tokens, id)).toString()];
    return new Set(characters).size > characters.length / 2;
  });
  return varied.find((id) => (counts?.endCounts[id] ?? 1) > 0) ?? varied[0] ?? longest[0] ?? 0;
}

/** Ids of the longest tokens with a letter, the longest first. */
export function longestIdsOf(tokenizer: ReportTokenizer, count: number): number[] {
  const { tokens, lengths, addedTokens } = tokenizer;
  const { bytes, starts } = tokens;
  const added = new Set(addedTokens.map(({ id }) => id));
  const shapeOfId = (id: number) =>
    added.has(id) || lengths[id]! < lengthLeast
      ? "other"
      : hasLetters(tokenizer, id)
        ? "letters"
        : shapeOf(bytes, starts[id]!, starts[id + 1]!);
  return longestWithLetters(lengths, shapeOfId, count);
}
