import { escapeText } from "#bytes";

// Creates elements. All text becomes text nodes and attribute values, so data is never parsed as markup.

export type Child = Node | string | number | null | undefined | false | readonly Child[];

type Listener = (event: Event) => void;
type Attributes = { readonly [name: string]: string | number | boolean | undefined | Listener };
/** Attributes and children, in any order. */
type Content = readonly (Child | Attributes)[];

/**
 * Creates an element: `h("p.quiet", { title, onclick }, "text", child)`. Attributes that are `undefined` or `false` are
 * omitted. Invisible characters of text become `\xNN`.
 */
export function h<Name extends keyof HTMLElementTagNameMap>(
  tag: Name | `${Name}.${string}`,
  ...content: Content
): HTMLElementTagNameMap[Name] {
  const [name, ...classes] = tag.split(".");
  const element = document.createElement(name!);
  if (classes.length > 0) element.className = classes.join(" ");
  return filled(element, content) as HTMLElementTagNameMap[Name];
}

export function svg(tag: string, ...content: Content): SVGElement {
  const [name, ...classes] = tag.split(".");
  const element = document.createElementNS("http://www.w3.org/2000/svg", name!);
  if (classes.length > 0) element.setAttribute("class", classes.join(" "));
  return filled(element, content);
}

const isAttributes = (item: Child | Attributes): item is Attributes =>
  typeof item === "object" && item !== null && !Array.isArray(item) && !(item instanceof Node);

function filled<E extends Element>(element: E, content: Content): E {
  for (const item of content) {
    if (!isAttributes(item)) append(element, item);
    else
      for (const [name, value] of Object.entries(item)) {
        if (value === undefined || value === false) continue;
        if (typeof value === "function") element.addEventListener(name.slice(2), value);
        else element.setAttribute(name, value === true ? "" : escapeText(String(value)));
      }
  }
  return element;
}

/** Appends children, flattening lists. */
export function append(element: Element, children: Child): void {
  if (children === null || children === undefined || children === false) return;
  if (children instanceof Node) element.append(children);
  else if (Array.isArray(children)) for (const child of children as readonly Child[]) append(element, child);
  else element.append(escapeText(String(children)));
}

export function replace(element: Element, children: Child): void {
  element.replaceChildren();
  append(element, children);
}

/** A section of a page: heading, lead text and content. */
export const section = (id: string, title: string, text: Child, ...content: Child[]): HTMLElement =>
  h("section", { id }, h("h2", title), text ? h("p.lead", text) : null, content);

/** Links to the sections of a page. */
export function sectionLinks(sections: readonly HTMLElement[]): HTMLElement {
  const links = sections.map((section) => {
    const title = section.querySelector("h2")!.textContent!;
    return h("li", h("a", { href: `#${section.id}` }, title));
  });
  return h("nav", { "aria-label": "Sections" }, h("ul.row", links));
}

/** Returns a section that can be opened and closed. It is filled when it is open for the first time. */
export function fold(title: string, fill: () => Child, isOpen = false): HTMLDetailsElement {
  const details = h("details", { open: isOpen }, h("summary", title));
  const open = () => {
    if (!details.open || details.childElementCount > 1) return;
    append(details, fill());
  };
  details.addEventListener("toggle", open);
  open();
  return details;
}

/** A list of names and values. */
export const factList = (facts: readonly (readonly [name: string, value: Child])[]) =>
  h(
    "dl.facts",
    facts.map(([name, value]) => h("div", h("dt", name), h("dd", value))),
  );

/** A drop-down list. `choose` receives the selected index. */
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
  return h("label", label, " ", select);
}

/**
 * Returns a drop-down list, with the selected content below it. If there is only one name, returns its content without
 * a list.
 */
export function choice(label: string, names: readonly string[], show: (index: number) => Child): Child {
  const place = h("div", { "aria-live": "polite" });
  const choose = (index: number) => replace(place, show(index));
  choose(0);
  return [names.length > 1 && h("p.row.choosers", chooser(label, names, 0, choose)), place];
}
