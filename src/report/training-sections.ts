import { grouped } from "../bytes/quantities.ts";
import { tokenBytesOf } from "../tokenizer/token-table.ts";
import {
  barChart,
  barGroup,
  doublingsAxis,
  type Line,
  linearAxis,
  lineChart,
  type Point,
  percent,
} from "./charts.ts";
import { type Cell, type Html, html, type Section, tableHtml, tokenHtml } from "./html.ts";
import type { Compression, ReportLedger, ReportTokenizer } from "./report-data.ts";

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
    const shown = `about ${doubled.bytesPerToken.toFixed(3)}`;
    const estimate = { x: doubled.size, y: doubled.bytesPerToken, label, shown };
    lines.push({ name: "estimated", colour: 0, isEstimate: true, points: [labelled(chosen), estimate] });
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

const parts = 10;
const intermediatesShown = 20;

/** Intermediate tokens, by their place in the order of merges; null without what the training counted. */
export function intermediateSection(tokenizer: ReportTokenizer): Section | null {
  const { ledger, merges } = tokenizer;
  const mergeCount = merges.merged.length;
  if (ledger === undefined || mergeCount === 0) return null;
  const intermediates = merges.merged.filter(ledger.isIntermediate);
  const unreachedCount = intermediates.filter((id) => ledger.endCounts[id] === 0).length;
  const groups = Array.from({ length: Math.min(parts, mergeCount) }, (_, part) => {
    const count = Math.min(parts, mergeCount);
    const from = Math.floor((mergeCount * part) / count);
    const to = Math.floor((mergeCount * (part + 1)) / count);
    const found = merges.merged.subarray(from, to).filter(ledger.isIntermediate).length;
    const group = barGroup(`${grouped(from + 1)}–${grouped(to)}`, [found / (to - from)]);
    return { ...group, row: [group.name, grouped(found), group.texts[0]!] };
  });
  return {
    id: "intermediate",
    title: "Intermediate tokens",
    text: html`<strong>${grouped(intermediates.length)}</strong> of ${grouped(mergeCount)} learned tokens are intermediate (scaffold) tokens.
      Later merges absorbed them into longer tokens, and now they occur less often than the last pair that was merged.
      ${grouped(unreachedCount)} of them occur nowhere. The bars are the tenths of the merges, the first merges first.`,
    content: html`<figure>${barChart({ title: "Share of intermediate tokens, in the order of merges", kind: "merges", series: ["intermediate tokens"], groups })}</figure>
<h3>The most absorbed tokens</h3>
${absorbedTable(tokenizer, ledger, intermediates)}`,
    table: { head: ["merges", "intermediate tokens", "share"], rows: groups.map(({ row }) => row) },
  };
}

/** Intermediate tokens that lost most occurrences to longer tokens. */
function absorbedTable(
  { tokens, lengths }: ReportTokenizer,
  ledger: ReportLedger,
  intermediates: Int32Array,
) {
  const { createdCounts, endCounts } = ledger;
  const lost = (id: number) => createdCounts[id]! - endCounts[id]!;
  const rows = [...intermediates]
    .sort((a, b) => lost(b) - lost(a) || a - b)
    .slice(0, intermediatesShown)
    .map((id): Cell[] => [
      tokenHtml(tokenBytesOf(tokens, id), lengths[id]!),
      id,
      grouped(createdCounts[id]!),
      grouped(endCounts[id]!),
    ]);
  return tableHtml({ head: ["token", "id", "created", "at the end"], rows });
}
