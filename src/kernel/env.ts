/**
 * The kernel's imports from the host, in addition to its memory. The name of this file is the name of the imported module.
 *
 * In the process of another program (native/) the kernel runs in the calling thread, which must handle signals. So work that may
 * take long within one call polls the host, which does not return if the work must stop. The instance is unusable then.
 * JavaScript terminates busy threads from outside: a module with threads does not import `poll`, others get one that returns.
 */
declare function poll(): void;

/**
 * Returns the number of ids of bytes [start, end) of the text that is being cut (text/cuts.ts); if there are more than `limit`,
 * any number above it.
 */
export declare function countIds(start: u32, end: u32, limit: u32): u32;

const stepsMask: u32 = (1 << 16) - 1;

/** Polls the host after every some steps of a loop: `step` counts from 0. A step takes a microsecond at most. */
export function pollAtStep(step: u32): void {
  if (!ASC_FEATURE_THREADS && (step & stepsMask) === stepsMask) poll();
}
