import { kernels, startWorker, type WorkerThread } from "#runtime";

/** The layout of a memory (src/kernel/merge/merge-regions.ts). All threads that share the memory use the same one. */
export type MergePlan = {
  /** Words [first, end) of the table are in this memory. Both numbers are 0 if the words are records. */
  readonly first: number;
  readonly end: number;
  readonly firstStart: number;
  readonly wordCount: number;
  readonly positionCount: number;
  readonly positionBytes: number;
  /** Where the regions begin: at 0 in a new memory, or at the first free byte of a memory in which words were counted. */
  readonly firstByte: number;
  /** Whether the words are records in this memory. */
  readonly areRecords: boolean;
  /** The number of ids that are mapped to start tokens; 0 if the ids in the words are start tokens already. */
  readonly idLimit: number;
  readonly cellCount: number;
  /** The number of memories. */
  readonly memoryCount: number;
  /** The index of this memory. */
  readonly memoryIndex: number;
  /** About the number of cells (tokens of words, and ends of words) in all memories. */
  readonly cellCountOfAll: number;
  readonly startCount: number;
  readonly startByteCount: number;
  readonly haveLongTokens: boolean;
  /** Whether the first index counts pairs in dense tables. */
  readonly countsDensely: boolean;
  readonly tokenCapacity: number;
  readonly isWide: boolean;
  readonly prefixLength: number;
  readonly specialCount: number;
  readonly specialByteCount: number;
  /** Whether the number of words in a token is limited. */
  readonly limitsWords: boolean;
  /** Whether tokens must not join whole characters with parts of other characters. */
  readonly wholeCharacters: boolean;
  readonly threadCount: number;
};

/** The message that starts a helper. */
export type MergeHelp = {
  readonly module: WebAssembly.Module;
  readonly memory: WebAssembly.Memory;
  readonly plan: MergePlan;
  readonly capacityBytes: number;
};

/**
 * Plans the regions of this thread's kernel. Returns the size in bytes that the memory must have; 0 if the engine does
 * not fit.
 */
export function planRegions({ exports }: kernels.Kernel, plan: MergePlan, capacityBytes: number): number {
  const { wordCount, firstStart, positionCount, positionBytes, cellCount } = plan;
  exports.describeWords(wordCount, firstStart, positionCount, positionBytes, cellCount);
  exports.describeIds(plan.firstByte, plan.areRecords, plan.idLimit);
  exports.describeMemories(plan.memoryCount, plan.memoryIndex, plan.cellCountOfAll);
  exports.describeStartTokens(plan.startCount, plan.startByteCount, plan.haveLongTokens, plan.countsDensely);
  exports.describeTokens(plan.tokenCapacity, plan.isWide, plan.prefixLength);
  exports.describeSpecials(plan.specialCount, plan.specialByteCount);
  exports.describeFacts(plan.limitsWords, plan.wholeCharacters);
  return exports.planRegions(plan.threadCount, capacityBytes);
}

/**
 * Helper threads, which process parts of long lists, of the text and of the words. The main thread does not wait for a
 * helper that has not started yet.
 */
export type MergeHelpers = { end(): void };

export function startMergeHelpers({
  exports,
  memory,
  plan,
  capacityBytes,
}: kernels.Kernel & { readonly plan: MergePlan; readonly capacityBytes: number }): MergeHelpers {
  const help: MergeHelp = { module: kernels.sharedModule(), memory, plan, capacityBytes };
  const workers = Array.from({ length: plan.threadCount - 1 }, () => startHelper(help)).filter(
    (worker) => worker !== undefined,
  );
  return {
    end() {
      exports.endHelp();
      for (const worker of workers) worker.terminate();
    },
  };
}

/** Starts a helper. Returns undefined if the system refuses a thread: helpers are optional. */
function startHelper(help: MergeHelp): WorkerThread | undefined {
  try {
    const worker = startWorker("merging");
    // A helper that fails midway reports that in the memory. A helper that never starts does no harm.
    worker.onerror = (event: { preventDefault(): void }) => event.preventDefault();
    worker.unref();
    worker.postMessage(help);
    return worker;
  } catch {
    return undefined;
  }
}

/** Runs a helper thread, which yields to the event loop between turns so that it can be terminated. */
export function helpMerging({ module, memory, plan, capacityBytes }: MergeHelp): void {
  kernels.adoptModule(module);
  const kernel = kernels.create(memory);
  planRegions(kernel, plan, capacityBytes);
  const { exports } = kernel;
  const turn = () => {
    try {
      if (exports.helpMerging()) setTimeout(turn);
    } catch (error) {
      exports.failHelp();
      throw error;
    }
  };
  turn();
}
