import { trainMerges } from "../../src/merge/train-merges.ts";
import type { Strategy } from "./strategy.ts";

/** The engine of `bpe train`. */
export const ours: Strategy = {
  name: "ours",
  update: "neighbours of an occurrence, found by tags",
  selection: "heap, its top corrected lazily",
  isIncremental: false,
  *train(words, mergeCount, learned) {
    const training = trainMerges(words, { mergeCount, compat: "cs336" });
    let step = training.next();
    for (; !step.done; step = training.next()) yield;
    const merges = step.value;
    for (let k = 0; k < merges.mergeCount; k++) {
      learned.left.push(merges.left[k]!);
      learned.right.push(merges.right[k]!);
      learned.counts.push(merges.counts[k]!);
    }
  },
};
