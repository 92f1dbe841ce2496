import { yieldToEventLoop } from "#runtime";

/** The longest delay of other work, apart from a single step. */
const sliceMs = 10;

/**
 * Decides between steps of unknown length when to yield to the event loop. A caller's iterator may take a
 * second or a microsecond for each text, so neither bytes nor texts measure time.
 */
export class Pace {
  private turnedMs = performance.now();

  /** Whether the event loop is due for a turn. */
  get isDue(): boolean {
    return performance.now() - this.turnedMs >= sliceMs;
  }

  /** Call it when the event loop has turned. */
  restart(): void {
    this.turnedMs = performance.now();
  }

  /** Yields to the event loop. */
  async turn(): Promise<void> {
    await yieldToEventLoop();
    this.restart();
  }
}
