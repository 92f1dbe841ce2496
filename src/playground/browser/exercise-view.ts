import { dom, h } from "#pages/app";
import type { Question } from "../exercise-list.ts";
import { plainField } from "./page-parts.ts";
import type { Session, Thread } from "./session.ts";

/** Exercises on the beginning of the corpus, or on a text that the reader types. Answers are shown only on request. */
export class ExerciseView {
  private readonly text = h("textarea.mono", {
    id: "exercise-text",
    rows: 2,
    spellcheck: "false",
    placeholder: "the text that was trained on",
    onchange: () => void this.open(),
  });
  private readonly score = h("p.quiet", { id: "exercise-score", role: "status" });
  private readonly list = h("div.columns", { id: "exercise-list" });
  readonly element = dom.section(
    "exercises",
    "Exercises",
    "A tokenizer in small steps, on the text that you trained on or on your own. Answers are checked, and shown only if you ask.",
    h("p", h("label", "Your own text ", this.text)),
    this.score,
    this.list,
  );

  constructor(private readonly session: Session) {
    session.onTrained(() => void this.open());
  }

  private async open(): Promise<void> {
    const { head, thread } = this.session.trained!;
    const text = this.text.value === "" ? new TextDecoder().decode(head.bytes) : this.text.value;
    dom.replace(this.list, null);
    this.score.textContent = "";
    const questions = await thread.ask("exercises", text);
    if (thread !== this.session.trained!.thread) return;
    dom.replace(
      this.list,
      questions.map((question, i) => this.form(thread, question, i)),
    );
  }

  /** Returns the form of a question. `thread` is the worker that knows the answer. */
  private form(thread: Thread, { id, title, question, given }: Question, i: number): dom.Child {
    const input = h("input", { name: "answer", ...plainField });
    const output = h("output");
    const tell = (what: string, kind: "right" | "wrong" | "told") => {
      form.classList.toggle("right", kind === "right");
      output.textContent = what;
      output.className = kind;
    };
    const check = async (event: Event) => {
      event.preventDefault();
      const wrong = await thread.ask("check", { id, typed: input.value });
      tell(wrong ?? "Right.", wrong === null ? "right" : "wrong");
      const right = this.list.querySelectorAll("form.right").length;
      this.score.textContent = `${right} of ${this.list.childElementCount} solved`;
    };
    const reveal = async () => tell(`The answer is ${await thread.ask("answer", id)}`, "told");
    const form = h(
      "form.exercise",
      { onsubmit: (event) => void check(event) },
      h("h3", `${i + 1}. ${title}`),
      h("p", question),
      h(
        "pre.mono",
        given.map((line, l) => [l > 0 && h("br"), line]),
      ),
      h(
        "p.row.answer",
        h("label", "Your answer ", input),
        h("button", "Check"),
        h("button", { type: "button", onclick: () => void reveal() }, "Show the answer"),
      ),
      output,
    );
    return form;
  }
}
