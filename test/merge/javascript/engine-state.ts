import type { MergeLimits } from "../../../src/merge/merge-options.ts";
import type { MergeTuning } from "../../../src/merge/merge-tuning.ts";
import type { WorkBudget } from "../../../src/merge/work-budget.ts";
import type { Layout } from "./layout.ts";
import type { LongTokens } from "./long-tokens.ts";
import type { Neighbours } from "./neighbours.ts";
import type { Occurrences } from "./occurrences.ts";
import type { Pairs } from "./pairs.ts";
import type { Queue } from "./queue.ts";
import type { TieRule } from "./tie-rules.ts";
import type { Tokens } from "./tokens.ts";

/** The state of the engine, each described in its own file, and what the stages share. */
export type EngineState = {
  readonly layout: Layout;
  readonly tokens: Tokens;
  readonly longTokens: LongTokens;
  readonly rule: TieRule;
  readonly pairs: Pairs;
  readonly occurrences: Occurrences;
  readonly queue: Queue;
  readonly neighbours: Neighbours;
  readonly learned: Learned;
  readonly limits: MergeLimits;
  readonly tuning: MergeTuning;
  readonly budget: WorkBudget;
  /** See count-threshold.ts. */
  threshold: number;
};

/** What has been learned: `merges.ts`, growing. Token ids are those of the engine's outside. */
export type Learned = {
  mergeCount: number;
  /** How many of them made an entry of the vocabulary: all but those that spell a special token (tie-rules.ts). */
  entryCount: number;
  left: Int32Array;
  right: Int32Array;
  counts: Float64Array;
  replacedCounts: Float64Array;
};

export function mayMerge(state: EngineState, left: number, right: number): boolean {
  const { lengths } = state.tokens;
  const length = lengths[left]! + lengths[right]!;
  return length <= state.limits.lengthMax || (length === 2 && state.limits.bytePairsAlways);
}
