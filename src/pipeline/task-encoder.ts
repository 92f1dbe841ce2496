import { OpenFile } from "../corpus/byte-sources.ts";
import { ChunkedRanges } from "../corpus/chunked-ranges.ts";
import type { Input } from "../corpus/input.ts";
import { RecordReader } from "../corpus/records/record-reader.ts";
import type { ChunkTask, RangeTask, Task } from "../corpus/task.ts";
import { TextMemory } from "../corpus/text-memory.ts";
import { adoptKernelModule } from "../runtime/kernel.ts";
import type { IdBuffer, Ids } from "../tokenizer/id-buffer.ts";
import { TextEncoding } from "../tokenizer/text-encoding.ts";
import type { ReadText } from "../tokenizer/text-sink.ts";
import type { EncodingParts } from "../tokenizer/tokenizer-parts.ts";
import type { OutputPart, PartMaker, ThreadJob } from "./job.ts";

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
  private readonly inputs: readonly Input[];
  /** The bytes after a safe cut. */
  private readonly lookahead = new Uint8Array(lookaheadBytes);
  private readonly file: OpenFile;
  private readonly records: RecordReader;
  private readonly lineChunks: ChunkedRanges<void>;
  /** Bytes of text encoded so far. */
  private textBytes = 0;
  /** How far the text has been read. */
  private readByte = 0;

  constructor({ inputs, parts, specialTokensAsText, textBytesMax }: TaskEncoderOptions) {
    this.inputs = inputs;
    this.file = new OpenFile(inputs);
    this.records = new RecordReader(new TextMemory(textBytesMax));
    this.lineChunks = new ChunkedRanges(inputs, (source, range) =>
      this.encodeRecords(this.records.readLines(source, range, inputs[range.inputIndex]!)),
    );
    this.encoding = new TextEncoding(parts, { specialTokensAsText });
    this.output = new IdsOutput(this.encoding.out);
  }

  /** Where in the text the work stands: the place of an error. */
  get offsetByte(): number {
    return Math.max(0, this.readByte - this.encoding.pendingBytes);
  }

  /**
   * Appends the ids of a task to `encoding.out`, as far as they are settled if its range goes on in the next one; yields
   * the bytes done after each window, the whole at the end.
   */
  take(task: Task): Generator<number, void> {
    const input = this.inputs[task.inputIndex]!;
    const { format, textField } = input;
    if (task.kind === "chunk") return format !== "text" ? this.lineChunks.take(task) : this.encodeChunk(task);
    const source = this.file.of(task.inputIndex);
    if (task.kind === "pages") return this.encodeRecords(this.records.readPages(source, task, textField));
    if (format === "text") return this.encodeRange(task);
    return this.encodeRecords(this.records.readLines(source, task, input));
  }

  get rest(): EncodedText {
    const { textBytes, encoding } = this;
    return { textBytes, invalidByteCount: encoding.invalidByteCount };
  }

  close(): void {
    this.file.close();
  }

  /** Each record is a text of its own, and `encoding.out` is told where it ends. */
  private *encodeRecords(reading: Iterable<number>): Generator<number, void> {
    const { encoding, records } = this;
    for (const bytesDone of reading) {
      const { text, ends, count, byteCount } = records.batch;
      this.readByte = records.offsetByte;
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

  private *encodeRange(range: RangeTask): Generator<number, void> {
    const { encoding, lookahead } = this;
    const file = this.file.of(range.inputIndex);
    this.readByte = range.startByte;
    const read: ReadText = (into, pos, wantedBytes) => {
      const readBytes = file.read(into, pos, wantedBytes, this.readByte);
      this.readByte += readBytes;
      return readBytes;
    };
    while (this.readByte < range.endByte) {
      const wantedBytes = Math.min(windowSizeBytes, range.endByte - this.readByte);
      this.textBytes += encoding.pushRead(wantedBytes, read);
      if (this.readByte < range.endByte) yield this.readByte - range.startByte;
    }
    if (range.endsInside) {
      const wantedBytes = Math.min(lookaheadBytes, file.sizeBytes - range.endByte);
      encoding.cut(lookahead, 0, file.read(lookahead, 0, wantedBytes, range.endByte));
    } else encoding.end();
    yield range.endByte - range.startByte;
  }

  private *encodeChunk({
    bytes,
    startByte,
    endByte,
    endsInside,
    continues,
  }: ChunkTask): Generator<number, void> {
    const { encoding } = this;
    const sizeBytes = endByte - startByte;
    for (let pos = 0; pos < sizeBytes; pos += windowSizeBytes) {
      const end = Math.min(sizeBytes, pos + windowSizeBytes);
      this.readByte = startByte + end;
      encoding.push(bytes, pos, end);
      this.textBytes += end - pos;
      if (end < sizeBytes) yield end;
    }
    if (endsInside) encoding.cut(bytes, sizeBytes, Math.min(bytes.length, sizeBytes + lookaheadBytes));
    else if (!continues) encoding.end();
    yield sizeBytes;
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
