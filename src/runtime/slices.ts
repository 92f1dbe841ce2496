import { scheduleMacrotask } from "#host";

/** Lets timers, messages and signals be served between two slices of work. */
export const yieldToEventLoop = () => new Promise<void>(scheduleMacrotask);

/** Does all of the work; the event loop turns between its slices, or what `rest` gives is awaited there. */
export async function runSliced<T>(work: Generator<unknown, T>, rest = yieldToEventLoop): Promise<T> {
  for (let step = work.next(); ; step = work.next()) {
    if (step.done) return step.value;
    await rest();
  }
}

/** Does all of the work, and lets nothing else be served meanwhile. */
export function runToEnd<T>(work: Generator<unknown, T>): T {
  for (let step = work.next(); ; step = work.next()) if (step.done) return step.value;
}
