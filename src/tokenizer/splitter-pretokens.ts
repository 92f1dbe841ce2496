import type { Text } from "../bytes/text.ts";
import type { Splitter } from "../pattern/pattern.ts";
import type { EncodingKernel } from "./encoding-kernel.ts";
import type { IdBuffer } from "./id-buffer.ts";
import type { PretokenEncoder, TextPart } from "./pretoken-encoder.ts";

/** Bytes handed from the splitter to the encoder at a time: their pretokens and results stay in the first caches. */
const blockSizeBytes = 1 << 14;

/** Pretokens that JavaScript finds, for patterns that are not one automaton. */
export class SplitterPretokens implements PretokenEncoder {
  readonly tokenBytesMax = 0;

  constructor(
    private readonly splitter: Splitter,
    private readonly kernel: EncodingKernel,
  ) {}

  get text(): Text {
    return this.kernel.text;
  }

  get keepPos(): number {
    return this.splitter.ends[0]!;
  }

  get invalidByteCount(): number {
    return this.splitter.invalidByteCount;
  }

  reserveText(capacityBytes: number): void {
    this.kernel.reserveText(capacityBytes);
  }

  restart(): void {
    this.splitter.start(0);
  }

  textChanged(): void {}

  encode({ stop, limit, endsText }: TextPart, out: IdBuffer): void {
    const { splitter } = this;
    while (splitter.pos < stop) {
      splitter.scan(this.text, Math.min(splitter.pos + blockSizeBytes, stop), limit);
      this.take(out);
    }
    for (let isSettled = !endsText; !isSettled; ) {
      isSettled = splitter.finish(stop);
      this.take(out);
    }
  }

  lookAhead(end: number, limit: number, out: IdBuffer): void {
    if (this.splitter.pos === end) this.splitter.scan(this.text, end + 1, limit);
    this.take(out);
  }

  shift(deltaBytes: number): void {
    this.splitter.shift(deltaBytes);
  }

  private take(out: IdBuffer): void {
    const { splitter, kernel } = this;
    kernel.encode(splitter.ends, splitter.endCount, out);
    splitter.take();
  }
}
