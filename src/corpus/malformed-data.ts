/**
 * The message of an error that a library threw for malformed data. An error that the library made itself has a readable
 * message. The engine's own errors, such as a TypeError, quote the library's code, so their messages are replaced.
 */
export const faultOf = (error: unknown): string =>
  error instanceof Error && error.constructor === Error
    ? error.message
    : "its content contradicts the positions or sizes that it states";
