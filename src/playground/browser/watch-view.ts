import { groupDigits } from "#bytes";
import { signs } from "#pages";
import { dataTables, dom, h, mergeTrees } from "#pages/app";
import { byteCount, placesOfMerges, tokenCountOf } from "../joined-text.ts";
import { isSpecial, mergeCountOf, tokenOf } from "../learned.ts";
import type { RankedPair } from "../pair-ranking.ts";
import type { Session, Trained } from "./session.ts";
import { ShownText } from "./shown-text.ts";

const runnersUp = 6;
const calmMs = 1000;
/** How long the slider must rest, in milliseconds, before all pairs of the corpus are counted. */
const restMs = 60;

/** The text after any number of merges: a slider, the next merge, and its runners-up. */
export class WatchView {
  private readonly count = h("p", { id: "watch-count", role: "status" });
  private readonly slider = h("input", {
    ...{ id: "watch-slider", type: "range", min: 0, max: 0, value: 0 },
    oninput: () => this.goTo(this.step),
  });
  private readonly playButton = h(
    "button",
    { id: "watch-play", type: "button", onclick: () => this.play(this.timer === undefined) },
    "Play",
  );
  private readonly left = h("code.t", { id: "next-left" });
  private readonly right = h("code.t", { id: "next-right" });
  private readonly made = h("code.t", { id: "next-made" });
  private readonly facts = h("span");
  private readonly next = h("p", { id: "watch-next" }, [
    ["Next: ", this.left, " + ", this.right, " → "],
    h("button.plain", { type: "button", onclick: () => this.choose(byteCount + this.step) }, this.made),
    this.facts,
  ]);
  private readonly done = h("p", { id: "watch-done", hidden: true }, "All merges are made.");
  private readonly text = h("div.text.watched", {
    ...{ id: "watch-text", tabindex: 0, role: "region" },
    ...{ "aria-label": "The text, cut into tokens", "aria-describedby": "watch-token" },
  });
  private readonly told = h(
    "p.quiet",
    { id: "watch-token", role: "status" },
    "Point at a token, or move with the arrow keys, to see what it is.",
  );
  private readonly pairs = h("div", { id: "watch-pairs" });
  private readonly own = h("textarea.mono", {
    ...{ id: "watch-own", rows: 3, "aria-label": "Another text to cut", spellcheck: "false" },
    onchange: () => void this.openOwn(),
  });
  readonly element = dom.section(
    "watch",
    "Watch it learn",
    "Play, or move the slider: each step is one merge. Where the colour changes, a token ends; frames show the pairs that the next merge joins. ↵ is a line end; stripes mark a letter whose bytes are still several tokens.",
    this.count,
    h(
      "p.row.steps",
      this.stepper("|◀", "To the first", -1_000_000),
      this.stepper("◀", "One merge back", -1),
      this.playButton,
      this.stepper("▶", "One merge on", 1),
      this.stepper("▶|", "To the last", 1_000_000),
      h("label.slider", h("span.unseen", "Merges made"), this.slider),
    ),
    [this.next, this.done, this.text, this.told],
    h(
      "div.columns",
      h("div", h("h3", "The most frequent pairs now"), this.pairs),
      h(
        "div",
        h("h3", "Another text"),
        h("p.quiet", "Any text, cut by the merges learned from the corpus."),
        this.own,
      ),
    ),
  );
  private readonly shown: ShownText;
  private trained: Trained | undefined;
  private places: Uint32Array = new Uint32Array(0);
  private timer: ReturnType<typeof setTimeout> | undefined;
  private asking: ReturnType<typeof setTimeout> | undefined;
  /** Whether a request is running. There is only one at a time; after it, the latest step is requested. */
  private isAsking = false;

  constructor(
    private readonly session: Session,
    private readonly choose: (token: number) => void,
  ) {
    this.shown = new ShownText(this.text, (token) => this.tell(token), choose);
    session.onTrained((trained) => this.open(trained));
  }

  private stepper(sign: string, label: string, step: number): HTMLElement {
    const go = () => {
      this.play(false);
      this.goTo(this.step + step);
    };
    return h("button", { type: "button", "data-step": step, "aria-label": label, onclick: go }, sign);
  }

  private get step(): number {
    return this.slider.valueAsNumber;
  }

  /** Shows the text after this many merges, scrolls to this section, and focuses the slider. */
  show(merges: number): void {
    this.goTo(merges);
    this.element.scrollIntoView();
    this.slider.focus({ preventScroll: true });
  }

  private open(trained: Trained): void {
    this.play(false);
    this.trained = trained;
    this.slider.max = String(mergeCountOf(trained.learned));
    this.openText(trained.head);
    this.goTo(0);
  }

  private openText(text: Trained["head"]): void {
    this.trained = { ...this.trained!, head: text };
    this.places = placesOfMerges(text, mergeCountOf(this.trained.learned));
    this.shown.open(text);
  }

  /** Shows the reader's own text or, if there is none, the beginning of the corpus. */
  private async openOwn(): Promise<void> {
    const text = this.own.value;
    const { thread, head } = this.session.trained!;
    const bytes = new TextEncoder().encode(text);
    this.openText(text === "" ? head : await thread.ask("cut", bytes));
    this.goTo(this.step);
  }

  /** Shows the text after this many merges. */
  private goTo(merges: number): void {
    const { learned, head } = this.trained!;
    const most = mergeCountOf(learned);
    const step = Math.max(0, Math.min(most, merges));
    this.slider.value = String(step);
    this.slider.ariaValueText = `${groupDigits(step)} of ${groupDigits(most)} merges`;
    this.shown.showAfter(step);
    const tokens = tokenCountOf(head, step);
    const perToken = (head.bytes.length / Math.max(1, tokens)).toFixed(2);
    this.count.textContent = `After ${groupDigits(step)} of ${groupDigits(most)} merges: ${groupDigits(tokens)} tokens, ${perToken} bytes per token`;
    this.showNext(step);
    clearTimeout(this.asking);
    this.asking = setTimeout(() => void this.askRunnersUp(), restMs);
  }

  /** Shows the next merge, or says that there is none. */
  private showNext(step: number): void {
    const { learned } = this.trained!;
    const isLast = step === mergeCountOf(learned);
    this.next.hidden = isLast;
    this.done.hidden = !isLast;
    if (isLast) return;
    this.left.textContent = this.nameOf(learned.left[step]!);
    this.right.textContent = this.nameOf(learned.right[step]!);
    this.made.textContent = this.nameOf(byteCount + step);
    const places = this.places[step] === 1 ? "1 place" : `${groupDigits(this.places[step]!)} places`;
    this.facts.textContent = `. The most frequent pair of the corpus: ${signs.timesOf(learned.pairCounts[step]!)}. In the text below it changes ${places}.`;
  }

  private tokenOf(number: number) {
    const { learned, vocabulary } = this.trained!;
    return tokenOf(learned, vocabulary, number);
  }

  private nameOf(number: number): string {
    return mergeTrees.shownToken(this.tokenOf(number));
  }

  /** Describes a token of the text. */
  private tell(number: number): void {
    const token = this.tokenOf(number);
    const { id, rank } = token;
    const origin =
      rank !== undefined
        ? `merge ${groupDigits(rank + 1)} made it`
        : isSpecial(token)
          ? "a special token"
          : "a byte";
    this.told.textContent = `${mergeTrees.shownToken(token)} : id ${id}, ${origin}. Press it to see why it is there.`;
  }

  /** Asks the worker for the most frequent pairs of the corpus after the merges made so far, and shows them. */
  private async askRunnersUp(): Promise<void> {
    if (this.isAsking) return;
    this.isAsking = true;
    try {
      for (let shown = -1; shown !== this.step; ) {
        const { thread } = this.trained!;
        shown = this.step;
        const { top, tiedCount } = await thread.ask("pairs", { merges: shown, most: runnersUp });
        if (thread !== this.trained!.thread) continue;
        dom.replace(this.pairs, [
          top.length > 0 && this.pairTable(top),
          tiedCount > 1 &&
            h(
              "p.quiet",
              `${groupDigits(tiedCount)} pairs are equally frequent: the trainer's rule for ties says which one is merged first.`,
            ),
        ]);
      }
    } finally {
      this.isAsking = false;
    }
  }

  private pairTable(top: readonly RankedPair[]): HTMLElement {
    const most = top.reduce((most, { count }) => Math.max(most, count), 1);
    return dataTables.of<RankedPair>({
      label: "The most frequent pairs",
      columns: [
        { head: "pair", cell: ({ left, right }) => `${this.nameOf(left)} + ${this.nameOf(right)}` },
        { head: "occurrences", cell: ({ count }) => [groupDigits(count), dataTables.bar(count / most)] },
      ],
      rows: top,
    });
  }

  /**
   * Plays or pauses. Playing accelerates, so that even 100,000 merges take about a minute. If the reader's system asks
   * for reduced motion, each step is one merge.
   */
  private play(isPlaying: boolean): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.playButton.textContent = isPlaying ? "Pause" : "Play";
    this.playButton.ariaPressed = String(isPlaying);
    if (!isPlaying) return;
    const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const most = mergeCountOf(this.trained!.learned);
    if (this.step === most) this.goTo(0);
    const next = () => {
      const merges = this.step;
      this.goTo(merges + (isCalm ? 1 : 1 + Math.floor(merges / 120)));
      if (this.step === most) this.play(false);
      else this.timer = setTimeout(next, wait());
    };
    const wait = () => (isCalm ? calmMs : Math.max(60, 700 - 20 * this.step));
    this.timer = setTimeout(next, wait());
  }
}
