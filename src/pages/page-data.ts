import type { FullEvaluation } from "../evaluation/evaluation.ts";

// What a page holds as JSON: what `--json` prints, and where it comes from.

export type Fact = readonly [name: string, value: string];

export type EvalData = {
  readonly view: "eval";
  readonly evaluation: FullEvaluation;
  /** Where it comes from. */
  readonly made: readonly Fact[];
};

export type PageData = EvalData;
