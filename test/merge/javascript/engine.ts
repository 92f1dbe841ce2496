import { limitsOf, type MergeOptions } from "../../../src/merge/merge-options.ts";
import { defaultTuning, type MergeTuning } from "../../../src/merge/merge-tuning.ts";
import type { Merges } from "../../../src/merge/merges.ts";
import { createWorkBudget, type MergeProgress, spend } from "../../../src/merge/work-budget.ts";
import type { TokenWords } from "../../../src/words/token-words.ts";
import type { WordTable } from "../../../src/words/word-table.ts";
import { countCells } from "./cell-count.ts";
import { raisedThreshold } from "./count-threshold.ts";
import type { EngineState, Learned } from "./engine-state.ts";
import { grow } from "./grow.ts";
import { layOutWords } from "./layout.ts";
import { createLongTokens, insertLongToken, isLong } from "./long-tokens.ts";
import { mergeIntoNewToken, mergeIntoNewTokenInSlices } from "./merge-pair.ts";
import { createNeighbours } from "./neighbours.ts";
import { createOccurrences } from "./occurrences.ts";
import { indexAnew, indexBytePairs } from "./pair-index.ts";
import { createPairs } from "./pairs.ts";
import { createQueue, dropTop, lowerTop } from "./queue.ts";
import { tieRuleOf } from "./tie-rules.ts";
import { addToken, createTokens } from "./tokens.ts";

/**
 * The engine in JavaScript: for words that do not fit into the kernel's memory, and for tests, as a twin of the engine in
 * the kernel. Learns the merges of a word table. Yields after a bounded amount of work, tens of milliseconds at most, in every
 * phase; the caller draws progress, sees signals, and calls on. The result depends on the words and the options alone.
 */
export function* trainMergesInJavaScript(
  table: WordTable | TokenWords,
  options: MergeOptions,
  tuning: MergeTuning = defaultTuning,
): Generator<MergeProgress, Merges> {
  if (!("bytes" in table)) throw new Error("the twin learns from bytes");
  const state = yield* prepare(table, options, tuning);
  yield* indexBytePairs(state);
  for (;;) {
    switch (mergeUntilPause(state)) {
      case "slice used up":
        yield state.budget.progress;
        break;
      case "large pair on top":
        yield* mergeTopInSlices(state);
        break;
      case "top below threshold":
        yield* indexAnew(state, state.threshold);
        break;
      case "finished":
        return finished(state.learned);
    }
  }
}

type Pause = "slice used up" | "large pair on top" | "top below threshold" | "finished";

/** The loop of all loops. It runs without a generator in it, as long as no merge is too large for one slice. */
function mergeUntilPause(state: EngineState): Pause {
  const { learned, limits, pairs, queue, occurrences, budget } = state;
  while (learned.entryCount < limits.mergeCountMax) {
    if (!settleTop(state)) return state.threshold > limits.countMin ? "top below threshold" : "finished";
    const p = queue.pairs[0]!;
    const listLength = pairs.listLengths[p]!;
    // A merge gives birth to at most two entries for each that it takes.
    const isLarge =
      listLength > budget.sliceWork || occurrences.used + 2 * listLength > occurrences.entries.length;
    if (isLarge) return "large pair on top";
    mergeIntoNewToken(state, p, takeTop(state, p));
    if (spend(budget, mergeWork + listLength)) {
      reportMerges(state);
      return "slice used up";
    }
  }
  return "finished";
}

/** What a merge costs beside its occurrences, in entries: the queue, the hash table, the token. */
const mergeWork = 64;

function* mergeTopInSlices(state: EngineState): Generator<MergeProgress, void> {
  reportMerges(state);
  const p = state.queue.pairs[0]!;
  yield* mergeIntoNewTokenInSlices(state, p, takeTop(state, p));
}

function reportMerges({ budget, learned, limits }: EngineState): void {
  const { mergeCount, entryCount } = learned;
  budget.progress = { phase: "merge", mergeCount, shareDone: entryCount / limits.mergeCountMax };
}

function* prepare(
  words: WordTable,
  options: MergeOptions,
  tuning: MergeTuning,
): Generator<MergeProgress, EngineState> {
  const cellCount = countCells(words);
  const limits = limitsOf(options, cellCount);
  const rule = tieRuleOf(options.compat, options.specialTokens ?? []);
  // Every merge takes an id, also one that spells a special token; the boundary is the id after the last.
  const tokenCapacity = 256 + limits.mergeCountMax + rule.specialTokens.length;
  const tokens = createTokens(tokenCapacity, rule.comparesBytes ? tuning.prefixBytes : 0);
  for (let byte = 0; byte < 256; byte++) {
    tokens.tieKeys[byte] = rule.tieKey(tokens, byte, rule.specialIndexOf(tokens, byte));
  }
  const budget = createWorkBudget(tuning.sliceWork);
  const isWide = tuning.wideCells || tokenCapacity > 0xffff;
  const layout = yield* layOutWords(words, cellCount, tokenCapacity, isWide, budget);
  return {
    layout,
    tokens,
    longTokens: createLongTokens(),
    rule,
    pairs: createPairs(Math.min(4 * limits.mergeCountMax, cellCount / 8)),
    occurrences: createOccurrences(),
    queue: createQueue(),
    neighbours: createNeighbours(layout),
    learned: createLearned(),
    limits,
    tuning,
    budget,
    threshold: tuning.threshold === "rising" ? limits.countMin : Math.max(limits.countMin, tuning.threshold),
  };
}

/** Brings the top of the queue to its true count; false if no pair at or above the threshold is left. */
function settleTop(state: EngineState): boolean {
  const { queue, pairs, tokens, longTokens, threshold } = state;
  while (queue.size > 0) {
    const p = queue.pairs[0]!;
    const count = pairs.counts[p]!;
    if (count === queue.counts[0] && count >= threshold) return true;
    if (count >= threshold) lowerTop(queue, pairs, tokens, longTokens, count);
    else dropTop(queue, pairs, tokens, longTokens);
  }
  return false;
}

/** Takes the best pair `p` off the queue, writes the merge down and makes its token, whose id is returned. */
function takeTop(state: EngineState, p: number): number {
  const { queue, pairs, tokens, longTokens, learned, limits, rule, tuning } = state;
  const count = queue.counts[0]!;
  dropTop(queue, pairs, tokens, longTokens);
  state.threshold = raisedThreshold(
    state.threshold,
    count,
    learned.entryCount + 1,
    limits.mergeCountMax,
    tuning,
  );
  const left = pairs.lefts[p]!;
  const right = pairs.rights[p]!;
  const id = addToken(tokens, left, right);
  const specialIndex = rule.specialIndexOf(tokens, id);
  tokens.tieKeys[id] = rule.tieKey(tokens, id, specialIndex);
  if (rule.comparesBytes && isLong(tokens, id)) insertLongToken(longTokens, tokens, id);
  note(learned, left, right, count);
  if (specialIndex < 0) learned.entryCount++;
  return id;
}

function createLearned(): Learned {
  const capacity = 1 << 10;
  return {
    mergeCount: 0,
    entryCount: 0,
    left: new Int32Array(capacity),
    right: new Int32Array(capacity),
    counts: new Float64Array(capacity),
    replacedCounts: new Float64Array(capacity),
  };
}

function note(learned: Learned, left: number, right: number, count: number): void {
  if (learned.mergeCount === learned.left.length) {
    learned.left = grow(learned.left, learned.mergeCount * 2);
    learned.right = grow(learned.right, learned.mergeCount * 2);
    learned.counts = grow(learned.counts, learned.mergeCount * 2);
    learned.replacedCounts = grow(learned.replacedCounts, learned.mergeCount * 2);
  }
  const k = learned.mergeCount++;
  learned.left[k] = left;
  learned.right[k] = right;
  learned.counts[k] = count;
}

function finished(learned: Learned): Merges {
  const { mergeCount } = learned;
  return {
    startCount: 256,
    mergeCount,
    left: learned.left.slice(0, mergeCount),
    right: learned.right.slice(0, mergeCount),
    counts: learned.counts.slice(0, mergeCount),
    replacedCounts: learned.replacedCounts.slice(0, mergeCount),
  };
}
