import { describeValue, typedArrayClass, utf8 } from "#bytes";
import { scaled, UserError } from "#runtime";
import type { ByteStream } from "./byte-stream.ts";
import type { Input } from "./input.ts";
import { registerOpener } from "./text-stream.ts";

/** Texts in memory, or texts generated on demand. Each one is a document. */
export type Texts = Iterable<string> | AsyncIterable<string>;

/** When and how to yield to the event loop. */
type EventLoopYields = { readonly isDue: boolean; readonly turn: () => Promise<void> };

/**
 * Makes an input of texts that a caller of the library passes. The input is read once and in order, like a stream.
 * Internally, each text is a line of JSON.
 *
 * @internal
 */
export function inputOfTexts(texts: Texts, turns: EventLoopYields, signal?: AbortSignal): Input {
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
  registerOpener(input, () => new TextLines(texts, turns, signal));
  return input;
}

class TextLines implements ByteStream {
  inputBytes = 0;
  private readonly texts: Iterator<unknown> | AsyncIterator<unknown>;
  private readonly encoder = new TextEncoder();
  /** Rejects the promise for the next text, if one is pending. */
  private fail = (_reason: unknown) => {};
  private stopListening = () => {};
  /** The current text. Its line is made in parts. */
  private text = "";
  /** How many UTF-16 code units of the text were put into parts; `notBegun` before the first part. */
  private taken = 0;
  private part: Uint8Array = new Uint8Array(0);
  /** How many bytes of the part were read. */
  private pos = 0;
  private textCount = 0;
  private hasEnded = false;

  constructor(
    texts: Texts,
    private readonly turns: EventLoopYields,
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
        // An iterator over texts in memory never yields to the event loop, so this loop does. Otherwise timers and the
        // handlers of signals such as SIGINT would wait.
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
    // Lets a generator clean up. What `return` gives is ignored, because the run already has a result or an error.
    try {
      void Promise.resolve(this.texts.return?.()).catch(() => {});
    } catch {}
  }

  /**
   * Takes the next text, and returns false if there is none. Returns a promise only if the iterator does, because
   * promises for a billion short texts would be slow.
   */
  private takeText(): boolean | Promise<boolean> {
    if (this.hasEnded) return false;
    const next = this.texts.next();
    return "then" in next ? this.orAbort(next).then((step) => this.take(step)) : this.take(next);
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

  /**
   * Waits for the next text, or rejects once the signal aborts. This does not use `Promise.race` with one promise for
   * the abort, because that promise would keep callbacks for every text.
   */
  private orAbort<T>(next: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.fail = reject;
      Promise.resolve(next).then(resolve, reject);
    });
  }

  /** Makes the next part of the text's line. */
  private nextPart(): Uint8Array {
    const { text, taken } = this;
    const start = Math.max(0, taken);
    const end = utf8.skipSplitPair(text, start + partCharacters);
    this.taken = end;
    // Half a surrogate pair becomes U+FFFD, as in `Tokenizer.encode`.
    const json = JSON.stringify(text.slice(start, end).toWellFormed()).slice(1, -1);
    return this.encoder.encode(
      `${taken === notBegun ? '{"text":"' : ""}${json}${end === text.length ? '"}\n' : ""}`,
    );
  }

  private checked(text: unknown): string {
    if (typeof text === "string") return text;
    const isBytes = typedArrayClass(text) === "Uint8Array";
    throw new UserError(
      `texts[${this.textCount}] is ${isBytes ? "bytes" : describeValue(text)}, but must be a string`,
      {
        hint: isBytes
          ? "decode each document with TextDecoder; to train on a file, pass its path as the option files, not its stream"
          : "each text is a document: pass only the text of a record, e.g. record.text",
      },
    );
  }
}

/**
 * The value of `taken` before the first part of a line is made. It is not 0, because 0 would mean that the line of an
 * empty text is complete.
 */
const notBegun = -1;
/**
 * The size of a part of a line, in UTF-16 code units of the text. It is small, so that a text of hundreds of megabytes
 * is converted in steps.
 */
const partCharacters = scaled(1 << 16, 5);
