import { closeSync, readSync } from "node:fs";
import { type Input, openInput, shrank } from "../corpus/inputs.ts";
import type { Range } from "../corpus/ranges.ts";
import { TextEncoding } from "./text-encoding.ts";
import type { EncodingParts } from "./tokenizer-parts.ts";

const windowSizeBytes = 1 << 18;
/** The character at a safe cut, and a byte more. */
const lookaheadBytes = 5;

/** Glue: bytes of a range -> ids. */
export class RangeEncoder {
  readonly encoding: TextEncoding;
  private readonly window = new Uint8Array(windowSizeBytes);
  /** The file read last stays open: neighbouring ranges are mostly of one file. */
  private opened: { inputIndex: number; fd: number } | undefined;
  /** Where in the file the work stands: the place of an error. */
  offsetByte = 0;

  constructor(
    private readonly inputs: readonly Input[],
    parts: EncodingParts,
    specialTokensAsText: boolean,
  ) {
    this.encoding = new TextEncoding(parts, { specialTokensAsText });
  }

  /** Appends the ids of a range to `encoding.out`; yields the bytes done after each window. */
  *encode(range: Range): Generator<number, void> {
    const { window, encoding } = this;
    const input = this.inputs[range.inputIndex]!;
    const fd = this.open(range.inputIndex);
    this.offsetByte = range.startByte;
    while (this.offsetByte < range.endByte) {
      const wantedBytes = Math.min(window.length, range.endByte - this.offsetByte);
      const readBytes = readSync(fd, window, 0, wantedBytes, this.offsetByte);
      if (readBytes === 0) throw shrank(input, this.offsetByte);
      encoding.push(window, 0, readBytes);
      this.offsetByte += readBytes;
      if (this.offsetByte < range.endByte) yield this.offsetByte - range.startByte;
    }
    if (range.endsInside) {
      const wantedBytes = Math.min(lookaheadBytes, input.sizeBytes - range.endByte);
      encoding.cut(window, 0, readSync(fd, window, 0, wantedBytes, range.endByte));
    } else encoding.end();
    yield range.endByte - range.startByte;
  }

  close(): void {
    if (this.opened !== undefined) closeSync(this.opened.fd);
    this.opened = undefined;
  }

  private open(inputIndex: number): number {
    if (this.opened?.inputIndex !== inputIndex) {
      this.close();
      this.opened = { inputIndex, fd: openInput(this.inputs[inputIndex]!) };
    }
    return this.opened.fd;
  }
}
