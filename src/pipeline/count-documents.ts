import { SpecialTokenFinder } from "../bytes/special-token-finder.ts";
import type { Input, Range } from "../corpus/input.ts";
import { TextMemory } from "../corpus/range-reader.ts";
import { mayTakeLong, type Task } from "../corpus/task.ts";
import type { CompiledPattern } from "../pattern/pattern.ts";
import { adoptKernelModule, kernelModule } from "../runtime/kernel.ts";
import { MemoryBudget } from "../runtime/system-limits.ts";
import { plainCutting } from "../text/cutting.ts";
import type { Pretokens, Taker, TextPart } from "../text/pretokens.ts";
import { TaskTexts } from "../text/task-texts.ts";
import { TextChain } from "../text/text-chain.ts";
import { WordCounter } from "../words/word-counter.ts";
import { longTextBytes, runTasks, type ThreadJob } from "./run-tasks.ts";

/** What a thread that counts documents begins with. */
type DocumentSetup = {
  readonly kernelModule: WebAssembly.Module;
  readonly inputs: readonly Input[];
  readonly specialTokens: readonly string[];
  /** The memory for a text and what it is packed in. */
  readonly textBytesMax?: number;
  readonly windowBytes?: number;
};

/** A pattern of no splits: nobody takes pretokens. */
const noPattern: CompiledPattern = { kind: "automata", automata: [] };

/** Finds special tokens alone, and cuts nothing. */
class DocumentMarks implements Pretokens {
  readonly isReadByKernelOnly = false;
  readonly invalidByteCount = 0;
  readonly firstInvalidPos = -1;
  readonly tokenBytesMax: number;
  isInside = false;
  documentCount = 0;
  keepPos = 0;
  private readonly finder: SpecialTokenFinder;

  constructor(
    specialTokens: readonly string[],
    private readonly taker: Taker,
  ) {
    this.finder = new SpecialTokenFinder(specialTokens.map((token) => Buffer.from(token)));
    this.tokenBytesMax = this.finder.longestBytes;
  }

  start(pos: number, isInside: boolean): void {
    this.keepPos = pos;
    this.isInside = isInside;
  }

  searchText(limit: number): void {
    this.finder.reset(this.taker.text(limit).bytes.subarray(0, limit));
  }

  take({ end, sureEnd, stop }: TextPart): boolean {
    for (;;) {
      const tokenPos = this.finder.find(this.keepPos, end);
      const isSure = tokenPos < sureEnd;
      if ((isSure ? tokenPos : stop) > this.keepPos && !this.isInside) {
        this.isInside = true;
        this.documentCount++;
      }
      if (!isSure) break;
      this.start(tokenPos + this.finder.lengthAt(tokenPos, end), false);
    }
    this.keepPos = Math.max(this.keepPos, stop);
    return true;
  }

  lookAhead(): void {}

  shift(deltaBytes: number): void {
    this.keepPos -= deltaBytes;
  }
}

/** What one thread does that counts documents: text goes its way as in counting, but only special tokens are looked for. */
export class DocumentTasks implements ThreadJob<never, number | undefined, undefined> {
  readonly rest = undefined;
  private readonly texts: TaskTexts;

  constructor({ inputs, specialTokens, textBytesMax, windowBytes }: Omit<DocumentSetup, "kernelModule">) {
    const cutting = plainCutting(noPattern, specialTokens);
    const taker = new WordCounter();
    const marks = new DocumentMarks(specialTokens, taker);
    const memory = new TextMemory(textBytesMax);
    this.texts = new TaskTexts(new TextChain(cutting, taker, marks), { inputs, memory, windowBytes });
  }

  get offsetByte(): number {
    return this.texts.offsetByte;
  }

  /** Returns how many documents begin in the range that ends with the task; undefined if it continues in the next one. */
  *take(task: Task): Generator<number, number | undefined> {
    return (yield* this.texts.take(task))?.documentCount;
  }

  close(): void {
    this.texts.close();
  }
}

export function startCountingDocuments(setup: DocumentSetup): DocumentTasks {
  adoptKernelModule(setup.kernelModule);
  return new DocumentTasks(setup);
}

export type CountDocumentsOptions = {
  readonly inputs: readonly Input[];
  /** Counted one by one, and not cut. */
  readonly ranges: readonly Range[];
  readonly specialTokens: readonly string[];
  readonly threadCount: number;
};

/** Takes the numbers, in the order of the ranges. */
export type DocumentSink = {
  endRange(range: Range, documentCount: number): void;
  /** What to wait for before more is counted; undefined or absent: nothing. */
  drained?(): Promise<void> | undefined;
};

/** Counts the documents that begin in each range. Calls `report` with the bytes of the inputs that are done. */
export async function countDocuments(
  { inputs, ranges, specialTokens, threadCount }: CountDocumentsOptions,
  sink: DocumentSink,
  report: (bytesDone: number) => void,
): Promise<void> {
  const textBytesMax = new MemoryBudget().shareBytes(threadCount);
  const setup = { kernelModule: kernelModule(), inputs, specialTokens, textBytesMax };
  let rangeIndex = 0;
  let documentCount = 0;
  await runTasks(
    {
      name: "planning",
      start: startCountingDocuments,
      setupOf: () => setup,
      sink: {
        endTask(task, found = 0) {
          documentCount += found;
          if (!endsRange(task)) return;
          sink.endRange(ranges[rangeIndex++]!, documentCount);
          documentCount = 0;
        },
        drained: () => sink.drained?.(),
      },
      inputs,
      ranges,
      aheadBytes: 1,
      threadCount,
      mainWorks: true,
      // Plain text is counted in windows, however long its lines are.
      mayTakeLong: (task) => inputs[task.inputIndex]!.format !== "text" && mayTakeLong(task, longTextBytes),
    },
    report,
  );
}

/** A range of a file is one task. What has no ranges is counted as a whole. */
const endsRange = (task: Task) => task.kind === "range" || task.endsInput;
