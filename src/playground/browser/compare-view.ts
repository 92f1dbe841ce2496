import { groupDigits } from "#bytes";
import { dataTables, dom, h, stackedExcerpts } from "#pages/app";
import { patterns } from "#pattern";
import type { ScriptCounts } from "../cut-comparison.ts";
import type { CompareAnswer } from "../playground-job.ts";
import { messageOf } from "./page-parts.ts";
import type { Session } from "./session.ts";

/** Compares the trained tokenizer with another, on the beginning of the corpus or on a text that the reader types. */
export class CompareView {
  private file: File | undefined;
  private readonly chooser = h("input", {
    id: "compare-file",
    type: "file",
    onchange: () => void this.take(this.chooser.files?.[0]),
  });
  private readonly pattern = h(
    "select",
    { id: "compare-pattern", onchange: () => void this.compare() },
    h("option", { value: "" }, "of the file, if it is a published one"),
    Object.keys(patterns).map((name) => h("option", name)),
  );
  private readonly text = h("textarea.mono", {
    id: "compare-text",
    rows: 2,
    spellcheck: "false",
    placeholder: "the beginning of what was trained on",
    onchange: () => void this.compare(),
  });
  private readonly view = h("div", { id: "compare-view" });
  readonly element = dom.section(
    "compare",
    "Compare with another tokenizer",
    "Drop a tokenizer.json here, or a rank file (tiktoken). The text is cut by both.",
    h("p.columns.fields", h("label", "File ", this.chooser), h("label", "Pattern of ranks ", this.pattern)),
    h("p", h("label", "Text ", this.text)),
    this.view,
  );

  constructor(private readonly session: Session) {
    this.element.addEventListener("drop", (event) => void this.take(event.dataTransfer?.files[0]));
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
    const typed = this.text.value;
    const text = typed === "" ? trained.head.bytes : new TextEncoder().encode(typed);
    try {
      const request = { file, name: file.name, pattern: this.pattern.value, text };
      const answer = await trained.thread.ask("compare", request);
      if (file === this.file && trained === this.session.trained)
        dom.replace(this.view, answered(answer, file.name));
    } catch (error) {
      dom.replace(this.view, h("p.caution", messageOf(error)));
    }
  }
}

function answered(answer: CompareAnswer, name: string): dom.Child {
  if ("refusal" in answer) return h("p.caution", answer.refusal);
  const { excerpts, scripts, kind } = answer;
  const sum = (of: (row: ScriptCounts) => number) => scripts.reduce((total, row) => total + of(row), 0);
  const perToken =
    (t: 0 | 1) =>
    ({ byteCount, tokenCounts }: ScriptCounts) =>
      tokenCounts[t] === 0 ? null : byteCount / tokenCounts[t];
  const [above, below] = [sum(({ tokenCounts }) => tokenCounts[0]), sum(({ tokenCounts }) => tokenCounts[1])];
  const digits = (value: number) => value.toFixed(2);
  return [
    h(
      "p",
      `${groupDigits(above)} tokens above, ${groupDigits(below)} below, of ${groupDigits(sum(({ byteCount }) => byteCount))} bytes.`,
    ),
    excerpts.length === 0
      ? h("p", "Both cut this text alike.")
      : stackedExcerpts(["what you trained", `${name} (${kind})`], excerpts, [0, 1]),
    h("h3", "By script"),
    dataTables.of<ScriptCounts>({
      label: "By script",
      columns: [
        { head: "script", cell: ({ script }) => script },
        dataTables.numbers("bytes", ({ byteCount }) => byteCount),
        dataTables.numbers("tokens above", ({ tokenCounts }) => tokenCounts[0]),
        dataTables.numbers("tokens below", ({ tokenCounts }) => tokenCounts[1]),
        dataTables.numbers("bytes per token above", perToken(0), digits),
        dataTables.numbers("bytes per token below", perToken(1), digits),
      ],
      rows: scripts,
    }),
  ];
}
