import type { Input, Range } from "../corpus/input.ts";
import { type ByteSource, TextMemory } from "../corpus/range-reader.ts";
import type { RecordBatch } from "../corpus/records/record-batch.ts";
import type { Task } from "../corpus/task.ts";
import { TaskReader } from "../corpus/task-reader.ts";
import { adoptKernelModule } from "../runtime/kernel.ts";
import type { ReadText } from "../text/links.ts";
import type { IdBuffer, Ids } from "../tokenizer/id-buffer.ts";
import { TextEncoding } from "../tokenizer/text-encoding.ts";
import type { EncodingParts } from "../tokenizer/tokenizer-parts.ts";
import type { OutputPart, PartMaker, ThreadJob } from "./task-thread.ts";

const windowSizeBytes = 1 << 18;
/** The character at a safe cut, and one byte more. */
const lookaheadBytes = 5;

export type TaskEncoderOptions = {
  readonly inputs: readonly Input[];
  readonly parts: EncodingParts;
  readonly specialTokensAsText: boolean;
  /** The memory for a text and what it is packed in; no limit, if left out. */
  readonly textBytesMax?: number;
};

/** What a thread that encodes begins with. */
export type EncodeSetup = TaskEncoderOptions & {
  /** The code that all threads share. */
  readonly kernelModule: WebAssembly.Module;
};

/** A part of the output: ids, and the positions among them where records end. */
export type IdsPart = OutputPart & { readonly ids: Ids; readonly recordEnds: Uint32Array | undefined };

/** What a thread has encoded. */
export type EncodedText = {
  /** Bytes of text that were read. */
  readonly textBytes: number;
  /** Those of them that were not valid UTF-8. */
  readonly invalidByteCount: number;
};

/** What one thread that encodes does: bytes of a task -> ids. */
export class TaskEncoder implements ThreadJob<IdsPart, void, EncodedText> {
  readonly encoding: TextEncoding;
  readonly output: PartMaker<IdsPart>;
  private readonly reader: TaskReader<void>;
  /** The bytes after a safe cut. */
  private readonly lookahead = new Uint8Array(lookaheadBytes);
  /** Bytes of text encoded so far. */
  private textBytes = 0;
  /** How far the plain text has been read. */
  private readByte = 0;

  constructor({ inputs, parts, specialTokensAsText, textBytesMax }: TaskEncoderOptions) {
    this.reader = new TaskReader({ inputs }, new TextMemory(textBytesMax), {
      text: (source, range) => this.encodeText(source, range),
      records: (reading, batch) => this.encodeRecords(reading, batch),
    });
    this.encoding = new TextEncoding(parts, { specialTokensAsText });
    this.output = new IdsOutput(this.encoding.out);
  }

  /** Where in the text the work is: the place of an error. */
  get offsetByte(): number {
    const readByte = this.reader.recordOffsetByte ?? this.readByte;
    return Math.max(0, readByte - this.encoding.pendingBytes);
  }

  /**
   * Appends the ids of a task to `encoding.out`, as far as they are settled if its range continues in the next task. Yields
   * the bytes done after each window.
   */
  take(task: Task): Generator<number, void> {
    return this.reader.take(task);
  }

  get rest(): EncodedText {
    const { textBytes, encoding } = this;
    return { textBytes, invalidByteCount: encoding.invalidByteCount };
  }

  close(): void {
    this.reader.close();
  }

  /** Each record is a text of its own, and `encoding.out` is told where it ends. */
  private *encodeRecords(reading: Iterable<number>, batch: RecordBatch): Generator<number, void> {
    const { encoding } = this;
    for (const bytesDone of reading) {
      const { text, ends, count, byteCount } = batch;
      let start = 0;
      for (let r = 0; r < count; r++) {
        const end = ends[r]!;
        encoding.push(text.bytes, start, end);
        encoding.end();
        encoding.out.endRecord();
        start = end;
      }
      this.textBytes += byteCount;
      yield bytesDone;
    }
  }

  /** Yields also where bytes have yet to come: then `range` gets its end before the generator goes on. */
  private *encodeText(source: ByteSource, range: Range): Generator<number, void> {
    const { encoding, lookahead } = this;
    this.readByte = range.startByte;
    const read: ReadText = (into, pos, wantedBytes) => {
      const readBytes = source.read(into, pos, wantedBytes, this.readByte);
      this.readByte += readBytes;
      return readBytes;
    };
    while (this.readByte < range.endByte) {
      const wantedBytes = Math.min(windowSizeBytes, range.endByte - this.readByte);
      this.textBytes += encoding.pushRead(wantedBytes, read);
      yield this.readByte - range.startByte;
    }
    if (range.endsInside) {
      const wantedBytes = Math.min(lookaheadBytes, source.sizeBytes - range.endByte);
      encoding.cut(lookahead, 0, source.read(lookahead, 0, wantedBytes, range.endByte));
    } else encoding.end();
    yield range.endByte - range.startByte;
  }
}

export function startEncoding(setup: EncodeSetup): TaskEncoder {
  adoptKernelModule(setup.kernelModule);
  return new TaskEncoder(setup);
}

/** The ids that are gathered, as parts of the output. */
export class IdsOutput implements PartMaker<IdsPart> {
  constructor(private readonly out: IdBuffer) {}

  get isEmpty(): boolean {
    return this.out.isEmpty;
  }

  take(spare: ArrayBuffer | undefined): IdsPart {
    const recordEnds = this.out.takeRecordEnds();
    const ids = this.out.take(spare);
    return { ids, recordEnds, memory: ids.buffer, sizeBytes: ids.byteLength };
  }
}
