/** Bytes that come one after the other, once. */
export interface ByteStream {
  /** Puts what comes next into `into` from `from` on and says how many bytes; 0 at the end, and only there. */
  read(into: Uint8Array, from: number): Promise<number>;
  /** How many bytes of the input were taken so far, before any decompression. */
  readonly inputBytes: number;
  close(): void;
}
