import { ascii } from "#bytes";
import { exitCode, kernels, scaled, UserError } from "#runtime";
import { NoMemory, noMemoryForTokenizer } from "./no-memory.ts";
import type { RecodedSpan } from "./recoded-span.ts";
import type { TextNotes } from "./text-encoding.ts";
import type { TokenTable } from "./token-table.ts";
import type { TokenizerParts } from "./tokenizer-parts.ts";

type Ids = ArrayLike<number>;

/**
 * `unknownIndex` is the index of the first id without a token, or -1 if every id has a token. `bytes` has the bytes of
 * the ids before that index, or of all ids.
 */
type Decoded = { readonly bytes: Uint8Array<ArrayBuffer>; readonly unknownIndex: number };

/**
 * Returns how many bytes decoding removes from the start of a text that begins with this id and these bytes
 * (`TokenizerParts.leadingSpaces`).
 */
export function leadingBytes(
  { leadingSpaces: rule, tokens, addedTokens }: TokenizerParts,
  firstId: number | undefined,
  bytes: Uint8Array,
): number {
  if (rule === undefined || bytes[0] !== ascii.space || firstId === undefined) return 0;
  if (rule === "one") return 1;
  if (addedTokens.some(({ id }) => id === firstId)) return 0;
  const size = tokens.starts[firstId + 1]! - tokens.starts[firstId]!;
  const end = bytes.subarray(0, size).findIndex((byte) => byte !== ascii.space);
  return end < 0 ? size : end;
}

export function unknownId(id: number, position: number, idLimit: number): UserError {
  return new UserError(`id ${id} at position ${position} is not in the vocabulary`, {
    hint: `give the tokenizer that the ids were made with; the largest id of this tokenizer is ${idLimit - 1}`,
    exitCode: exitCode.failed,
  });
}

/** The spans of tokens in a text: token i is at [starts[i], ends[i]). */
export type Spans = { readonly starts: Uint32Array<ArrayBuffer>; readonly ends: Uint32Array<ArrayBuffer> };

/**
 * How a post-processor trims spaces from offsets (`PostProcessing.trims`), and the ids of added tokens, from whose
 * offsets it trims nothing.
 */
type Trimming = { readonly trims: readonly boolean[]; readonly addedIds: readonly number[] };

/**
 * An instance of the kernel's text module with the tokens in its memory. It decodes ids, finds the tokens of a text,
 * and compares ids with the canonical ones, which encoding their text gives.
 */
export class TokenDecoder {
  readonly exports;
  private readonly memory: WebAssembly.Memory;
  private ids = new Uint32Array(0);
  private output = new Uint8Array(0);
  /**
   * Counts the ids of a part of a text. The kernel calls this to cut the text into parts with few enough ids
   * (src/kernel/env.ts).
   */
  countIds: kernels.CountIds = () => 0;

  /**
   * @param trimming how a post-processor trims spans in characters
   * @param hasMarks whether a space of a token also matches U+2581 in a text
   */
  constructor({ idLimit, starts, bytes }: TokenTable, trimming?: Trimming, hasMarks = false) {
    const { exports, memory } = kernels.createForText((...part) => this.countIds(...part));
    let longest = 0;
    for (let id = 0; id < idLimit; id++) longest = Math.max(longest, starts[id + 1]! - starts[id]!);
    if (exports.beginDecoding(idLimit, bytes.length, longest) === 0) throw noMemoryForTokenizer();
    const { buffer } = memory;
    new Uint32Array(buffer, exports.startsAddress() >>> 0, idLimit + 1).set(starts.subarray(0, idLimit + 1));
    new Uint8Array(buffer, exports.tokensAddress() >>> 0, bytes.length).set(bytes);
    this.exports = exports;
    this.memory = memory;
    if (trimming !== undefined) this.useTrimming(trimming);
    if (hasMarks) exports.useMarks();
    this.lookAtMemory();
  }

  private useTrimming({ trims, addedIds }: Trimming): void {
    const address = this.exports.useTrims(trims.length, Number(trims.includes(true))) >>> 0;
    if (address === 0) throw noMemoryForTokenizer();
    const isAdded = new Uint8Array(this.memory.buffer, address);
    for (const id of addedIds) isAdded[id >> 3]! |= 1 << (id & 7);
  }

  /**
   * Creates the views of the memory. Must be called again when the memory may have grown, because growth replaces its
   * buffer.
   */
  private lookAtMemory(): void {
    const { exports, memory } = this;
    const { buffer } = memory;
    this.ids = new Uint32Array(buffer, exports.givenIdsAddress() >>> 0, exports.givenIdsMax());
    this.output = new Uint8Array(buffer, exports.decodedAddress() >>> 0, exports.decodedCapacity());
  }

  /**
   * Returns the span of each token in the text: in bytes or, if `inCharacters` is set, in characters. Returns null if
   * the tokens do not spell the text.
   */
  spans(
    text: Uint8Array,
    ids: Uint16Array | Uint32Array,
    notes: TextNotes,
    inCharacters: boolean,
  ): Spans | null {
    const spans = { starts: new Uint32Array(ids.length), ends: new Uint32Array(ids.length) };
    return this.place(text, ids, notes, { spans, inCharacters }) ? spans : null;
  }

  /**
   * Finds the tokens in the text, and writes their spans if these are wanted. Returns false if the tokens do not spell
   * the text.
   */
  place(
    text: Uint8Array,
    ids: Uint16Array | Uint32Array,
    notes: TextNotes,
    wanted?: { readonly spans: Spans; readonly inCharacters: boolean },
  ): boolean {
    const { exports, memory } = this;
    if (exports.beginOffsets(text.length, notes.count, ids.length) === 0)
      throw new NoMemory("a text that is cut by its tokens");
    this.lookAtMemory();
    const { buffer } = memory;
    new Uint8Array(buffer, exports.placedTextAddress() >>> 0, text.length).set(text);
    new Uint32Array(buffer, exports.notesAddress() >>> 0, notes.list.length).set(notes.list);
    for (let at = 0; at < ids.length; at += this.ids.length) {
      const count = this.give(ids, at, ids.length);
      if (exports.placeIds(count, Number(wanted?.inCharacters ?? false)) === 0) return false;
      if (wanted === undefined) continue;
      const found = new Uint32Array(buffer, exports.spansAddress() >>> 0, 2 * count);
      for (let i = 0; i < count; i++) {
        wanted.spans.starts[at + i] = found[2 * i]!;
        wanted.spans.ends[at + i] = found[2 * i + 1]!;
      }
    }
    return exports.endOffsets() >>> 0 === text.length;
  }

  /**
   * Compares given ids, all of which must have tokens, with canonical ids. Returns the shortest spans that have
   * different ids but the same bytes; only the last may have different bytes, too. If `isSameText` is false, the two
   * lists spell different texts. Then the result is one span: all that is between the ids equal at the start and those
   * equal at the end.
   */
  recodedSpans(given: Ids, canonical: Ids, isSameText: boolean): RecodedSpan[] {
    const { exports, memory } = this;
    const address = exports.beginRecoding(given.length, canonical.length) >>> 0;
    if (address === 0) throw new NoMemory("spans of recoded ids");
    this.lookAtMemory();
    new Uint32Array(memory.buffer, address, given.length).set(given);
    new Uint32Array(memory.buffer, address + 4 * given.length, canonical.length).set(canonical);
    const count = exports.findRecodedSpans(Number(isSameText));
    const found = new Uint32Array(memory.buffer, exports.recodedSpansAddress() >>> 0, 4 * count);
    return Array.from({ length: count }, (_, i) => ({
      start: found[4 * i]!,
      end: found[4 * i + 1]!,
      canonicalStart: found[4 * i + 2]!,
      canonicalEnd: found[4 * i + 3]!,
    }));
  }

  /** Whether the memory has grown so much for a long text that the decoder should be replaced. */
  get isLarge(): boolean {
    return this.memory.buffer.byteLength > largeBytes;
  }

  /** Decodes ids to their bytes, end to end. Numbers that are not integers have no token. */
  decode(given: Uint16Array | Uint32Array | Float64Array): Decoded {
    const { exports, ids: window, output } = this;
    const ids = given instanceof Float64Array ? leadingIds(given) : given;
    let byteCount = 0;
    let known = 0;
    for (let at = 0; at === known && at < ids.length; at += window.length) {
      byteCount += exports.measureIds(this.give(ids, at, ids.length));
      known += exports.takenIds();
    }
    const bytes = new Uint8Array(byteCount);
    let end = 0;
    for (let at = 0; at < known; at += window.length) {
      // If the kernel's array has room for all ids, they are still there: the loop above copied them.
      const count = ids.length <= window.length ? known : this.give(ids, at, known);
      for (let first = 0; first < count; first += exports.takenIds()) {
        const size = exports.decodeIds(first, count);
        if (size > copiedBytesMax) bytes.set(output.subarray(0, size), end);
        else for (let i = 0; i < size; i++) bytes[end + i] = output[i]!;
        end += size;
      }
    }
    return { bytes, unknownIndex: known === given.length ? -1 : known };
  }

  /** Copies as many of the ids [at, end) to the kernel as fit. Returns their number. */
  private give(ids: Uint16Array | Uint32Array, at: number, end: number): number {
    const count = Math.min(end - at, this.ids.length);
    if (count > copiedIdsMax) this.ids.set(ids.subarray(at, at + count));
    else for (let i = 0; i < count; i++) this.ids[i] = ids[at + i]!;
    return count;
  }
}

const largeBytes = scaled(2 ** 26, 2 ** 18);

/** The numbers of bytes and of ids up to which a loop is faster than creating a view and copying it. */
const copiedBytesMax = 32;
const copiedIdsMax = 8;

/** Returns the numbers before the first number that is not an id. */
function leadingIds(numbers: Float64Array): Uint32Array {
  let count = 0;
  while (count < numbers.length && numbers[count]! >>> 0 === numbers[count]) count++;
  return Uint32Array.from(numbers.subarray(0, count));
}
