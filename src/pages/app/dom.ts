import { escapeText } from "../../bytes/escape.ts";

// Makes elements. All text becomes text nodes and attribute values, so nothing in the data is ever read as markup.

export type Child = Node | string | number | null | undefined | false | readonly Child[];

type Listener = (event: Event) => void;
type Attributes = Readonly<Record<string, string | number | boolean | undefined | Listener>>;

/**
 * Makes an element: `h("p.quiet", { title }, "text", child)`. Attributes that are `undefined` or `false` are left out, functions
 * listen: `{ onclick }`. What is invisible in a text is shown as `\xNN`.
 */
export function h<Name extends keyof HTMLElementTagNameMap>(
  tag: Name | `${Name}.${string}`,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Name] {
  const [name, ...classes] = tag.split(".");
  const element = document.createElement(name!);
  if (classes.length > 0) element.className = classes.join(" ");
  return filled(element, attributes, children) as HTMLElementTagNameMap[Name];
}

/** Makes an element of a picture. */
export function svg(tag: string, attributes: Attributes = {}, ...children: Child[]): SVGElement {
  const [name, ...classes] = tag.split(".");
  const element = document.createElementNS("http://www.w3.org/2000/svg", name!);
  if (classes.length > 0) element.setAttribute("class", classes.join(" "));
  return filled(element, attributes, children);
}

function filled<E extends Element>(element: E, attributes: Attributes, children: readonly Child[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : escapeText(String(value)));
  }
  append(element, children);
  return element;
}

/** Appends children; a list is its members one after the other. */
export function append(element: Element, children: Child): void {
  if (children === null || children === undefined || children === false) return;
  if (children instanceof Node) element.append(children);
  else if (Array.isArray(children)) for (const child of children as readonly Child[]) append(element, child);
  else element.append(escapeText(String(children)));
}

/** Puts children in the place of what an element has. */
export function replace(element: Element, children: Child): void {
  element.replaceChildren();
  append(element, children);
}

/** A section of a page: a heading, what it says, and its content. */
export const section = (id: string, title: string, text: Child, ...content: Child[]): HTMLElement =>
  h("section", { id }, h("h2", {}, title), text ? h("p.lead", {}, text) : null, content);

/** Something that waits for a click. It is filled when it is first opened. */
export function fold(title: string, fill: () => Child, isOpen = false): HTMLDetailsElement {
  const details = h("details", { open: isOpen }, h("summary", {}, title));
  const open = () => {
    if (!details.open || details.childElementCount > 1) return;
    append(details, fill());
  };
  details.addEventListener("toggle", open);
  open();
  return details;
}

/** A row of names and values. */
export const factList = (facts: readonly (readonly [name: string, value: Child])[]) =>
  h(
    "dl.facts",
    {},
    facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
  );

/** A list to choose from. `choose` gets the index of what is chosen. */
export function chooser(
  label: string,
  names: readonly string[],
  chosen: number,
  choose: (index: number) => void,
) {
  const select = h(
    "select",
    { onchange: () => choose(select.selectedIndex) },
    names.map((name, i) => h("option", { selected: i === chosen }, name)),
  );
  return h("label", {}, label, " ", select);
}
