import { type Html, html } from "./html.ts";
import { colourCount, legendHtml } from "./line-chart.ts";

export type BarGroup = {
  readonly name: string;
  /** One for each series. */
  readonly values: readonly number[];
  /** What each bar says beside it. */
  readonly texts: readonly string[];
};

export type BarChart = {
  readonly title: string;
  /** Names of what is compared. */
  readonly series: readonly string[];
  readonly groups: readonly BarGroup[];
};

const width = 390;
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
