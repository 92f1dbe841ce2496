/**
 * The kernel's imports from the host, in addition to its memory and, in builds with assertions, `abort`. The name of
 * this file is the name of the imported module.
 *
 * In the process of another program (native/), the kernel runs in the calling thread, which has to handle signals. So
 * the kernel polls the host during long calls. To stop the work, the host does not return from the poll; the instance
 * is unusable afterwards.
 */
declare function poll(): void;

/**
 * Returns the number of ids of bytes [start, end) of the text that text/cuts.ts is cutting. If the number exceeds
 * `limit`, the host may return any number above `limit`.
 */
export declare function countIds(start: u32, end: u32, limit: u32): u32;

const stepsMask: u32 = (1 << 16) - 1;

/**
 * Polls the host once every 65,536 steps of a loop. `step` counts the steps, up or down, and a step must take at most a
 * microsecond. In modules with threads, which do not import `poll`, this function does nothing.
 */
export function pollAtStep(step: u32): void {
  if (!ASC_FEATURE_THREADS && (step & stepsMask) === stepsMask) poll();
}
