/** The destination of bytes: a file or a stream. */
export type ByteSink = {
  write(chunk: Uint8Array): void;
  /** Overwrites bytes, for a header that is known only at the end. Absent for a stream. */
  overwrite?(chunk: Uint8Array, pos: number): void;
  /**
   * Returns a promise to await before the next `write`, or undefined if the sink accepts more at once. Absent if no
   * `write` ever has to wait. If the promise's work fails, the next `write` throws the error.
   */
  drain?(): Promise<void> | undefined;
};
