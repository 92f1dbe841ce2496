import { yieldToEventLoop } from "#runtime";

/** Other work waits so long, and a task that was in between. */
const sliceMs = 10;

/**
 * Says, between steps whose length nobody knows, when the event loop should turn. A caller's iterator may take a second for
 * each text, or a microsecond: neither bytes nor texts tell.
 */
export class Pace {
  private turnedMs = performance.now();

  /** Whether the loop has not turned for some time. */
  get isDue(): boolean {
    return performance.now() - this.turnedMs >= sliceMs;
  }

  /** To be called when the loop has turned. */
  restart(): void {
    this.turnedMs = performance.now();
  }

  /** Lets the loop turn. */
  async turn(): Promise<void> {
    await yieldToEventLoop();
    this.restart();
  }
}
