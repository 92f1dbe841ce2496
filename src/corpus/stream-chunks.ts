import { countLineFeeds } from "../bytes/text.ts";
import { type Cut, CutFinder } from "./cut-finder.ts";
import type { RangePlanOptions } from "./cut-into-ranges.ts";
import type { Input } from "./input.ts";
import { checkStream } from "./inspect-input.ts";
import { recordSeparator } from "./record-separator.ts";
import type { ChunkTask } from "./task.ts";
import { openTextStream } from "./text-stream.ts";

/** Wished size of a chunk: its words are counted in some 10 ms. */
const defaultChunkSizeBytes = 1 << 20;
const defaultProbeSizeBytes = 1 << 16;
/** A chunk that ends inside a document has this much of what follows: one character, and more than anyone looks at. */
const lookaheadBytes = 8;

/** Memory of chunks that are done. It is used again, because fresh pages cost more than reading into them. */
export class ChunkBuffers {
  private free: ArrayBuffer[] = [];
  private sizeBytes = 0;

  take(sizeBytes: number): Uint8Array<ArrayBuffer> {
    if (sizeBytes !== this.sizeBytes) this.free = [];
    this.sizeBytes = sizeBytes;
    const memory = this.free.pop();
    return memory === undefined ? new Uint8Array(sizeBytes) : new Uint8Array(memory);
  }

  /** Memory of another size than the last one taken is left to the garbage collector. */
  give(buffer: ArrayBuffer): void {
    if (buffer.byteLength === this.sizeBytes) this.free.push(buffer);
  }
}

/**
 * The chunks of an input that is read once and in order. No more is read than what is asked for, so the caller decides how
 * much of it is in memory. A chunk without a place to cut near its end continues in the next one; without `cutting` every
 * chunk but the last does.
 */
export async function* planChunks(
  input: Input,
  inputIndex: number,
  cutting: RangePlanOptions | undefined,
  buffers: ChunkBuffers,
): AsyncGenerator<ChunkTask, void> {
  const { chunkSizeBytes = defaultChunkSizeBytes, probeSizeBytes = defaultProbeSizeBytes } = cutting ?? {};
  const cutter = createCutter(input, cutting);
  const contextBytes = cutter?.contextBytes ?? 0;
  const bufferBytes = Math.max(chunkSizeBytes, contextBytes) + probeSizeBytes + contextBytes;

  const stream = await openTextStream(input);
  const chunks = new ChunkSequence(input, inputIndex, stream);
  try {
    let bytes = buffers.take(bufferBytes);
    let limit = 0;
    for (;;) {
      while (limit < bufferBytes) {
        const readBytes = await stream.read(bytes, limit);
        if (readBytes === 0) break;
        limit += readBytes;
      }
      if (chunks.startByte === 0 && input.isStream) checkStream(bytes.subarray(0, limit), input);
      if (limit < bufferBytes) {
        const last = chunks.next(bytes.subarray(0, limit), limit, "input");
        if (limit > bufferBytes >> 2) return yield last;
        // Else memory of this size would change hands for the few bytes of a small input.
        const copy = { ...last, bytes: bytes.slice(0, limit) };
        buffers.give(bytes.buffer);
        return yield copy;
      }

      const cut = cutter?.find(bytes, limit);
      const keepPos = cut?.pos ?? limit;
      const end = cut === undefined ? "open" : cut.inside ? "inside" : "document";
      const chunk = chunks.next(bytes.subarray(0, limit), keepPos, end);
      const next = buffers.take(bufferBytes);
      next.set(bytes.subarray(keepPos, limit));
      bytes = next;
      limit -= keepPos;
      yield chunk;
    }
  } finally {
    stream.close();
  }
}

/** Where a chunk ends: with the input, with a document, inside one, or without a place to cut. */
type ChunkEnd = "input" | "document" | "inside" | "open";

/** Makes the chunks of one input, in order: where each begins, and what it adds to the progress. */
class ChunkSequence {
  /** Where the next chunk begins in the text. */
  startByte = 0;
  private startsInside = false;
  private inputBytesBefore = 0;
  private lineCount = 0;

  constructor(
    private readonly input: Input,
    private readonly inputIndex: number,
    private readonly stream: { readonly inputBytes: number },
  ) {}

  /** The next chunk: bytes[0 .. pos) of what was read. */
  next(read: Uint8Array<ArrayBuffer>, pos: number, end: ChunkEnd): ChunkTask {
    const { startByte, startsInside, inputBytesBefore, lineCount, inputIndex } = this;
    this.startByte += pos;
    this.startsInside = end === "inside";
    this.inputBytesBefore = this.stream.inputBytes;
    if (this.input.format !== "text") this.lineCount += countLineFeeds(Buffer.from(read.buffer, 0, pos));
    return {
      kind: "chunk",
      inputIndex,
      startByte,
      endByte: this.startByte,
      startsInside,
      endsInside: end === "inside",
      endsInput: end === "input",
      continues: end === "open",
      bytes: read.subarray(0, end === "inside" ? pos + lookaheadBytes : pos),
      inputBytes: this.inputBytesBefore - inputBytesBefore,
      linesBefore: lineCount,
    };
  }
}

/** Where the bytes of a buffer can be cut. */
type ChunkCutter = {
  /** How many bytes before and after a stretch decide where it can be cut. */
  readonly contextBytes: number;
  /** A cut near the end of the bytes. */
  find(bytes: Uint8Array<ArrayBuffer>, limit: number): Cut | undefined;
};

function createCutter(input: Input, cutting: RangePlanOptions | undefined): ChunkCutter | undefined {
  if (cutting === undefined) return undefined;
  if (input.format !== "text") return recordCutter(recordSeparator(input.format));
  return cutting.keepsTextsWhole ? undefined : textCutter(cutting);
}

const recordCutter = (separator: Buffer): ChunkCutter => ({
  contextBytes: 0,
  find(bytes, limit) {
    const pos = Buffer.from(bytes.buffer, 0, limit).lastIndexOf(separator) + 1;
    return pos === 0 ? undefined : { pos, inside: false };
  },
});

/** Finds the first cut in the last bytes of a buffer, as many as are probed. */
function textCutter(cutting: RangePlanOptions): ChunkCutter {
  const finder = new CutFinder(cutting);
  const { contextBytes } = finder;
  const { probeSizeBytes = defaultProbeSizeBytes } = cutting;
  return {
    contextBytes,
    find(bytes, limit) {
      const basePos = limit - probeSizeBytes - 2 * contextBytes;
      const text = { bytes: bytes.subarray(basePos), view: new DataView(bytes.buffer, basePos) };
      const from = contextBytes;
      const cut = finder.find(text, from, from + probeSizeBytes, limit - basePos);
      return cut === undefined ? undefined : { pos: basePos + cut.pos, inside: cut.inside };
    },
  };
}
