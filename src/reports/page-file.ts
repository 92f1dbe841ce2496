import { axes, type pageData } from "#pages";
import { type Html, html, trustedHtml } from "./markup.ts";

// A page is a template made at build time (scripts/pages.ts), static text, and JSON data.

/** Placeholders for the title and the content in the template. */
export const titleSlot = "<!--title-->";
export const contentSlot = "<!--content-->";

/** Returns the page as one text. */
export function pageFile(template: string, text: pageData.PageText, data: pageData.PageData): string {
  const [head, middle, end] = template.split(new RegExp(`${titleSlot}|${contentSlot}`)) as [
    string,
    string,
    string,
  ];
  return head + html`${text.title}`.text + middle + contentOf(text, data).text + end;
}

function contentOf(
  { origin, finding, more, cautions, table, reading }: pageData.PageText,
  data: pageData.PageData,
): Html {
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
${dataScript(data)}`;
}

/** Renders phrases. Punctuation after a name is kept on the line of the name. */
function phrasesHtml(phrases: readonly pageData.Phrase[]): Html[] {
  return phrases.map((phrase, i) => {
    if (typeof phrase === "string")
      return html`${axes.unbroken(typeof phrases[i - 1] === "object" ? phrase.replace(leadingSigns, "") : phrase)}`;
    const next = phrases[i + 1];
    const [signs] = (typeof next === "string" ? leadingSigns.exec(next) : null) ?? [""];
    const name = html`<span class="name c${phrase.colour % 8}">${phrase.text}</span>`;
    return signs === "" ? name : html`<span class="kept">${name}${signs}</span>`;
  });
}

const leadingSigns = /^[.,:;]+/;

const rowHtml = ([heading, ...cells]: readonly string[]) =>
  html`<tr><th scope="row">${heading}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>\n`;

/** Returns the element that holds the data of a page, as JSON. */
export const dataScript = (data: unknown): Html =>
  html`<script type="application/json" id="data">${trustedHtml(jsonForPage(data))}</script>\n`;

/**
 * Serializes a value as JSON for a `<script>`. Escapes characters that could close the element, and controls that could
 * reorder the source when it is displayed.
 */
export const jsonForPage = (value: unknown) =>
  JSON.stringify(value).replace(
    /[<>&\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
