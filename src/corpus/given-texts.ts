import { describeValue, skipSplitPair, typedArrayClass } from "#bytes";
import { scaled, UserError } from "#runtime";
import type { Input } from "./input.ts";
import { type ByteStream, openBy } from "./text-stream.ts";

/** Texts in memory, or made as they are asked for; each is a document of its own. */
export type Texts = Iterable<string> | AsyncIterable<string>;

/** When the event loop should turn, and how it does. */
type Turns = { readonly isDue: boolean; readonly turn: () => Promise<void> };

/**
 * An input of texts that a caller of the library gives. It is read once and in order, like a stream; inside the program
 * each text is a line of JSON.
 *
 * @internal
 */
export function inputOfTexts(texts: Texts, turns: Turns, signal?: AbortSignal): Input {
  const input: Input = {
    path: "texts",
    isStream: true,
    compression: "none",
    format: "jsonl",
    formatFrom: "option",
    isBinaryText: false,
    textField: "text",
    sizeBytes: 0,
    device: 0,
    inode: 0,
    modifiedMs: 0,
  };
  openBy(input, () => new TextLines(texts, turns, signal));
  return input;
}

class TextLines implements ByteStream {
  inputBytes = 0;
  private readonly texts: Iterator<unknown> | AsyncIterator<unknown>;
  private readonly encoder = new TextEncoder();
  /** Rejects what is waited for. */
  private fail = (_reason: unknown) => {};
  private stopListening = () => {};
  /** The text at hand, and how many of its characters were made a part of its line. */
  private text = "";
  private taken = 0;
  /** The part at hand, and how much of it was read. */
  private part: Uint8Array = new Uint8Array(0);
  private pos = 0;
  private textCount = 0;
  private hasEnded = false;

  constructor(
    texts: Texts,
    private readonly turns: Turns,
    private readonly signal: AbortSignal | undefined,
  ) {
    this.texts = Symbol.asyncIterator in texts ? texts[Symbol.asyncIterator]() : texts[Symbol.iterator]();
    const listener = () => this.fail(signal!.reason);
    signal?.addEventListener("abort", listener);
    this.stopListening = () => signal?.removeEventListener("abort", listener);
  }

  async read(into: Uint8Array, from: number): Promise<number> {
    let end = from;
    while (end < into.length) {
      if (this.pos === this.part.length) {
        // An iterator that has every text at once leaves no turn to timers, and so none to most signals.
        if (this.turns.isDue) await this.turns.turn();
        this.signal?.throwIfAborted();
        if (this.taken === this.text.length) {
          const hasText = this.takeText();
          if (!(typeof hasText === "boolean" ? hasText : await hasText)) break;
        }
        this.part = this.nextPart();
        this.pos = 0;
      }
      const part = this.part.subarray(this.pos, this.pos + into.length - end);
      into.set(part, end);
      end += part.length;
      this.pos += part.length;
    }
    this.inputBytes += end - from;
    return end - from;
  }

  close(): void {
    this.stopListening();
    if (this.hasEnded) return;
    this.hasEnded = true;
    // Tells a generator that it is not asked again. Its answer is ignored: the run has its result or its error already.
    try {
      void Promise.resolve(this.texts.return?.()).catch(() => {});
    } catch {}
  }

  /** Takes the next text; false at the end. A billion short texts would feel a promise for each. */
  private takeText(): boolean | Promise<boolean> {
    if (this.hasEnded) return false;
    const next = this.texts.next();
    return "then" in next ? this.unlessStopped(next).then((step) => this.take(step)) : this.take(next);
  }

  private take({ done, value }: IteratorResult<unknown>): boolean {
    if (done) {
      this.hasEnded = true;
      return false;
    }
    this.text = this.checked(value);
    this.taken = notBegun;
    this.textCount++;
    return true;
  }

  /** Not a race with a promise of the signal: that would remember each of a billion texts. */
  private unlessStopped<T>(next: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.fail = reject;
      Promise.resolve(next).then(resolve, reject);
    });
  }

  /** The next part of the text's line. */
  private nextPart(): Uint8Array {
    const { text, taken } = this;
    const start = Math.max(0, taken);
    const end = skipSplitPair(text, start + partCharacters);
    this.taken = end;
    // Half a surrogate pair becomes U+FFFD, as it does in `encode`.
    const json = JSON.stringify(text.slice(start, end).toWellFormed()).slice(1, -1);
    return this.encoder.encode(
      `${taken === notBegun ? '{"text":"' : ""}${json}${end === text.length ? '"}\n' : ""}`,
    );
  }

  private checked(text: unknown): string {
    if (typeof text === "string") return text;
    const isBytes = typedArrayClass(text) === "Uint8Array";
    throw new UserError(
      `texts: text ${this.textCount} is ${isBytes ? "bytes" : describeValue(text)}: it must be a string`,
      {
        hint: isBytes
          ? "a stream gives pieces of a file, not documents: name the file (files), or give its lines"
          : "each text is a document; records have to be made texts first",
      },
    );
  }
}

/** Of an empty text, too, a line is made. */
const notBegun = -1;
/** A text of hundreds of megabytes becomes a line part by part. */
const partCharacters = scaled(1 << 16, 5);
