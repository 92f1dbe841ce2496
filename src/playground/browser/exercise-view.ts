import type { Question } from "../exercise-list.ts";
import { type Html, html } from "../html-parts.ts";
import { at, show } from "./page-parts.ts";
import type { Session, Thread } from "./session.ts";

/** Questions on the reader's text. Each answer is checked when it is given, and shown only if it is asked for. */
export class ExerciseView {
  private readonly text = at<HTMLTextAreaElement>("exercise-text");
  /** The worker that knows the answers to what is shown. */
  private thread: Thread | undefined;

  constructor(private readonly session: Session) {
    session.onTrained(() => void this.open());
    this.text.addEventListener("change", () => void this.open());
    const place = at("exercise-list");
    place.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.check(event.target as HTMLFormElement);
    });
    place.addEventListener("click", (event) => {
      const button = (event.target as Element).closest<HTMLButtonElement>("button[data-reveal]");
      if (button !== null) void this.reveal(button.form!);
    });
  }

  private async open(): Promise<void> {
    const { head, thread } = this.session.trained!;
    const text = this.text.value === "" ? new TextDecoder().decode(head.bytes) : this.text.value;
    show(at("exercise-list"), html``);
    at("exercise-score").textContent = "";
    const questions = await thread.ask("exercises", text);
    if (thread !== this.session.trained!.thread) return;
    this.thread = thread;
    show(at("exercise-list"), html`${questions.map(exerciseHtml)}`);
  }

  private async check(form: HTMLFormElement): Promise<void> {
    const typed = form.querySelector("input")!.value;
    const wrong = await this.thread!.ask("check", { id: form.dataset.exercise!, typed });
    tell(form, wrong ?? "Right.", wrong === null ? "right" : "wrong");
    const forms = [...document.querySelectorAll("#exercise-list form")];
    const right = forms.filter((one) => one.classList.contains("right")).length;
    at("exercise-score").textContent = `${right} of ${forms.length} solved`;
  }

  private async reveal(form: HTMLFormElement): Promise<void> {
    const answer = await this.thread!.ask("answer", form.dataset.exercise!);
    tell(form, `The answer is ${answer}`, "told");
  }
}

function tell(form: HTMLFormElement, what: string, kind: "right" | "wrong" | "told"): void {
  form.classList.toggle("right", kind === "right");
  const status = form.querySelector("output")!;
  status.textContent = what;
  status.className = kind;
}

const exerciseHtml = ({ id, title, question, given }: Question, i: number): Html =>
  html`<form class="exercise" data-exercise="${id}"><h3>${i + 1}. ${title}</h3>
<p>${question}</p>
<pre>${given.map((line, l) => html`${l > 0 ? html`<br>` : undefined}${line}`)}</pre>
<p class="answer"><label>Your answer <input name="answer" autocomplete="off" autocapitalize="off" spellcheck="false"></label>
<button>Check</button> <button type="button" data-reveal="yes">Show the answer</button></p>
<output></output></form>`;
