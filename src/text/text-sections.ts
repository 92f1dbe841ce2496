import { space } from "#bytes";
import { asOption, createTextKernel, phrase, type TextKernel, UserError } from "#runtime";
import { makeFollowing } from "./window-of-text.ts";

/** A token that is looked for in a text: `flags` are those of src/kernel/token-search.ts. */
export type TokenToFind = { readonly bytes: Uint8Array; readonly id: number; readonly flags?: number };

/**
 * Where a space is put before text, as by HF's Prepend, and by its Metaspace "always" and "first", which know that U+2581
 * is a space; and by SentencePiece, also before an added token.
 */
export type PrefixRule = "every section" | "sections without mark" | "start without mark" | "start";

/** How a text is cut into sections (src/kernel/text/description.ts). */
export type SectionSettings = {
  readonly early?: readonly TokenToFind[];
  readonly late?: readonly TokenToFind[];
  /** First and last code point of each range of word characters. */
  readonly words?: readonly number[];
  /** Indices of `normalizationSteps`. */
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

/** Settings as the kernel reads them. Tokens are not empty, and of equal ones the last counts. */
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

/** Takes a text as sections, which are the text between two added tokens, and the tokens between them. */
export interface TextSink {
  /** Takes the next bytes of the section; the caller may overwrite them afterwards. */
  push(bytes: Uint8Array, start: number, end: number): void;
  /** Ends the section. With `following`, only the part in this range ends: the section continues with these settled characters. */
  end(following?: Uint8Array): void;
  /** Takes a token between two sections: bytes [start, end) of the text, with the white space before it that it takes. */
  token(id: number, bytes: Uint8Array, start: number, end: number): void;
  /** The last token also takes this white space, which follows it. */
  strip(bytes: Uint8Array, start: number, end: number): void;
  /** Takes the space that is put before the section or before a line of it. Without this method it is pushed. */
  space?(bytes: Uint8Array): void;
  /** Bytes [start, end) of the text are normalized to `newSize` other ones; where changes are noted. */
  change?(start: number, end: number, newSize: number): void;
}

/** Bytes that go through the kernel at a time. */
const pieceBytes = 1 << 16;
const eventWords = 4;

/** Cuts texts that come in pieces into sections: src/kernel/text/sections.ts as JavaScript sees it. */
export class TextSections {
  /** @internal */
  readonly kernel: TextKernel;
  /** All of the kernel's memory. */
  private memory = new Uint8Array(0);
  private numbers = new Uint32Array(0);

  constructor(settings: SectionSettings) {
    const description = describeSections(settings);
    this.kernel = createTextKernel();
    const { exports } = this.kernel;
    const address = exports.beginSections(description.length) >>> 0;
    this.lookAtMemory();
    if (address !== 0) this.memory.set(description, address);
    if (address === 0 || exports.useSections(description.length) !== 1) throw this.noMemory();
  }

  /**
   * A text begins, and what came before is forgotten. Only needed where the next text has other settings than the last one, or
   * segments. Then `specialTokensAsText` is for the first one. `continues`: the text follows a safe cut.
   */
  open(specialTokensAsText: boolean, notesChanges = false, hasSegments = false, continues = false): void {
    const flags = [specialTokensAsText, notesChanges, hasSegments, continues];
    this.kernel.exports.openText(flags.reduce((bits, flag, i) => bits | (Number(flag) << i), 0));
  }

  /** A segment of the text ends, and the next one begins. */
  endSegment(specialTokensAsText: boolean): void {
    if (this.kernel.exports.endSegment(Number(specialTokensAsText)) === 0) throw this.noMemory();
  }

  /** The first bytes of text that follows a safe cut, as the pattern sees them, valid until the next call. `open` has to be called next. */
  following(text: Uint8Array): Uint8Array {
    const made = makeFollowing(this.kernel, text);
    if (made === undefined) throw this.noMemory();
    return made;
  }

  /** Bytes that wait for the text after them. */
  get pendingBytes(): number {
    return this.kernel.exports.waitingBytes() >>> 0;
  }

  /** The memory that they may need. */
  get pendingNeed(): number {
    return this.kernel.exports.waitingNeed();
  }

  /** Takes the next bytes of a text, and gives what is certain to the sink. */
  push(bytes: Uint8Array, start: number, end: number, sink: TextSink): void {
    for (let pos = start; pos < end; pos += pieceBytes)
      this.take(bytes, pos, Math.min(end, pos + pieceBytes), 0, sink);
  }

  /** Ends the text; the next one may begin. `continues`: the caller ends the section, which was cut off. */
  end(sink: TextSink, continues = false): void {
    this.take(this.memory, 0, 0, continues ? 2 : 1, sink);
  }

  /** Takes a whole text, or the rest of one. */
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

  /** Memory that has grown has another buffer. */
  private lookAtMemory(): void {
    const { buffer } = this.kernel.memory;
    if (this.memory.buffer === buffer) return;
    this.memory = new Uint8Array(buffer);
    this.numbers = new Uint32Array(buffer);
  }

  private noMemory(): UserError {
    const megabytes = Math.ceil(this.pendingBytes / 2 ** 20);
    return new UserError(`no memory for a run of ${megabytes} MB of combining marks or of white space`, {
      hint: phrase`use fewer workers (${asOption("workers", 1, "w")})`,
    });
  }
}

const spaceBytes = Uint8Array.of(space);
