/** A source of bytes that are read once, in order. */
export interface ByteStream {
  /** Reads the next bytes into `into` from `from` on, where there must be room. Returns how many: 0 only at the end. */
  read(into: Uint8Array, from: number): Promise<number>;
  /** The number of bytes of the input that were read so far, before any decompression. */
  readonly inputBytes: number;
  close(): void;
}
