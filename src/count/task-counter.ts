import type { ByteSource } from "../corpus/byte-sources.ts";
import { MemorySource } from "../corpus/byte-sources.ts";
import type { Input } from "../corpus/inputs.ts";
import { OpenFile } from "../corpus/open-file.ts";
import type { Range } from "../corpus/ranges.ts";
import { JsonlReader, type LineRange } from "../corpus/records/jsonl-reader.ts";
import type { PieceTask, Task } from "../corpus/tasks.ts";
import type { CompiledPattern } from "../pattern/index.ts";
import type { WordCounter } from "../words/counter.ts";
import { RangeCounter, type RangeFindings } from "./range-counter.ts";
import { RecordCounter } from "./record-counter.ts";

export type TaskCounterOptions = {
  readonly inputs: readonly Input[];
  readonly pattern: CompiledPattern;
  readonly specialTokens: readonly Uint8Array[];
  readonly windowBytes?: number;
};

/** Counts the words of tasks, wherever their bytes come from. */
export class TaskCounter {
  private readonly ranges: RangeCounter;
  private readonly records: RecordCounter;
  private readonly jsonl: JsonlReader;
  private readonly file: OpenFile;
  /** Who read last. */
  private current: { readonly offsetByte: number };
  /** The range that the last piece did not end. */
  private unfinished: Unfinished | undefined;

  constructor(
    private readonly options: TaskCounterOptions,
    counter: WordCounter,
  ) {
    const { pattern, specialTokens, windowBytes } = options;
    this.ranges = new RangeCounter(pattern, specialTokens, counter, windowBytes);
    this.records = new RecordCounter(pattern, specialTokens, counter);
    this.jsonl = new JsonlReader(windowBytes);
    this.current = this.ranges;
    this.file = new OpenFile(options.inputs);
  }

  /** Where in the text the work stands: the place of an error. */
  get offsetByte(): number {
    return this.current.offsetByte;
  }

  /**
   * Counts the words of a task; yields the bytes of it that are done after each window. Returns what was met in the
   * range that ends with it; nothing if the range goes on in the next task.
   */
  count(task: Task): Generator<number, RangeFindings | undefined> {
    return task.kind === "piece"
      ? this.countPiece(task)
      : this.countRange(this.file.of(task.inputIndex), task);
  }

  close(): void {
    this.file.close();
  }

  private countRange(source: ByteSource, range: LineRange): Generator<number, RangeFindings> {
    const { format, textField } = this.options.inputs[range.inputIndex]!;
    this.current = format === "text" ? this.ranges : this.jsonl;
    if (format === "text") return this.ranges.count(source, range);
    return this.records.count(this.jsonl.read(source, range, textField), this.jsonl.batch);
  }

  private *countPiece(piece: PieceTask): Generator<number, RangeFindings | undefined> {
    const { source, range, work } = this.unfinished ?? this.begin(piece);
    source.append(piece.bytes);
    if (!piece.goesOn) {
      range.endByte = piece.endByte;
      range.endsInside = piece.endsInside;
    }
    this.unfinished = undefined;
    do {
      const step = work.next();
      if (step.done) return step.value;
      yield Math.max(0, range.startByte + step.value - piece.startByte);
    } while (!piece.goesOn || !source.isDrained);
    this.unfinished = { source, range, work };
    return undefined;
  }

  private begin({ inputIndex, startByte, startsInside, linesBefore = 0 }: PieceTask): Unfinished {
    const source = new MemorySource(this.options.inputs[inputIndex]!.path, startByte);
    const range = {
      inputIndex,
      startByte,
      startsInside,
      linesBefore,
      endByte: endUnknown,
      endsInside: false,
    };
    return { source, range, work: this.countRange(source, range) };
  }
}

/** Behind every byte, until the last piece of the range says where it ends. */
const endUnknown = Number.MAX_SAFE_INTEGER;

type Unfinished = {
  readonly source: MemorySource;
  readonly range: { -readonly [Field in keyof Range]: Range[Field] };
  readonly work: Generator<number, RangeFindings>;
};
