import { escapeText } from "#bytes";

// Makes HTML from templates, whose values are escaped.

/** Create it only by `html` and `trustedHtml`: untrusted text must be escaped. */
export class Html {
  constructor(readonly text: string) {}
}

type Value = Html | string | number | undefined | readonly Value[];

/**
 * Escapes values unless they are already HTML. Safe for element content and double-quoted attributes, not for scripts
 * or styles.
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

/** HTML's special characters, and everything outside printable ASCII. */
const isSpecial = /[&<>"'\x00-\x1f]|[^\x00-\x7e]/;
const entities: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Escaped text cannot close the enclosing element. Invisible characters become `\xNN`. */
export function escapeHtml(text: string): string {
  if (!isSpecial.test(text)) return text;
  return escapeText(text).replace(/[&<>"']/g, (character) => entities[character]!);
}
