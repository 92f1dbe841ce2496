import { UserError, usageError } from "../errors.ts";
import { createTextKernel, type TextKernel } from "../runtime/kernel.ts";
import { type Check, Mismatch, text } from "./schema.ts";

/** Steps of a normalization: Unicode's normal forms, and lower case character by character. The kernel knows them by index. */
export const normalizationSteps = ["NFC", "NFD", "NFKC", "NFKD", "lowercase"] as const;
export type NormalizationStep = (typeof normalizationSteps)[number];

/** Steps in their order, with commas between: "NFC", "NFKC,lowercase". */
export type Normalization = string;

export const stepsOf = (normalization: Normalization) => normalization.split(",") as NormalizationStep[];

/** The steps that `option` asks for, in the spelling of the table. */
export function readNormalization(option: string, typed: string): Normalization {
  const steps = typed.split(",").map((asked) => {
    const name = asked.trim().toLowerCase();
    const step = normalizationSteps.find((known) => known.toLowerCase() === name);
    if (step !== undefined) return step;
    throw usageError(
      `${option}: unknown step "${asked.trim()}"`,
      `steps, in their order, with commas between: ${normalizationSteps.join(", ")}`,
    );
  });
  return steps.join(",");
}

/** For what files state. */
export const normalizationCheck: Check<Normalization> = (value, name) => {
  const steps = text(value, name);
  if (stepsOf(steps).every((step) => normalizationSteps.includes(step))) return steps;
  throw new Mismatch(value, name, `not a list of ${normalizationSteps.join(", ")}`);
};

/** Bytes that go through the kernel at a time. */
const pieceBytes = 1 << 16;

/** `stepMax` of src/kernel/text/normalization-tables.ts. */
const stepsMax = 255;

/** Facts about a character, as src/kernel/text/normalization-tables.ts has them. */
const noBoundaryBit = 1 << 10;

/** A stretch of a text that normalization has changed: bytes [start, end) became bytes [toStart, toEnd) of the result. */
export type NormalizedStretch = {
  readonly start: number;
  readonly end: number;
  readonly toStart: number;
  readonly toEnd: number;
};

/** Receives bytes [start, end) of normalized text, which are overwritten by the next call. */
type TakeNormalized = (bytes: Uint8Array, start: number, end: number) => void;

/**
 * Normalizes texts that come in pieces, as HF does: src/kernel/text/normalize.ts as JavaScript sees it. Bytes that are not valid
 * UTF-8 stay as they are; the text before and after them is normalized separately.
 */
export class TextNormalizer {
  private readonly kernel: TextKernel;
  /** All of the kernel's memory. */
  private memory: Uint8Array<ArrayBuffer>;
  private readonly lowers: boolean;
  private static readonly shared = new Map<Normalization, TextNormalizer>();

  /** @param keepsLog whether `normalizeText` can list what changes */
  constructor(normalization: Normalization, keepsLog = false) {
    const steps = stepsOf(normalization).map((step) => normalizationSteps.indexOf(step));
    if (steps.length > stepsMax) throw new UserError(`a normalization has at most ${stepsMax} steps`);
    this.lowers = normalization.includes("lowercase");
    this.kernel = createTextKernel();
    const { exports, memory } = this.kernel;
    const address = exports.beginNormalization() >>> 0;
    if (address !== 0) new Uint8Array(memory.buffer).set(steps, address);
    if (address === 0 || exports.useNormalization(steps.length, keepsLog) === 0) throw noMemory(0);
    this.memory = new Uint8Array(memory.buffer);
  }

  /** One for whole texts and for questions about characters. */
  static of(normalization: Normalization): TextNormalizer {
    let found = TextNormalizer.shared.get(normalization);
    if (found === undefined)
      TextNormalizer.shared.set(normalization, (found = new TextNormalizer(normalization, true)));
    return found;
  }

  /** Bytes that wait for the text after them. */
  get pendingBytes(): number {
    return this.kernel.exports.pendingBytes();
  }

  /** Takes the next bytes of a text, and hands on what is certain. */
  push(bytes: Uint8Array, start: number, end: number, take: TakeNormalized): void {
    for (let pos = start; pos < end; pos += pieceBytes)
      this.normalize(bytes, pos, Math.min(end, pos + pieceBytes), false, take);
  }

  /** Ends the text; the next one may begin. */
  end(take: TakeNormalized): void {
    this.normalize(this.memory, 0, 0, true, take);
  }

  /** The whole text, normalized; the stretches that have changed are appended to `changes`. Not while a text is pushed. */
  normalizeText(text: Uint8Array, changes?: NormalizedStretch[]): Uint8Array<ArrayBuffer> {
    const parts: Uint8Array<ArrayBuffer>[] = [];
    const take = (bytes: Uint8Array, start: number, end: number) => {
      parts.push(bytes.slice(start, end));
      if (changes !== undefined) this.listChanges(changes);
    };
    this.push(text, 0, text.length, take);
    this.end(take);
    return parts.length === 1 ? parts[0]! : joined(parts);
  }

  /** Whether the character stays whatever is beside it, and nothing reaches across its start. */
  isSettled(codePoint: number): boolean {
    return this.kernel.exports.factsOf(codePoint) === 0;
  }

  /** Whether text before the character and text from it on are normalized separately (UAX #15). */
  hasBoundaryBefore(codePoint: number): boolean {
    return (this.kernel.exports.factsOf(codePoint) & noBoundaryBit) === 0;
  }

  /** The bytes with ASCII letters in lower case, if a step does that: they are settled all the same. */
  lowered(bytes: Uint8Array): Uint8Array {
    if (!this.lowers) return bytes;
    return bytes.map((byte) => (byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte));
  }

  private normalize(bytes: Uint8Array, start: number, end: number, endsText: boolean, take: TakeNormalized) {
    const { exports } = this.kernel;
    const address = exports.inputAddress(end - start) >>> 0;
    if (address === 0) throw noMemory(this.pendingBytes);
    this.lookAtMemory();
    this.memory.set(bytes.subarray(start, end), address);
    const byteCount = exports.normalize(end - start, endsText);
    if (byteCount < 0) throw noMemory(this.pendingBytes);
    this.lookAtMemory();
    if (byteCount === 0) return;
    const from = exports.normalizedAddress() >>> 0;
    take(this.memory, from, from + byteCount);
  }

  /** Memory that has grown has another buffer. */
  private lookAtMemory(): void {
    const { buffer } = this.kernel.memory;
    if (this.memory.buffer !== buffer) this.memory = new Uint8Array(buffer);
  }

  private listChanges(changes: NormalizedStretch[]): void {
    const { exports, memory } = this.kernel;
    const count = exports.loggedCount();
    const log = new Uint32Array(memory.buffer, exports.logAddress() >>> 0, 4 * count);
    for (let at = 0; at < log.length; at += 4)
      changes.push({ start: log[at]!, end: log[at + 1]!, toStart: log[at + 2]!, toEnd: log[at + 3]! });
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let pos = 0;
  for (const part of parts) {
    all.set(part, pos);
    pos += part.length;
  }
  return all;
}

const noMemory = (pendingBytes: number) =>
  new UserError(
    `no memory for normalizing a run of ${Math.ceil(pendingBytes / 2 ** 20)} MB of combining marks`,
    {
      hint: "use fewer workers (-w 1)",
    },
  );

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The text after all steps, as HF computes it. */
export const normalize = (text: string, normalization: Normalization): string =>
  decoder.decode(TextNormalizer.of(normalization).normalizeText(encoder.encode(text)));
