import { allowedCores, freeMemoryBytes } from "./system-limits.ts";

/** Below this, starting a worker and compiling its code costs more than it saves (docs/measured/cache.md). */
const smallCorpusBytes = 32e6;
/** What a worker needs on natural text: its tables, its window, its share of the runtime. */
const workerMemoryBytes = 200e6;

/** The default number of threads: the cores that this process may use, as far as memory allows. */
export function defaultWorkerCount(corpusBytes: number): number {
  if (corpusBytes < smallCorpusBytes) return 1;
  const affordable = Math.floor(freeMemoryBytes() / workerMemoryBytes);
  return Math.max(1, Math.min(allowedCores(), affordable));
}

/** How many threads count so much text: as many as were asked for, else the default, at most `workerCountMax`. */
export function workersFor(
  asked: number | undefined,
  workerCountMax: number,
  smallBytes = smallCorpusBytes,
): (textBytes: number) => number {
  if (asked !== undefined) return () => asked;
  return (textBytes) =>
    textBytes < smallBytes ? 1 : Math.min(defaultWorkerCount(textBytes), workerCountMax);
}
