import * as host from "#host";

/** Lets the event loop handle timers, messages and signals between two slices of work. */
export const yieldToEventLoop = () => new Promise<void>(host.scheduleMacrotask);

/** Does all of the work, and awaits `pause` after each slice. */
export async function runSliced<T>(work: Generator<unknown, T>, pause = yieldToEventLoop): Promise<T> {
  for (let step = work.next(); ; step = work.next()) {
    if (step.done) return step.value;
    await pause();
  }
}

/** Does all of the work without yielding to the event loop. */
export function runToEnd<T>(work: Generator<unknown, T>): T {
  for (let step = work.next(); ; step = work.next()) if (step.done) return step.value;
}
