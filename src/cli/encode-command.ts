import { bytes, counted, grouped, seconds, speed } from "../bytes/quantities.ts";
import type { FoundInputs } from "../corpus/find-inputs.ts";
import { expectedTextBytes, hasFields, sizeOfRanges } from "../corpus/input.ts";
import type { KeptField } from "../corpus/records/kept-fields.ts";
import { UserError, usageError } from "../errors.ts";
import { baseOf, type IdFormat, idFormatOf } from "../formats/id-formats.ts";
import { type IdType, idTypeFor } from "../formats/id-writers.ts";
import { recordedReading } from "../formats/training-json.ts";
import { encoding as encodingTable, idFiles } from "../options/command-tables.ts";
import { readTyped } from "../options/option.ts";
import {
  cutSettingsOf,
  type EncodedFile,
  type EncodeIntoOptions,
  encodeInto,
  encodingThreadsFor,
  startEncodingWorkers,
} from "../pipeline/encode-corpus.ts";
import {
  type AskedFiles,
  type EncodedFiles,
  encodeIntoFiles,
  isPart,
  noFields,
  pathsToLock,
} from "../pipeline/id-files.ts";
import { invalidBytes } from "../pipeline/warnings.ts";
import { shellQuoted } from "../runtime/hints.ts";
import { MemoryBudget, peakMemoryBytes } from "../runtime/system-limits.ts";
import { placeOfFile } from "../store/staged-file.ts";
import { canBeCut } from "../text/cutting.ts";
import { specialTokenId } from "../tokenizer/tokenizer-parts.ts";
import type { Invocation } from "./arguments.ts";
import { checkHeadFits, lockFiles, writeData } from "./data-output.ts";
import { findFiles, inspectStreams, openRanges, rangesPath, readInputOptions } from "./input-options.ts";
import { corpusNoteLines, type Output } from "./output.ts";
import { onStop } from "./stop.ts";
import { openTokenizer, readTokenizerOptions } from "./tokenizer-options.ts";

/** `bpe encode`: the ids of each input, in order, into one file or onto stdout. */
export async function runEncode(invocation: Invocation, output: Output): Promise<void> {
  const startMs = performance.now();
  const options = readOptions(invocation);
  const { files } = options;
  await lockFiles(output, ...(files === undefined ? [options.output] : pathsToLock(files)));
  if (files === undefined) checkHeadFits(options.output);
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
    // What tells a tokenizer from others, for shards, is made of its table for decoding, too.
    // How large its ids are decides a type; of shards, the digest of the tokenizer is in their manifest.
    const isDecoded = files?.format.typeFor !== undefined || files?.shardSize !== undefined;
    const parts = await openTokenizer(options, isDecoded, output);
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
    const plain = files?.keptFields && inputs.find(({ format }) => !hasFields(format));
    if (plain !== undefined) throw new UserError(`"${plain.path}": ${noFields}`);
    const type = options.dtype ?? files?.format.typeFor?.(parts.tokens.idLimit) ?? idTypeFor(parts);
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
    const encoded =
      files === undefined
        ? await writeData(options.output, (out) => encodeInto(options.output, out, encoding))
        : await encodeIntoFiles(encoding, parts, files, onStop);
    summarize(output, encoded, found, {
      dtype: options.output === undefined ? null : type,
      elapsedMs: performance.now() - startMs,
      path: options.output ?? "-",
      files,
    });
  } finally {
    workers?.terminate();
  }
}

function summarize(
  output: Output,
  encoded: EncodedFile | EncodedFiles,
  found: FoundInputs,
  {
    dtype,
    elapsedMs,
    path,
    files,
  }: { dtype: IdType | null; elapsedMs: number; path: string; files: AskedFiles | undefined },
): void {
  const { idCount, textBytes, invalidByteCount } = encoded;
  if (files?.ifChanged && (encoded as EncodedFiles).isUnchanged) {
    const message = `unchanged: "${files.base}.json" is of the same inputs with the same options`;
    output.succeed(message, { changed: false, output: path });
    return;
  }
  const { fileCount, documentCount, formerFileCount = 0 } = encoded as Partial<EncodedFiles>;
  output.tell(invalidBytes({ count: invalidByteCount, became: "was encoded as a pretoken of its own" }));
  const perToken = idCount === 0 ? "-" : (textBytes / idCount).toFixed(3);
  // What is read now is not what all ids are of.
  const did =
    formerFileCount > 0
      ? `went on: read ${bytes(textBytes)} more, ${counted(idCount, "id")} in all`
      : `encoded ${bytes(textBytes)} to ${counted(idCount, "id")} (${perToken} bytes each)`;
  output.succeed(
    [
      `${did} in ${seconds(elapsedMs / 1000)}${speed(textBytes, elapsedMs)}, ${bytes(peakMemoryBytes())} memory`,
      ...filesLine(encoded, files),
      ...corpusNoteLines(found),
    ],
    {
      sizeBytes: textBytes,
      idCount,
      invalidByteCount,
      ...(documentCount !== undefined && { documentCount, fileCount, formerFileCount }),
      ...(files?.ifChanged && { changed: true }),
      skipped: found.skipped,
      dtype,
      elapsedMs: Math.round(elapsedMs),
      peakMemoryBytes: peakMemoryBytes(),
      output: path,
    },
  );
}

/** Of files that say where documents are, or of several. */
export function filesLine(encoded: object, files: AskedFiles | undefined): string[] {
  if (!("fileCount" in encoded) || (!files?.format.hasDocuments && files?.shardSize === undefined)) return [];
  const { documentCount, fileCount, formerFileCount } = encoded as EncodedFiles;
  const former = formerFileCount > 0 ? `, ${grouped(formerFileCount)} of them there before` : "";
  const empty = files!.format.omitsEmpty ? "; empty ones are left out" : "";
  return [`${counted(documentCount, "document")} in ${counted(fileCount, "file")}${former}${empty}`];
}

function readOptions(invocation: Invocation) {
  const { options } = invocation;
  const { output, workers, memoryLimit, appendToken } = readTyped(encodingTable, options);
  const tokenizer = readTokenizerOptions(invocation);
  const ofFiles = [encodingTable.idType, ...Object.values(idFiles)];
  const given = ofFiles.find(({ name }) => options.has(name));
  if (output === undefined && given !== undefined)
    throw usageError(`--${given.name} is for files of ids`, "name one: -o ids.npy");
  return {
    ...tokenizer,
    files: output === undefined ? undefined : readFiles(output, options),
    plan: rangesPath(invocation),
    reading: readInputOptions(invocation),
    output,
    workers,
    memoryLimitBytes: memoryLimit,
    appendToken,
  };
}

/** So many ids of a part are written again where a machine stops. */
const partIds = 1 << 28;

/** The files of ids: how they are laid out, and what they are called. Undefined for a pipe, to which raw ids can be written. */
export function readFiles(output: string, options: Invocation["options"]): AskedFiles | undefined {
  const { idsFormat, keepField: keptFields, ifChanged, documentEnd, ...asked } = readTyped(idFiles, options);
  const format = idFormatOf(idsFormat, output);
  if (format === undefined) {
    throw usageError(
      `--output "${output}" ends in neither .npy nor .bin`,
      "end the name in .npy, .bin, .parquet or .ds, name an --ids-format, or leave out -o for decimal ids on stdout",
    );
  }
  if (/(^|\/)$/.test(output))
    throw usageError(
      `--output "${output}" is a directory`,
      `name files in it: -o ${shellQuoted(`${output}ids`)}`,
    );
  if (format.name === "parquet" && options.has("dtype"))
    throw usageError("--dtype is not for parquet: its ids are int32");
  const shardSize = asked.shardSize ?? (isPart(format) ? partIds : undefined);
  if (keptFields !== undefined) checkKept(keptFields, format);
  const isPlain = shardSize === undefined && !format.hasDocuments && baseOf(output, format) !== output;
  if (isPlain && placeOfFile(output) === null) return undefined;
  return { base: baseOf(output, format), format, shardSize, documentEnd, keptFields, ifChanged };
}

function checkKept(fields: readonly KeptField[], { name, keepsFields }: IdFormat): void {
  if (!keepsFields)
    throw usageError(`--keep-field is for parquet, and these files are ${name}`, "give --ids-format parquet");
  const twice = fields.find((field, i) => fields.findIndex(({ name }) => name === field.name) < i);
  if (twice !== undefined) throw usageError(`--keep-field names "${twice.name}" twice`);
}
