/** The destination of bytes: a file or a stream. */
export type ByteSink = {
  write(chunk: Uint8Array): void;
  /**
   * Overwrites bytes that were written before, for a header that is known only at the end. A stream has no such method.
   */
  overwrite?(chunk: Uint8Array, pos: number): void;
  /**
   * Returns a promise to await before the next `write`, or undefined if the sink accepts more at once. If the promise's
   * work fails, the next `write` throws the error. A sink whose `write` never has to wait has no such method.
   */
  drain?(): Promise<void> | undefined;
};
