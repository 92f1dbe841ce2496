/**
 * The bytes of a document that are read and not settled, in a copy of its own: when `finish` comes, the text that they
 * were read from may have moved elsewhere. Each byte is copied once, however long the tail grows.
 */
export class DocumentTail {
  /** Position of the first byte kept; -1 = nothing is kept. */
  startPos = -1;
  private buffer = new Uint8Array(1 << 10);
  private sizeBytes = 0;

  get bytes(): Uint8Array {
    return this.buffer.subarray(0, this.sizeBytes);
  }

  clear(): void {
    this.startPos = -1;
    this.sizeBytes = 0;
  }

  /** Keeps [start, end) of a text; what was kept before from the same start on is not copied again. */
  keep(bytes: Uint8Array, start: number, end: number): void {
    if (start !== this.startPos) {
      this.startPos = start;
      this.sizeBytes = 0;
    }
    const neededBytes = end - start;
    if (neededBytes > this.buffer.length) {
      const longer = new Uint8Array(2 * neededBytes);
      longer.set(this.bytes);
      this.buffer = longer;
    }
    this.buffer.set(bytes.subarray(start + this.sizeBytes, end), this.sizeBytes);
    this.sizeBytes = neededBytes;
  }

  shift(deltaBytes: number): void {
    if (this.startPos >= 0) this.startPos -= deltaBytes;
  }
}
