import type { Input } from "../corpus/inputs.ts";
import { OpenFile } from "../corpus/open-file.ts";
import type { PieceTask, RangeTask, Task } from "../corpus/tasks.ts";
import { TextEncoding } from "./text-encoding.ts";
import type { EncodingParts } from "./tokenizer-parts.ts";

const windowSizeBytes = 1 << 18;
/** The character at a safe cut, and a byte more. */
const lookaheadBytes = 5;

/** Glue: bytes of a task -> ids. */
export class TaskEncoder {
  readonly encoding: TextEncoding;
  private readonly window = new Uint8Array(windowSizeBytes);
  private readonly file: OpenFile;
  /** Where in the text the work stands: the place of an error. */
  offsetByte = 0;

  constructor(inputs: readonly Input[], parts: EncodingParts, specialTokensAsText: boolean) {
    this.file = new OpenFile(inputs);
    this.encoding = new TextEncoding(parts, { specialTokensAsText });
  }

  /**
   * Appends the ids of a task to `encoding.out`, as far as they are settled if its range goes on in the next one; yields
   * the bytes done after each window, the whole at the end.
   */
  encode(task: Task): Generator<number, void> {
    return task.kind === "piece" ? this.encodePiece(task) : this.encodeRange(task);
  }

  close(): void {
    this.file.close();
  }

  private *encodeRange(range: RangeTask): Generator<number, void> {
    const { window, encoding } = this;
    const file = this.file.of(range.inputIndex);
    this.offsetByte = range.startByte;
    while (this.offsetByte < range.endByte) {
      const wantedBytes = Math.min(window.length, range.endByte - this.offsetByte);
      const readBytes = file.read(window, 0, wantedBytes, this.offsetByte);
      encoding.push(window, 0, readBytes);
      this.offsetByte += readBytes;
      if (this.offsetByte < range.endByte) yield this.offsetByte - range.startByte;
    }
    if (range.endsInside) {
      const wantedBytes = Math.min(lookaheadBytes, file.sizeBytes - range.endByte);
      encoding.cut(window, 0, file.read(window, 0, wantedBytes, range.endByte));
    } else encoding.end();
    yield range.endByte - range.startByte;
  }

  private *encodePiece({
    bytes,
    startByte,
    endByte,
    endsInside,
    goesOn,
  }: PieceTask): Generator<number, void> {
    const { encoding } = this;
    const sizeBytes = endByte - startByte;
    for (let pos = 0; pos < sizeBytes; pos += windowSizeBytes) {
      this.offsetByte = startByte + pos;
      const end = Math.min(sizeBytes, pos + windowSizeBytes);
      encoding.push(bytes, pos, end);
      if (end < sizeBytes) yield end;
    }
    if (endsInside) encoding.cut(bytes, sizeBytes, Math.min(bytes.length, sizeBytes + lookaheadBytes));
    else if (!goesOn) encoding.end();
    yield sizeBytes;
  }
}
