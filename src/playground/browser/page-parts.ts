import { grouped } from "../../bytes/quantities.ts";
import { type Html, html, tokenHtml } from "../html-parts.ts";
import { bytesOfToken, type Learned } from "../learned.ts";

/*
 * What the views share. Data reaches the page in two ways: as text of elements that a view makes, and as `Html` of the report's
 * parts, whose values are escaped (src/playground/html-parts.ts). The policy of the page lets nothing else be made HTML.
 */

type Policy = { createHTML(text: string): string; createScriptURL(url: string): string };
type PolicyFactory = { createPolicy(name: string, rules: Policy): Policy };
const asItIs: Policy = { createHTML: (text) => text, createScriptURL: (url) => url };
const factory = (globalThis as { trustedTypes?: PolicyFactory }).trustedTypes;
const policy = factory?.createPolicy("bpe", asItIs) ?? asItIs;

/** Puts HTML into a place of the page, in the place of what was there. */
export function show(place: Element, content: Html): void {
  place.innerHTML = policy.createHTML(content.text);
}

/** The element of the page with this id. */
export function at<E extends HTMLElement = HTMLElement>(id: string): E {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`bug: the page has no #${id}`);
  return found as E;
}

/** The text of the page's script, of which its workers are made, too. */
const source = typeof document === "undefined" ? "" : document.currentScript!.textContent!;

export function startScript(): Worker {
  const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
  const worker = new Worker(policy.createScriptURL(url));
  URL.revokeObjectURL(url);
  return worker;
}

/** Calls `act` with what the attribute says, for a click on an element that has it, or on anything in such an element. */
export function onClick(place: HTMLElement, attribute: string, act: (value: string) => void): void {
  place.addEventListener("click", (event) => {
    const element = (event.target as Element).closest<HTMLElement>(`[data-${attribute}]`);
    if (element !== null) act(element.dataset[attribute]!);
  });
}

/** A token as a button: what it is made of shows behind it. */
export const tokenButton = (learned: Learned, token: number) =>
  html`<button type="button" data-token="${token}">${tokenHtml(bytesOfToken(learned, token, 161))}</button>`;

export const times = (count: number) => (count === 1 ? "once" : `${grouped(count)} times`);

/** An error as people read it. */
export function messageOf(error: unknown): string {
  const { message, hint } = error as { message: string; hint?: string };
  return hint === undefined ? message : `${message}. ${hint}`;
}
