/**
 * Imports from the host. The name of this file is that of the imported module.
 *
 * In the process of another program (native/), the calling thread has to handle signals, so long calls poll the host.
 * To stop the work, the host does not return from the poll, and the instance is unusable.
 */
declare function poll(): void;

/** Returns the number of ids of bytes [start, end) of the text; if it exceeds `limit`, any number above. */
export declare function countIds(start: u32, end: u32, limit: u32): u32;

const stepsMask: u32 = (1 << 16) - 1;

/** Polls the host every 65,536 steps, which may take a microsecond each. Modules with threads have no `poll`. */
export function pollAtStep(step: u32): void {
  if (!ASC_FEATURE_THREADS && (step & stepsMask) === stepsMask) poll();
}
