import { escapeText } from "#bytes";

// The markup that a page has without its script. Everything else is made by src/pages/app from data.

/** A piece of HTML. Only `html` and `trustedHtml` make one, so text of others can be in it only escaped. */
export class Html {
  constructor(readonly text: string) {}
}

type Value = Html | string | number | undefined | readonly Value[];

/**
 * A template whose values are escaped, unless they are HTML already; `undefined` is nothing, a list is its members one after
 * the other. It is right for the content of elements and for attributes in double quotes, not for scripts and styles.
 *
 *     html`<td title="${path}">${cells}</td>`
 */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  let text = strings[0]!;
  for (const [i, value] of values.entries()) text += textOf(value) + strings[i + 1]!;
  return new Html(text);
}

/** HTML that this module made of numbers and of its own words, or escaped by itself. */
export const trustedHtml = (text: string) => new Html(text);

function textOf(value: Value): string {
  if (value === undefined) return "";
  if (value instanceof Html) return value.text;
  if (typeof value === "number") return String(value);
  if (typeof value === "string") return escapeHtml(value);
  return value.map(textOf).join("");
}

/** Characters with a meaning in HTML, and those beyond printable ASCII, among which are all that `escapeText` makes visible. */
const isSpecial = /[&<>"'\x00-\x1f]|[^\x00-\x7e]/;
const entities: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Text in HTML: it cannot end what holds it, and what is invisible in it is shown as `\xNN`. */
export function escapeHtml(text: string): string {
  if (!isSpecial.test(text)) return text;
  return escapeText(text).replace(/[&<>"']/g, (character) => entities[character]!);
}
