import {
  corpusInputs,
  type Input,
  keptField,
  type planFile,
  type Range,
  type RangePlanOptions,
  type RecordBatch,
  rangeReader,
  TaskTexts,
  tasks,
} from "#corpus";
import { idWriters } from "#ids";
import { type stageProgress, taskRunner } from "#jobs";
import { type namedPatterns, patterns } from "#pattern";
import {
  asOption,
  type ByteSink,
  kernels,
  machine,
  messages,
  phrase,
  scaled,
  UserError,
  yieldToEventLoop,
} from "#runtime";
import { cuttings } from "#text";
import { type Ids, NoMemory, TextEncoding, type TokenizerParts, type tokenizers } from "#tokenizer";

export type EncodeCorpusOptions = {
  readonly inputs: readonly Input[];
  /** The ranges to encode, in this order; all inputs if left out. */
  readonly ranges?: readonly Range[] | undefined;
  readonly parts: tokenizers.EncodingParts;
  /** Number of encoding threads. The main thread is one of them if `doesMainEncode`. */
  readonly workerCount: number;
  /** The memory budget. Defaults to a share of the memory that this process may use. */
  readonly budget?: machine.MemoryBudget;
  /** The workers, if they have already been started (`startEncodingWorkers`). */
  readonly workers?: taskRunner.StartedWorkers | undefined;
  /** Target size of the ranges for threads, in bytes. */
  readonly rangeSizeBytes?: number;
  /** Target size, in bytes, of the chunks of an input that is read in order. */
  readonly chunkSizeBytes?: number;
};

/** The bytes of memory that a tokenizer takes per merge in the main thread, which loads it. Measured. */
const mergeBytesOfMain = 200;
/** The bytes of memory that a tokenizer takes per merge in each other thread. Measured. */
export const mergeBytesOfThread = 70;

const smallestRangeSizeBytes = scaled(1 << 19, 128);
const largestRangeSizeBytes = scaled(1 << 22, 512);
/** With this many ranges per thread, the wait for the last one is short. */
const rangesPerThread = 40;

/**
 * With less text than this, a second thread costs more than it saves, because it has to start and to compile its code.
 */
const smallCorpusBytes = 80e6;

/**
 * Returns an upper bound of the memory for encoding, per byte of a pretoken: for merging, for ids and for the normal
 * form.
 */
export const encodingBytesPerByte = ({ normalization }: tokenizers.EncodingParts) =>
  48 + (normalization === null ? 0 : 32);

/** Returns a function from the size of a text to the number of threads: the requested number, or the default. */
export const encodingThreadsFor = (asked: number | undefined, budget: machine.MemoryBudget) =>
  machine.workersFor(asked, budget.workerCountMax, smallCorpusBytes);

/**
 * Whether the main thread also encodes. It does not in two cases, because it would be busy too long: if an input is
 * read in order, workers would wait for its next chunk; if the tokenizer may take long to set up, signals would not be
 * handled.
 */
const doesMainEncode = (inputs: readonly Input[], parts?: tokenizers.EncodingParts) =>
  inputs.every(corpusInputs.canSeek) && (parts === undefined || hasOnlyQuickSteps(parts));

/**
 * Whether each step of encoding is short enough for the main thread, which handles signals between steps. Setting up
 * 100,000 added tokens, or a million merges, takes some 0.2 s.
 */
export const hasOnlyQuickSteps = ({ addedTokens, model }: tokenizers.EncodingParts) =>
  addedTokens.length <= 20_000 && model.merges.left.length <= 500_000;

/** Starts workers before the tokenizer is loaded. The caller must terminate them, also after an error. */
export const startEncodingWorkers = (
  workerCount: number,
  inputs: readonly Input[],
): taskRunner.StartedWorkers =>
  taskRunner.startWorkers("encoding", workerCount - (doesMainEncode(inputs) ? 1 : 0));

/** Encodes the inputs, or the given ranges, in order. No worker that it starts is left running, also after an error. */
export async function encodeCorpus(
  options: EncodeCorpusOptions,
  sink: idWriters.IdSink,
  report: (progress: stageProgress.EncodeProgress) => void,
): Promise<EncodedText> {
  const { inputs, ranges } = options;
  const all = emptyEncodedSum();
  await encodeTasks(options, inOrder(sink, inputs, all), true, report);
  const { textBytes, invalidByteCount } = all;
  // If the caller chose the ranges, it is no error that they contain no text.
  if (textBytes === 0 && ranges === undefined && !inputs.every(corpusInputs.canSeek))
    throw corpusInputs.emptyCorpusError(inputs);
  return { textBytes, invalidByteCount };
}

/** The tokens of a text: how often each id occurs, and the first tokens. */
export type CountedIds = {
  readonly textBytes: number;
  readonly idCount: number;
  readonly counts: Float64Array;
  readonly sample: readonly number[];
};

const sampleTokens = 200;

/** Encodes the inputs, and counts the ids. */
export async function countIds(
  options: EncodeCorpusOptions & { readonly parts: TokenizerParts },
  report: (progress: stageProgress.EncodeProgress) => void,
): Promise<CountedIds> {
  const counts = new Float64Array(options.parts.tokens.idLimit);
  const sample: number[] = [];
  let idCount = 0;
  const sink = {
    write(ids: Ids) {
      for (let i = 0; i < ids.length; i++) counts[ids[i]!]!++;
      if (sample.length < sampleTokens) sample.push(...ids.subarray(0, sampleTokens - sample.length));
      idCount += ids.length;
    },
    endInput() {},
  };
  const { textBytes } = await encodeCorpus(options, sink, report);
  return { textBytes, idCount, counts, sample };
}

/** Counts the tokens of each input. */
export async function countTokens(
  options: Omit<EncodeCorpusOptions, "ranges">,
  report: (progress: stageProgress.EncodeProgress) => void,
): Promise<EncodedTask[]> {
  const counts = options.inputs.map(emptyEncodedSum);
  const endTask = ({ inputIndex }: tasks.Task, found: EncodedTask | undefined) =>
    addEncoded(counts[inputIndex]!, found);
  await encodeTasks(options, { endTask }, false, report);
  return counts;
}

/** Runs all tasks of the inputs. Without `keepsIds`, the ids are only counted. */
async function encodeTasks(
  options: EncodeCorpusOptions,
  sink: taskRunner.Sink<IdsPart, EncodedTask>,
  keepsIds: boolean,
  report: (progress: stageProgress.EncodeProgress) => void,
): Promise<void> {
  const { inputs, ranges, parts, workerCount, workers } = options;
  const { budget = new machine.MemoryBudget() } = options;
  const mergeCount = parts.model.merges.left.length;
  const threads = workerCount === 1 ? "encoding" : `encoding with ${workerCount} workers`;
  const otherBytes = (workerCount - 1) * (machine.workerBytes + mergeBytesOfThread * mergeCount);
  budget.check(
    threads,
    mergeBytesOfMain * mergeCount + otherBytes,
    workerCount === 1
      ? undefined
      : messages.ifHas(
          "workers",
          phrase`use fewer workers, e.g. ${asOption("workers", 1, "w")}`,
          "a tokenizer with fewer merges",
        ),
  );
  const textBytesMax = budget.shareBytes(workerCount);
  const bytesTotal = corpusInputs.totalBytesOf(inputs, ranges);
  const cutting = { ...rangePlanOf(options), textBytesMax };
  const setup = {
    kernelModule: kernels.sharedModule(),
    inputs,
    parts: encodingParts(parts),
    keepsIds,
    textBytesMax,
  };
  await yieldToEventLoop();
  await taskRunner.runTasks(
    {
      name: "encoding",
      start: startEncoding,
      setupOf: () => setup,
      sink,
      inputs,
      ranges,
      cutting,
      aheadBytes: workerCount * smallestRangeSizeBytes,
      threadCount: workerCount,
      mainWorks: doesMainEncode(inputs, parts),
      mayTakeLong: (task) => tasks.mayTakeLong(task, longBytesOf(task, options, cutting)),
      workers,
    },
    (bytesDone) => report({ bytesDone, bytesTotal }),
  );
  for (const input of inputs) corpusInputs.checkUnchanged(input);
}

/**
 * Passes the output of tasks to a sink of ids, and adds up their results in `all`. A text that is not a record ends
 * with the last task of its input.
 */
function inOrder(
  sink: idWriters.IdSink,
  inputs: readonly Input[],
  all: EncodedTask,
): taskRunner.Sink<IdsPart, EncodedTask> {
  return {
    write: ({ ids, recordEnds, kept }) => sink.write(ids, recordEnds, kept),
    endTask(task, found) {
      const { endsInput, inputIndex } = task;
      addEncoded(all, found);
      if (endsInput && inputs[inputIndex]!.format === "text") sink.endInput();
      sink.endTask?.(task);
    },
    drain: () => sink.drain?.(),
  };
}

/** Returns only the parts that encoding needs. Only these are sent to workers. */
export function encodingParts(parts: tokenizers.EncodingParts): tokenizers.EncodingParts {
  const { model, pattern, normalization, addsPrefixSpace, addedTokens, isNarrow } = parts;
  const { specialTokensAsText = false, prefixRule } = parts;
  return {
    ...{ model, pattern, normalization, addsPrefixSpace, addedTokens, isNarrow, specialTokensAsText },
    ...(prefixRule !== undefined && { prefixRule }),
  };
}

/**
 * Returns the size in bytes above which a task may run long without yielding. A larger task has a long line or page, or
 * it is a range without a cut.
 */
function longBytesOf(
  task: tasks.Task,
  { inputs }: EncodeCorpusOptions,
  { rangeSizeBytes, keepsTextsWhole }: RangePlanOptions,
): number {
  const isCut = task.kind === "range" && !(keepsTextsWhole && inputs[task.inputIndex]!.format === "text");
  return isCut ? 2 * rangeSizeBytes : 2 * largestRangeSizeBytes;
}

/** Returns how inputs are split into tasks. */
function rangePlanOf(options: EncodeCorpusOptions): RangePlanOptions {
  const { inputs, ranges, parts, workerCount, chunkSizeBytes } = options;
  const evenSizeBytes = Math.ceil(
    (corpusInputs.totalBytesOf(inputs, ranges) ?? 0) / (workerCount * rangesPerThread),
  );
  const rangeSizeBytes =
    options.rangeSizeBytes ??
    Math.min(Math.max(evenSizeBytes, smallestRangeSizeBytes), largestRangeSizeBytes);
  return {
    ...cuttings.textCutting(parts),
    rangeSizeBytes,
    ...(chunkSizeBytes !== undefined && { chunkSizeBytes }),
  };
}

export type EncodeIntoOptions = EncodeCorpusOptions & {
  readonly type: idWriters.IdType;
  /** An id appended to each text. */
  readonly appendId?: number | undefined;
  readonly report: (progress: stageProgress.EncodeProgress) => void;
};

export type EncodedFile = EncodedText & { readonly idCount: number };

/** Encodes the inputs to `out`: as .npy or .bin if the path ends so, otherwise as decimal ids. */
export async function encodeInto(
  path: string | undefined,
  out: ByteSink,
  options: EncodeIntoOptions,
): Promise<EncodedFile> {
  const { type, appendId, report } = options;
  const writer = idWriters.writerFor(path, type, out);
  const sink = appendId === undefined ? writer : idWriters.appendToDocuments(writer, appendId);
  const encoded = await encodeCorpus(options, sink, report);
  writer.finish();
  return { ...encoded, idCount: writer.idCount };
}

const windowBytes = scaled(1 << 18, 64);

/** The initial data of an encoding thread. */
type EncodeSetup = {
  /** The compiled kernel, which all threads share. */
  readonly kernelModule: WebAssembly.Module;
  readonly inputs: readonly Input[];
  readonly parts: tokenizers.EncodingParts;
  /** Whether the ids are part of the output. If not, they are only counted. */
  readonly keepsIds?: boolean;
  /**
   * The maximum memory, in bytes, for a text and for the line or page that contains it. By default, there is no limit.
   */
  readonly textBytesMax?: number;
};

/** Ids, with the records that end among them. A long record continues in the next part. */
export type IdsPart = taskRunner.OutputPart & {
  readonly ids: Ids;
  /** The positions in `ids` where records end; undefined for a text that is not a record. */
  readonly recordEnds: Uint32Array | undefined;
  /** The kept fields of the records that end in this part. */
  readonly kept: readonly keptField.Value[];
};

/** The amount of encoded text. */
export type EncodedText = {
  /** Bytes of text that were read. */
  readonly textBytes: number;
  /** Bytes that were not valid UTF-8. */
  readonly invalidByteCount: number;
};

/** The amounts of text and of output, for one task or several. */
export type EncodedTask = EncodedText & {
  readonly idCount: number;
  /** The number of records that end in these tasks; 0 for a text without records. */
  readonly recordCount: number;
};

type EncodedSum = { -readonly [Field in keyof EncodedTask]: EncodedTask[Field] };

export const emptyEncodedSum = (): EncodedSum => ({
  textBytes: 0,
  invalidByteCount: 0,
  idCount: 0,
  recordCount: 0,
});

/** Adds the result of a task to a sum. `found` is undefined if the task had nothing to do. */
export function addEncoded(sum: EncodedSum, found: EncodedTask = emptyEncodedSum()): void {
  sum.textBytes += found.textBytes;
  sum.invalidByteCount += found.invalidByteCount;
  sum.idCount += found.idCount;
  sum.recordCount += found.recordCount;
}

/** The work of one encoding thread: converts the text of tasks to ids. */
export class TaskEncoder implements taskRunner.ThreadJob<IdsPart, EncodedTask, undefined> {
  readonly encoding: TextEncoding;
  readonly output?: IdsOutput;
  readonly rest = undefined;
  private readonly texts: TaskTexts;
  private recordCount = 0;
  private readonly inputs: readonly Input[];

  constructor({ inputs, parts, keepsIds = true, textBytesMax }: Omit<EncodeSetup, "kernelModule">) {
    this.inputs = inputs;
    const growthBytesMax = textBytesMax && kernelShare * textBytesMax;
    this.encoding = new TextEncoding(parts, undefined, { growthBytesMax });
    const { out } = this.encoding;
    const output = keepsIds ? new IdsOutput(out) : undefined;
    if (output !== undefined) this.output = output;
    const memory = new rangeReader.TextMemory(textBytesMax);
    const endRecord = (batch: RecordBatch, r: number) => {
      this.recordCount++;
      output?.endRecord(batch, r);
    };
    this.texts = new TaskTexts(this.encoding, { inputs, memory, windowBytes, endRecord });
  }

  get offsetByte(): number {
    return this.texts.offsetByte;
  }

  /**
   * Encodes a task. Now and then yields how many of its bytes are done. If ids are only counted, they are removed
   * before each yield.
   */
  *take(task: tasks.Task): Generator<number, EncodedTask> {
    const { out } = this.encoding;
    const [idsBefore, recordsBefore] = [out.totalCount, this.recordCount];
    if (this.output !== undefined) this.output.hasRecords = this.inputs[task.inputIndex]!.format !== "text";
    const work = this.texts.take(task);
    let step = this.next(work, task);
    for (; !step.done; step = this.next(work, task)) {
      if (this.output === undefined) out.flush();
      yield step.value;
    }
    if (this.output === undefined) out.flush();
    const { textBytes = 0, invalidByteCount = 0 } = step.value ?? {};
    return {
      textBytes,
      invalidByteCount,
      idCount: out.totalCount - idsBefore,
      recordCount: this.recordCount - recordsBefore,
    };
  }

  /** Runs the next step of work. If memory runs out, adds the position in the text to the error. */
  private next<Step>(work: Iterator<number, Step>, { inputIndex }: tasks.Task): IteratorResult<number, Step> {
    try {
      return work.next();
    } catch (error) {
      if (!(error instanceof NoMemory)) throw error;
      const place = `"${this.inputs[inputIndex]!.path}", at or after byte ${this.offsetByte}`;
      throw new UserError(phrase`${place}: ${error.parts.message}`, {
        hint: phrase`${messages.raiseLimitOr}shorten long stretches of text that the pattern does not split${messages.orFewerWorkers}`,
      });
    }
  }

  close(): void {
    this.texts.close();
  }
}

/** The kernel's share of the memory for a text. The rest is for the ids that the kernel returns. */
const kernelShare = 0.75;

export function startEncoding(setup: EncodeSetup): TaskEncoder {
  kernels.adoptModule(setup.kernelModule);
  return new TaskEncoder(setup);
}

/** Gathers ids as parts of the output. */
export class IdsOutput implements taskRunner.PartMaker<IdsPart> {
  /** Whether the ids are from records, so that parts have `recordEnds`. */
  hasRecords = false;
  private kept: keptField.Value[] = [];
  private keptBytes = 0;

  constructor(private readonly out: TextEncoding["out"]) {}

  endRecord({ kept, count }: RecordBatch, r: number): void {
    this.out.endRecord();
    const width = kept.length / count;
    for (let k = r * width; k < (r + 1) * width; k++) {
      const value = kept[k]!;
      this.kept.push(value);
      this.keptBytes += keptField.bytesOf(value);
    }
  }

  get isEmpty(): boolean {
    return this.out.isEmpty;
  }

  take(spare: ArrayBuffer | undefined): IdsPart {
    const ends = this.out.takeRecordEnds();
    const recordEnds = this.hasRecords ? ends : undefined;
    const ids = this.out.take(spare);
    const { kept, keptBytes } = this;
    [this.kept, this.keptBytes] = [[], 0];
    return { ids, recordEnds, kept, memory: ids.buffer, sizeBytes: ids.byteLength + keptBytes };
  }
}

const knownSources: Readonly<Record<string, namedPatterns.NamedPattern>> = patterns;

/** Returns the settings on which the cuts of an encoding plan depend. A named pattern is represented by its splits. */
export function cutSettingsOf(parts: TokenizerParts): planFile.PlannedCutting {
  const { patternName, patternSources } = parts.description;
  return {
    patterns: knownSources[patternName ?? ""]?.sources ?? patternSources,
    specialTokens: cuttings.cuttingTokens(parts),
    isLinewise: false,
    normalization: parts.normalization,
  };
}
