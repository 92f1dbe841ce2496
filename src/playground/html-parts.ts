import { escapeBytes, spacesWithSigns } from "../bytes/escape.ts";
import { lineFeed, space, tab } from "../bytes/text.ts";
import { escapeHtml, type Html, html, trustedHtml } from "../pages/markup.ts";

export { escapeHtml, Html, html, trustedHtml } from "../pages/markup.ts";

/** Bytes of a token that are shown; the rest of a longer one is left out. */
const shownBytesMax = 160;

const spaceSigns = new Map([
  [space, "␣"],
  [tab, "⇥"],
  [lineFeed, "↵"],
]);

/** Bytes of a token as people read them: `\xNN` for what is no visible character, and a sign for each kind of white space. */
export function signedHtml(bytes: Uint8Array, signs: ReadonlyMap<number, string> = spaceSigns): Html {
  let text = "";
  let start = 0;
  const shown = (end: number) => escapeHtml(spacesWithSigns(escapeBytes(bytes.subarray(start, end))));
  for (let i = 0; i < bytes.length; i++) {
    const sign = signs.get(bytes[i]!);
    if (sign === undefined) continue;
    text += shown(i) + sign;
    start = i + 1;
  }
  return trustedHtml(text + shown(bytes.length));
}

/** The same in plain text, where spaces are spaces and line feeds end its lines. */
export const plainSigns: ReadonlyMap<number, string> = new Map([
  ...spaceSigns,
  [space, " "],
  [lineFeed, "↵<br>"],
]);

/** The beginning of a token, `…` behind one that is cut: between two characters, if it has some. */
export function tokenText(bytes: Uint8Array, lengthBytes = bytes.length): Html {
  let end = Math.min(bytes.length, shownBytesMax);
  while (end > shownBytesMax - 4 && (bytes[end]! & 0xc0) === 0x80) end--;
  return html`${signedHtml(bytes.subarray(0, end))}${lengthBytes > end ? "…" : undefined}`;
}

/** A token in a table or a sentence. */
export const tokenHtml = (bytes: Uint8Array, lengthBytes?: number) =>
  html`<code class="t">${tokenText(bytes, lengthBytes)}</code>`;

export type Cell = Html | string | number;

/** The numbers of a picture, for who cannot see it. The first cell of a row is its heading. */
export type DataTable = {
  readonly head: readonly Cell[];
  readonly rows: readonly (readonly Cell[])[];
};

export type Section = {
  /** Of the place in the page, as in `#sizes`. */
  readonly id: string;
  readonly title: string;
  /** Needs all of the page's width. */
  readonly isWide?: boolean;
  /** What the section says, in a sentence or two. */
  readonly text?: Html | string | undefined;
  readonly content: Html;
};

/** A section of the page: a heading, what it says, the picture, and the table behind it. */
export function sectionHtml({ id, title, isWide, text, content }: Section): Html {
  return html`
<section id="${id}"${isWide ? html` class="wide"` : undefined}>
<h2>${title}</h2>
${text === undefined ? undefined : html`<p>${text}</p>`}
${content}
</section>`;
}

/** `name`: what it is called for who cannot see it; a table that is wider than its place is scrolled with the keyboard, too. */
export function tableHtml({ head, rows }: DataTable, name = "table"): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${name}"><table>
<thead><tr>${head.map((cell) => html`<th scope="col">${cell}</th>`)}</tr></thead>
<tbody>${rows.map(rowHtml)}</tbody>
</table></div>`;
}

const rowHtml = ([heading, ...cells]: readonly Cell[]) =>
  html`<tr><th scope="row">${heading}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>\n`;
