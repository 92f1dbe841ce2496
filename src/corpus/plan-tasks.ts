import { nextTurn } from "../runtime/turns.ts";
import { cutIntoRanges, type RangePlanOptions } from "./cut-into-ranges.ts";
import { canSeek, type Input } from "./input.ts";
import { type Range, wholeRange } from "./range.ts";
import { type ChunkBuffers, planChunks } from "./stream-chunks.ts";
import type { Task } from "./task.ts";
import { TextMemory } from "./text-memory.ts";

/**
 * The tasks for the ranges given, or for all of each input, in order. The last task of an input has `endsInput`, also if it
 * is empty. Without `cutting` no range is cut; a stream still comes in chunks, each of which continues in the next. The
 * event loop turns while a place to cut is searched. Whoever is done with a chunk gives its memory to `buffers`.
 */
export async function* planTasks(
  inputs: readonly Input[],
  cutting: RangePlanOptions | undefined,
  buffers: ChunkBuffers,
  wholes: readonly Range[] = inputs.map(wholeRange),
): AsyncGenerator<Task, void> {
  for (const whole of wholes) {
    const input = inputs[whole.inputIndex]!;
    if (input.format === "parquet") {
      yield* planPages(input, whole, cutting);
      continue;
    }
    if (!canSeek(input)) {
      yield* planChunks(input, whole.inputIndex, cutting, buffers);
      continue;
    }
    for (const range of cutting === undefined ? [whole] : cutIntoRanges(input, whole, cutting)) {
      if (range === undefined) await nextTurn();
      else yield { ...range, kind: "range", endsInput: range.endByte === input.sizeBytes };
    }
  }
}

/** A Parquet file is always read as a whole. A file without rows is one empty range, as an empty text is. */
async function* planPages(
  input: Input,
  whole: Range,
  cutting: RangePlanOptions | undefined,
): AsyncGenerator<Task, void> {
  let isEmptyFile = true;
  const memory = new TextMemory(cutting?.textBytesMax);
  // Loading what reads Parquet takes some 10 ms: only where there is such a file.
  const loaded =
    require("./records/parquet/plan-pages.ts") as typeof import("./records/parquet/plan-pages.ts");
  for (const pages of loaded.planInputPages(input, cutting?.pagesSizeBytes, memory)) {
    if (pages === undefined) await nextTurn();
    else {
      yield { ...whole, ...pages, kind: "pages" };
      isEmptyFile = false;
    }
  }
  if (isEmptyFile) yield { ...whole, endByte: whole.startByte, kind: "range", endsInput: true };
}
