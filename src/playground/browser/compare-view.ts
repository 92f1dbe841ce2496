import { grouped } from "../../bytes/quantities.ts";
import { differingPassages } from "../../evaluation/passages.ts";
import { type ComparedPart, comparedParts, sumsByScript } from "../cut-comparison.ts";
import { keyHtml } from "../html-charts.ts";
import { type Cell, type Html, html, tableHtml } from "../html-parts.ts";
import { passageHtml } from "../html-passages.ts";
import type { CompareAnswer } from "../playground-job.ts";
import { at, messageOf, show } from "./page-parts.ts";
import type { Session } from "./session.ts";

/** Another tokenizer beside the one that was trained, on the text that is watched, or on one of the reader's. */
export class CompareView {
  private file: File | undefined;

  constructor(private readonly session: Session) {
    const chooser = at<HTMLInputElement>("compare-file");
    chooser.addEventListener("change", () => void this.take(chooser.files?.[0]));
    at("compare").addEventListener("drop", (event) => void this.take(event.dataTransfer?.files[0]));
    at("compare-text").addEventListener("change", () => void this.compare());
    at("compare-pattern").addEventListener("change", () => void this.compare());
    session.onTrained(() => void this.compare());
  }

  private take(file: File | undefined): Promise<void> {
    this.file = file ?? this.file;
    return this.compare();
  }

  private async compare(): Promise<void> {
    const { file } = this;
    const { trained } = this.session;
    if (file === undefined || trained === undefined) return;
    const own = at<HTMLTextAreaElement>("compare-text").value;
    const text = own === "" ? trained.head.bytes : new TextEncoder().encode(own);
    const pattern = at<HTMLSelectElement>("compare-pattern").value;
    try {
      const answer = await trained.thread.ask("compare", { file, name: file.name, pattern, text });
      if (file === this.file) show(at("compare-view"), answerHtml(answer, file.name, text));
    } catch (error) {
      show(at("compare-view"), html`<p class="warning">${messageOf(error)}</p>`);
    }
  }
}

function answerHtml(answer: CompareAnswer, name: string, text: Uint8Array): Html {
  if ("refusal" in answer) return html`<p class="warning">${answer.refusal}</p>`;
  const { left, right, kind } = answer;
  const parts = comparedParts(text, left, right);
  const passages = differingPassages([left, right]);
  const pairNames = html`<p class="pair-names"><span>${keyHtml(0)}above: <b>what you trained</b></span> <span>${keyHtml(1)}below: <b>${name}</b> (${kind})</span></p>`;
  return html`${pairNames}
<p>${grouped(left.length)} tokens above, ${grouped(right.length)} below, of ${grouped(text.length)} bytes.</p>
${
  passages.length === 0
    ? html`<p>Both cut this text alike.</p>`
    : html`<h3>Where they cut most differently</h3><div class="passages">${passages.map(passageHtml)}</div>`
}
<h3>By writing</h3>${partsTable(sumsByScript(parts), "writing", true)}
<details><summary>By paragraph</summary>${partsTable(parts, "paragraph", false)}</details>`;
}

function partsTable(parts: readonly ComparedPart[], kind: string, isSum: boolean): Html {
  const perToken = (bytes: number, tokens: number) => (tokens === 0 ? "–" : (bytes / tokens).toFixed(2));
  const rows = parts.map(({ name, script, byteCount, tokenCounts: [above, below] }): Cell[] => [
    name,
    ...(isSum ? [] : [script]),
    grouped(byteCount),
    grouped(above),
    grouped(below),
    perToken(byteCount, above),
    perToken(byteCount, below),
  ]);
  const head = [
    kind,
    ...(isSum ? [] : ["writing"]),
    "bytes",
    "tokens above",
    "tokens below",
    "bytes per token above",
    "bytes per token below",
  ];
  return tableHtml({ head, rows }, `By ${kind}`);
}
