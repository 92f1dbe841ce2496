import { grouped } from "../../bytes/quantities.ts";
import { type Child, h, replace, section } from "./dom.ts";
import { tokenCode, tokenText } from "./token-text.ts";
import { bytesOf, search, type Token, type Vocabulary } from "./unpacked.ts";

// Where a token comes from: a search, and the token over the two that were merged into it, each over its own.

/** A token of repetitive text may be as deep as there are merges. */
const depthMax = 14;
const nodesMax = 400;
/** Labels that are narrower than this, in pixels, show nothing of their text. */
const labelLeast = 40;

export const shownToken = (token: Token) => tokenText(bytesOf(token), token.length);

/** A link to the tree of a token. */
export const tokenLink = (token: Token) =>
  h("a.token", { href: `#token-${token.id}` }, tokenCode(shownToken(token)));

/** `textName`: what tokens were counted in, if it is not the corpus of the training. */
export function treeSection(vocabulary: Vocabulary, first: Token, textName: string | null): HTMLElement {
  const found = h("div.found", { "aria-live": "polite" });
  const view = h("div");
  const input = h("input", {
    type: "search",
    autocomplete: "off",
    spellcheck: "false",
    placeholder: "text or #id",
    oninput: () => find(),
  });
  const draw = (token: Token) => {
    const facts = h("p.facts-line", {}, tokenCode(shownToken(token)), ` ${factsOf(token, textName)}`);
    replace(view, [facts, treeOf(token, draw)]);
    for (const label of view.querySelectorAll<HTMLElement>(".node > button")) hideCutLabel(label);
  };
  const find = () => {
    const matching = input.value === "" ? [] : search(vocabulary, input.value);
    const button = (token: Token) =>
      h(
        "button",
        { type: "button", onclick: () => draw(token) },
        tokenCode(shownToken(token)),
        ` ${token.id}`,
      );
    const isMissing = input.value !== "" && matching.length === 0;
    replace(found, isMissing ? h("span.quiet", {}, "no such token here") : matching.map(button));
    if (matching.length > 0) draw(matching[0]!);
    else if (input.value === "") draw(first);
  };
  /** A link to a token leads to its tree. */
  const follow = () => {
    const token = vocabulary.byId.get(Number(/^#token-(\d+)$/.exec(location.hash)?.[1]));
    if (token === undefined) return;
    input.value = `#${token.id}`;
    find();
    made.scrollIntoView();
  };
  const form = h(
    "form.search",
    { role: "search", onsubmit: (event) => event.preventDefault() },
    h("label", {}, "token ", input),
  );
  const made = section(
    "tree",
    "Where does this token come from?",
    "Each token over the two that were merged into it. Search by text, or by id as #300; a click on a part shows its own tree.",
    [form, found, view],
  );
  addEventListener("hashchange", follow);
  // Labels have their widths only in the page.
  requestAnimationFrame(() => {
    draw(first);
    follow();
  });
  return made;
}

/** A label that is too narrow shows nothing; its tip has the text. */
function hideCutLabel(label: HTMLElement): void {
  if (label.clientWidth >= labelLeast || label.scrollWidth <= label.clientWidth) return;
  label.setAttribute("aria-label", label.textContent!);
  label.textContent = "\u00a0";
}

/** What is known of a token, in a line. */
function factsOf({ id, length, rank, created, end, inText }: Token, textName: string | null): string {
  return [
    `id ${id}`,
    length === 1 ? "1 byte" : `${grouped(length)} bytes`,
    rank === undefined ? "no merge makes it" : `merge ${grouped(rank + 1)}`,
    ...(created !== null && rank !== undefined ? [`made ${timesOf(created)}`] : []),
    ...(end !== null ? [`${timesOf(end)} at the end`] : []),
    ...(inText !== null ? [`${timesOf(inText)} in ${textName ?? "the text"}`] : []),
  ].join(", ");
}

const timesOf = (count: number) => (count === 1 ? "once" : `${grouped(count)} times`);

/** The token over its halves; a click on one calls `choose` with it. */
function treeOf(token: Token, choose: (token: Token) => void): HTMLElement {
  let nodes = 0;
  const nodeOf = (of: Token, depth: number): HTMLElement => {
    nodes++;
    const shown = shownToken(of);
    const count = of.end ?? of.inText;
    const tip = `${shown}: id ${of.id}${count === null ? "" : `, ${timesOf(count)}`}`;
    const label = h("button", { type: "button", "data-tip": tip, onclick: () => choose(of) }, shown);
    const node = h("div.node", {}, label, halvesOf(of, depth));
    node.style.flexGrow = String(of.length);
    return node;
  };
  const halvesOf = ({ left, right }: Token, depth: number): Child => {
    if (left === undefined || right === undefined) return null;
    if (depth >= depthMax || nodes >= nodesMax) return h("span.quiet", {}, "…");
    return h("div.halves", {}, nodeOf(left, depth + 1), nodeOf(right, depth + 1));
  };
  return h("div.tree", { tabindex: 0, role: "group", "aria-label": "merge tree" }, nodeOf(token, 0));
}
