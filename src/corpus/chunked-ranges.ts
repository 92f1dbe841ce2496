import { type ByteSource, MemorySource } from "./byte-sources.ts";
import type { Input } from "./input.ts";
import type { Range } from "./range.ts";
import type { LineRange } from "./records/line-reader.ts";
import type { ChunkTask } from "./task.ts";

/** The end of a range until its last chunk has come. */
const endUnknown = Number.MAX_SAFE_INTEGER;

type Unfinished<Result> = {
  readonly source: MemorySource;
  readonly range: { -readonly [Field in keyof Range]: Range[Field] };
  readonly work: Generator<number, Result>;
};

/** Joins the chunks of a range for work that reads it from a source, as it would read a file. */
export class ChunkedRanges<Result> {
  /** The range that continues. */
  private unfinished: Unfinished<Result> | undefined;

  /** @param start makes the work on a range. The work yields the bytes done, also when it waits for more. */
  constructor(
    private readonly inputs: readonly Input[],
    private readonly start: (source: ByteSource, range: LineRange) => Generator<number, Result>,
  ) {}

  /**
   * Works on a chunk; yields how many of its bytes are done. Returns the result for the range that ends with it; undefined
   * if the range continues in the next chunk.
   */
  *take(chunk: ChunkTask): Generator<number, Result | undefined> {
    const { source, range, work } = this.unfinished ?? this.begin(chunk);
    source.append(chunk.bytes);
    if (!chunk.continues) {
      range.endByte = chunk.endByte;
      range.endsInside = chunk.endsInside;
    }
    this.unfinished = undefined;
    do {
      const step = work.next();
      if (step.done) return step.value;
      yield Math.max(0, range.startByte + step.value - chunk.startByte);
    } while (!chunk.continues || !source.isDrained);
    this.unfinished = { source, range, work };
    return undefined;
  }

  private begin({ inputIndex, startByte, startsInside, linesBefore = 0 }: ChunkTask): Unfinished<Result> {
    const source = new MemorySource(this.inputs[inputIndex]!.path, startByte);
    const range = {
      inputIndex,
      startByte,
      startsInside,
      linesBefore,
      endByte: endUnknown,
      endsInside: false,
    };
    return { source, range, work: this.start(source, range) };
  }
}
