import { yieldToEventLoop } from "#runtime";

/** The milliseconds between two yields. Other work waits at most this long, plus the time until the current step ends. */
const sliceMs = 10;

/**
 * Decides, between steps of unknown length, when to yield to the event loop. Time is measured, because a caller's
 * iterator may take a second or a microsecond for each text, whatever its length.
 */
export class Pace {
  private turnedMs = performance.now();

  /** Whether it is time to yield to the event loop. */
  get isDue(): boolean {
    return performance.now() - this.turnedMs >= sliceMs;
  }

  /** Must be called after each yield to the event loop that `turn` does not make. */
  restart(): void {
    this.turnedMs = performance.now();
  }

  /** Yields to the event loop. */
  async turn(): Promise<void> {
    await yieldToEventLoop();
    this.restart();
  }
}
