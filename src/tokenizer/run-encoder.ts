import type { Text } from "../bytes/text.ts";
import { noWord, WordIndex } from "../words/word-index.ts";
import type { EncodingKernel } from "./encoding-kernel.ts";
import type { RankedMerges } from "./encoding-model.ts";
import { IdBuffer } from "./id-buffer.ts";
import { RunMerger } from "./run-merger.ts";

/** Pretokens whose ids are kept; then all are forgotten. */
const keptWordsMax = 1 << 18;
const keptBytesMax = 1 << 23;
/** A longer pretoken is merged each time that it comes. */
const keptLengthMax = 1 << 8;

/**
 * Encodes pretokens with supermerges: the kernel merges each by itself; those that are one token, and part of a supermerge,
 * are gathered as long as they follow each other, and joined (run-merger.ts).
 */
export class RunEncoder {
  private readonly merger: RunMerger;
  /** Of pretokens met: their id, if they belong to runs; else -1 less where their ids are in `lists`. */
  private readonly index = new WordIndex();
  /** The number of ids, then the ids, of one pretoken behind the other. */
  private readonly lists: number[] = [];
  /** The ids of one pretoken. */
  private readonly single: IdBuffer;
  private readonly singleEnds = new Int32Array(2);
  private run = new Int32Array(1 << 8);
  private runLength = 0;

  constructor(
    private readonly kernel: EncodingKernel,
    supermerges: RankedMerges,
  ) {
    this.merger = new RunMerger(supermerges);
    this.single = new IdBuffer(kernel.isNarrow);
  }

  get text(): Text {
    return this.kernel.text;
  }

  reserveText(capacityBytes: number): Text {
    return this.kernel.reserveText(capacityBytes);
  }

  /** Appends the ids of pretokens [ends[i], ends[i + 1]) of the text for i in 0 .. endCount - 2, but for a run that may go on. */
  encode(ends: Int32Array, endCount: number, out: IdBuffer): void {
    const { index, lists } = this;
    const { bytes } = this.text;
    for (let i = 0; i + 1 < endCount; i++) {
      const start = ends[i]!;
      const end = ends[i + 1]!;
      let value = index.find(bytes, start, end);
      if (value === noWord) value = this.encodeNew(bytes, start, end, out);
      if (value === noWord) continue;
      if (value >= 0) {
        this.append(value);
        continue;
      }
      this.endText(out);
      const place = -1 - value;
      const idCount = lists[place]!;
      for (let k = 1; k <= idCount; k++) out.push(lists[place + k]!);
    }
  }

  /** Joins the run and appends its ids: the text ends, or a pretoken that is in no run comes. */
  endText(out: IdBuffer): void {
    const { run } = this;
    const idCount = this.runLength < 2 ? this.runLength : this.merger.merge(run, this.runLength);
    for (let k = 0; k < idCount; k++) out.push(run[k]!);
    this.runLength = 0;
  }

  /** The value of a pretoken that the index does not have; `noWord` if it is too long to be kept: then its ids are written. */
  private encodeNew(bytes: Uint8Array, start: number, end: number, out: IdBuffer): number {
    const { index, lists, single, singleEnds } = this;
    singleEnds[0] = start;
    singleEnds[1] = end;
    this.kernel.encode(singleEnds, 2, single);
    const ids = single.flush();
    const isOfRuns = ids.length === 1 && this.merger.takes(ids[0]!);
    if (end - start > keptLengthMax && !isOfRuns) {
      this.endText(out);
      out.append(ids);
      single.shrink();
      return noWord;
    }
    if (index.wordCount >= keptWordsMax || index.byteCount >= keptBytesMax) {
      index.clear();
      lists.length = 0;
    }
    const value = isOfRuns ? ids[0]! : -1 - lists.length;
    if (!isOfRuns) lists.push(ids.length, ...ids);
    index.add(bytes, start, end, value);
    return value;
  }

  private append(id: number): void {
    if (this.runLength === this.run.length) {
      const longer = new Int32Array(2 * this.run.length);
      longer.set(this.run);
      this.run = longer;
    }
    this.run[this.runLength++] = id;
  }
}
