import { linked } from "./linked.ts";
import { ours } from "./ours.ts";
import { compactedHeap, lazyHeap } from "./select/lazy-heap.ts";
import { linearScan } from "./select/scan.ts";
import { stepByStep } from "./step-by-step.ts";
import type { Strategy } from "./strategy.ts";
import { updateNeighbours } from "./update/neighbours.ts";
import { recountEverything } from "./update/recount.ts";
import { subtractAndAddWords } from "./update/whole-words.ts";

const recount = ["recount everything", recountEverything] as const;
const words = ["words with the pair, whole", subtractAndAddWords] as const;
const neighbours = ["words with the pair, its neighbours only", updateNeighbours] as const;

const scan = ["scan of all counts", linearScan] as const;
const lazy = ["heap, lazy deletion", lazyHeap] as const;
const compacted = ["heap, lazy deletion, compacted", compactedHeap] as const;

/** The rungs in TypeScript, from the bottom up. */
export const strategies: readonly Strategy[] = [
  stepByStep("recount + scan", recount, scan),
  stepByStep("words + scan", words, scan),
  stepByStep("words + heap", words, lazy),
  stepByStep("neighbours + scan", neighbours, scan),
  stepByStep("neighbours + heap", neighbours, lazy),
  stepByStep("neighbours + compacted heap", neighbours, compacted),
  linked,
  ours,
];
