import { resolvePattern } from "../../pattern/pattern.ts";
import { type Html, html } from "../../report/html.ts";
import { type Exercise, exercisesOf } from "../exercise-list.ts";
import { at, messageOf, show } from "./page-parts.ts";
import type { Session } from "./session.ts";

/** Questions on the reader's text. Each answer is checked when it is given, and shown only if it is asked for. */
export class ExerciseView {
  private exercises: readonly Exercise[] = [];
  private pattern = "gpt2";
  private head = "";
  private readonly text = at<HTMLTextAreaElement>("exercise-text");

  constructor(session: Session) {
    session.onTrained(({ head, settings }) => {
      this.pattern = settings.pattern;
      this.head = new TextDecoder().decode(head.bytes);
      this.open();
    });
    this.text.addEventListener("change", () => this.open());
    const place = at("exercise-list");
    place.addEventListener("submit", (event) => {
      event.preventDefault();
      this.check(event.target as HTMLFormElement);
    });
    place.addEventListener("click", (event) => {
      const button = (event.target as Element).closest<HTMLButtonElement>("button[data-reveal]");
      if (button !== null) this.reveal(button.form!);
    });
  }

  private open(): void {
    try {
      const text = this.text.value === "" ? this.head : this.text.value;
      this.exercises = exercisesOf(text, resolvePattern(this.pattern).compiled);
      show(at("exercise-list"), html`${this.exercises.map(exerciseHtml)}`);
    } catch (error) {
      show(at("exercise-list"), html`<p class="warning">${messageOf(error)}</p>`);
    }
  }

  private of(form: HTMLFormElement): Exercise {
    return this.exercises.find(({ id }) => id === form.dataset.exercise)!;
  }

  private check(form: HTMLFormElement): void {
    const wrong = this.of(form).check(form.querySelector("input")!.value);
    this.tell(form, wrong ?? "Right.", wrong === null);
    const right = document.querySelectorAll("#exercise-list form.right").length;
    at("exercise-score").textContent = `${right} of ${this.exercises.length} solved`;
  }

  private reveal(form: HTMLFormElement): void {
    this.tell(form, `The answer is ${this.of(form).answer}`, false);
  }

  private tell(form: HTMLFormElement, what: string, isRight: boolean): void {
    form.classList.toggle("right", isRight);
    const status = form.querySelector("output")!;
    status.textContent = what;
    status.className = isRight ? "right" : "wrong";
  }
}

const exerciseHtml = ({ id, title, question, given }: Exercise, i: number): Html =>
  html`<form class="exercise" data-exercise="${id}"><h3>${i + 1}. ${title}</h3>
<p>${question}</p>
<pre>${given.map((line, l) => html`${l > 0 ? html`<br>` : undefined}${line}`)}</pre>
<p class="answer"><label>Your answer <input name="answer" autocomplete="off" autocapitalize="off" spellcheck="false"></label>
<button>Check</button> <button type="button" data-reveal="yes">Show the answer</button></p>
<output></output></form>`;
