import { ascii } from "#bytes";
import { kernels, messages, phrase, UserError } from "#runtime";
import { makeFollowing } from "./window-of-text.ts";

/** A token that is searched for in a text. `flags` are those of src/kernel/token-search.ts. */
export type TokenToFind = { readonly bytes: Uint8Array; readonly id: number; readonly flags?: number };

/**
 * Which sections get a space before them, if `addsSpace` is set. Without a rule, each section that does not begin with
 * a space gets one.
 *
 *   "every section"           each section, even one that begins with a space (HF's Prepend)
 *   "sections without mark"   each section that begins neither with a space nor with a mark, U+2581 (HF's Metaspace
 *                             "always")
 *   "start without mark"      the section at the start of the text, if it begins neither with a space nor with a mark
 *                             (HF's Metaspace "first")
 *   "start"                   the start of the text, even if it begins with a space or an added token (SentencePiece)
 */
export type PrefixRule = "every section" | "sections without mark" | "start without mark" | "start";

/** How a text is cut into sections (src/kernel/text/description.ts). */
export type SectionSettings = {
  /** The tokens that are searched for in the given text. */
  readonly early?: readonly TokenToFind[];
  /** The tokens that are searched for after normalization. */
  readonly late?: readonly TokenToFind[];
  /** The first and the last code point of each range of word characters. */
  readonly words?: readonly number[];
  /** The steps of the normalization, as indices of `stepNames` (normalization.ts). */
  readonly steps?: readonly number[];
  readonly addsSpace?: boolean;
  readonly prefixRule?: PrefixRule;
  readonly isLinewise?: boolean;
};

/** Flags of src/kernel/text/description.ts. */
const prefixFlags: Readonly<Record<PrefixRule, number>> = {
  "every section": 4,
  "sections without mark": 16,
  "start without mark": 8 | 16,
  start: 4 | 8,
};

/** Returns settings in the kernel's form, without empty tokens. If tokens are equal, the last one counts. */
export function describeSections(settings: SectionSettings): Uint8Array<ArrayBuffer> {
  const { early = [], late = [], words = [], steps = [], addsSpace = false, isLinewise = false } = settings;
  const { prefixRule } = settings;
  const [first, second] = [early, late].map((tokens) => tokens.filter(({ bytes }) => bytes.length > 0));
  const tokens = [...first!, ...second!];
  const contentBytes = tokens.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const flags =
    Number(addsSpace) | (2 * Number(isLinewise)) | (prefixRule === undefined ? 0 : prefixFlags[prefixRule]);
  const head = [first!.length, second!.length, contentBytes, words.length / 2, steps.length, flags];
  const numbers = new Uint32Array(head.length + 4 * tokens.length + words.length);
  numbers.set(head);
  const described = new Uint8Array(numbers.byteLength + contentBytes + steps.length);
  let content = 0;
  for (const [i, { bytes, id, flags = 0 }] of tokens.entries()) {
    numbers.set([content, bytes.length, id, flags], head.length + 4 * i);
    described.set(bytes, numbers.byteLength + content);
    content += bytes.length;
  }
  numbers.set(words, head.length + 4 * tokens.length);
  described.set(new Uint8Array(numbers.buffer));
  described.set(steps, numbers.byteLength + contentBytes);
  return described;
}

/** Receives a text as sections (the text between two added tokens), and the added tokens between them. */
export interface TextSink {
  /** Takes the next bytes of the section; the caller may overwrite them afterwards. */
  push(bytes: Uint8Array, start: number, end: number): void;
  /**
   * Ends the section or, with `following`, only its part before a safe cut; another call or thread processes the rest.
   * `following` has the first bytes of the rest, normalized: the scanner needs them to decide where the last pretoken
   * of the part ends.
   */
  end(following?: Uint8Array): void;
  /**
   * Takes the added token between two sections: bytes [start, end) of `bytes`. They include the white space before the
   * token if the token consumes it.
   */
  token(id: number, bytes: Uint8Array, start: number, end: number): void;
  /** Extends the last token by this white space, which follows it. */
  strip(bytes: Uint8Array, start: number, end: number): void;
  /**
   * Takes the space that is put before the section, or before a line of it. If a sink has no such method, the space is
   * pushed.
   */
  space?(bytes: Uint8Array): void;
  /**
   * Takes a change: normalization replaced bytes [start, end) of the text by `newSize` others. Changes are reported if
   * the caller asked for them (`notesChanges`), or if the text has segments and tokens are searched for after
   * normalization.
   */
  change?(start: number, end: number, newSize: number): void;
}

/** The maximum number of bytes that the kernel processes in one call. */
const pieceBytes = 1 << 16;
const eventWords = 4;

/** Cuts texts that arrive in pieces into sections: the JavaScript side of src/kernel/text/sections.ts. */
export class TextSections {
  /** @internal */
  readonly kernel: kernels.TextKernel;
  private memory = new Uint8Array(0);
  private numbers = new Uint32Array(0);

  constructor(settings: SectionSettings) {
    const description = describeSections(settings);
    this.kernel = kernels.createForText();
    const { exports } = this.kernel;
    const address = exports.beginSections(description.length) >>> 0;
    this.lookAtMemory();
    if (address !== 0) this.memory.set(description, address);
    if (address === 0 || exports.useSections(description.length) !== 1) throw noMemoryFor(0);
  }

  /**
   * Begins a text, and discards the previous one. `specialTokensAsText` applies to the first segment. With `continues`,
   * the text is the rest of a text from a safe cut on.
   */
  open(specialTokensAsText: boolean, notesChanges = false, hasSegments = false, continues = false): void {
    const flags = [specialTokensAsText, notesChanges, hasSegments, continues];
    this.kernel.exports.openText(flags.reduce((bits, flag, i) => bits | (Number(flag) << i), 0));
  }

  /** Ends a segment of the text, and begins the next one, to which `specialTokensAsText` applies. */
  endSegment(specialTokensAsText: boolean): void {
    if (this.kernel.exports.endSegment(Number(specialTokensAsText)) === 0) throw this.noMemory();
  }

  /**
   * Returns the normalized form of `text`, the first bytes after a safe cut. The scanner needs them to decide where the
   * last pretoken before the cut ends. The result is valid until the next call, which must be `open`.
   */
  following(text: Uint8Array): Uint8Array {
    const made = makeFollowing(this.kernel, text);
    if (made === undefined) throw this.noMemory();
    return made;
  }

  /** The number of bytes that cannot be passed to the sink before more text arrives. */
  get pendingBytes(): number {
    return this.kernel.exports.waitingBytes() >>> 0;
  }

  /**
   * The maximum memory in bytes that processing the pending bytes can take. Bytes that wait for their normal form count
   * 16 times, because sorting a run of combining marks takes that much memory.
   */
  get pendingNeed(): number {
    return this.kernel.exports.waitingNeed();
  }

  /** Processes the next bytes of a text, and passes all that is final to the sink. */
  push(bytes: Uint8Array, start: number, end: number, sink: TextSink): void {
    for (let pos = start; pos < end; pos += pieceBytes)
      this.take(bytes, pos, Math.min(end, pos + pieceBytes), 0, sink);
  }

  /**
   * Ends the text; another may follow. With `continues`, the text ends at a safe cut inside a section. The kernel does
   * not end this section; instead, the caller calls the sink's `end` with the bytes after the cut.
   */
  end(sink: TextSink, continues = false): void {
    this.take(this.memory, 0, 0, continues ? 2 : 1, sink);
  }

  /** Processes a whole text, or the rest of one, and ends it. */
  pushText(bytes: Uint8Array, start: number, end: number, sink: TextSink): void {
    let pos = start;
    for (; end - pos > pieceBytes; pos += pieceBytes) this.take(bytes, pos, pos + pieceBytes, 0, sink);
    this.take(bytes, pos, end, 1, sink);
  }

  private take(bytes: Uint8Array, start: number, end: number, ends: number, sink: TextSink): void {
    const { exports } = this.kernel;
    const address = exports.pieceAddress(end - start) >>> 0;
    if (address === 0) throw this.noMemory();
    this.lookAtMemory();
    const { memory } = this;
    if (end - start < 64) for (let i = 0; i < end - start; i++) memory[address + i] = bytes[start + i]!;
    else memory.set(bytes.subarray(start, end), address);
    const count = exports.takePiece(end - start, ends);
    if (count < 0) throw this.noMemory();
    if (count > 0) this.giveEvents(count, sink);
  }

  private giveEvents(count: number, sink: TextSink): void {
    this.lookAtMemory();
    const { memory, numbers } = this;
    const { exports } = this.kernel;
    const base = exports.sectionBytes() >>> 0;
    const first = (exports.eventsAddress() >>> 0) / 4;
    for (let at = first; at < first + eventWords * count; at += eventWords) {
      const [kind, a, b, c] = [numbers[at]!, numbers[at + 1]!, numbers[at + 2]!, numbers[at + 3]!];
      if (kind === 0) sink.push(memory, base + a, base + a + b);
      else if (kind === 1) sink.end();
      else if (kind === 2) sink.token(a, memory, c, c + b);
      else if (kind === 3) sink.strip(memory, b, b + a);
      else if (kind === 4 && sink.space !== undefined) sink.space(spaceBytes);
      else if (kind === 4) sink.push(spaceBytes, 0, 1);
      else sink.change?.(a, b, c);
    }
  }

  /** Updates the views of the memory: when the memory grows, it gets a new buffer. */
  private lookAtMemory(): void {
    const { buffer } = this.kernel.memory;
    if (this.memory.buffer === buffer) return;
    this.memory = new Uint8Array(buffer);
    this.numbers = new Uint32Array(buffer);
  }

  private noMemory(): UserError {
    return noMemoryFor(this.pendingBytes);
  }
}

/**
 * Returns the error for a kernel whose memory cannot grow. If few bytes are pending, the tables of tokens and
 * normalization did not fit; otherwise a long run of pending bytes did not.
 */
function noMemoryFor(pendingBytes: number): UserError {
  const [what, remedy] =
    pendingBytes < pieceBytes
      ? ["the search for added tokens and the normalization of texts", ""]
      : [
          `a run of ${Math.ceil(pendingBytes / 2 ** 20)} MB of combining marks or of white space`,
          "shorten this run in the text, or ",
        ];
  return new UserError(`not enough memory for ${what}`, {
    kind: "memory",
    hint: phrase`${remedy}free memory on this machine${messages.orFewerWorkers}`,
  });
}

const spaceBytes = Uint8Array.of(ascii.space);
