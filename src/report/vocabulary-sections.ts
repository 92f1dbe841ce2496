import { grouped } from "../bytes/quantities.ts";
import { longestWithLetters, shapeOf } from "../bytes/token-shape.ts";
import { tokenBytesOf } from "../tokenizer/token-table.ts";
import type { Share } from "../tokenizer/vocabulary-statistics.ts";
import { barChart, barGroup, decadesAxis, type Line, lineChart } from "./charts.ts";
import { html, type Section, tokenHtml } from "./html.ts";
import type { ReportTokenizer } from "./report-data.ts";

const pointsPerDecade = 12;
const tableRanks = [1, 10, 100, 1000, 10_000, 100_000];

/** Tokens by how often they occur, the most frequent first; null if no tokenizer was counted on a text. */
export function frequencySection(tokenizers: readonly ReportTokenizer[]): Section | null {
  const ranked = tokenizers.flatMap(({ name, counts }, colour) => {
    const sorted = counts === undefined ? [] : countsByRank(counts.endCounts);
    return counts === undefined || sorted.length === 0 ? [] : [{ name, colour, of: counts.of, sorted }];
  });
  if (ranked.length === 0) return null;
  const lines: Line[] = ranked.map(({ name, colour, sorted }) => ({
    name,
    colour,
    points: ranksOf(sorted.length).map((rank) => {
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
  return {
    id: "frequency",
    title: "Rank and frequency",
    text: `How often the tokens occur in ${ranked[0]!.of}, the most frequent first. Tokens that do not occur are left out.`,
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
        ["tokens that occur", ...ranked.map(({ sorted }) => grouped(sorted.length))],
      ],
    },
  };
}

/** The counts above 0, the highest first. */
export function countsByRank(counts: Float64Array): Float64Array {
  const sorted = counts.slice().sort().reverse();
  const zero = sorted.indexOf(0);
  return zero < 0 ? sorted : sorted.subarray(0, zero);
}

/** Ranks from 1 to the last at equal factors from each other. */
function ranksOf(last: number): number[] {
  const ranks = new Set<number>();
  const count = Math.ceil(Math.log10(last) * pointsPerDecade);
  for (let i = 0; i <= count; i++) ranks.add(Math.round(last ** (count === 0 ? 0 : i / count)));
  return [...ranks];
}

const lengthMost = 16;

/** How many tokens there are of each length in bytes. Special tokens are left out. */
export function lengthSection(tokenizers: readonly ReportTokenizer[]): Section {
  const counts = tokenizers.map(countLengths);
  const names = counts[0]!.map((_, i) => (i < lengthMost ? String(i + 1) : `${lengthMost + 1} and more`));
  return {
    id: "lengths",
    title: "Token lengths",
    text: "The tokens of the vocabulary by their length in bytes.",
    ...countsContent(tokenizers, { title: "Tokens by length in bytes", kind: "bytes", names, counts }),
  };
}

function countLengths({ lengths, addedTokens }: ReportTokenizer): number[] {
  const counts = new Array<number>(lengthMost + 1).fill(0);
  const added = new Set(addedTokens.map(({ id }) => id));
  for (let id = 0; id < lengths.length; id++) {
    const length = lengths[id]!;
    if (length > 0 && !added.has(id)) counts[Math.min(length, lengthMost + 1) - 1]!++;
  }
  return counts;
}

/** Tokens by the script of their first letter, or by kind, of each tokenizer: `shares[tokenizer]`. */
export function scriptSection(
  tokenizers: readonly ReportTokenizer[],
  shares: readonly (readonly Share[])[],
): Section {
  const countOf = (list: readonly Share[], name: string) =>
    list.find((share) => share.name === name)?.tokenCount ?? 0;
  const largestShare = (name: string) =>
    Math.max(
      ...shares.map(
        (list) => countOf(list, name) / Math.max(1, sum(list.map(({ tokenCount }) => tokenCount))),
      ),
    );
  const names = [...new Set(shares.flatMap((list) => list.map(({ name }) => name)))].sort(
    (a, b) => largestShare(b) - largestShare(a),
  );
  const counts = shares.map((list) => names.map((name) => countOf(list, name)));
  return {
    id: "scripts",
    title: "Scripts",
    text: "The tokens by the script of their first letter; without a letter, by what they hold.",
    ...countsContent(tokenizers, { title: "Tokens by script", kind: "script", names, counts, drawnMax: 14 }),
  };
}

/** `counts[tokenizer]` has a number for each of the names. */
type Counts = {
  readonly title: string;
  readonly kind: string;
  readonly names: readonly string[];
  readonly counts: readonly (readonly number[])[];
  /** So many of the names have bars. */
  readonly drawnMax?: number;
};

/** Bars of what each tokenizer has of some kinds of tokens, and the table of all kinds. */
function countsContent(
  tokenizers: readonly ReportTokenizer[],
  { title, kind, names, counts, drawnMax }: Counts,
) {
  const series = tokenizers.map(({ name }) => name);
  const groups = names.slice(0, drawnMax).map((name, i) =>
    barGroup(
      name,
      counts.map((of) => of[i]! / Math.max(1, sum(of))),
    ),
  );
  return {
    content: html`<figure>${barChart({ title, series, groups })}</figure>`,
    table: {
      head: [kind, ...series],
      rows: names.map((name, i) => [name, ...counts.map((of) => grouped(of[i]!))]),
    },
  };
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

/** The longest tokens that have a letter: no whitespace tokens, no separator tokens. `longest`: their ids, of each tokenizer. */
export function longestSection(
  tokenizers: readonly ReportTokenizer[],
  longest: readonly (readonly number[])[],
): Section {
  return {
    id: "longest",
    title: "Longest tokens",
    text: "The longest tokens that have a letter. Whitespace tokens, separator tokens and digits are left out.",
    content: html`<div class="columns">${tokenizers.map(
      (
        { name, tokens, lengths },
        i,
      ) => html`<div>${tokenizers.length > 1 ? html`<h3>${name}</h3>` : undefined}
<ol class="tokens">${longest[i]!.map(
        (id) =>
          html`<li>${tokenHtml(tokenBytesOf(tokens, id), lengths[id]!)} <span class="quiet">${grouped(lengths[id]!)} bytes, id ${id}</span></li>`,
      )}</ol></div>`,
    )}</div>`,
  };
}

/** Ids of the longest tokens with a letter, the longest first. */
export function longestIdsOf({ tokens, lengths, addedTokens }: ReportTokenizer, count: number): number[] {
  const { bytes, starts } = tokens;
  const added = new Set(addedTokens.map(({ id }) => id));
  const shapeOfId = (id: number) => (added.has(id) ? "other" : shapeOf(bytes, starts[id]!, starts[id + 1]!));
  return longestWithLetters(lengths, shapeOfId, count);
}
