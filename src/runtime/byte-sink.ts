/** The destination of bytes: a file or a stream. */
export type ByteSink = {
  write(chunk: Uint8Array): void;
  /** For a header that is known only at the end. Absent for a stream. */
  overwrite?(chunk: Uint8Array, pos: number): void;
  /** Returns a promise to await before the next `write`, or undefined. If its work fails, that `write` throws. */
  drain?(): Promise<void> | undefined;
};
