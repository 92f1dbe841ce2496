import { type Section, tableHtml } from "./figure.ts";
import { html } from "./html.ts";
import type { Matrix } from "./report-data.ts";

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
