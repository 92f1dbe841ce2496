/** Lets timers, messages and signals be served between two slices of work. */
export const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve));
