import { realpathSync } from "node:fs";
import { exitCode, UserError } from "../errors.ts";
import type { CompiledPattern } from "../pattern/pattern.ts";
import { nextTurn } from "../runtime/turns.ts";
import { cutIntoRanges } from "./cut-into-ranges.ts";
import { canBeCutByBytes, type Input } from "./input.ts";
import { type CutSettings, digestOptions, type PlanLine, planLine } from "./plan-line.ts";
import { type Range, wholeRange } from "./range.ts";

export type PlanOptions = CutSettings & {
  readonly inputs: readonly Input[];
  readonly pattern: CompiledPattern;
  readonly rangeSizeBytes: number;
  readonly keepsTextsWhole: boolean;
};

/** Refuses inputs that others could not read by the plan, or would count twice. */
export function checkPlannable(inputs: readonly Input[]): void {
  const paths = new Map<string, string>();
  for (const input of inputs) {
    const { path } = input;
    if (input.isStream) throw noFileToPlan(path);
    const file = realpathSync(path);
    const before = paths.get(file);
    if (before !== undefined) {
      const what = before === path ? `"${path}" is named twice` : `"${before}" and "${path}" are one file`;
      throw new UserError(what, { hint: "a plan holds each byte once: name each file once" });
    }
    paths.set(file, path);
  }
}

export function noFileToPlan(path: string): UserError {
  return new UserError(`"${path}" is no regular file, and a plan is of files that others will read`, {
    hint: "write the text to a file and name that",
    exitCode: path === "-" ? exitCode.usage : exitCode.failed,
  });
}

/** The ranges of the plan, in order. An empty input has a range, too, so that the plan names every input. */
export async function* plannedRanges(options: PlanOptions): AsyncGenerator<Range, void> {
  const { inputs, pattern, rangeSizeBytes, keepsTextsWhole } = options;
  const specialTokens = options.specialTokens.map((token) => new TextEncoder().encode(token));
  for (const [inputIndex, input] of inputs.entries()) {
    const cutting = { pattern, specialTokens, rangeSizeBytes, keepsTextsWhole };
    const whole = wholeRange(input, inputIndex);
    for (const range of canBeCutByBytes(input) ? cutIntoRanges(input, whole, cutting) : [whole]) {
      await nextTurn();
      if (range !== undefined) yield range;
    }
  }
}

/** Makes the line of each range of the plan, called in their order. */
export function planLineMaker(options: PlanOptions): (range: Range, documentCount?: number) => PlanLine {
  const digests = digestOptions(options);
  let index = 0;
  return (range, documentCount) =>
    planLine(options.inputs[range.inputIndex]!, range, index++, digests, documentCount);
}
