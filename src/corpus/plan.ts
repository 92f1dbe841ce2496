import { nextTurn } from "../next-turn.ts";
import type { CompiledPattern } from "../pattern/index.ts";
import type { Input } from "./inputs.ts";
import { type CutOptions, digestOptions, type PlanLine, planLine } from "./plan-lines.ts";
import { planRanges, type Range, wholeRange } from "./ranges.ts";

export type PlanOptions = CutOptions & {
  readonly inputs: readonly Input[];
  readonly pattern: CompiledPattern;
  readonly rangeSizeBytes: number;
  /** Counts the documents of a range, which takes reading it; left out, the plan is without their numbers. */
  readonly countDocuments?: ((range: Range) => Promise<number>) | undefined;
};

/** The lines of the plan, in order. An input without bytes has one, too, so that the plan names every input. */
export async function* planLines(options: PlanOptions): AsyncGenerator<PlanLine, void> {
  const { inputs, pattern, rangeSizeBytes, countDocuments } = options;
  const specialTokens = options.specialTokens.map((token) => new TextEncoder().encode(token));
  const digests = digestOptions(options);
  let index = 0;
  for (const [inputIndex, input] of inputs.entries()) {
    const cutting = { pattern, specialTokens, rangeSizeBytes };
    for (const range of planRanges(input, wholeRange(input, inputIndex), cutting)) {
      await nextTurn();
      if (range === undefined) continue;
      yield planLine(input, range, index++, digests, await countDocuments?.(range));
    }
  }
}
