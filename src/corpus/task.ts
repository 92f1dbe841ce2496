import type { Range } from "./range.ts";
import type { InputPages } from "./records/parquet/plan-pages.ts";

/** What a thread takes at a time: a range of a file, a chunk of a stream, or pages of a Parquet file. */
export type Task = RangeTask | ChunkTask | PagesTask;

/** Bytes of a file. The thread reads them. */
export type RangeTask = Range & { readonly kind: "range"; readonly endsInput: boolean };

/** Bytes of an input that is read once and in order. They come with the task. */
export type ChunkTask = Range & {
  readonly kind: "chunk";
  readonly endsInput: boolean;
  /** [startByte, endByte) of the text and, if it ends inside a document, a few bytes that follow. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** There was no place to cut: the range continues in the next task, which the same thread has to get. */
  readonly continues: boolean;
  /** Bytes of the input that it is made of, before any decompression: for progress. */
  readonly inputBytes: number;
  /** Lines of the text before it, for errors in lines of JSON. */
  readonly linesBefore?: number;
};

/** Pages of a Parquet file. The thread reads them. As a range, their place in the file. */
export type PagesTask = Range & InputPages & { readonly kind: "pages" };

/** The memory of chunks. It changes hands with them, and comes back when they are done. */
export function memoryOf(tasks: readonly Task[]): ArrayBuffer[] {
  return tasks.flatMap((task) =>
    task.kind === "chunk" && task.bytes.length >= copiedBytesMax ? [task.bytes.buffer] : [],
  );
}

/** Smaller chunks are copied, which is faster than transferring memory. */
const copiedBytesMax = 1 << 16;

/** Bytes of text in a task, unpacked. */
export const textBytesOf = (task: Task) => task.endByte - task.startByte;

/** An empty file: nothing to do. */
export const isEmpty = (task: Task) => task.kind === "range" && textBytesOf(task) === 0;

/**
 * Whether the task may keep a thread from serving signals for long: it may hold one line, one page, or one stretch without
 * a place to cut, of more than `longBytes`. Of a stream, only what is whole in one chunk is sure to be short.
 */
export function mayTakeLong(task: Task, longBytes: number): boolean {
  if (task.kind === "chunk") return task.startByte > 0 || !task.endsInput;
  return (task.kind === "pages" ? task.pageBytesMax : textBytesOf(task)) > longBytes;
}

/** Progress in bytes of the input when `textBytes` of the task's text are done. */
export function inputBytesOf(task: Task, textBytes = textBytesOf(task)): number {
  if (task.kind === "range") return textBytes;
  return textBytes === 0 ? 0 : (textBytes / textBytesOf(task)) * task.inputBytes;
}
