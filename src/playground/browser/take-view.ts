import { bytes as sizeText } from "../../bytes/quantities.ts";
import { html } from "../html-parts.ts";
import { commandOf, hashOf } from "../shared-link.ts";
import { at, messageOf, onClick, show } from "./page-parts.ts";
import type { Session, Trained } from "./session.ts";

/** What a reader takes along: files, the command that makes them, and a link. */
export class TakeView {
  private files: ReadonlyMap<string, Uint8Array> = new Map();

  constructor(session: Session) {
    session.onTrained((trained) => void this.open(trained));
    onClick(at("take-files"), "file", (name) => this.save(name));
    for (const name of ["command", "link"]) {
      at(`take-copy-${name}`).addEventListener("click", () => {
        const field = at<HTMLInputElement>(`take-${name}`);
        field.select();
        const copied = navigator.clipboard?.writeText(field.value) ?? Promise.reject();
        copied.then(
          () => (at("take-status").textContent = "Copied."),
          () => (at("take-status").textContent = "Selected: copy it with the keyboard."),
        );
      });
    }
  }

  private async open({ thread, settings, corpus }: Trained): Promise<void> {
    const names = corpus.files.map((file) => (file as File).name);
    at<HTMLInputElement>("take-command").value = commandOf(
      settings,
      names.length === 0 ? ["corpus.txt"] : names,
    );
    const hash = hashOf({ ...settings, text: corpus.text });
    at<HTMLInputElement>("take-link").value = location.href.replace(/#.*$/, "") + hash;
    try {
      this.files = new Map(await thread.ask("files", undefined as never));
    } catch (error) {
      at("take-status").textContent = messageOf(error);
      return;
    }
    // The text itself, too: the command reads it.
    if (corpus.text !== "")
      this.files = new Map([...this.files, ["corpus.txt", new TextEncoder().encode(corpus.text)]]);
    show(
      at("take-files"),
      html`${[...this.files].map(
        ([name, bytes]) =>
          html`<button type="button" data-file="${name}">${name} <span class="quiet">${sizeText(bytes.length)}</span></button> `,
      )}`,
    );
  }

  private save(name: string): void {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([this.files.get(name)! as Uint8Array<ArrayBuffer>]));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }
}
