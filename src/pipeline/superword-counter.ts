import { assert } from "../errors.ts";
import { adoptKernelModule } from "../runtime/kernel.ts";
import { LiftedPretokens } from "../superwords/lifted-pretokens.ts";
import type { Thread } from "./task-thread.ts";
import { type CountSetup, ThreadCounter } from "./thread-counter.ts";

/** One thread of the job that counts lifted pretokens as sequences of ids (lifted-pretokens.ts). */
export function startLifting(setup: CountSetup, { index }: Thread): ThreadCounter {
  const { kernelModule, model } = setup;
  assert(model !== undefined, "lifting has a model");
  adoptKernelModule(kernelModule);
  return new ThreadCounter(setup, index, (counter) => new LiftedPretokens(model, counter));
}
