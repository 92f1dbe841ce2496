import { kernels } from "#runtime";
import type { TextSegment } from "#text";
import { NoMemory, type TextEncoding } from "#tokenizer";

/** A segment of a session's text. */
type Segment = { readonly byteCount: number; readonly isTrusted: boolean };

/** Some of the steps that the kernel's `nextStep` returns (src/kernel/text/sessions.ts). */
const editDone = 0;
const findsLast = 2;
const encodes = 3;

/** The maximum length of a text in bytes. Positions in the encoder are signed 32-bit integers. */
const textBytesMax = 2 ** 31 - 1;

let editing: kernels.TextKernel | undefined;

/** Returns the kernel that plans edits. All sessions share it, because it keeps no state between edits. */
function editingKernel(): kernels.TextKernel {
  if (editing !== undefined) return editing;
  const kernel = kernels.createForText();
  if (kernel.exports.beginDecoding(0, 0, 0) === 0) throw noMemoryForEdit();
  editing = kernel;
  return kernel;
}

const noMemoryForEdit = () => new NoMemory("a session");

type NewIds = {
  readonly ids: Uint16Array | Uint32Array;
  readonly checkpoints: Uint32Array;
  /** `ids` replaces the ids [firstId, endId) of the text. */
  readonly firstId: number;
  readonly endId: number;
};

/** A text in UTF-8 that is edited, with its ids: the JavaScript side of src/kernel/text/sessions.ts. */
export class SessionIds {
  /** bytes[0 .. byteCount) is the text. */
  private bytes: Uint8Array = new Uint8Array(0);
  byteCount = 0;
  /** Adjacent segments differ in trust; none is empty. */
  private segments: readonly Segment[] = [];
  /** ids[0 .. idCount) are the ids of the text. */
  private ids: Uint16Array | Uint32Array;
  idCount = 0;
  private checkpoints: Uint32Array = new Uint32Array(0);
  /** The number of bytes that edits have encoded. */
  encodedBytes = 0;

  constructor(private readonly isNarrow: boolean) {
    this.ids = this.allocate(0);
  }

  copy(): SessionIds {
    const copy = new SessionIds(this.isNarrow);
    copy.bytes = this.bytes.slice(0, this.byteCount);
    copy.byteCount = this.byteCount;
    copy.segments = this.segments;
    copy.ids = this.ids.slice(0, this.idCount);
    copy.idCount = this.idCount;
    copy.checkpoints = this.checkpoints;
    return copy;
  }

  /** Returns the ids in a new array. */
  list(): Uint32Array<ArrayBuffer> {
    return new Uint32Array(this.ids.subarray(0, this.idCount));
  }

  /** The number of leading ids that no appended text can change. */
  get stableCount(): number {
    return this.checkpoints.at(-1) ?? 0;
  }

  /** Whether the byte at this position is in a trusted segment; true from the end of the text on. */
  isTrustedAt(position: number): boolean {
    let end = 0;
    return this.segments.find(({ byteCount }) => (end += byteCount) > position)?.isTrusted ?? true;
  }

  /** The last byte of the text; undefined if it is empty. */
  get lastByte(): number | undefined {
    return this.bytes[this.byteCount - 1];
  }

  /** Returns the byte position of the character that begins after `unitCount` UTF-16 code units of the text. */
  positionOf(unitCount: number): number {
    const { bytes, byteCount } = this;
    let position = 0;
    for (let units = 0; position < byteCount; position++) {
      const byte = bytes[position]!;
      if ((byte & 0xc0) === 0x80) continue;
      if (units >= unitCount) break;
      units += byte < 0xf0 ? 1 : 2;
    }
    return position;
  }

  /**
   * Replaces bytes [start, end) of the text by `bytes`, the joined bytes of `segments`. Returns how many leading ids
   * have not changed. If it throws, nothing has changed.
   */
  edit(
    encoding: TextEncoding,
    start: number,
    end: number,
    bytes: Uint8Array,
    segments: readonly TextSegment[],
  ): number {
    if (this.byteCount - (end - start) + bytes.length > textBytesMax)
      throw new NoMemory("a session of more than 2 GB");
    const before = { text: this.bytes.slice(start, end), segments: this.segments };
    this.replaceBytes(start, end, bytes);
    this.segments = editSegments(this.segments, start, end, segments);
    const encodedBefore = this.encodedBytes;
    try {
      return this.takeIds(this.encode(encoding, start, end, bytes.length));
    } catch (error) {
      this.replaceBytes(start, start + bytes.length, before.text);
      this.segments = before.segments;
      this.encodedBytes = encodedBefore;
      throw error;
    }
  }

  private replaceBytes(start: number, end: number, bytes: Uint8Array): void {
    this.bytes = replaced(this.bytes, this.byteCount, start, end, bytes, (count) => new Uint8Array(count));
    this.byteCount += bytes.length - (end - start);
  }

  /**
   * Encodes the parts of the text that the kernel requests after bytes [start, end) were replaced by `newBytes` bytes.
   * Returns the new ids.
   */
  private encode(encoding: TextEncoding, start: number, end: number, newBytes: number): NewIds {
    const { exports, memory } = editingKernel();
    const { bytes, byteCount, checkpoints, idCount } = this;
    const address = exports.beginEdit(checkpoints.length / 2, byteCount) >>> 0;
    if (address === 0) throw noMemoryForEdit();
    new Uint32Array(memory.buffer, address, checkpoints.length).set(checkpoints);
    exports.startEdit(start, end, newBytes, byteCount, idCount, encoding.cutReach);
    let answer = 0;
    for (let step = exports.nextStep(answer); step !== editDone; step = exports.nextStep(answer)) {
      const [from, to] = [exports.stepFrom() >>> 0, exports.stepTo() >>> 0];
      if (step === encodes) answer = this.encodePart(encoding, from, to);
      else answer = encoding.findSafeCut(bytes.subarray(0, byteCount), from, to, step === findsLast);
    }
    const made = exports.madeCheckpointsAddress() >>> 0;
    return {
      ids: encoding.out.flush(),
      checkpoints: new Uint32Array(memory.buffer, made, 2 * exports.madeCheckpointCount()).slice(),
      firstId: exports.firstId() >>> 0,
      endId: exports.endId() >>> 0,
    };
  }

  /** Encodes bytes [from, to) of the text. Returns how many ids they have. */
  private encodePart(encoding: TextEncoding, from: number, to: number): number {
    const { bytes, byteCount } = this;
    const countBefore = encoding.out.count;
    const after = bytes.subarray(to, Math.min(to + encoding.cutReach, byteCount));
    encoding.pushPart(this.segmentsIn(from, to), from > 0, to < byteCount ? after : undefined);
    this.encodedBytes += to - from;
    return encoding.out.count - countBefore;
  }

  private segmentsIn(from: number, to: number): TextSegment[] {
    const found: TextSegment[] = [];
    let begin = 0;
    for (const { byteCount, isTrusted } of this.segments) {
      const end = begin + byteCount;
      if (end > from && begin < to)
        found.push({ bytes: this.bytes.subarray(Math.max(begin, from), Math.min(end, to)), isTrusted });
      begin = end;
    }
    return found;
  }

  /** Puts new ids in the place of the ids [firstId, endId). Returns how many leading ids have not changed. */
  private takeIds({ ids: newIds, checkpoints, firstId, endId }: NewIds): number {
    const { ids, idCount } = this;
    const newEnd = firstId + newIds.length;
    const newCount = newEnd + idCount - endId;
    let kept = firstId;
    while (kept < Math.min(idCount, newCount)) {
      const id = kept < newEnd ? newIds[kept - firstId] : ids[kept - newEnd + endId];
      if (id !== ids[kept]) break;
      kept++;
    }
    this.ids = replaced(ids, idCount, firstId, endId, newIds, (count) => this.allocate(count));
    this.idCount = newCount;
    this.checkpoints = checkpoints;
    return kept;
  }

  private allocate(count: number): Uint16Array | Uint32Array {
    return this.isNarrow ? new Uint16Array(count) : new Uint32Array(count);
  }
}

/** Returns the segments after bytes [start, end) were replaced by `inserted`. */
function editSegments(
  segments: readonly Segment[],
  start: number,
  end: number,
  inserted: readonly TextSegment[],
): Segment[] {
  const edited: Segment[] = [];
  const add = (byteCount: number, isTrusted: boolean) => {
    if (byteCount <= 0) return;
    const joined = edited.at(-1)?.isTrusted === isTrusted ? edited.pop()!.byteCount : 0;
    edited.push({ byteCount: joined + byteCount, isTrusted });
  };
  let begin = 0;
  for (const { byteCount, isTrusted } of segments) {
    add(Math.min(begin + byteCount, start) - begin, isTrusted);
    begin += byteCount;
  }
  for (const { bytes, isTrusted } of inserted) add(bytes.length, isTrusted);
  begin = 0;
  for (const { byteCount, isTrusted } of segments) {
    add(begin + byteCount - Math.max(begin, end), isTrusted);
    begin += byteCount;
  }
  return edited;
}

/**
 * Replaces array[start .. end) of array[0 .. count) by `part`. Returns the same array if it is large enough, else a new
 * one.
 */
function replaced<T extends Uint8Array | Uint16Array | Uint32Array>(
  array: T,
  count: number,
  start: number,
  end: number,
  part: T,
  allocate: (count: number) => T,
): T {
  const newCount = count - (end - start) + part.length;
  let target = array;
  if (newCount > array.length) {
    target = allocate(newCount + (newCount >> 2) + 16);
    target.set(array.subarray(0, start));
    target.set(array.subarray(end, count), start + part.length);
  } else target.copyWithin(start + part.length, end, count);
  target.set(part, start);
  return target;
}
