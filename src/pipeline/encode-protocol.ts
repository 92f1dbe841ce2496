import type { Input } from "../corpus/input.ts";
import type { Task } from "../corpus/task.ts";
import type { Ids } from "../tokenizer/id-buffer.ts";
import type { EncodingParts } from "../tokenizer/tokenizer-parts.ts";

/**
 * What the main thread and an encoding worker say to each other:
 *
 *   main -> worker   setup, task, task, … (the next one before the last is done); written for each `ids`, once they are,
 *                    with their memory
 *   worker -> main   for each task ids, ids, …, encoded; failed (pipeline/thread-failure.ts) at any time
 *
 * A worker has only so many ids on their way (outbox.ts): then it waits. So memory is bounded however long a task is and
 * however far its turn to be written.
 */
export type ToWorker =
  | {
      readonly kind: "setup";
      /** Compiled once for all threads. */
      readonly kernelModule: WebAssembly.Module;
      readonly parts: EncodingParts;
      readonly specialTokensAsText: boolean;
      readonly inputs: readonly Input[];
      /** The memory for a text and what it stands in. */
      readonly textBytesMax: number;
      /** Bytes encoded so far by each thread, one cell each: written by it, read by the main thread. */
      readonly bytesDone: Float64Array;
      readonly cell: number;
    }
  | { readonly kind: "task"; readonly task: Task }
  | { readonly kind: "written"; readonly idCount: number; readonly memory: ArrayBuffer };

/** Ids on their way to be written, and where among them records end. */
export type WrittenIds = {
  readonly ids: Ids;
  readonly recordEnds: Uint32Array | undefined;
};

export type FromWorker =
  | ({ readonly kind: "ids" } & WrittenIds)
  | {
      readonly kind: "encoded";
      readonly textBytes: number;
      readonly invalidByteCount: number;
      /** The memory of a piece, to be used for another one. */
      readonly emptied: ArrayBuffer | undefined;
    };
