import { formatSeconds, groupDigits, formatBytes as sizeText } from "#bytes";
import { curves } from "#pages";
import { curveChart, dom, h } from "#pages/app";
import { patterns } from "#pattern";
import { byteCount } from "../joined-text.ts";
import type { Corpus, Settings } from "../playground-job.ts";
import { readHash } from "../shared-link.ts";
import { messageOf, plainField } from "./page-parts.ts";
import type { Session, Trained } from "./session.ts";

const compats = { cs336: "CS336", huggingface: "Hugging Face", rustbpe: "rustbpe" };

/** The form of a training, its progress bar, and its result. */
export class TrainView {
  private files: readonly File[] = [];
  private isBusy = false;
  private readonly text = h("textarea.mono", { id: "train-text", rows: 6, spellcheck: "false" });
  private readonly chooser = h("input", {
    id: "train-files",
    type: "file",
    multiple: true,
    onchange: () => this.take([...this.chooser.files!]),
  });
  private readonly chosen = h("span.quiet", { id: "train-chosen" });
  private readonly size = h("input", {
    id: "train-size",
    type: "number",
    min: 256,
    max: 1_000_000,
    value: 1000,
    required: true,
  });
  private readonly pattern = h(
    "select",
    { id: "train-pattern", onchange: () => this.offerRegex() },
    Object.keys(patterns).map((name) => h("option", name)),
    h("option", { value: "" }, "a regular expression …"),
  );
  private readonly regex = h("input", { id: "train-regex", ...plainField });
  private readonly special = h("input", { id: "train-special", placeholder: "<|endoftext|>", ...plainField });
  private readonly rule = h(
    "select",
    { id: "train-rule" },
    Object.entries(compats).map(([value, name]) => h("option", { value }, name)),
  );
  private readonly go = h("button.main", { id: "train-go" }, "Train");
  private readonly end = h(
    "button",
    { id: "train-cancel", type: "button", hidden: true, onclick: () => this.cancel() },
    "Cancel",
  );
  private readonly bar = h("progress", { id: "train-bar", max: 1, hidden: true, "aria-label": "Training" });
  private readonly status = h("span", { id: "train-status", role: "status" });
  private readonly warnings = h("div");
  private readonly regexLabel = h("label", { hidden: true }, "Regular expression ", this.regex);
  readonly element = dom.section(
    "train",
    "Train your own",
    "Paste a text, or drop files anywhere on the page. They stay in your browser; nothing is sent anywhere.",
    h(
      "form",
      { onsubmit: (event) => this.submit(event) },
      h("p", h("label", "Text ", this.text)),
      h("p", h("label", "or files of text ", this.chooser), " ", this.chosen),
      h(
        "p.columns.fields",
        h("label", "Size of the vocabulary ", this.size),
        h("label", "Pattern ", this.pattern),
        this.regexLabel,
        h("label", "Special tokens ", this.special),
        h("label", "Trainer's rule ", this.rule),
      ),
      h("p.row", this.go, this.end, this.bar, this.status),
      this.warnings,
    ),
  );
  private readonly chart = h("div", { id: "sizes-chart" });
  readonly sizes = dom.section(
    "sizes",
    "What a larger vocabulary changes",
    "Each merge adds a token, and the same corpus needs fewer, longer ones: a model reads it in fewer steps. The first merges help most; later ones are for rarer words, and each token is one more that a model has to learn.",
    this.chart,
  );

  constructor(
    private readonly session: Session,
    text: string,
  ) {
    for (const kind of ["dragover", "drop"] as const) {
      document.addEventListener(kind, (event) => {
        event.preventDefault();
        const dropped = [...(event.dataTransfer?.files ?? [])];
        if (kind === "drop" && dropped.length > 0 && !(event.target as Element).closest("#compare"))
          this.take(dropped);
      });
    }
    session.onTrained((trained) => this.showResult(trained));
    // The settings in the link by which the page was opened.
    const asked = readHash(location.hash);
    this.text.value = asked.text ?? text;
    if (asked.vocabSize !== undefined) this.size.value = String(asked.vocabSize);
    if (asked.pattern !== undefined) this.setPattern(asked.pattern);
    if (asked.specialTokens !== undefined) this.special.value = asked.specialTokens.join(" ");
    if (asked.compat !== undefined) this.rule.value = asked.compat;
  }

  private submit(event: Event): void {
    event.preventDefault();
    if (!this.isBusy) void this.train();
  }

  /** Selects a pattern in the list, or enters it as a regular expression. */
  private setPattern(pattern: string): void {
    const isNamed = pattern in patterns;
    this.pattern.value = isNamed ? pattern : "";
    this.regex.value = isNamed ? "" : pattern;
    this.offerRegex();
  }

  private offerRegex(): void {
    this.regexLabel.hidden = this.pattern.value !== "";
  }

  private take(files: readonly File[]): void {
    this.files = files;
    this.text.value = "";
    const size = files.reduce((sum, file) => sum + file.size, 0);
    this.chosen.textContent =
      files.length === 0 ? "" : `${files.map(({ name }) => name).join(", ")}: ${sizeText(size)}`;
  }

  private get corpus(): Corpus {
    return { text: this.text.value, files: this.text.value === "" ? this.files : [] };
  }

  private get settings(): Settings {
    return {
      vocabSize: Number(this.size.value),
      pattern: this.pattern.value === "" ? this.regex.value : this.pattern.value,
      specialTokens: this.special.value.split(/\s+/).filter((token) => token !== ""),
      compat: this.rule.value as Settings["compat"],
    };
  }

  async train(): Promise<void> {
    this.setBusy(true);
    try {
      await this.session.train(this.corpus, this.settings, ({ stage, done, total }) => {
        this.bar.value = ((stage === "merging" ? 1 : 0) + done / (total ?? done)) / 2;
        this.status.textContent = stage === "merging" ? `${groupDigits(done)} merges` : "counting words";
      });
    } catch (error) {
      dom.replace(this.status, h("span.wrong", messageOf(error)));
      this.setBusy(false);
    }
  }

  private cancel(): void {
    this.session.cancel();
    this.status.textContent = "Cancelled. The previous vocabulary is still shown.";
    this.setBusy(false);
  }

  private setBusy(isBusy: boolean): void {
    this.isBusy = isBusy;
    this.bar.hidden = !isBusy;
    // A button that has the focus would lose it if it were disabled or hidden.
    if (document.activeElement === this.end) this.go.focus();
    this.end.hidden = !isBusy;
    this.go.ariaDisabled = isBusy ? "true" : null;
    if (isBusy) this.bar.value = 0;
  }

  private showResult({ statistics, warnings, learned }: Trained): void {
    this.setBusy(false);
    const { byteCount: size, countMs, mergeMs, mergeCount, distinctWordCount } = statistics;
    const time = formatSeconds((countMs + mergeMs) / 1000);
    this.status.textContent = `Learned ${groupDigits(mergeCount)} merges from ${sizeText(size)}, which have ${groupDigits(distinctWordCount)} distinct words, in ${time}.`;
    dom.replace(
      this.warnings,
      warnings.map((warning) => h("p.caution", warning)),
    );
    const { tokensAfter, specialTokens } = learned;
    const compression = { baseSize: byteCount + specialTokens.length, tokensAfter };
    dom.replace(this.chart, tokensAfter[0]! > 0 && curveChart(curves.of(compression), "the text"));
  }
}
