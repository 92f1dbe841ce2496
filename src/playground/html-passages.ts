import { grouped } from "../bytes/quantities.ts";
import { lineFeed } from "../bytes/text.ts";
import type { Passage, SampleToken } from "../evaluation/passages.ts";
import { isCutAlike, spansOf } from "../evaluation/token-spans.ts";
import { type Html, html, plainSigns, signedHtml, tokenText } from "./html-parts.ts";

const chipHtml = ({ id, bytes }: SampleToken) =>
  html`<i data-id="${id}" data-n="${bytes.length}">${tokenText(bytes)}</i>`;

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
