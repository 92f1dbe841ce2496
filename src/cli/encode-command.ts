import { bytes, counted, seconds, speed } from "../bytes/quantities.ts";
import type { FoundInputs } from "../corpus/find-inputs.ts";
import { expectedTextBytes, sizeOfRanges } from "../corpus/input.ts";
import { usageError } from "../errors.ts";
import { type IdType, idTypeFor } from "../formats/id-writers.ts";
import { recordedReading } from "../formats/training-json.ts";
import {
  cutSettingsOf,
  type EncodedFile,
  type EncodeIntoOptions,
  encodeInto,
  encodingThreadsFor,
  startEncodingWorkers,
} from "../pipeline/encode-corpus.ts";
import { invalidBytes } from "../pipeline/warnings.ts";
import { MemoryBudget, peakMemoryBytes } from "../runtime/system-limits.ts";
import { canBeCut } from "../text/cutting.ts";
import { specialTokenId } from "../tokenizer/tokenizer-parts.ts";
import type { Invocation } from "./arguments.ts";
import { checkHeadFits, idOutputFile, lockOutputFile, writeData } from "./data-output.ts";
import { findFiles, inspectStreams, openRanges, rangesPath, readInputOptions } from "./input-options.ts";
import { corpusNoteLines, type Output } from "./output.ts";
import { openTokenizer, readTokenizerOptions } from "./tokenizer-options.ts";

/** `bpe encode`: the ids of each input, in order, into one file or onto stdout. */
export async function runEncode(invocation: Invocation, output: Output): Promise<void> {
  const startMs = performance.now();
  const options = readOptions(invocation);
  await lockOutputFile(invocation, output, options.output);
  checkHeadFits(options.output);
  const reading = { ...options.reading, trained: recordedReading([options.path]) };
  let found: FoundInputs = { inputs: [], skipped: [] };
  if (options.plan === undefined) found = findFiles(invocation.files, reading, output);
  const named = found.inputs;
  // The size of planned ranges is known only with the tokenizer.
  const budget = new MemoryBudget(options.memoryLimitBytes);
  const threadCountFor = encodingThreadsFor(options.workers, budget);
  const namedThreads = options.plan === undefined ? threadCountFor(expectedTextBytes(named)) : 1;
  const workers = namedThreads > 1 ? startEncodingWorkers(namedThreads, named) : undefined;
  try {
    const parts = await openTokenizer(options, false, output);
    const { appendToken } = options;
    const planned =
      options.plan === undefined
        ? undefined
        : await openRanges(
            options.plan,
            {
              ...cutSettingsOf(parts),
              textField: options.reading.textField,
              wholeTextsOnly: !canBeCut(parts),
            },
            output,
          );
    if (planned === undefined) found = await inspectStreams(found, reading);
    const inputs = planned?.inputs ?? found.inputs;
    const type = idTypeFor(parts, options.dtype);
    const encoding: EncodeIntoOptions = {
      inputs,
      ranges: planned?.ranges,
      parts,
      workerCount: planned === undefined ? namedThreads : threadCountFor(sizeOfRanges(planned.ranges)),
      budget,
      workers,
      type,
      appendId: appendToken === undefined ? undefined : specialTokenId(parts, appendToken),
      report: ({ bytesDone, bytesTotal }) =>
        output.progress({ stage: "encoding", done: bytesDone, total: bytesTotal, unit: "bytes" }),
    };
    const encoded = await writeData(options.output, (out) => encodeInto(options.output, out, encoding));
    summarize(output, encoded, found, {
      dtype: options.output === undefined ? null : type,
      elapsedMs: performance.now() - startMs,
      path: options.output ?? "-",
    });
  } finally {
    workers?.terminate();
  }
}

function summarize(
  output: Output,
  { idCount, textBytes, invalidByteCount }: EncodedFile,
  found: FoundInputs,
  { dtype, elapsedMs, path }: { dtype: IdType | null; elapsedMs: number; path: string },
): void {
  output.tell(invalidBytes({ count: invalidByteCount, became: "was encoded as a pretoken of its own" }));
  const perToken = idCount === 0 ? "-" : (textBytes / idCount).toFixed(3);
  output.succeed(
    [
      `encoded ${bytes(textBytes)} to ${counted(idCount, "id")} (${perToken} bytes each) in ${seconds(elapsedMs / 1000)}${speed(textBytes, elapsedMs)}, ${bytes(peakMemoryBytes())} memory`,
      ...corpusNoteLines(found),
    ],
    {
      sizeBytes: textBytes,
      idCount,
      invalidByteCount,
      skipped: found.skipped,
      dtype,
      elapsedMs: Math.round(elapsedMs),
      peakMemoryBytes: peakMemoryBytes(),
      output: path,
    },
  );
}

function readOptions(invocation: Invocation) {
  const { options } = invocation;
  const output = idOutputFile(invocation);
  const tokenizer = readTokenizerOptions(invocation);
  if (tokenizer.dtype !== undefined && output === undefined) {
    throw usageError("--dtype is for .npy and .bin files", "name one: -o ids.npy");
  }
  return {
    ...tokenizer,
    plan: rangesPath(invocation),
    reading: readInputOptions(invocation),
    output,
    workers: options.number("workers"),
    memoryLimitBytes: options.number("memory-limit"),
    appendToken: options.text("append-token"),
  };
}
