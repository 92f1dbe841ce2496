import { ascii } from "#bytes";
import { scaled, yieldToEventLoop } from "#runtime";
import type { Cut, RangePlanOptions } from "./cut-into-ranges.ts";
import { canSeek, type Input, type Range, recordSeparator, wholeRange } from "./input.ts";
import { checkStream } from "./inspect-input.ts";
import { TextMemory } from "./range-reader.ts";
import type { InputPages } from "./records/parquet/plan-pages.ts";
import { openTextStream } from "./text-stream.ts";

/**
 * A unit of work of a thread: a range of a file; a chunk of an input that is read in order, such as a stream; or pages
 * of a Parquet file.
 */
export type Task = RangeTask | ChunkTask | PagesTask;

export type RangeTask = Range & { readonly kind: "range"; readonly endsInput: boolean };

/** A piece of an input that is read once and in order. The task contains the bytes. */
export type ChunkTask = Range & {
  readonly kind: "chunk";
  readonly endsInput: boolean;
  /** Bytes [startByte, endByte) of the text and, if `endsInside`, a few bytes that follow. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Whether the range continues in the next task, which must go to the same thread. */
  readonly continues: boolean;
  /** For progress: how many bytes of the input, counted before decompression, were read since the previous chunk. */
  readonly inputBytes: number;
  /** The number of lines before the chunk, for errors in records; 0 in plain text. */
  readonly linesBefore?: number;
};

/** Pages of a Parquet file, which the thread reads. The range is their position in the file. */
export type PagesTask = Range & InputPages & { readonly kind: "pages" };

/** Returns the buffers of large chunks, which are transferred to the thread. Small chunks are copied. */
export function memoryOf(tasks: readonly Task[]): ArrayBuffer[] {
  return tasks.flatMap((task) =>
    task.kind === "chunk" && task.bytes.length >= copiedBytesMax ? [task.bytes.buffer] : [],
  );
}

/** Smaller chunks are copied, which is faster than transferring their memory. */
const copiedBytesMax = scaled(1 << 16, 32);

export const textBytesOf = (task: Task) => task.endByte - task.startByte;

export const isEmpty = (task: Task) => task.kind === "range" && textBytesOf(task) === 0;

/**
 * Whether the task may block a thread's event loop for long, because more than `longBytes` may be in one line, in one
 * page, or between two cuts.
 */
export function mayTakeLong(task: Task, longBytes: number): boolean {
  // A long line is spread over several chunks, so the size of one chunk says little. A chunk may take long unless it is
  // the whole input.
  if (task.kind === "chunk") return task.startByte > 0 || !task.endsInput;
  return (task.kind === "pages" ? task.pageBytesMax : textBytesOf(task)) > longBytes;
}

/** Returns how many bytes of the input correspond to the first `textBytes` bytes of the task's range, for progress. */
export function inputBytesOf(task: Task, textBytes = textBytesOf(task)): number {
  if (task.kind === "range") return textBytes;
  return textBytes === 0 ? 0 : (textBytes / textBytesOf(task)) * task.inputBytes;
}

/**
 * Plans the tasks for the given ranges, in order; the default is one range for each whole input. Without `cutting`, no
 * range is cut. But even then, a Parquet file, or an input that is read in order, may become several tasks. The user of
 * a chunk must return its memory to `buffers`.
 */
export async function* plan(
  inputs: readonly Input[],
  cutting: RangePlanOptions | undefined,
  buffers: ChunkBuffers,
  wholeRanges: readonly Range[] = inputs.map(wholeRange),
): AsyncGenerator<Task, void> {
  for (const whole of wholeRanges) {
    const input = inputs[whole.inputIndex]!;
    if (input.format === "parquet") {
      yield* planPages(input, whole, cutting);
      continue;
    }
    if (!canSeek(input)) {
      yield* planChunks(input, whole.inputIndex, cutting, buffers);
      continue;
    }
    for (const range of await rangesOf(input, whole, cutting)) {
      if (range === undefined) await yieldToEventLoop();
      else yield { ...range, kind: "range", endsInput: range.endByte === input.sizeBytes };
    }
  }
}

/** Loads the code that finds cuts, which a small file does not need. */
const codeForCuts = () => import("./cut-into-ranges.ts");

async function rangesOf(input: Input, whole: Range, cutting: RangePlanOptions | undefined) {
  const isOne = cutting === undefined || whole.endByte - whole.startByte <= cutting.rangeSizeBytes;
  return isOne ? [whole] : (await codeForCuts()).cutIntoRanges(input, whole, cutting);
}

/** Plans all pages of a Parquet file. A file without rows becomes one empty range, like an empty text. */
async function* planPages(
  input: Input,
  whole: Range,
  cutting: RangePlanOptions | undefined,
): AsyncGenerator<Task, void> {
  let isEmptyFile = true;
  const memory = new TextMemory(cutting?.textBytesMax);
  // Loaded on demand, because the reader of Parquet takes about 10 ms to load.
  const loaded =
    require("./records/parquet/plan-pages.ts") as typeof import("./records/parquet/plan-pages.ts");
  for (const pages of loaded.planInputPages(input, memory)) {
    if (pages === undefined) await yieldToEventLoop();
    else {
      yield { ...whole, ...pages, kind: "pages" };
      isEmptyFile = false;
    }
  }
  if (isEmptyFile) yield { ...whole, endByte: whole.startByte, kind: "range", endsInput: true };
}

/** The target size of a chunk: its words are counted in about 10 ms. */
const defaultChunkSizeBytes = scaled(1 << 20, 64);
const defaultProbeSizeBytes = scaled(1 << 16, 16);
/** How many following bytes a chunk contains, at most, if `endsInside`: one character, and some to spare. */
const lookaheadBytes = 8;

/**
 * A pool of the buffers of finished chunks. They are reused, because the first access to newly allocated memory costs
 * more than the read itself.
 */
export class ChunkBuffers {
  private free: ArrayBuffer[] = [];
  private sizeBytes = 0;

  take(sizeBytes: number): Uint8Array<ArrayBuffer> {
    if (sizeBytes !== this.sizeBytes) this.free = [];
    this.sizeBytes = sizeBytes;
    const memory = this.free.pop();
    return memory === undefined ? new Uint8Array(sizeBytes) : new Uint8Array(memory);
  }

  /**
   * Returns a buffer to the pool. A buffer of another size than the last one taken is left to the garbage collector.
   */
  give(buffer: ArrayBuffer): void {
    if (buffer.byteLength === this.sizeBytes) this.free.push(buffer);
  }
}

/**
 * Reads an input once and in order, in chunks. It reads only when the caller requests a chunk, so the caller limits the
 * memory. Unless it is the last one, a chunk in which no cut is found continues in the next.
 */
export async function* planChunks(
  input: Input,
  inputIndex: number,
  cutting: RangePlanOptions | undefined,
  buffers: ChunkBuffers,
): AsyncGenerator<ChunkTask, void> {
  const { chunkSizeBytes = defaultChunkSizeBytes, probeSizeBytes = defaultProbeSizeBytes } = cutting ?? {};
  const cutter = await createCutter(input, cutting);
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
        // The bytes of a small last chunk are copied, so that no buffer of the full size is sent to a thread.
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

/** What a chunk ends with: the input, a document, a cut inside a document, or none of these. */
type ChunkEnd = "input" | "document" | "inside" | "open";

/** Makes the chunks of one input, in order, and tracks their positions and progress. */
class ChunkSequence {
  startByte = 0;
  private startsInside = false;
  private inputBytesBefore = 0;
  private lineCount = 0;

  constructor(
    private readonly input: Input,
    private readonly inputIndex: number,
    private readonly stream: { readonly inputBytes: number },
  ) {}

  /** Makes the next chunk, of read[0 .. pos). */
  next(read: Uint8Array<ArrayBuffer>, pos: number, end: ChunkEnd): ChunkTask {
    const { startByte, startsInside, inputBytesBefore, lineCount, inputIndex } = this;
    this.startByte += pos;
    this.startsInside = end === "inside";
    this.inputBytesBefore = this.stream.inputBytes;
    if (this.input.format !== "text")
      this.lineCount += ascii.countLineFeeds(Buffer.from(read.buffer, 0, pos));
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

type ChunkCutter = {
  /** How many bytes on each side of the searched bytes the search for a cut must know. */
  readonly contextBytes: number;
  find(bytes: Uint8Array<ArrayBuffer>, limit: number): Cut | undefined;
};

async function createCutter(
  input: Input,
  cutting: RangePlanOptions | undefined,
): Promise<ChunkCutter | undefined> {
  if (cutting === undefined) return undefined;
  if (input.format !== "text") return recordCutter(recordSeparator(input.format));
  return cutting.keepsTextsWhole ? undefined : textCutter(cutting);
}

const recordCutter = (separator: Uint8Array): ChunkCutter => ({
  contextBytes: 0,
  find(bytes, limit) {
    const pos = Buffer.from(bytes.buffer, 0, limit).lastIndexOf(separator) + 1;
    return pos === 0 ? undefined : { pos, inside: false };
  },
});

/**
 * Returns a cutter. It searches the `probeSizeBytes` bytes that come before the last `contextBytes` bytes of a buffer.
 */
async function textCutter(cutting: RangePlanOptions): Promise<ChunkCutter> {
  const { CutFinder } = await codeForCuts();
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
