import { allocateText, paddingBytes, type Text } from "../corpus/text.ts";

/**
 * RecordBatch: the texts of some records, end to end, no separator. A reader of records fills it, counting and encoding
 * read it; a record is a document, and nothing crosses its ends. Every text is valid UTF-8.
 *
 *   FIELD    TYPE         LENGTH       MEANING
 *   text     Text         ends[last]   bytes of all texts
 *   ends     Int32Array   count        record r is text.bytes[ends[r - 1] .. ends[r]), the first from 0 on
 *
 * The texts "ab", "" and "c" give bytes = "abc", ends = [2, 2, 3], count = 3.
 */
export class RecordBatch {
  text: Text = allocateText(1 << 12);
  ends = new Int32Array(1 << 8);
  count = 0;

  get byteCount(): number {
    return this.count === 0 ? 0 : this.ends[this.count - 1]!;
  }

  /** Empties the batch and makes room for texts of `byteCount` bytes in all. */
  restart(byteCount: number): void {
    this.count = 0;
    if (byteCount > this.text.bytes.length - paddingBytes) this.text = allocateText(byteCount);
  }

  /** The bytes that stand behind the last record up to `end` are the next one. */
  endRecord(end: number): void {
    if (this.count === this.ends.length) {
      const longer = new Int32Array(2 * this.count);
      longer.set(this.ends);
      this.ends = longer;
    }
    this.ends[this.count++] = end;
  }

  append(bytes: Uint8Array): void {
    const start = this.byteCount;
    this.text.bytes.set(bytes, start);
    this.endRecord(start + bytes.length);
  }
}
