import { grouped } from "../bytes/quantities.ts";
import { lineFeed, tab } from "../bytes/text.ts";
import { escapeHtml, type Html, html, type Section, tableHtml, tokenText, trustedHtml } from "./html.ts";
import type { ComparisonTable, Matrix, Sample, SampleToken } from "./report-data.ts";

type Measure = Matrix["measures"][number];

/** Steps of the heat map's colour, h0 … in the style sheet. */
const stepCount = 8;

/** A heat map for each measure: a row for each tokenizer, a column for each text. Colour goes from the worst to the best. */
export function matrixSection({ tokenizers, texts, measures }: Matrix): Section {
  return {
    id: "matrix",
    title: "Tokenizers on texts",
    isWide: true,
    text: "The stronger the colour, the better the value; colours follow the logarithm of the measure over all texts. The best value of each text is bold.",
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
