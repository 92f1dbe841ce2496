import { escapeBytes } from "../../bytes/escape.ts";
import { grouped } from "../../bytes/quantities.ts";
import { barChart } from "../html-charts.ts";
import { html } from "../html-parts.ts";
import { byteCount, placesOfMerges, tokenCountOf } from "../joined-text.ts";
import { bytesOfToken, idOfToken, type Learned, mergeCountOf } from "../learned.ts";
import { at, onClick, show, times } from "./page-parts.ts";
import type { Session, Trained } from "./session.ts";
import { ShownText } from "./shown-text.ts";

const runnersUp = 6;
const calmMs = 1000;
/** So long the slider rests before all pairs of the corpus are counted. */
const restMs = 60;

/** The text after any number of merges: a slider, what comes next, and what else could have come. */
export class WatchView {
  private readonly slider = at<HTMLInputElement>("watch-slider");
  private readonly shown: ShownText;
  private trained: Trained | undefined;
  private places: Uint32Array = new Uint32Array(0);
  private timer: ReturnType<typeof setTimeout> | undefined;
  private asking: ReturnType<typeof setTimeout> | undefined;
  /** Steps of less work wait for one answer at a time: the last one asked for counts. */
  private isAsking = false;

  constructor(
    private readonly session: Session,
    choose: (token: number) => void,
  ) {
    this.shown = new ShownText(at("watch-text"), (token) => this.tell(token), choose);
    session.onTrained((trained) => this.open(trained));
    this.slider.addEventListener("input", () => this.goTo(this.slider.valueAsNumber));
    onClick(at("watch"), "step", (step) => this.step(Number(step)));
    at("next-made").parentElement!.addEventListener("click", () =>
      choose(byteCount + this.slider.valueAsNumber),
    );
    at("watch-play").addEventListener("click", () => this.play(this.timer === undefined));
    at("watch-own").addEventListener("change", () => void this.openOwn());
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

  /** The reader's own text; without one, the beginning of the corpus. */
  private async openOwn(): Promise<void> {
    const text = at<HTMLTextAreaElement>("watch-own").value;
    const { thread, head } = this.session.trained!;
    const bytes = new TextEncoder().encode(text);
    this.openText(text === "" ? head : await thread.ask("cut", bytes));
    this.goTo(this.slider.valueAsNumber);
  }

  /** The text after so many merges. */
  goTo(merges: number): void {
    const { learned, head } = this.trained!;
    const most = mergeCountOf(learned);
    const step = Math.max(0, Math.min(most, merges));
    this.slider.value = String(step);
    this.slider.ariaValueText = `${grouped(step)} of ${grouped(most)} merges`;
    this.shown.showAfter(step);
    const tokens = tokenCountOf(head, step);
    const perToken = (head.bytes.length / Math.max(1, tokens)).toFixed(2);
    at("watch-count").textContent =
      `After ${grouped(step)} of ${grouped(most)} merges: ${grouped(tokens)} tokens, ${perToken} bytes per token`;
    this.showNext(step);
    clearTimeout(this.asking);
    this.asking = setTimeout(() => void this.askRunnersUp(), restMs);
  }

  /** The merge that comes next, or that nothing does. */
  private showNext(step: number): void {
    const { learned } = this.trained!;
    const isLast = step === mergeCountOf(learned);
    at("watch-next").hidden = isLast;
    at("watch-done").hidden = !isLast;
    if (isLast) return;
    const parts = { left: learned.left[step]!, right: learned.right[step]!, made: byteCount + step };
    for (const [name, token] of Object.entries(parts))
      at(`next-${name}`).textContent = nameOf(learned, token);
    at("next-facts").textContent =
      `. No pair occurs more often in all text that is learned from: ${times(learned.pairCounts[step]!)}. In the text below it changes ${counted(this.places[step]!)}.`;
  }

  /** What a token of the text is. */
  private tell(token: number): void {
    const { learned } = this.trained!;
    const origin =
      token < 0
        ? "a special token"
        : token < byteCount
          ? "a byte"
          : `merge ${grouped(token - byteCount + 1)} made it`;
    at("watch-token").textContent =
      `${nameOf(learned, token)} : id ${idOfToken(learned, token)}, ${origin}. Press it to see why it is there.`;
  }

  /** The worker counts all pairs of the corpus at this step. */
  private async askRunnersUp(): Promise<void> {
    if (this.isAsking) return;
    this.isAsking = true;
    try {
      for (let shown = -1; shown !== this.slider.valueAsNumber; ) {
        const { thread, learned } = this.trained!;
        shown = this.slider.valueAsNumber;
        const { top, tiedCount } = await thread.ask("pairs", { merges: shown, most: runnersUp });
        if (thread !== this.trained!.thread) continue;
        const groups = top.map(({ left, right, count }) => ({
          name: `${nameOf(learned, left)} + ${nameOf(learned, right)}`,
          values: [count],
          texts: [grouped(count)],
        }));
        const chart = { title: "The most frequent pairs", kind: "pair", series: ["occurrences"], groups };
        const tie =
          tiedCount < 2
            ? undefined
            : html`<p class="quiet">${grouped(tiedCount)} pairs stand equally often: the trainer's rule for ties says which one is merged first.</p>`;
        show(at("watch-pairs"), groups.length === 0 ? html`` : html`${barChart(chart)}${tie}`);
      }
    } finally {
      this.isAsking = false;
    }
  }

  private step(step: number): void {
    this.play(false);
    this.goTo(this.slider.valueAsNumber + step);
  }

  /** Plays the merges: the first ones slowly, later ones faster, so that any vocabulary takes about a minute. */
  private play(isPlaying: boolean): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const button = at("watch-play");
    button.textContent = isPlaying ? "Pause" : "Play";
    button.ariaPressed = String(isPlaying);
    if (!isPlaying) return;
    const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const most = mergeCountOf(this.trained!.learned);
    if (this.slider.valueAsNumber === most) this.goTo(0);
    const next = () => {
      const merges = this.slider.valueAsNumber;
      this.goTo(merges + (isCalm ? 1 : 1 + Math.floor(merges / 120)));
      if (this.slider.valueAsNumber === most) this.play(false);
      else this.timer = setTimeout(next, wait());
    };
    const wait = () => (isCalm ? calmMs : Math.max(60, 700 - 20 * this.slider.valueAsNumber));
    this.timer = setTimeout(next, wait());
  }
}

const nameOf = (learned: Learned, token: number) =>
  escapeBytes(bytesOfToken(learned, token, 40)).replaceAll(" ", "␣");

const counted = (places: number) => (places === 1 ? "1 place" : `${grouped(places)} places`);
