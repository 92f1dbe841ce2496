import { grouped } from "../bytes/quantities.ts";
import { linearAxis, percent, sizesAxis } from "../pages/axes.ts";
import { tokenBytesOf } from "../tokenizer/token-table.ts";
import { barChart, barGroup, type Line, lineChart, type Point } from "./charts.ts";
import { type Cell, type Html, html, type Section, tableHtml, tokenHtml } from "./html.ts";
import { type Compression, type ReportLedger, type ReportTokenizer, usual } from "./report-data.ts";

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
    lines.push({ name: "estimated", colour: 0, isEstimate: true, points: [labelled(chosen), estimate] });
  }
  const values = lines.flatMap((line) => line.points.map(({ y }) => y));
  const chart = lineChart({
    title: `Bytes per token over the size of the vocabulary: ${chosen.bytesPerToken.toFixed(3)} at ${chosenSize}`,
    x: sizesAxis("tokens in the vocabulary", points[0]!.size, doubled?.size ?? chosenSize),
    y: linearAxis("bytes per token", values),
    lines,
    marks: [...new Set([...smallerSizes, chosenSize])].map((size) => ({ x: size, name: grouped(size) })),
  });
  return {
    id: "compression",
    title: "Compression over vocabulary size",
    text: verdict(compression, doubled),
    isWide: true,
    content: html`<div class="columns"><figure>${chart}</figure>
<div>${tableHtml(
      {
        head: ["tokens", "bytes per token", "against the chosen size"],
        rows: [
          ...shownSizes(baseSize, chosenSize, smallerSizes).map(at),
          ...(doubled === null ? [] : [doubled]),
        ].map((point) => [
          `${grouped(point.size)}${point === doubled ? " (estimate)" : ""}`,
          point.bytesPerToken.toFixed(4),
          changeText(point.bytesPerToken, chosen.bytesPerToken),
        ]),
      },
      "Bytes per token by vocabulary size",
    )}</div></div>`,
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

/**
 * The chosen size, its half, its quarter … down to the size without merges, and the smaller sizes that were chosen, too. Of few
 * merges half of them, a quarter …
 */
const fewSizes = 4;
function shownSizes(first: number, last: number, smaller: readonly number[]): number[] {
  const base = last < 4 * first ? first : 0;
  const sizes = new Set(smaller);
  for (let more = last - base; base + more > first; more = Math.floor(more / 2)) {
    sizes.add(base + more);
    if (base === first && sizes.size > fewSizes) break;
  }
  if (base === first) sizes.add(first);
  return [...sizes].sort((a, b) => a - b);
}

/**
 * An estimate of bytes per token at twice the size: the last doubling brought a part of what the one before it brought, and
 * the next one brings the same part of the last, but not more than the last did. Null where the curve is too short, or does
 * not rise. docs/evaluate.md has its error on five corpora.
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
  const [half, quarter] = [Math.floor(size / 2), Math.floor(size / 4)];
  const at = (size: number) => curvePoint(compression, size).bytesPerToken;
  const fewer = (from: number, to: number) => percent(1 - from / to);
  const former = quarter < baseSize ? undefined : ` (the quarter before it: ${fewer(at(quarter), at(half))})`;
  const second =
    half < baseSize
      ? undefined
      : html` The second half of the vocabulary cuts the corpus into
      <strong>${fewer(at(half), at(size))}</strong> fewer tokens${former}.`;
  const next =
    doubled === null
      ? undefined
      : html` Twice the size would bring about <strong>${fewer(at(size), doubled.bytesPerToken)}</strong>
      fewer (an estimate from the last two doublings).`;
  return html`A token stands for <strong>${at(size).toFixed(3)}</strong> bytes of the corpus.${second}${next}`;
}

function changeText(value: number, chosen: number): string {
  if (value === chosen) return "chosen";
  const more = chosen / value - 1;
  return `${(100 * Math.abs(more)).toFixed(1)} % ${more > 0 ? "more" : "fewer"} tokens`;
}

const parts = 10;
const intermediatesShown = 10;
/** So few merges have no tenths worth a picture. */
const fewMerges = 20;

/** Intermediate tokens, by their place in the order of merges; null without what the training counted. */
export function intermediateSection(tokenizer: ReportTokenizer): Section | null {
  const { ledger, merges } = tokenizer;
  const { merged } = merges;
  if (ledger === undefined || merged.length === 0) return null;
  const count = Math.min(parts, merged.length);
  const intermediates: number[] = [];
  const groups = Array.from({ length: count }, (_, part) => {
    const from = Math.floor((merged.length * part) / count);
    const to = Math.floor((merged.length * (part + 1)) / count);
    const before = intermediates.length;
    for (let k = from; k < to; k++) if (ledger.isIntermediate(merged[k]!)) intermediates.push(merged[k]!);
    const found = intermediates.length - before;
    const group = barGroup(`${grouped(from + 1)}–${grouped(to)}`, [found / (to - from)]);
    return { ...group, row: [group.name, grouped(found), group.texts[0]!] };
  });
  const isFew = merged.length < fewMerges;
  const unreachedCount = intermediates.filter((id) => ledger.endCounts[id] === 0).length;
  return {
    id: "intermediate",
    title: "Intermediate tokens",
    isWide: true,
    text: html`<strong>${grouped(intermediates.length)}</strong> of ${grouped(merged.length)} learned tokens (${percent(
      intermediates.length / merged.length,
    )}; usual: ${usual.intermediates}) are intermediate (scaffold) tokens.
      Later merges absorbed them into longer tokens, and now they occur less often than the last pair that was merged.
      ${grouped(unreachedCount)} of them ${unreachedCount === 1 ? "occurs" : "occur"} nowhere.`,
    content: html`<div class="columns">${
      isFew
        ? undefined
        : html`<div><h3>By the tenths of the merges, the first merges first</h3>
${barChart({ title: "Share of intermediate tokens, in the order of merges", kind: "merges", series: ["intermediate tokens"], groups })}</div>`
    }
${intermediates.length === 0 ? undefined : absorbedTable(tokenizer, ledger, intermediates)}</div>`,
    table: isFew
      ? undefined
      : { head: ["merges", "intermediate tokens", "share"], rows: groups.map(({ row }) => row) },
  };
}

/** Intermediate tokens that lost most occurrences to longer tokens. */
function absorbedTable(
  { tokens, lengths }: ReportTokenizer,
  { createdCounts, endCounts }: ReportLedger,
  intermediates: readonly number[],
) {
  const lost = (id: number) => createdCounts[id]! - endCounts[id]!;
  const rows = mostOf(intermediates, lost, intermediatesShown).map((id): Cell[] => [
    tokenHtml(tokenBytesOf(tokens, id), lengths[id]!),
    id,
    grouped(createdCounts[id]!),
    grouped(endCounts[id]!),
  ]);
  const table = { head: ["token", "id", "when created", "at the end"], rows, isSortable: true };
  return html`<div><h3>The most absorbed tokens</h3>
<p class="quiet">How often they occurred in the corpus when they were created, and after the last merge.</p>
${tableHtml(table, "The most absorbed tokens")}</div>`;
}

/** The ids with the highest values, the highest first; of equal ones the lower id first. Few are asked for, so not all are sorted. */
function mostOf(ids: readonly number[], lossOf: (id: number) => number, count: number): number[] {
  const most: { id: number; value: number }[] = [];
  for (const id of ids) {
    const value = lossOf(id);
    if (most.length === count && value < most[count - 1]!.value) continue;
    const isAbove = (other: { id: number; value: number }) =>
      other.value < value || (other.value === value && other.id > id);
    if (most.length === count && !isAbove(most[count - 1]!)) continue;
    const place = most.findIndex(isAbove);
    most.splice(place < 0 ? most.length : place, 0, { id, value });
    if (most.length > count) most.pop();
  }
  return most.map(({ id }) => id);
}

/** Fewer special tokens than this are facts of the summary. */
const specialsLeast = 4;
const specialsOpen = 60;

/** The special tokens of a tokenizer, with how they are found in a text; null where there are few. */
export function specialSection({ addedTokens, lengths }: ReportTokenizer): Section | null {
  if (addedTokens.length < specialsLeast) return null;
  const sorted = addedTokens.toSorted((a, b) => a.id - b.id);
  const list = (tokens: typeof sorted) =>
    html`<ul class="tokens specials">${tokens.map(
      ({ id, content, ...flags }) =>
        html`<li>${tokenHtml(new TextEncoder().encode(content), lengths[id]!)} <span class="quiet">${[`id ${id}`, ...flagsOf(flags)].join(", ")}</span></li>\n`,
    )}</ul>`;
  const rest = sorted.slice(specialsOpen);
  return {
    id: "special",
    title: "Special tokens",
    isWide: true,
    text: `${grouped(sorted.length)} tokens are found in a text before it is cut; none is learned.`,
    content: html`${list(sorted.slice(0, specialsOpen))}
${rest.length === 0 ? undefined : html`<details><summary>${grouped(rest.length)} more</summary>${list(rest)}</details>`}`,
  };
}

/** The flags that are set, in the words of HF's files; of most tokens only `special` is. */
const flagsOf = (flags: Readonly<Record<string, boolean | undefined>>) => [
  ...(flags.special === false ? ["not special"] : []),
  ...Object.entries(flags).flatMap(([name, isSet]) => (isSet === true && name !== "special" ? [name] : [])),
];
