import { grouped } from "../bytes/quantities.ts";
import { lineFeed, tab } from "../bytes/text.ts";
import type { Section } from "./figure.ts";
import { escapeHtml, type Html, html, tokenText, trustedHtml } from "./html.ts";
import type { Sample, SampleToken } from "./report-data.ts";

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
