import { described, typedArrayClass } from "../bytes/schema.ts";
import { UserError } from "../errors.ts";
import type { Input } from "./input.ts";
import { type ByteStream, openBy } from "./text-stream.ts";

/** Texts in memory, or made as they are asked for; each is a document of its own. */
export type Texts = Iterable<string> | AsyncIterable<string>;

/**
 * An input of texts that a caller of the library gives. It is read once and in order, like a stream; inside the program
 * each text is a line of JSON.
 *
 * @internal
 */
export function inputOfTexts(texts: Texts, signal?: AbortSignal): Input {
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
  openBy(input, () => new TextLines(texts, signal));
  return input;
}

class TextLines implements ByteStream {
  inputBytes = 0;
  private readonly texts: Iterator<unknown> | AsyncIterator<unknown>;
  private readonly encoder = new TextEncoder();
  /** Rejects what is waited for. */
  private fail = (_reason: unknown) => {};
  private stopListening = () => {};
  /** The line at hand, and how much of it was read. */
  private line = new Uint8Array(0);
  private pos = 0;
  private textCount = 0;
  private hasEnded = false;

  constructor(
    texts: Texts,
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
      if (this.pos === this.line.length && !(await this.advance())) break;
      const part = this.line.subarray(this.pos, this.pos + into.length - end);
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

  /** Makes the next text the line at hand; false at the end. */
  private async advance(): Promise<boolean> {
    if (this.hasEnded) return false;
    this.signal?.throwIfAborted();
    const next = this.texts.next();
    // Not a race with a promise of the signal: that would remember each of a billion texts.
    const { done, value } = await new Promise<IteratorResult<unknown>>((resolve, reject) => {
      this.fail = reject;
      Promise.resolve(next).then(resolve, reject);
    });
    if (done) {
      this.hasEnded = true;
      return false;
    }
    this.line = this.encoder.encode(`{"text":${JSON.stringify(this.checked(value))}}\n`);
    this.pos = 0;
    this.textCount++;
    return true;
  }

  private checked(text: unknown): string {
    // Half a surrogate pair becomes U+FFFD, as it does in `encode`.
    if (typeof text === "string") return text.toWellFormed();
    const isBytes = typedArrayClass(text) === "Uint8Array";
    throw new UserError(
      `texts: text ${this.textCount} is ${isBytes ? "bytes" : described(text)}: it must be a string`,
      {
        hint: isBytes
          ? "a stream gives pieces of a file, not documents: name the file (files), or give its lines"
          : "each text is a document; records have to be made texts first",
      },
    );
  }
}
