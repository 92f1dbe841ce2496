import { type Axis, placeOn, tickNames } from "../pages/axes.ts";
import { type Html, html } from "./html-parts.ts";

export type Point = {
  readonly x: number;
  readonly y: number;
  /** What is shown while the pointer is over it. */
  readonly label: string;
};

export type Line = {
  readonly name: string;
  readonly points: readonly Point[];
  /** Its colour, one of `colourCount`. */
  readonly colour: number;
};

export type LineChart = {
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  readonly lines: readonly Line[];
};

/** Colours of tokenizers, c0 … in the style sheet; more tokenizers than colours use them again. */
export const colourCount = 8;
export const colourClass = (tokenizer: number) => `c${tokenizer % colourCount}`;

const plotHeight = 230;
/** Lines are drawn in a square of so many units, which is stretched to the plot. */
const square = 1000;

/**
 * A chart as wide as its place. Places are percentages of the plot, and only the lines are stretched: letters and dots have
 * one size on every screen.
 */
export function lineChart({ title, x, y, lines }: LineChart): Html {
  const atX = (value: number) => `${round(100 * placeOn(x, value))}%`;
  const atY = (value: number) => `${round(100 - 100 * placeOn(y, value))}%`;
  const [xNames, yNames] = [tickNames(x), tickNames(y)];
  return html`<div class="plot"><div class="y-title">${y.title}</div>
<svg class="chart" width="100%" height="${plotHeight}" role="img" aria-label="${title}" tabindex="0">
${x.ticks.map(
  (tick, i) => html`<line class="grid" x1="${atX(tick)}" x2="${atX(tick)}" y2="100%"/>
<text x="${atX(tick)}" y="100%" dy="18" text-anchor="middle">${xNames[i]!}</text>`,
)}
${y.ticks.map(
  (tick, i) => html`<line class="grid" x2="100%" y1="${atY(tick)}" y2="${atY(tick)}"/>
<text y="${atY(tick)}" dx="-6" dy="4" text-anchor="end">${yNames[i]!}</text>`,
)}
<svg viewBox="0 0 ${square} ${square}" preserveAspectRatio="none" width="100%" height="100%">${lines.map(
    ({ points, colour }) => html`<path class="line ${colourClass(colour)}" d="${pathOf(points, x, y)}"/>`,
  )}</svg>
${lines.map(({ points, colour }) =>
  points.map(
    (point) =>
      html`<circle class="dot ${colourClass(colour)}" cx="${atX(point.x)}" cy="${atY(point.y)}" r="2.5" data-tip="${point.label}"/>`,
  ),
)}
</svg>
<div class="x-title">${x.title}</div></div>`;
}

function pathOf(points: readonly Point[], x: Axis, y: Axis): string {
  const places = points.map((point) => {
    const [right, up] = [placeOn(x, point.x), placeOn(y, point.y)];
    return `${Math.round(square * right)} ${Math.round(square * (1 - up))}`;
  });
  return `M${places.join("L")}`;
}

/** The colour of a tokenizer beside its name. */
export const keyHtml = (tokenizer: number) => html`<i class="key ${colourClass(tokenizer)}"></i>`;

const round = (value: number) => Math.round(value * 10) / 10;

/** A lying bar from 0, as long as its share of the place. */
export const barHtml = (share: number, colour: number) =>
  html`<svg class="bar ${colourClass(colour)}"><rect width="${round(100 * share)}%" height="100%"/></svg>`;

export type BarGroup = {
  readonly name: Html | string;
  /** One for each series. */
  readonly values: readonly number[];
  /** What each bar says beside it. */
  readonly texts: readonly string[];
};

export type BarChart = {
  readonly title: string;
  /** What the groups are: the head of their names. */
  readonly kind: string;
  /** Names of what is compared. */
  readonly series: readonly string[];
  readonly groups: readonly BarGroup[];
};

/** Bars from 0 in the cells of a table, a group a row and a series a column. The longest one fills its cell. */
export function barChart({ title, kind, series, groups }: BarChart): Html {
  const largest = Math.max(...groups.flatMap(({ values }) => values), 1e-9);
  const isOne = series.length === 1;
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${title}"><table class="bars${isOne ? " one" : series.length <= 4 ? " few" : ""}">
<thead><tr><th scope="col">${kind}</th>${series.map(
    (name, i) => html`<th scope="col">${isOne ? undefined : keyHtml(i)}${name}</th>`,
  )}</tr></thead>
<tbody>${groups.map(
    ({ name, values, texts }) =>
      html`<tr><th scope="row">${name}</th>${values.map(
        (value, i) => html`<td><span>${texts[i]!}</span>${barHtml(value / largest, i)}</td>`,
      )}</tr>
`,
  )}</tbody>
</table></div>`;
}
