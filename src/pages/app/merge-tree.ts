import { groupDigits } from "#bytes";
import * as axes from "../axes.ts";
import * as signs from "../signs.ts";
import type { Token } from "../unpacked.ts";
import * as unpacked from "../unpacked.ts";
import { type Child, h, replace, section } from "./dom.ts";
import { tokenCode } from "./token-text.ts";

// A search field, and the tree of merges that created a token.

const depthMax = 14;
const nodesMax = 400;

export const shownToken = (token: Token) => signs.tokenText(unpacked.bytesOf(token), token.length);

/** A link to the merge tree of a token. */
export const tokenLink = (token: Token, shown = shownToken(token)) =>
  h("a.token", { href: `#token-${token.id}` }, tokenCode(shown));

type TreeView = {
  readonly vocabulary: unpacked.Vocabulary;
  /** The initial token. */
  readonly first: Token;
  readonly title: string;
  readonly text: string;
  /** The facts of a token, shown after it on one line. */
  readonly facts: (token: Token) => Child;
  /** Whether the line begins with the halves of a token. */
  readonly hasHalves?: boolean;
  /** Content below the tree. */
  readonly below?: (token: Token) => Child;
};

/** Returns a section with the merge tree of a token, and a function that shows another token in the section. */
export function treeSection({ vocabulary, first, title, text, facts, hasHalves, below }: TreeView) {
  const found = h("div.row.found", { "aria-live": "polite" });
  const view = h("div", { id: "tree-view", tabindex: -1, role: "group", "aria-label": "The token" });
  const input = h("input", {
    id: "tree-query",
    type: "search",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    placeholder: "text or #id",
    oninput: () => find(),
  });
  const draw = (token: Token) => {
    const hadFocus = view.contains(document.activeElement);
    const halves =
      hasHalves && token.left ? [tokenLink(token.left), " + ", tokenLink(token.right!), " → "] : [];
    const line = h(
      "p.facts-line",
      halves,
      tokenCode(shownToken(token)),
      hasHalves ? ", " : " ",
      facts(token),
    );
    replace(view, [line, treeOf(token, draw), below?.(token)]);
    // The pressed button is no longer in the document, so the view gets the focus.
    if (hadFocus) view.focus({ preventScroll: true });
  };
  const find = () => {
    const matching = input.value === "" ? [] : unpacked.search(vocabulary, input.value);
    const button = (token: Token) =>
      h(
        "button",
        { type: "button", onclick: () => draw(token) },
        tokenCode(shownToken(token)),
        ` ${token.id}`,
      );
    const isMissing = input.value !== "" && matching.length === 0;
    replace(found, isMissing ? h("span.quiet", "no such token here") : matching.map(button));
    if (!isMissing) draw(matching[0] ?? first);
  };
  /** Shows the token that the URL's hash names. */
  const follow = () => {
    const token = vocabulary.byId.get(Number(/^#token-(\d+)$/.exec(location.hash)?.[1]));
    if (token === undefined || !element.isConnected) return;
    input.value = `#${token.id}`;
    find();
    element.scrollIntoView();
  };
  const form = h(
    "form.search",
    { role: "search", onsubmit: (event) => event.preventDefault() },
    h("label", "token ", input),
  );
  const element = section("tree", title, text, form, found, view);
  addEventListener("hashchange", follow);
  // This waits until the caller has added the section to the document, because `follow` scrolls to it.
  requestAnimationFrame(() => {
    draw(first);
    follow();
  });
  return { element, draw };
}

/** Draws a token above its halves, recursively. A click on a token calls `choose` with it. */
function treeOf(token: Token, choose: (token: Token) => void): HTMLElement {
  let nodes = 0;
  const nodeOf = (of: Token, depth: number): HTMLElement => {
    nodes++;
    const shown = shownToken(of);
    const count = of.created ?? of.inText;
    const tip = `${shown}: id ${of.id}${count === null ? "" : `, ${signs.timesOf(count)}`}`;
    const label = h(
      "button",
      { type: "button", "data-tip": tip, "aria-label": tip, onclick: () => choose(of) },
      shown,
      count !== null && h("small", count < 10_000 ? groupDigits(count) : axes.shortNumber(count)),
    );
    const node = h("div.node", label, halvesOf(of, depth));
    node.style.flexGrow = String(of.length);
    return node;
  };
  const halvesOf = ({ left, right }: Token, depth: number): Child => {
    if (left === undefined || right === undefined) return null;
    if (depth >= depthMax || nodes >= nodesMax) return h("span.quiet", "…");
    return h("div.halves", nodeOf(left, depth + 1), nodeOf(right, depth + 1));
  };
  return h("div.tree", { tabindex: 0, role: "group", "aria-label": "merge tree" }, nodeOf(token, 0));
}
