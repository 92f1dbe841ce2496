import { unbroken } from "./axes.ts";
import { type Html, html, trustedHtml } from "./markup.ts";
import type { PageData } from "./page-data.ts";

// A page is a template made at build time (scripts/pages.ts), static text for readers without JavaScript, and JSON data.

/** Placeholders for the title and the content in the template. */
export const titleSlot = "<!--title-->";
export const contentSlot = "<!--content-->";

/** A piece of a sentence; a tokenizer's name has its colour. */
export type Phrase = string | { readonly text: string; readonly colour: number };

/** The static text of a page: the main finding, further details, cautions, and the main table. */
export type PageText = {
  readonly title: string;
  /** The command and date: "bpe eval · 27 November 2026". */
  readonly origin: string;
  readonly finding: readonly Phrase[];
  readonly more: readonly Phrase[];
  /** Reasons to doubt a number, and warnings of the run. */
  readonly cautions: readonly string[];
  readonly table: { readonly head: readonly string[]; readonly rows: readonly (readonly string[])[] };
  /** How to read the table. */
  readonly reading: string;
};

/** Returns the page as one text. */
export function pageFile(template: string, text: PageText, data: PageData): string {
  const [head, middle, end] = template.split(new RegExp(`${titleSlot}|${contentSlot}`)) as [
    string,
    string,
    string,
  ];
  return head + html`${text.title}`.text + middle + contentOf(text, data).text + end;
}

function contentOf({ origin, finding, more, cautions, table, reading }: PageText, data: PageData): Html {
  return html`<main>
<p class="origin">${origin}</p>
<h1>${phrasesHtml(finding)}</h1>
<p class="more">${phrasesHtml(more)}</p>
${cautions.map((caution) => html`<p class="caution">${caution}</p>\n`)}
<noscript>
<table><thead><tr>${table.head.map((cell) => html`<th scope="col">${cell}</th>`)}</tr></thead>
<tbody>${table.rows.map(rowHtml)}</tbody></table>
<p>${reading} The rest of this page needs JavaScript; it loads nothing from a network.</p>
</noscript>
</main>
<script type="application/json" id="data">${trustedHtml(jsonForPage(data))}</script>
`;
}

/** Renders phrases. Punctuation after a name is kept on the line of the name. */
function phrasesHtml(phrases: readonly Phrase[]): Html[] {
  return phrases.map((phrase, i) => {
    if (typeof phrase === "string")
      return html`${unbroken(typeof phrases[i - 1] === "object" ? phrase.replace(leadingSigns, "") : phrase)}`;
    const next = phrases[i + 1];
    const [signs] = (typeof next === "string" ? leadingSigns.exec(next) : null) ?? [""];
    const name = html`<span class="name c${phrase.colour % 8}">${phrase.text}</span>`;
    return signs === "" ? name : html`<span class="kept">${name}${signs}</span>`;
  });
}

const leadingSigns = /^[.,:;]+/;

const rowHtml = ([heading, ...cells]: readonly string[]) =>
  html`<tr><th scope="row">${heading}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>\n`;

/**
 * Serializes a value as JSON for a `<script>`. Escapes characters that could close the element, and controls that could
 * reorder the source when it is displayed.
 */
export const jsonForPage = (value: unknown) =>
  JSON.stringify(value).replace(
    /[<>&\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
