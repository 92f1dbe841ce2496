import { copyBytes, grow, type Text, textBuffers } from "#bytes";
import { scaled } from "#runtime";
import { releaseText, type TextMaker } from "../text-memory.ts";
import type * as keptField from "./kept-fields.ts";

/**
 * RecordBatch: the concatenated texts of some records, without separators. Every text is valid UTF-8.
 *
 *   FIELD    TYPE         LENGTH       MEANING
 *   text     Text         ends[last]   bytes of all texts
 *   ends     Int32Array   count        record r is text.bytes[ends[r - 1] .. ends[r]); record 0 begins at 0
 *   kept     Value[]      k * count    the values of the k kept fields of record r are kept[k * r .. k * (r + 1))
 *
 * The texts "ab", "" and "c" give bytes = "abc", ends = [2, 2, 3], count = 3.
 */
export class RecordBatch {
  text: Text;
  ends = new Int32Array(1 << 8);
  count = 0;
  kept: keptField.Value[] = [];

  constructor(private readonly makeText: TextMaker = textBuffers.allocate) {
    this.text = makeText(scaled(1 << 12, 64));
  }

  get byteCount(): number {
    return this.count === 0 ? 0 : this.ends[this.count - 1]!;
  }

  /** Empties the batch, and ensures capacity for texts of `byteCount` bytes in total. */
  restart(byteCount: number): void {
    this.count = 0;
    this.kept = [];
    if (byteCount <= this.text.bytes.length - textBuffers.paddingBytes) return;
    const old = this.text.bytes;
    this.text = this.makeText(byteCount);
    releaseText(old);
  }

  endRecord(end: number): void {
    if (this.count === this.ends.length) this.ends = grow(this.ends);
    this.ends[this.count++] = end;
  }

  /**
   * Appends bytes [start, end) as a record. Creates no view of a short record, because the views of many records would
   * be gigabytes of garbage.
   */
  append(bytes: Uint8Array, start: number, end: number): void {
    this.endRecord(copyBytes(bytes, start, end, this.text.bytes, this.byteCount));
  }
}
