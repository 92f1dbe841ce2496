import { noFTL, noInline } from "bun:jsc";

// The runtime has it, its types lack it.
declare module "bun:jsc" {
  function noInline(callee: (...args: never[]) => unknown): void;
}

// The runtime compiles what runs often a second and a third time, and inlines what a function calls anew into each of its
// callers. On two cores its compiler takes that time from the threads that encode.

/** For a class whose methods mostly call others: the third tier has nothing to gain there. */
export function sparesThirdTier(glue: { readonly prototype: object }): void {
  for (const { value } of Object.values(Object.getOwnPropertyDescriptors(glue.prototype))) {
    if (typeof value === "function" && value !== glue) noFTL(value);
  }
}

/** For loops large enough to stand alone: compiled by themselves, and not in each of their callers too. */
export function compiledApart(...loops: ((...args: never[]) => unknown)[]): void {
  for (const loop of loops) noInline(loop);
}

/**
 * For a thread that will send memory away (`postMessage` with a transfer), before its loops run. Compiled code trusts that
 * no array ever loses its memory; when the first one does, all of it is thrown away and compiled again.
 */
export function expectLossOfMemory(): void {
  new Uint8Array(8).buffer.transfer();
}
