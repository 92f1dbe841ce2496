import { characterLengthAt, isUnfinished } from "../bytes/text.ts";
import type { Range } from "../corpus/input.ts";
import { type ByteSource, TextMemory } from "../corpus/range-reader.ts";
import type { RecordBatch } from "../corpus/records/record-batch.ts";
import type { Task } from "../corpus/task.ts";
import { TaskReader } from "../corpus/task-reader.ts";
import type { RangeStatistics } from "../count/range-counter.ts";
import { SpillingCounter } from "../count/spilling-counter.ts";
import { assert } from "../errors.ts";
import { adoptKernelModule } from "../runtime/kernel.ts";
import { plainSpecial } from "../text/cutting.ts";
import type { TextSink } from "../text/links.ts";
import { Normalizer, PrefixSpace, TokenCutter } from "../text/links.ts";
import { createPretokens } from "../text/pretokens.ts";
import { SectionEncoder } from "../tokenizer/section-encoder.ts";
import { tableMemory } from "../words/word-table.ts";
import type { Thread, ThreadJob } from "./task-thread.ts";
import type { CountSetup, ThreadWords } from "./thread-counter.ts";

const windowBytes = 1 << 18;
/** No character of UTF-8 has more bytes. */
const characterBytesMax = 4;

/**
 * One thread of the job that counts the pretokens of text as a tokenizer changes it before it cuts it: in a Unicode
 * normalization form, or with a space in front. Special tokens are found in the text as it is, as in encoding; a text may be
 * cut for threads only at them.
 */
export class NormalizedCounter implements ThreadJob<never, RangeStatistics | undefined, ThreadWords> {
  private readonly counter: SpillingCounter;
  private readonly reader: TaskReader<RangeStatistics>;
  private readonly sections: SectionEncoder;
  private readonly documents: DocumentMarks;
  private readonly first: TextSink;
  private readByte = 0;

  constructor(
    private readonly setup: CountSetup,
    private readonly index: number,
  ) {
    const { inputs, pattern, specialTokens, normalizing } = setup;
    assert(normalizing !== undefined, "counting normalized text has a form");
    const room = new TextMemory(setup.runOptions?.wordBytesMax);
    const counter = new SpillingCounter(setup, setup.name, room);
    this.counter = counter;
    this.sections = new SectionEncoder(createPretokens(pattern, [], counter.words), counter.words);
    const { normalization, addsPrefixSpace } = normalizing;
    let chain: TextSink = addsPrefixSpace ? new PrefixSpace(this.sections) : this.sections;
    if (normalization !== null) chain = new Normalizer(normalization, chain);
    this.documents = new DocumentMarks(chain);
    const tokens = specialTokens.map((bytes) => ({
      ...{ id: 0, content: Buffer.from(bytes).toString("utf8") },
      ...plainSpecial,
    }));
    this.first = tokens.length === 0 ? this.documents : new TokenCutter(tokens, false, this.documents);
    this.reader = new TaskReader({ inputs }, room, {
      text: (source, range) => this.countText(source, range),
      records: (reading, batch) => this.countRecords(reading, batch),
    });
  }

  get offsetByte(): number {
    return this.reader.recordOffsetByte ?? Math.max(0, this.readByte - this.sections.pendingBytes);
  }

  *take(task: Task): Generator<number, RangeStatistics | undefined> {
    const { counter, setup, index } = this;
    for (const _ of counter.startTask(null)) yield 0;
    const work = this.reader.take(task);
    let step = work.next();
    for (; !step.done; step = work.next()) {
      setup.distinctWordCounts[index] = counter.distinctWordCount;
      yield step.value;
      for (const _ of counter.makeRoom()) yield step.value;
    }
    setup.distinctWordCounts[index] = counter.distinctWordCount;
    return step.value;
  }

  finish(leavesMemory: boolean): Generator<undefined, void> {
    return this.counter.finish([], leavesMemory);
  }

  get rest(): ThreadWords {
    const { words, runs } = this.counter;
    return { words: words.pack(), runs };
  }

  get restMemory(): ArrayBuffer[] {
    return this.counter.runs.flatMap(({ table }) => (table === null ? [] : tableMemory(table)));
  }

  close(): void {
    this.reader.close();
  }

  private *countText(source: ByteSource, range: Range): Generator<number, RangeStatistics> {
    const before = this.totals();
    const window = new Uint8Array(windowBytes + characterBytesMax);
    const check = new Utf8Check(range.startByte);
    let textBytes = 0;
    this.readByte = range.startByte;
    // A stream's range gets its end while it is read.
    while (this.readByte < range.endByte) {
      const wantedBytes = Math.min(windowBytes, range.endByte - this.readByte);
      const readBytes = source.read(window, 0, wantedBytes, this.readByte);
      this.readByte += readBytes;
      textBytes += readBytes;
      check.take(window.subarray(0, readBytes));
      this.first.push(window, 0, readBytes);
      yield this.readByte - range.startByte;
    }
    assert(!range.endsInside, "normalized text is cut at special tokens only");
    this.first.end();
    return this.since(before, textBytes, check.end());
  }

  /** Each record is a document, or several with special tokens between. */
  private *countRecords(reading: Iterable<number>, batch: RecordBatch): Generator<number, RangeStatistics> {
    const before = this.totals();
    let textBytes = 0;
    let firstInvalidByte = -1;
    for (const bytesDone of reading) {
      const { text, ends, count, byteCount } = batch;
      const { invalidByteCount } = this.sections;
      for (let r = 0, start = 0; r < count; r++) {
        this.first.push(text.bytes, start, ends[r]!);
        this.first.end();
        start = ends[r]!;
      }
      const isInvalid = this.sections.invalidByteCount > invalidByteCount;
      if (isInvalid && firstInvalidByte < 0) firstInvalidByte = this.reader.recordOffsetByte ?? 0;
      textBytes += byteCount;
      yield bytesDone;
    }
    return this.since(before, textBytes, firstInvalidByte);
  }

  private totals() {
    return { documents: this.documents.count, invalid: this.sections.invalidByteCount };
  }

  private since(
    before: ReturnType<NormalizedCounter["totals"]>,
    textBytes: number,
    firstInvalidByte: number,
  ): RangeStatistics {
    const { documents, invalid } = this.totals();
    return {
      textBytes,
      documentCount: documents - before.documents,
      invalidByteCount: invalid - before.invalid,
      firstInvalidByte,
    };
  }
}

/** Counts the documents that have at least one byte. */
class DocumentMarks implements TextSink {
  count = 0;
  private isInside = false;

  constructor(private readonly next: TextSink) {}

  push(bytes: Uint8Array, start: number, end: number): void {
    if (end > start && !this.isInside) {
      this.isInside = true;
      this.count++;
    }
    this.next.push(bytes, start, end);
  }

  end(): void {
    this.isInside = false;
    this.next.end();
  }

  token(id: number): void {
    this.next.token(id);
  }

  settle(): void {
    this.next.settle();
  }
}

/** Finds the first byte of a text that is not part of valid UTF-8; the text comes in windows. */
class Utf8Check {
  private rest = new Uint8Array(0);
  private firstInvalidByte = -1;

  constructor(private atByte: number) {}

  take(window: Uint8Array): void {
    if (this.firstInvalidByte < 0) this.look(Buffer.concat([this.rest, window]), false);
  }

  /** Its offset; -1 if all of the text is valid. */
  end(): number {
    if (this.firstInvalidByte < 0) this.look(this.rest, true);
    return this.firstInvalidByte;
  }

  private look(bytes: Uint8Array, isEnd: boolean): void {
    let pos = 0;
    while (pos < bytes.length) {
      const length = characterLengthAt(bytes, pos, bytes.length);
      if (length === 0 && !isEnd && isUnfinished(bytes, pos, bytes.length)) break;
      if (length === 0) {
        this.firstInvalidByte = this.atByte + pos;
        return;
      }
      pos += length;
    }
    this.rest = bytes.slice(pos);
    this.atByte += pos;
  }
}

export function startNormalizing(setup: CountSetup, { index }: Thread): NormalizedCounter {
  adoptKernelModule(setup.kernelModule);
  return new NormalizedCounter(setup, index);
}
