import { escapeText } from "#bytes";

// Makes HTML from templates, whose values are escaped.

/** A piece of HTML. Only `html` and `trustedHtml` may create one, so that untrusted text is always escaped. */
export class Html {
  constructor(readonly text: string) {}
}

type Value = Html | string | number | undefined | readonly Value[];

/**
 * Returns a template as HTML. Values that are not HTML yet are escaped, lists are joined, and `undefined` is left out.
 * The result is safe as the content of an element and in a double-quoted attribute, but not in a script or a style.
 */
export function html(strings: TemplateStringsArray, ...values: readonly Value[]): Html {
  let text = strings[0]!;
  for (const [i, value] of values.entries()) text += textOf(value) + strings[i + 1]!;
  return new Html(text);
}

/** Marks text as HTML: the caller built it from numbers and literals, or escaped it. */
export const trustedHtml = (text: string) => new Html(text);

function textOf(value: Value): string {
  if (value === undefined) return "";
  if (value instanceof Html) return value.text;
  if (typeof value === "number") return String(value);
  if (typeof value === "string") return escapeHtml(value);
  return value.map(textOf).join("");
}

/**
 * Matches HTML's special characters, and everything outside printable ASCII, so that it includes all that `escapeText`
 * escapes.
 */
const isSpecial = /[&<>"'\x00-\x1f]|[^\x00-\x7e]/;
const entities: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/**
 * Escapes text for HTML, so that the text cannot close the element in which it is. Invisible characters become `\xNN`.
 */
export function escapeHtml(text: string): string {
  if (!isSpecial.test(text)) return text;
  return escapeText(text).replace(/[&<>"']/g, (character) => entities[character]!);
}
