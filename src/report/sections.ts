import { grouped } from "../bytes/quantities.ts";
import { lineFeed, tab } from "../bytes/text.ts";
import { longestWithLetters, shapeOf } from "../bytes/token-shape.ts";
import { tokenBytesOf } from "../tokenizer/token-table.ts";
import type { Share } from "../tokenizer/vocabulary-statistics.ts";
import {
  type BarGroup,
  barChart,
  decadesAxis,
  doublingsAxis,
  type Line,
  linearAxis,
  lineChart,
  type Point,
  percent,
} from "./charts.ts";
import {
  type Cell,
  escapeHtml,
  type Html,
  html,
  type Section,
  tableHtml,
  tokenHtml,
  tokenText,
  trustedHtml,
} from "./html.ts";
import type {
  ComparisonTable,
  Compression,
  Matrix,
  ReportLedger,
  ReportTokenizer,
  Sample,
  SampleToken,
} from "./report-data.ts";

/** A vocabulary of so many tokens, and the bytes of the corpus that one of its tokens stands for. */
export type CurvePoint = { readonly size: number; readonly bytesPerToken: number };

const pointsOnCurve = 48;

/** Bytes per token over the size of the vocabulary, from the training's own counts, and what twice the size would bring. */
export function compressionSection(compression: Compression): Section {
  const { baseSize, smallerSizes = [] } = compression;
  const chosenSize = baseSize + compression.tokensAfter.length - 1;
  const at = (size: number) => curvePoint(compression, size);
  const chosen = at(chosenSize);
  const points = curveSizes(baseSize, chosenSize).map(at);
  const doubled = estimateDoubled(compression);
  const lines: Line[] = [{ name: "measured", colour: 0, points: points.map(labelled) }];
  if (doubled !== null) {
    const label = `${labelled(doubled).label}, an estimate`;
    const estimate = { x: doubled.size, y: doubled.bytesPerToken, label };
    lines.push({ name: "estimated", colour: 1, isEstimate: true, points: [labelled(chosen), estimate] });
  }
  const values = lines.flatMap((line) => line.points.map(({ y }) => y));
  const chart = lineChart({
    title: `Bytes per token over the size of the vocabulary: ${chosen.bytesPerToken.toFixed(3)} at ${chosenSize}`,
    x: doublingsAxis("tokens in the vocabulary", points[0]!.size, doubled?.size ?? chosenSize),
    y: linearAxis("bytes per token", values),
    lines,
    marks: [...new Set([...smallerSizes, chosenSize])].map(at).map(({ size, bytesPerToken }) => ({
      x: size,
      label: `${grouped(size)}: ${bytesPerToken.toFixed(3)}`,
    })),
  });
  return {
    id: "compression",
    title: "Compression over vocabulary size",
    text: verdict(compression, doubled),
    content: html`<figure>${chart}</figure>`,
    table: {
      head: ["tokens", "bytes per token", "against the chosen size"],
      rows: [...doublingsUpTo(baseSize, chosenSize).map(at), ...(doubled === null ? [] : [doubled])].map(
        (point) => [
          `${grouped(point.size)}${point === doubled ? " (estimate)" : ""}`,
          point.bytesPerToken.toFixed(4),
          changeText(point.bytesPerToken, chosen.bytesPerToken),
        ],
      ),
    },
  };
}

export function curvePoint({ baseSize, tokensAfter }: Compression, size: number): CurvePoint {
  return { size, bytesPerToken: tokensAfter[0]! / tokensAfter[size - baseSize]! };
}

const labelled = ({ size, bytesPerToken }: CurvePoint): Point => ({
  x: size,
  y: bytesPerToken,
  label: `${grouped(size)} tokens: ${bytesPerToken.toFixed(3)} bytes per token`,
});

/** Sizes at equal factors from each other, the first and the last included. */
function curveSizes(first: number, last: number): number[] {
  const sizes = new Set<number>();
  for (let i = 0; i < pointsOnCurve; i++) {
    sizes.add(Math.round(first * (last / first) ** (i / (pointsOnCurve - 1))));
  }
  return [...sizes];
}

/** The chosen size, its half, its quarter … down to the size without merges. */
function doublingsUpTo(first: number, last: number): number[] {
  const sizes: number[] = [];
  for (let size = last; size > first; size = Math.floor(size / 2)) sizes.unshift(size);
  return sizes;
}

/**
 * An estimate of bytes per token at twice the size: the last doubling brought a part of what the one before it brought, and
 * the next one brings the same part of the last, but not more than the last did. Null where the curve is too short, or does
 * not rise. docs/report.md has its error on five corpora.
 */
export function estimateDoubled(compression: Compression): CurvePoint | null {
  const { baseSize, tokensAfter } = compression;
  const size = baseSize + tokensAfter.length - 1;
  const [half, quarter] = [Math.floor(size / 2), Math.floor(size / 4)];
  if (quarter < baseSize) return null;
  const [whole, atHalf, atQuarter] = [size, half, quarter].map(
    (size) => curvePoint(compression, size).bytesPerToken,
  );
  const lastGain = whole! - atHalf!;
  const formerGain = atHalf! - atQuarter!;
  if (lastGain <= 0 || formerGain <= 0) return null;
  return { size: 2 * size, bytesPerToken: whole! + lastGain * Math.min(1, lastGain / formerGain) };
}

function verdict(compression: Compression, doubled: CurvePoint | null): Html {
  const { baseSize, tokensAfter } = compression;
  const size = baseSize + tokensAfter.length - 1;
  const half = Math.floor(size / 2);
  const chosen = curvePoint(compression, size).bytesPerToken;
  const fewer = (from: number, to: number) => percent(1 - from / to);
  const second =
    half < baseSize
      ? undefined
      : html` The second half of the vocabulary cuts the corpus into
      <strong>${fewer(curvePoint(compression, half).bytesPerToken, chosen)}</strong> fewer tokens.`;
  const next =
    doubled === null
      ? undefined
      : html` Twice the size would bring about <strong>${fewer(chosen, doubled.bytesPerToken)}</strong>
      fewer (an estimate from the last two doublings).`;
  return html`A token stands for <strong>${chosen.toFixed(3)}</strong> bytes of the corpus.${second}${next}`;
}

function changeText(value: number, chosen: number): string {
  if (value === chosen) return "chosen";
  const more = chosen / value - 1;
  return `${(100 * Math.abs(more)).toFixed(1)} % ${more > 0 ? "more" : "fewer"} tokens`;
}

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

const parts = 10;
const residuesShown = 20;

/** Tokens that other tokens used up, by their place in the order of merges; null without what the training counted. */
export function residueSection(tokenizer: ReportTokenizer): Section | null {
  const { ledger, merges } = tokenizer;
  const mergeCount = merges.merged.length;
  if (ledger === undefined || mergeCount === 0) return null;
  const residues = merges.merged.filter(ledger.isResidue);
  const unreachedCount = residues.filter((id) => ledger.endCounts[id] === 0).length;
  const groups = Array.from({ length: Math.min(parts, mergeCount) }, (_, part) => {
    const count = Math.min(parts, mergeCount);
    const from = Math.floor((mergeCount * part) / count);
    const to = Math.floor((mergeCount * (part + 1)) / count);
    const found = merges.merged.subarray(from, to).filter(ledger.isResidue).length;
    const group = barGroup(`${grouped(from + 1)}–${grouped(to)}`, [found / (to - from)]);
    return { ...group, row: [group.name, grouped(found), group.texts[0]!] };
  });
  return {
    id: "residues",
    title: "Residues",
    text: html`<strong>${grouped(residues.length)}</strong> of ${grouped(mergeCount)} learned tokens are residues:
      steps on the way to longer tokens, which left fewer of them than the last pair merged has.
      ${grouped(unreachedCount)} of them occur nowhere. The bars are the tenths of the merges, the first merges first.`,
    content: html`<figure>${barChart({ title: "Share of residues by order of merges", series: ["residues"], groups })}</figure>
<h3>What was used up most</h3>
${usedUpTable(tokenizer, ledger, residues)}`,
    table: { head: ["merges", "residues", "share"], rows: groups.map(({ row }) => row) },
  };
}

/** Residues that lost most occurrences to other tokens. */
function usedUpTable({ tokens, lengths }: ReportTokenizer, ledger: ReportLedger, residues: Int32Array) {
  const { birthCounts, endCounts } = ledger;
  const lost = (id: number) => birthCounts[id]! - endCounts[id]!;
  const rows = [...residues]
    .sort((a, b) => lost(b) - lost(a) || a - b)
    .slice(0, residuesShown)
    .map((id): Cell[] => [
      tokenHtml(tokenBytesOf(tokens, id), lengths[id]!),
      id,
      grouped(birthCounts[id]!),
      grouped(endCounts[id]!),
    ]);
  return tableHtml({ head: ["token", "id", "at birth", "at the end"], rows });
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

const barGroup = (name: string, values: readonly number[]): BarGroup => ({
  name,
  values,
  texts: values.map(percent),
});

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

/** The longest tokens that are not blank or rules: they have a letter. `longest`: their ids, of each tokenizer. */
export function longestSection(
  tokenizers: readonly ReportTokenizer[],
  longest: readonly (readonly number[])[],
): Section {
  return {
    id: "longest",
    title: "Longest tokens",
    text: "The longest tokens that have a letter: runs of blanks, rules and digits are left out.",
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

type Measure = Matrix["measures"][number];

/** Steps of the heat map's colour, h0 … in the style sheet. */
const stepCount = 8;

/** A heat map for each measure: a row for each tokenizer, a column for each text. Colour goes from the worst to the best. */
export function matrixSection({ tokenizers, texts, measures }: Matrix): Section {
  return {
    id: "matrix",
    title: "Tokenizers on texts",
    isWide: true,
    text: "Colour goes by the logarithm of the measure, over all texts: full is better. The best of each text is bold.",
    content: html`<div class="columns">${measures.map(
      (measure) => html`<div class="heat"><h3>${measure.name}</h3><p class="quiet">${measure.note}</p>
${tableHtml({
  head: ["", ...texts],
  rows: measure.values.map((row, i) => [tokenizers[i]!, ...row.map((_, text) => heatCell(measure, i, text))]),
})}</div>`,
    )}</div>`,
  };
}

function heatCell({ values, best }: Measure, tokenizer: number, text: number) {
  const value = values[tokenizer]![text]!;
  if (value === null) return html`<span class="heat-cell">–</span>`;
  const present = values.flat().filter((other) => other !== null);
  const [low, high] = [Math.min(...present), Math.max(...present)];
  const share = high === low || low <= 0 ? 1 : Math.log(value / low) / Math.log(high / low);
  const goodness = best === "high" ? share : 1 - share;
  const step = Math.min(stepCount - 1, Math.floor(goodness * stepCount));
  const ofText = values.map((row) => row[text]!).filter((other) => other !== null);
  const isBest = ofText.length > 1 && value === (best === "high" ? Math.max(...ofText) : Math.min(...ofText));
  const shown = value.toFixed(3);
  return html`<span class="heat-cell h${step}">${isBest ? html`<b>${shown}</b>` : shown}</span>`;
}

/** What all texts say of the tokenizers, a column each; the best of a row is bold. Null without a table. */
export function sideBySideSection(
  tokenizers: readonly string[],
  tables: readonly ComparisonTable[],
): Section | null {
  if (tables.length === 0) return null;
  const bold = (cell: string, isBest: boolean) => (isBest ? html`<b>${cell}</b>` : cell);
  return {
    id: "compared",
    title: "Side by side",
    isWide: true,
    text: "The best of a row is bold.",
    content: html`${tables.map(
      ({ title, rows }) =>
        html`<h3>${title}</h3>${tableHtml({
          head: ["", ...tokenizers],
          rows: rows.map(({ name, cells, bests }) => [
            name,
            ...cells.map((cell, i) => bold(cell, bests.has(i))),
          ]),
        })}`,
    )}`,
  };
}

/** Texts cut into tokens, of two tokenizers side by side; the page's script shows others. Null without texts. */
export function sampleSection(names: readonly string[], samples: readonly Sample[]): Section | null {
  if (samples.length === 0) return null;
  const isCompared = names.length > 1;
  const differences = "Tokens that the other one does not have at this place are underlined.";
  return {
    id: "samples",
    title: "Texts cut into tokens",
    isWide: true,
    text: `The beginning of each text; each colour is a token, its id shows under the pointer. ${
      isCompared ? differences : ""
    }`,
    content: html`${isCompared ? choosers(names) : undefined}
${samples.map(
  ({ name, cuts }) => html`<h3>${name}</h3>
<div class="cuts">${cuts.map((tokens, i) => cutHtml(names[i]!, i, tokens, cuts[i === 0 ? 1 : 0]))}</div>`,
)}`,
  };
}

/** The page's script shows them where there are more than two tokenizers. */
const choosers = (names: readonly string[]) =>
  html`<p class="choosers" hidden>${[0, 1].map(
    (side) =>
      html`<label>${side === 0 ? "left" : "right"} <select data-side="${side}">${names.map(
        (name, i) => html`<option value="${i}"${i === side ? html` selected` : undefined}>${name}</option>`,
      )}</select></label> `,
  )}</p>`;

function cutHtml(
  name: string,
  tokenizer: number,
  tokens: readonly SampleToken[],
  other: readonly SampleToken[] | undefined,
): Html {
  const differs = other === undefined ? [] : differing(tokens, other);
  const bytes = textOf(tokens);
  // The page's script compares only cuts of one text.
  const text = Bun.hash(bytes).toString(36);
  return html`<div class="cut" data-tokenizer="${tokenizer}" data-text="${text}"${tokenizer > 1 ? html` hidden` : undefined}>
<p class="quiet">${name}: ${grouped(tokens.length)} tokens, ${(bytes.length / Math.max(1, tokens.length)).toFixed(2)} bytes per token</p>
<p class="text" dir="auto">${tokens.map(
    (token, i) =>
      html`<i${differs[i] ? html` class="d"` : undefined} data-id="${token.id}" data-n="${token.bytes.length}">${sampleText(token.bytes, tokens[i + 1]?.bytes)}</i>`,
  )}</p>
<details><summary>Ids</summary><p class="ids">${tokens.map(({ id }) => `${id} `)}</p></details></div>`;
}

/** As `tokenText`, but tabs and line feeds are arrows. The last of some line feeds ends the line. */
function sampleText(bytes: Uint8Array, next: Uint8Array | undefined): Html {
  let text = "";
  let start = 0;
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!;
    if (byte !== tab && byte !== lineFeed) continue;
    text += escapeHtml(tokenText(bytes.subarray(start, i)));
    const follower = i + 1 < bytes.length ? bytes[i + 1] : next?.[0];
    text += byte === tab ? "⇥" : follower === lineFeed ? "↵" : "↵\n";
    start = i + 1;
  }
  return trustedHtml(text + escapeHtml(tokenText(bytes.subarray(start))));
}

/**
 * Which tokens are not, with the same bytes at the same place, among the other's. None differ if the two are not of the same
 * text, because one tokenizer normalizes it: then places say nothing.
 */
export function differing(tokens: readonly SampleToken[], other: readonly SampleToken[]): boolean[] {
  if (!textOf(tokens).equals(textOf(other))) return tokens.map(() => false);
  const places = new Set(placesOf(other));
  return placesOf(tokens).map((place) => !places.has(place));
}

const textOf = (tokens: readonly SampleToken[]) => Buffer.concat(tokens.map(({ bytes }) => bytes));

/** Where each token begins and ends, in bytes. */
function placesOf(tokens: readonly SampleToken[]): string[] {
  let end = 0;
  return tokens.map(({ bytes }) => {
    const start = end;
    end += bytes.length;
    return `${start} ${end}`;
  });
}
