/*
 * In the place of libc.ts in the library for Node, which has no way to call the C library: files are read instead of
 * mapped, a directory is replaced in two steps, and memory that is given back stays with the process.
 */

/** The functions as callers see them. Nobody calls them. */
type Symbols<Names extends string> = Readonly<Record<Names, (...args: readonly unknown[]) => never>>;

export const openLibc = <Names extends string>(..._names: readonly Names[]): Symbols<Names> | null => null;

const unreachable = (): never => {
  throw new Error("bug: without the C library nobody asks for an address or an error number");
};

export const addressOf = (_array: ArrayBufferView): number => unreachable();
export const errnoOf = (_libc: Symbols<"__errno_location">): number => unreachable();
