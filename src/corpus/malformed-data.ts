/** The message of an error that a library threw for malformed data. */
export const faultOf = (error: unknown): string =>
  // The engine's own errors, such as a TypeError, quote the library's code, so their messages are replaced.
  error instanceof Error && error.constructor === Error
    ? error.message
    : "its content contradicts the positions or sizes that it states";
