import { nextTurn } from "../runtime/turns.ts";
import { cutIntoRanges, type RangePlanOptions } from "./cut-into-ranges.ts";
import { canSeek, type Input } from "./input.ts";
import { type Range, wholeRange } from "./range.ts";
import { planParquet } from "./records/parquet/load-parquet.ts";
import type { InputPages } from "./records/parquet/plan-pages.ts";
import { type PieceBuffers, planPieces } from "./stream-chunks.ts";
import { TextMemory } from "./text-memory.ts";

/**
 * The unit of work that a worker takes: a range of a text, to be read from a file or handed over in memory, or pages of
 * a Parquet file.
 */
export type Task = RangeTask | PieceTask | PagesTask;

/** Bytes of a file that whoever does the work reads. */
export type RangeTask = Range & { readonly kind: "range"; readonly endsInput: boolean };

/** Bytes of what is read once and in order. */
export type PieceTask = Range & {
  readonly kind: "piece";
  readonly endsInput: boolean;
  /** [startByte, endByte) of the text and, where it ends inside a document, a few bytes that follow. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** No cut was found: the range goes on in the next task, and who has this one has to get that one, too. */
  readonly goesOn: boolean;
  /** Bytes of the input that it stands for, before any decompression: for progress. */
  readonly inputBytes: number;
  /** How many lines of the text come before it: for what is wrong with a line, and so for jsonl alone. */
  readonly linesBefore?: number;
};

/** Pages that whoever does the work reads; as a range, the bytes where they stand in the file. */
export type PagesTask = Range & InputPages & { readonly kind: "pages" };

/** The memory of pieces that goes with them to another thread, and back when they are done with. */
export function memoryOf(tasks: readonly Task[]): ArrayBuffer[] {
  return tasks.flatMap((task) =>
    task.kind === "piece" && task.bytes.length >= copiedBytesMax ? [task.bytes.buffer] : [],
  );
}

/** Smaller pieces are copied: that is done sooner than their memory changes hands. */
const copiedBytesMax = 1 << 16;

/** Bytes of text in a task, whatever they were packed in. */
const textBytesOf = (task: Task) => task.endByte - task.startByte;

/** Nothing to do: an empty file. */
export const isEmpty = (task: Task) => task.kind === "range" && textBytesOf(task) === 0;

/**
 * Whether the task may keep whoever works on it from looking up for long: there may be one line in it, one page, or one stretch
 * without a place to cut, of more than `longBytes`. Of what is read once, only what is whole in one piece is sure to be short.
 */
export function mayTakeLong(task: Task, longBytes: number): boolean {
  if (task.kind === "piece") return task.startByte > 0 || !task.endsInput;
  return (task.kind === "pages" ? task.pageBytesMax : textBytesOf(task)) > longBytes;
}

/** What a task adds to the progress, in bytes of the input, when `textBytes` of its text are done. */
export function inputBytesOf(task: Task, textBytes = textBytesOf(task)): number {
  if (task.kind === "range") return textBytes;
  return textBytes === 0 ? 0 : (textBytes / textBytesOf(task)) * task.inputBytes;
}

/**
 * The tasks for the ranges given, else for all of each input, in order. A task that reaches the end of its input is
 * marked, also where it is empty. Without `cutting` no range is cut: a text that is read once comes in pieces all the
 * same, each going on in the next. The event loop turns while a cut is looked for. Who is done with a piece gives its
 * memory to `buffers`.
 */
export async function* planTasks(
  inputs: readonly Input[],
  cutting: RangePlanOptions | undefined,
  buffers: PieceBuffers,
  wholes: readonly Range[] = inputs.map(wholeRange),
): AsyncGenerator<Task, void> {
  for (const whole of wholes) {
    const input = inputs[whole.inputIndex]!;
    if (input.format === "parquet") {
      yield* planPages(input, whole, cutting);
      continue;
    }
    if (!canSeek(input)) {
      yield* planPieces(input, whole.inputIndex, cutting, buffers);
      continue;
    }
    for (const range of cutting === undefined ? [whole] : cutIntoRanges(input, whole, cutting)) {
      if (range === undefined) await nextTurn();
      else yield { ...range, kind: "range", endsInput: range.endByte === input.sizeBytes };
    }
  }
}

/** Of a Parquet file always the whole is read. A file without rows is one empty range, as an empty text is. */
async function* planPages(
  input: Input,
  whole: Range,
  cutting: RangePlanOptions | undefined,
): AsyncGenerator<Task, void> {
  let isEmptyFile = true;
  const room = new TextMemory(cutting?.textBytesMax);
  for (const pages of planParquet(input, cutting?.pagesSizeBytes, room)) {
    if (pages === undefined) await nextTurn();
    else {
      yield { ...whole, ...pages, kind: "pages" };
      isEmptyFile = false;
    }
  }
  if (isEmptyFile) yield { ...whole, endByte: whole.startByte, kind: "range", endsInput: true };
}

/** So much text is handed out at a time where tasks are smaller: a message costs as much as counting some kilobytes. */
const batchBytes = 1 << 18;
/** Tasks of no text are read ahead of, too, but not without end. */
const aheadCountMax = 1000;

/** A taker that does not take every task. */
export type Picky = { readonly taker: number; readonly leaves: (task: Task) => boolean };

/** Hands tasks out in order, each to one of several takers, and has some at hand before they are asked for. */
export class TaskQueue {
  private readonly asks: Ask[] = [];
  private readonly ready: Task[] = [];
  private readyBytes = 0;
  private isFilling = false;
  private end: { readonly error?: unknown } | undefined;
  /** Who has begun on a range that goes on: only this one is served. */
  private holder = -1;

  /** The picky taker has met a task that it leaves: it was given none, and is the same as all others from then on. */
  hasLeft = false;

  /** @param aheadBytes that are at hand, at least, if they are to be had */
  constructor(
    private readonly tasks: AsyncGenerator<Task, void>,
    private readonly aheadBytes: number,
    private picky?: Picky,
  ) {
    this.fill();
  }

  /** The next tasks for the taker; none if there are no more. Takers that wait at once go on in the order of the tasks. */
  next(taker: number): Promise<Task[]> {
    const asked = new Promise<Task[]>((resolve, reject) => this.asks.push({ taker, resolve, reject }));
    // Not before the taker waits for it: else one that waits already, and is served after it, would go on before it.
    queueMicrotask(() => {
      this.serve();
      this.fill();
    });
    return asked;
  }

  /** No more is wanted: what is open gets closed. */
  close(): void {
    this.end ??= {};
    this.tasks.return().catch(() => {});
  }

  private async fill(): Promise<void> {
    if (this.isFilling) return;
    this.isFilling = true;
    while (this.end === undefined && this.readyBytes < this.aheadBytes && this.ready.length < aheadCountMax) {
      try {
        const { value: task } = await this.tasks.next();
        if (task) this.ready.push(task);
        else this.end ??= {};
        this.readyBytes += task ? textBytesOf(task) : 0;
      } catch (error) {
        this.end ??= { error };
      }
      this.serve();
    }
    this.isFilling = false;
  }

  private serve(): void {
    const { asks, ready, end } = this;
    while (ready.length > 0) {
      const index = this.holder < 0 ? 0 : asks.findIndex(({ taker }) => taker === this.holder);
      const ask = asks[index];
      if (ask === undefined) return;
      asks.splice(index, 1);
      const { picky } = this;
      if (picky?.taker === ask.taker && picky.leaves(ready[0]!)) {
        this.picky = undefined;
        this.hasLeft = true;
        ask.resolve([]);
      } else ask.resolve(this.takeBatch(ask.taker));
    }
    if (end === undefined) return;
    for (const ask of asks.splice(0)) {
      if ("error" in end) ask.reject(end.error);
      else ask.resolve([]);
    }
  }

  private takeBatch(taker: number): Task[] {
    let count = 0;
    let sizeBytes = 0;
    for (const task of this.ready) {
      const isFull = sizeBytes + textBytesOf(task) > batchBytes || this.picky?.leaves(task);
      if (count > 0 && isFull) break;
      count++;
      sizeBytes += textBytesOf(task);
      this.holder = task.kind === "piece" && task.goesOn ? taker : -1;
    }
    this.readyBytes -= sizeBytes;
    return this.ready.splice(0, count);
  }
}

type Ask = {
  readonly taker: number;
  readonly resolve: (tasks: Task[]) => void;
  readonly reject: (error: unknown) => void;
};
