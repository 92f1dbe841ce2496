import { noFTL } from "bun:jsc";

type Callee = (...args: never[]) => unknown;

// The runtime compiles what runs often a second and a third time, and inlines what a function calls anew into each of its
// callers. On two cores its compiler takes that time from the threads that count and encode.

/** For functions that mostly call others, or run only while something is loaded or grows: what the third tier saves is less than it costs. */
export function spareThirdTier(...functions: Callee[]): void {
  for (const each of functions) noFTL(each as () => unknown);
}

/** The methods of a class. */
export function methodsOf(owner: { readonly prototype: object }): Callee[] {
  const members = Object.values(Object.getOwnPropertyDescriptors(owner.prototype));
  return members.flatMap(({ value }) => (typeof value === "function" && value !== owner ? [value] : []));
}

/**
 * For a thread that will send memory away (`postMessage` with a transfer), before its loops run. Compiled code trusts that
 * no array ever loses its memory; when the first one does, all of it is thrown away and compiled again.
 */
export function expectLossOfMemory(): void {
  new Uint8Array(8).buffer.transfer();
}
