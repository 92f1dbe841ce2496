/**
 * What the host gives to the kernel beside its memory. The name of this file is the name of the module that the import is of.
 *
 * In the process of another program (native/) the kernel works in the thread that called it, and only that one serves signals. So
 * work that may take long within one call polls the host, which does not return if it is to stop. The instance is of no use then.
 * JavaScript ends threads that work from outside: a module with threads does not import it, and others are given one that returns.
 */
declare function poll(): void;

/** Returns how many ids bytes [start, end) of the text that is being cut have (text/cuts.ts); any larger number if more than `limit`. */
export declare function countIds(start: u32, end: u32, limit: u32): u32;

const stepsMask: u32 = (1 << 16) - 1;

/** Polls the host after some steps of a loop: `step` is the number of the step, from 0 on. A step takes a microsecond at most. */
export function pollAtStep(step: u32): void {
  if (!ASC_FEATURE_THREADS && (step & stepsMask) === stepsMask) poll();
}
