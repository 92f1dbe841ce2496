import { grouped } from "../bytes/quantities.ts";
import { lineFeed } from "../bytes/text.ts";
import type { Passage, SampleToken } from "../evaluation/passages.ts";
import { isCutAlike, spansOf } from "../evaluation/token-spans.ts";
import { type Html, html, plainSigns, type Section, signedHtml, tokenText } from "./html.ts";
import type { Sample } from "./report-data.ts";

/** Texts cut into tokens by one tokenizer. Null without texts. */
export function sampleSection(samples: readonly Sample[]): Section | null {
  if (samples.length === 0) return null;
  return {
    id: "samples",
    title: "Texts cut into tokens",
    isWide: true,
    text: "Beginnings of texts. Each colour is a token; ␣ is a space, ‿ a no-break space, ▫ another one. The id of a token shows under the pointer, or by the arrow keys.",
    content: html`${samples.map(
      ({ name, cuts }) => html`<h3>${name}</h3>
${cuts.map(cutHtml)}`,
    )}`,
  };
}

/** A text that is cut into bytes has many. */
const shownTokensMax = 400;

function cutHtml(all: readonly SampleToken[]): Html {
  const tokens = all.slice(0, shownTokensMax);
  const byteCount = sum(all.map(({ bytes }) => bytes.length));
  return html`<p class="quiet">${grouped(all.length)} tokens, ${(byteCount / Math.max(1, all.length)).toFixed(2)} bytes per token</p>
<p class="text" dir="auto" tabindex="0">${tokens.map(
    (token, i) => html`${chipHtml(token)}${endsLine(token, tokens[i + 1]) ? html`<br>` : undefined}`,
  )}${all.length > tokens.length ? " …" : undefined}</p>
<details><summary>Ids</summary><p class="ids">${tokens.map(({ id }) => `${id} `)}</p></details>`;
}

const chipHtml = ({ id, bytes }: SampleToken) =>
  html`<i data-id="${id}" data-n="${bytes.length}">${tokenText(bytes)}</i>`;

/** The last of some line feeds ends the line. */
const endsLine = ({ bytes }: SampleToken, next: SampleToken | undefined) =>
  bytes.at(-1) === lineFeed && next?.bytes[0] !== lineFeed;

/** The two cuts of a passage. */
export function passageHtml({ bytes, cuts: [left, right] }: Passage): Html {
  const lengthsOf = (tokens: readonly SampleToken[]) => tokens.map((token) => token.bytes.length);
  const pieces: Html[] = [];
  let plainStart = 0;
  const plainTo = (end: number) => {
    if (end > plainStart) pieces.push(signedHtml(bytes.subarray(plainStart, end), plainSigns));
  };
  for (const span of spansOf(lengthsOf(left!), lengthsOf(right!))) {
    if (isCutAlike(span)) continue;
    plainTo(span.startByte);
    plainStart = span.endByte;
    pieces.push(
      html`<span class="x"><span class="above">${left!.slice(...span.left).map(chipHtml)}</span><span class="below">${right!.slice(...span.right).map(chipHtml)}</span></span>${bytes[span.endByte - 1] === lineFeed ? html`<br>` : undefined}`,
    );
  }
  plainTo(bytes.length);
  return html`<div class="passage"><p class="quiet">${countsText(left!.length, right!.length)}</p><p class="text" dir="auto" tabindex="0">${pieces}</p></div>`;
}

const countsText = (left: number, right: number) => `${grouped(left)} tokens above, ${grouped(right)} below`;

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
