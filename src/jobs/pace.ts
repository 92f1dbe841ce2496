import { yieldToEventLoop } from "#runtime";

/** How long other work may be delayed, unless a single step takes longer. */
const sliceMs = 10;

/**
 * Decides when to yield to the event loop. A caller's iterator may take a second for a short text, so time is measured.
 */
export class Pace {
  private turnedMs = performance.now();

  /** Whether it is time to yield to the event loop. */
  get isDue(): boolean {
    return performance.now() - this.turnedMs >= sliceMs;
  }

  /** Must be called after a yield to the event loop. */
  restart(): void {
    this.turnedMs = performance.now();
  }

  /** Yields to the event loop. */
  async turn(): Promise<void> {
    await yieldToEventLoop();
    this.restart();
  }
}
