import { type ByteSource, MemorySource } from "./byte-sources.ts";
import type { Input } from "./input.ts";
import type { Range } from "./range.ts";
import type { LineRange } from "./records/jsonl-reader.ts";
import type { PieceTask } from "./task.ts";

/** Behind every byte, until the last piece of the range says where it ends. */
const endUnknown = Number.MAX_SAFE_INTEGER;

type Unfinished<Result> = {
  readonly source: MemorySource;
  readonly range: { -readonly [Field in keyof Range]: Range[Field] };
  readonly work: Generator<number, Result>;
};

/** Puts the pieces of a range together for work that reads it from a source, as it would read a file. */
export class PieceRanges<Result> {
  /** The range that the last piece did not end. */
  private unfinished: Unfinished<Result> | undefined;

  /** `start` gives the work on a range: it yields the bytes done, and also where bytes have yet to come. */
  constructor(
    private readonly inputs: readonly Input[],
    private readonly start: (source: ByteSource, range: LineRange) => Generator<number, Result>,
  ) {}

  /**
   * Works on with a piece; yields the bytes of it that are done. Returns the result for the range that ends with it;
   * nothing if the range goes on in the next piece.
   */
  *take(piece: PieceTask): Generator<number, Result | undefined> {
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

  private begin({ inputIndex, startByte, startsInside, linesBefore = 0 }: PieceTask): Unfinished<Result> {
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
