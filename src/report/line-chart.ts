import { type Axis, placeOn, shortNumber } from "./axes.ts";
import { type Html, html } from "./html.ts";

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
