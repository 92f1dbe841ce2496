import { type Html, html } from "./html.ts";

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
  readonly table?: DataTable | undefined;
};

/** A section of the page: a heading, what it says, the picture, and the table behind it. */
export function sectionHtml({ id, title, isWide, text, content, table }: Section): Html {
  return html`
<section id="${id}"${isWide ? html` class="wide"` : undefined}>
<h2>${title}</h2>
${text === undefined ? undefined : html`<p>${text}</p>`}
${content}
${table && html`<details><summary>Table</summary>${tableHtml(table)}</details>`}
</section>`;
}

export function tableHtml({ head, rows }: DataTable): Html {
  return html`<div class="scroll"><table>
<thead><tr>${head.map((cell) => html`<th scope="col">${cell}</th>`)}</tr></thead>
<tbody>${rows.map(rowHtml)}</tbody>
</table></div>`;
}

const rowHtml = ([heading, ...cells]: readonly Cell[]) =>
  html`<tr><th scope="row">${heading}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>\n`;
