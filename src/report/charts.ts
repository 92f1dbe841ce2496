import { type Html, html } from "./html.ts";

/** An axis of a chart: from `first` to `last`, with its marks. */
export type Axis = {
  readonly title: string;
  readonly scale: "linear" | "log";
  readonly first: number;
  readonly last: number;
  readonly ticks: readonly number[];
};

/** Where on the axis a value is: 0 at its first end, 1 at its last. */
export function placeOn({ scale, first, last }: Axis, value: number): number {
  const at = scale === "log" ? Math.log10 : (number: number) => number;
  return last === first ? 0 : (at(value) - at(first)) / (at(last) - at(first));
}

const tickCountMax = 6;

/** An axis with round marks that holds all values. */
export function linearAxis(title: string, values: readonly number[], floor?: number): Axis {
  const low = Math.min(...values, ...(floor === undefined ? [] : [floor]));
  const high = Math.max(...values, low + 1e-9);
  const step = roundStep((high - low) / (tickCountMax - 1));
  const first = Math.floor(low / step + 1e-9) * step;
  const count = Math.max(1, Math.ceil((high - first) / step - 1e-9));
  const ticks = Array.from({ length: count + 1 }, (_, i) => Number((first + i * step).toPrecision(12)));
  return { title, scale: "linear", first: ticks[0]!, last: ticks.at(-1)!, ticks };
}

/** The least of 1, 2, 5, 10, 20 … that is not below the step. */
function roundStep(step: number): number {
  const power = 10 ** Math.floor(Math.log10(step));
  const factor = [1, 2, 5, 10].find((factor) => factor * power >= step * (1 - 1e-9))!;
  return factor * power;
}

/** An axis of whole decades that holds all values, which are above 0; marks are at most so many. */
export function decadesAxis(title: string, values: readonly number[]): Axis {
  const first = Math.floor(Math.log10(Math.min(...values)) + 1e-9);
  const last = Math.max(first + 1, Math.ceil(Math.log10(Math.max(...values)) - 1e-9));
  const every = Math.ceil((last - first) / tickCountMax);
  const ticks: number[] = [];
  for (let power = first; power <= last; power += every) ticks.push(10 ** power);
  return { title, scale: "log", first: 10 ** first, last: 10 ** last, ticks };
}

/** An axis whose marks are doublings of the first value. */
export function doublingsAxis(title: string, first: number, last: number): Axis {
  const doublings = Math.max(1, Math.ceil(Math.log2(last / first) - 1e-9));
  const every = Math.ceil(doublings / tickCountMax);
  const ticks: number[] = [];
  for (let value = last; value >= first * 0.999; value /= 2 ** every) ticks.unshift(value);
  return { title, scale: "log", first, last, ticks };
}

/** 1500 -> "1.5k", 32000 -> "32k", 2e9 -> "2G": for marks, where room is little. */
export function shortNumber(value: number): string {
  const magnitude = Math.abs(value);
  if (magnitude < 1000) return Number(value.toPrecision(3)).toString();
  const units = ["", "k", "M", "G", "T"];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(magnitude * 1.0005) / 3));
  return `${Number((value / 1000 ** power).toPrecision(3))}${units[power]}`;
}

export const percent = (share: number) => `${(100 * share).toFixed(share > 0 && share < 0.0995 ? 1 : 0)} %`;

export type Point = {
  readonly x: number;
  readonly y: number;
  /** What is shown while the pointer is over it. */
  readonly label: string;
};

export type Line = {
  readonly name: string;
  readonly points: readonly Point[];
  /** Broken, with open dots: it was not measured. */
  readonly isEstimate?: boolean;
  /** Its colour, one of `colourCount`. */
  readonly colour: number;
};

/** An upright line at a value of the x axis. */
export type Mark = { readonly x: number; readonly label: string };

export type LineChart = {
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly lines: readonly Line[];
  readonly marks?: readonly Mark[];
};

/** Colours of lines and bars, c0 … in the style sheet; more lines than colours use them again. */
export const colourCount = 6;

// Pixels. The picture fits a telephone nearly as it is, so that its letters stay readable.
const width = 390;
const height = 280;
const lineHeight = 15;
const plot = { left: 44, top: 22, right: 372, bottom: 232 };

export function lineChart({ title, x, y, lines, marks = [] }: LineChart): Html {
  const atX = (value: number) => round(plot.left + (plot.right - plot.left) * placeOn(x, value));
  const atY = (value: number) => round(plot.bottom - (plot.bottom - plot.top) * placeOn(y, value));
  const inPlot = (point: Point) => [atX(point.x), atY(point.y)] as const;
  return html`<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${title}" class="chart">
${x.ticks.map(
  (tick) => html`<path class="grid" d="M${atX(tick)} ${plot.top}V${plot.bottom}"/>
<text x="${atX(tick)}" y="${plot.bottom + 16}" text-anchor="middle">${shortNumber(tick)}</text>`,
)}
${y.ticks.map(
  (tick) => html`<path class="grid" d="M${plot.left} ${atY(tick)}H${plot.right}"/>
<text x="${plot.left - 6}" y="${atY(tick) + 4}" text-anchor="end">${shortNumber(tick)}</text>`,
)}
<text class="axis" x="${(plot.left + plot.right) / 2}" y="${height - 10}" text-anchor="middle">${x.title}</text>
<text class="axis" x="4" y="12">${y.title}</text>
${marks.map((mark, i) => markHtml(mark, atX(mark.x), marks.length - 1 - i))}
${lines.map((line) => lineHtml(line, line.points.map(inPlot)))}
</svg>
${lines.length > 1 ? legendHtml(lines) : undefined}`;
}

/** The label is on the side where there is room for it, and above those of the marks behind it. */
function markHtml({ label }: Mark, x: number, behindCount: number): Html {
  const y = plot.bottom - 8 - lineHeight * behindCount;
  const isLeft = x > (plot.left + plot.right) / 2;
  const anchor = isLeft ? "end" : "start";
  return html`<path class="mark" d="M${x} ${plot.top}V${plot.bottom}"/>
<text class="mark" x="${x + (isLeft ? -5 : 5)}" y="${y}" text-anchor="${anchor}">${label}</text>`;
}

function lineHtml(
  { points, isEstimate, colour }: Line,
  places: readonly (readonly [number, number])[],
): Html {
  const path = places.map(([x, y], i) => `${i === 0 ? "M" : "L"}${x} ${y}`).join("");
  const kind = `s${colour % colourCount}${isEstimate ? " estimate" : ""}`;
  return html`<path class="line ${kind}" d="${path}"/>
${places.map(
  ([x, y], i) =>
    html`<g class="dot ${kind}"><circle class="near" cx="${x}" cy="${y}" r="9"/><circle cx="${x}" cy="${y}" r="2.5"/><title>${points[i]!.label}</title></g>`,
)}`;
}

/** Which colour is which; names may be long, so it stands below the picture. */
export const legendHtml = (lines: readonly { readonly name: string; readonly colour: number }[]) =>
  html`<ul class="legend">${lines.map(
    ({ name, colour }) =>
      html`<li><svg class="key" viewBox="0 0 10 10" aria-hidden="true"><rect class="b${colour % colourCount}" width="10" height="10" rx="2"/></svg>${name}</li>`,
  )}</ul>`;

const round = (value: number) => Math.round(value * 10) / 10;

export type BarGroup = {
  readonly name: string;
  /** One for each series. */
  readonly values: readonly number[];
  /** What each bar says beside it. */
  readonly texts: readonly string[];
};

/** A group of shares, which stand beside their bars in per cent. */
export const barGroup = (name: string, values: readonly number[]): BarGroup => ({
  name,
  values,
  texts: values.map(percent),
});

export type BarChart = {
  readonly title: string;
  /** Names of what is compared. */
  readonly series: readonly string[];
  readonly groups: readonly BarGroup[];
};

const nameWidthMax = 158;
/** Of a letter, in the wider of the usual fonts. */
const letterWidth = 7;
const valueWidth = 50;
const gap = 7;

/** Lying bars from 0, a group a row. The longest one fills the width. */
export function barChart({ title, series, groups }: BarChart): Html {
  const barHeight = series.length === 1 ? 15 : 11;
  const groupHeight = barHeight * series.length + gap;
  const nameLengthMax = Math.max(...groups.map(({ name }) => name.length));
  const nameWidth = Math.min(nameWidthMax, nameLengthMax * letterWidth + 12);
  const barWidthMax = width - nameWidth - valueWidth;
  const largest = Math.max(...groups.flatMap(({ values }) => values), 1e-9);
  return html`<svg viewBox="0 0 ${width} ${groupHeight * groups.length + 4}" role="img" aria-label="${title}" class="chart${series.length > 1 ? " dense" : ""}">
${groups.map(({ name, values, texts }, row) => {
  const top = row * groupHeight + 2;
  const middle = top + (barHeight * series.length) / 2 + 4;
  return html`<text x="${nameWidth - 8}" y="${middle}" text-anchor="end">${name}</text>
${values.map((value, i) => {
  const length = Math.round((10 * barWidthMax * value) / largest) / 10;
  const y = top + i * barHeight;
  const label = `${name}${series.length > 1 ? `, ${series[i]}` : ""}: ${texts[i]}`;
  return html`<g class="bar"><rect class="b${i % colourCount}" x="${nameWidth}" y="${y}" width="${length}" height="${barHeight - 1}" rx="1.5"/>
<text class="value" x="${nameWidth + length + 5}" y="${y + barHeight - 3}">${texts[i]}</text><title>${label}</title></g>`;
})}`;
})}
</svg>
${series.length > 1 ? legendHtml(series.map((name, colour) => ({ name, colour }))) : undefined}`;
}
