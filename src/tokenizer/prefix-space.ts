import type { TextSink } from "./text-sink.ts";

const spaceByte = 0x20;
const space = Uint8Array.of(spaceByte);

/** Puts a space before each piece that does not begin with one. */
export class PrefixSpace implements TextSink {
  private isInside = false;

  constructor(private readonly next: TextSink) {}

  push(bytes: Uint8Array, start: number, end: number): void {
    if (!this.isInside && end > start) {
      if (bytes[start] !== spaceByte) this.next.push(space, 0, 1);
      this.isInside = true;
    }
    this.next.push(bytes, start, end);
  }

  end(): void {
    this.isInside = false;
    this.next.end();
  }

  token(id: number): void {
    this.next.token(id);
  }

  settle(): void {
    this.next.settle();
  }
}
