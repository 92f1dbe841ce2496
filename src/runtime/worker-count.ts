import { readFileSync } from "node:fs";
import { availableParallelism, freemem } from "node:os";

/** Below this a worker's start and its untrained compiler cost more than they save (docs/measured/cache.md). */
const smallCorpusBytes = 32e6;
/** What a worker holds on natural text: its tables, its window, its share of the runtime. */
const workerMemoryBytes = 200e6;

/** How many threads count, where nothing was said: the cores this process may use, as far as memory allows. */
export function defaultWorkerCount(corpusBytes: number): number {
  if (corpusBytes < smallCorpusBytes) return 1;
  const affordable = Math.floor(availableMemoryBytes() / workerMemoryBytes);
  return Math.max(1, Math.min(availableParallelism(), affordable));
}

/** How many threads count so much text: as many as were asked for, else what it is worth and the memory allows. */
export function workersFor(asked: number | undefined, workerCountMax: number): (textBytes: number) => number {
  if (asked !== undefined) return () => asked;
  return (textBytes) => Math.min(defaultWorkerCount(textBytes), workerCountMax);
}

/** Memory that can be had without pushing anything out: the machine's, or what is left to the control group. */
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
