import { formatBytes as sizeText } from "#bytes";
import { dom, h } from "#pages/app";
import { commandOf, hashOf } from "../shared-link.ts";
import { messageOf } from "./page-parts.ts";
import type { Session, Trained } from "./session.ts";

/** What the reader can take along: the tokenizer's files, the command that writes them, and a link to this page. */
export class TakeView {
  private readonly files = h("div.row.found", { id: "take-files" });
  private readonly command = h("input", { id: "take-command", class: "mono", readonly: true });
  private readonly link = h("input", { id: "take-link", class: "mono", readonly: true });
  private readonly status = h("p.quiet", { id: "take-status", role: "status" });
  readonly element = dom.section(
    "take",
    "Take it along",
    "The files are those of bpe train, byte for byte. Hugging Face, tiktoken and other programs read them.",
    this.files,
    this.copied("The command that makes the same ", this.command),
    this.copied("A link to this page with these settings ", this.link),
    this.status,
  );

  constructor(session: Session) {
    session.onTrained((trained) => void this.open(trained));
  }

  private copied(label: string, field: HTMLInputElement): HTMLElement {
    const copy = () => {
      field.select();
      const copied = navigator.clipboard?.writeText(field.value) ?? Promise.reject();
      copied.then(
        () => (this.status.textContent = "Copied."),
        () => (this.status.textContent = "Selected: copy it with the keyboard."),
      );
    };
    const button = h("button", { type: "button", id: `${field.id}-copy`, onclick: copy }, "Copy");
    return h("p.row.copied", h("label", label, field), button);
  }

  private async open({ thread, settings, corpus }: Trained): Promise<void> {
    const names = corpus.files.map((file) => (file as File).name);
    this.command.value = commandOf(settings, names.length === 0 ? ["corpus.txt"] : names);
    this.link.value = location.href.replace(/#.*$/, "") + hashOf({ ...settings, text: corpus.text });
    try {
      const files = await thread.ask("files", undefined as never);
      // The page also offers the text as the file corpus.txt, which the displayed command reads.
      if (corpus.text !== "") files.push(["corpus.txt", new TextEncoder().encode(corpus.text)]);
      dom.replace(this.files, files.map(fileButton));
    } catch (error) {
      this.status.textContent = messageOf(error);
    }
  }
}

function fileButton([name, bytes]: readonly [name: string, bytes: Uint8Array]): HTMLElement {
  const save = () => {
    const href = URL.createObjectURL(new Blob([bytes as Uint8Array<ArrayBuffer>]));
    h("a", { href, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(href), 10_000);
  };
  const size = h("span.quiet", sizeText(bytes.length));
  return h("button", { type: "button", "data-file": name, onclick: save }, `${name} `, size);
}
