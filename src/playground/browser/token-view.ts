import { grouped } from "../../bytes/quantities.ts";
import { type Html, html, tokenHtml } from "../html-parts.ts";
import { byteCount } from "../joined-text.ts";
import { absorbersOf, bytesOfToken, idOfToken, type Learned } from "../learned.ts";
import { at, onClick, show, times, tokenButton } from "./page-parts.ts";
import type { Session, Trained } from "./session.ts";

const foundMost = 24;
const wordsMost = 10;
const absorbersMost = 12;
/** A token of repetitive text may be as deep as there are merges. */
const depthMost = 10;

/** Why a token is there: how it came to be, where it stands, and what became of it. */
export class TokenView {
  private trained: Trained | undefined;
  private readonly query = at<HTMLInputElement>("token-query");

  constructor(session: Session, goTo: (merges: number) => void) {
    session.onTrained(async (trained) => {
      this.trained = trained;
      const [the] = await trained.thread.ask("find", { query: " the", most: 1 });
      await this.choose(the ?? byteCount + trained.learned.left.length - 1);
    });
    this.query.addEventListener("input", () => void this.search());
    at("token-form").addEventListener("submit", (event) => event.preventDefault());
    onClick(at("token"), "token", (token) => void this.choose(Number(token)));
    onClick(at("token"), "merge", (merge) => goTo(Number(merge)));
  }

  private async search(): Promise<void> {
    const { learned, thread } = this.trained!;
    const query = this.query.value;
    const found = await thread.ask("find", { query, most: foundMost });
    if (query !== this.query.value || thread !== this.trained!.thread) return;
    const isAsked = query !== "";
    const nothing = html`<span class="quiet">no such token here</span>`;
    show(
      at("token-found"),
      found.length > 0
        ? html`${found.map((token) => tokenButton(learned, token))}`
        : isAsked
          ? nothing
          : html``,
    );
    if (found.length > 0) void this.choose(found[0]!);
  }

  async choose(token: number): Promise<void> {
    const { learned, thread } = this.trained!;
    const words = token < 0 ? null : await thread.ask("wordsWith", { token, most: wordsMost });
    if (thread !== this.trained!.thread) return;
    const absorbers = absorbersOf(learned, token);
    const view = at("token-view");
    const hadFocus = view.contains(document.activeElement);
    show(
      view,
      html`<p>${factsOf(learned, token)}</p>
<div class="tree">${treeOf(learned, token, 0)}</div>
<div class="columns"><div><h3>Words it stood in</h3>${
        words === null || words.shown.length === 0
          ? html`<p class="quiet">None.</p>`
          : html`<ul class="tokens">${words.shown.map(({ bytes, count }) => html`<li>${tokenHtml(bytes)} <span class="quiet">${times(count)}</span></li>`)}</ul>
<p class="quiet">${grouped(words.wordCount)} words hold it or held it, which occur ${times(words.occurrences)}.</p>`
      }</div>
<div><h3>What absorbed it</h3>${
        absorbers.length === 0
          ? html`<p class="quiet">Nothing: no later merge took it.</p>`
          : html`<ul class="tokens">${absorbers.slice(0, absorbersMost).map(({ token: by, count }) => html`<li>${tokenButton(learned, by)} <span class="quiet">took ${times(count)}</span></li>`)}</ul>`
      }${absorbers.length > absorbersMost ? html`<p class="quiet">and ${grouped(absorbers.length - absorbersMost)} more</p>` : undefined}</div></div>`,
    );
    for (const node of document.querySelectorAll<HTMLElement>("#token-view .node"))
      node.style.flexGrow = node.dataset.bytes!;
    // What was pressed is gone.
    if (hadFocus) view.focus({ preventScroll: true });
  }
}

function factsOf(learned: Learned, token: number): Html {
  const shown = tokenHtml(bytesOfToken(learned, token, 161));
  const id = idOfToken(learned, token);
  if (token < 0) return html`${shown} is a special token: id ${id}. Its text is never counted.`;
  const [created, end] = [learned.createdCounts[token]!, learned.endCounts[token]!];
  if (token < byteCount)
    return html`${shown} is a byte: id ${id}. It occurs ${times(created)} before the first merge, and ${times(end)} at the end.`;
  const merge = token - byteCount;
  const [left, right] = [learned.left[merge]!, learned.right[merge]!].map((half) =>
    tokenHtml(bytesOfToken(learned, half, 161)),
  );
  return html`${shown} is one token, id ${id}, because after ${grouped(merge)} merges ${left} and ${right} stood side by side
${times(learned.pairCounts[merge]!)}: no other pair stood more often. Merge ${grouped(merge + 1)} made it in ${grouped(created)} places.
${leftOf(created, end)}
<button type="button" data-merge="${merge}">See it happen</button>`;
}

function leftOf(created: number, end: number): string {
  if (end === created) return "At the end all of these are left.";
  return `At the end ${end === 0 ? "none" : grouped(end)} of these are left; later merges took the others into longer tokens.`;
}

/** The token over its halves, each over its own, with how often each was made. */
function treeOf(learned: Learned, token: number, depth: number): Html {
  const bytes = bytesOfToken(learned, token, 161);
  const isMade = token >= byteCount;
  const title = `id ${idOfToken(learned, token)}${token < 0 ? "" : `, ${times(learned.createdCounts[token]!)} when it was made, ${times(learned.endCounts[token]!)} at the end`}`;
  const merge = token - byteCount;
  const halves = !isMade
    ? undefined
    : depth === depthMost
      ? html`<span class="more">…</span>`
      : html`<div class="halves">${treeOf(learned, learned.left[merge]!, depth + 1)}${treeOf(learned, learned.right[merge]!, depth + 1)}</div>`;
  const count = token < 0 ? undefined : html`<small>${grouped(learned.createdCounts[token]!)}</small>`;
  return html`<div class="node" data-bytes="${bytes.length}"><button type="button" title="${title}" data-token="${token}">${tokenHtml(bytes)}${count}</button>${halves}</div>`;
}
