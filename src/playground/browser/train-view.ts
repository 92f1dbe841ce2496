import { grouped, seconds, bytes as sizeText } from "../../bytes/quantities.ts";
import { linearAxis } from "../../pages/axes.ts";
import { type Line, lineChart } from "../html-charts.ts";
import { type Html, html } from "../html-parts.ts";
import { byteCount } from "../joined-text.ts";
import type { Corpus, Settings } from "../playground-job.ts";
import { type AskedSettings, readHash } from "../shared-link.ts";
import { at, messageOf, show } from "./page-parts.ts";
import type { Session, Trained } from "./session.ts";

/** The form of a training, its bar, and what came of it. */
export class TrainView {
  private files: readonly File[] = [];
  private isBusy = false;
  private readonly text = at<HTMLTextAreaElement>("train-text");
  private readonly bar = at<HTMLProgressElement>("train-bar");
  private readonly status = at("train-status");

  constructor(private readonly session: Session) {
    const form = at<HTMLFormElement>("train-form");
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (!this.isBusy) void this.train();
    });
    at("train-cancel").addEventListener("click", () => this.cancel());
    const chooser = at<HTMLInputElement>("train-files");
    chooser.addEventListener("change", () => this.take([...chooser.files!]));
    for (const kind of ["dragover", "drop"] as const) {
      document.addEventListener(kind, (event) => {
        event.preventDefault();
        const dropped = [...(event.dataTransfer?.files ?? [])];
        if (kind === "drop" && dropped.length > 0 && !(event.target as Element).closest("#compare"))
          this.take(dropped);
      });
    }
    session.onTrained((trained) => this.showResult(trained));
    const pattern = at<HTMLSelectElement>("train-pattern");
    const regex = at("train-regex").parentElement!;
    pattern.addEventListener("change", () => regex.toggleAttribute("hidden", pattern.value !== ""));
    this.fill(readHash(location.hash));
  }

  /** Settings that a link holds. */
  private fill({ text, vocabSize, pattern, specialTokens, compat }: Partial<AskedSettings>): void {
    if (text !== undefined) this.text.value = text;
    if (vocabSize !== undefined) at<HTMLInputElement>("train-size").value = String(vocabSize);
    if (pattern !== undefined) setPattern(pattern);
    if (specialTokens !== undefined) at<HTMLInputElement>("train-special").value = specialTokens.join(" ");
    if (compat !== undefined) at<HTMLSelectElement>("train-rule").value = compat;
  }

  private take(files: readonly File[]): void {
    this.files = files;
    this.text.value = "";
    const size = files.reduce((sum, file) => sum + file.size, 0);
    at("train-chosen").textContent =
      files.length === 0 ? "" : `${files.map(({ name }) => name).join(", ")}: ${sizeText(size)}`;
  }

  get corpus(): Corpus {
    return { text: this.text.value, files: this.text.value === "" ? this.files : [] };
  }

  async train(): Promise<void> {
    this.setBusy(true);
    try {
      await this.session.train(this.corpus, askedSettings(), ({ stage, done, total }) => {
        this.bar.value = ((stage === "merging" ? 1 : 0) + done / (total ?? done)) / 2;
        this.status.textContent = stage === "merging" ? `${grouped(done)} merges` : "counting words";
      });
    } catch (error) {
      show(this.status, html`<span class="wrong">${messageOf(error)}</span>`);
      this.setBusy(false);
    }
  }

  private cancel(): void {
    this.session.cancel();
    this.status.textContent = "Ended. The vocabulary from before is still here.";
    this.setBusy(false);
  }

  private setBusy(isBusy: boolean): void {
    this.isBusy = isBusy;
    this.bar.hidden = !isBusy;
    const [go, cancel] = [at("train-go"), at("train-cancel")];
    // A button that is disabled or hidden would lose the focus.
    if (document.activeElement === cancel) go.focus();
    cancel.hidden = !isBusy;
    go.ariaDisabled = isBusy ? "true" : null;
    if (isBusy) this.bar.value = 0;
  }

  private showResult({ statistics, warnings, learned }: Trained): void {
    this.setBusy(false);
    const { byteCount: size, countMs, mergeMs, mergeCount, distinctWordCount } = statistics;
    const time = seconds((countMs + mergeMs) / 1000);
    this.status.textContent = `Learned ${grouped(mergeCount)} merges from ${sizeText(size)}, which have ${grouped(distinctWordCount)} distinct words, in ${time}.`;
    show(at("train-warnings"), html`${warnings.map((warning) => html`<p class="warning">${warning}</p>`)}`);
    show(at("sizes-chart"), sizeChart(learned.tokensAfter, learned.specialTokens.length));
  }
}

/** A name of the list; or, behind "other", a regular expression. */
export function setPattern(pattern: string): void {
  const select = at<HTMLSelectElement>("train-pattern");
  const isNamed = [...select.options].some(({ value }) => value === pattern);
  select.value = isNamed ? pattern : "";
  at<HTMLInputElement>("train-regex").value = isNamed ? "" : pattern;
  select.dispatchEvent(new Event("change"));
}

export function askedSettings(): Settings {
  const named = at<HTMLSelectElement>("train-pattern").value;
  return {
    vocabSize: Number(at<HTMLInputElement>("train-size").value),
    pattern: named === "" ? at<HTMLInputElement>("train-regex").value : named,
    specialTokens: at<HTMLInputElement>("train-special")
      .value.split(/\s+/)
      .filter((token) => token !== ""),
    compat: at<HTMLSelectElement>("train-rule").value as Settings["compat"],
  };
}

const chartPoints = 48;

/** Bytes per token of the corpus by the size of the vocabulary. */
function sizeChart(tokensAfter: Float64Array, specialCount: number): Html {
  const last = tokensAfter.length - 1;
  const steps = new Set(
    Array.from({ length: chartPoints + 1 }, (_, i) => Math.round((last * i) / chartPoints)),
  );
  const points = [...steps].map((merges) => {
    const [x, y] = [byteCount + specialCount + merges, tokensAfter[0]! / tokensAfter[merges]!];
    return { x, y, label: `${grouped(x)} tokens: ${y.toFixed(2)} bytes per token` };
  });
  const line: Line = { name: "corpus", colour: 0, points };
  const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)];
  return lineChart({
    title: "Bytes per token by the size of the vocabulary",
    x: linearAxis("size of the vocabulary", xs),
    y: linearAxis("bytes per token", ys, 1),
    lines: [line],
  });
}
