import { readFileSync } from "node:fs";
import { availableParallelism, freemem } from "node:os";

/** Below this, starting a worker and compiling its code costs more than it saves (docs/measured/cache.md). */
const smallCorpusBytes = 32e6;
/** What a worker needs on natural text: its tables, its window, its share of the runtime. */
const workerMemoryBytes = 200e6;

/** The default number of threads: the cores that this process may use, as far as memory allows. */
export function defaultWorkerCount(corpusBytes: number): number {
  if (corpusBytes < smallCorpusBytes) return 1;
  const affordable = Math.floor(availableMemoryBytes() / workerMemoryBytes);
  return Math.max(1, Math.min(availableParallelism(), affordable));
}

/** How many threads count so much text: as many as were asked for, else the default, at most `workerCountMax`. */
export function workersFor(asked: number | undefined, workerCountMax: number): (textBytes: number) => number {
  if (asked !== undefined) return () => asked;
  return (textBytes) => Math.min(defaultWorkerCount(textBytes), workerCountMax);
}

/** Free memory in bytes: the machine's, or what the control group has left. */
function availableMemoryBytes(): number {
  const machine = readNumber("/proc/meminfo", /^MemAvailable:\s+(\d+) kB/m);
  const groupMax = readNumber("/sys/fs/cgroup/memory.max", /^(\d+)/);
  const groupUsed = readNumber("/sys/fs/cgroup/memory.current", /^(\d+)/) ?? 0;
  const free = machine === undefined ? freemem() : machine * 1024;
  return groupMax === undefined ? free : Math.min(free, groupMax - groupUsed);
}

function readNumber(path: string, pattern: RegExp): number | undefined {
  try {
    const digits = pattern.exec(readFileSync(path, "latin1"))?.[1];
    return digits === undefined ? undefined : Number(digits);
  } catch {
    return undefined;
  }
}
