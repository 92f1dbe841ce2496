import { countNoun, formatBytes, formatSeconds, formatSpeed, groupDigits } from "#bytes";
import { expectedTextBytes, type FoundInputs, type KeptField, sizeOfRanges } from "#corpus";
import {
  type AskedFiles,
  cutSettingsOf,
  type EncodedFile,
  type EncodedFiles,
  type EncodeIntoOptions,
  encodeInto,
  encodeIntoFiles,
  encodingThreadsFor,
  isPart,
  pathsToLock,
  startEncodingWorkers,
} from "#encoding";
import { readRecordedReading } from "#formats";
import { baseOf, type IdFormat, type IdType, idFormatOf, idTypeFor } from "#ids";
import { invalidBytes } from "#jobs";
import { type Option, type Requested, readTyped } from "#options";
import { MemoryBudget, peakMemoryBytes, shellQuoted, usageError } from "#runtime";
import { placeOfFile } from "#store";
import {
  checkFiles,
  checkHeadFits,
  corpusNoteLines,
  findFiles,
  type Invocation,
  inspectStreams,
  lockFiles,
  type Output,
  onStop,
  openRanges,
  openTokenizer,
  tokenizerOf,
  writeData,
} from "#terminal";
import { canBeCutSafely } from "#text";
import { specialTokenId } from "#tokenizer";
import { encodeOptions as encodingTable, idFiles } from "./encode-options.ts";

/** `bpe encode`: the ids of each input, in order, into one file or onto stdout. */
export async function runEncode(invocation: Invocation, output: Output): Promise<void> {
  const startMs = performance.now();
  // 1. What the options alone show is refused before anything is looked at.
  const asked = readTyped(encodingTable, invocation.options);
  const { output: path, ranges: plan, appendToken } = asked;
  const tokenizer = tokenizerOf(asked);
  const files = idFilesOf(asked);
  if (files !== undefined && isPart(files.format) && plan === undefined)
    throw usageError("--ids-format part is for ranges of a plan", "give them: --ranges FILE, by bpe plan");
  checkFiles(invocation.files, asked);

  // 2. Other runs are kept from the output, and the inputs listed as they are now.
  await lockFiles(output, ...(files === undefined ? [path] : pathsToLock(files)));
  if (files === undefined) checkHeadFits(path);
  const reading = { ...asked, trained: readRecordedReading([tokenizer.path]) };
  const named =
    plan === undefined ? findFiles(invocation.files, reading, output) : { inputs: [], skipped: [] };

  // 3. Threads start while the tokenizer is loaded. The size of planned ranges is known only with it.
  const budget = new MemoryBudget(asked.memoryLimit);
  const threadCountFor = encodingThreadsFor(asked.workers, budget);
  const namedThreads = plan === undefined ? threadCountFor(expectedTextBytes(named.inputs)) : 1;
  const workers = namedThreads > 1 ? startEncodingWorkers(namedThreads, named.inputs) : undefined;
  try {
    // What tells a tokenizer from others, for shards, is made of its table for decoding, too.
    // How large its ids are decides a type; of shards, the digest of the tokenizer is in their manifest.
    const isDecoded = files?.format.typeFor !== undefined || files?.shardSize !== undefined;
    const parts = await openTokenizer(tokenizer, isDecoded, output);
    const found = plan === undefined ? await inspectStreams(named, reading) : named;
    const wholeTextsOnly = !canBeCutSafely(parts);
    const ofPart = files !== undefined && isPart(files.format);
    const cutting = { ...cutSettingsOf(parts), textField: asked.textField, wholeTextsOnly, isPart: ofPart };
    const planned = plan === undefined ? undefined : await openRanges(plan, cutting, output);
    const { inputs, ranges } = planned ?? { inputs: found.inputs };

    // 4. All threads encode, and the ids are written in order.
    const type = asked.idType ?? files?.format.typeFor?.(parts.tokens.idLimit) ?? idTypeFor(parts);
    const encoding: EncodeIntoOptions = {
      ...{ inputs, ranges, parts, budget, workers, type },
      workerCount: ranges === undefined ? namedThreads : threadCountFor(sizeOfRanges(ranges)),
      appendId: appendToken === undefined ? undefined : specialTokenId(parts, appendToken),
      report: output.encoding,
    };
    const encoded =
      files === undefined
        ? await writeData(path, (out) => encodeInto(path, out, encoding))
        : await encodeIntoFiles(encoding, parts, files, onStop, output.checking);

    // 5. Tell.
    const elapsedMs = performance.now() - startMs;
    summarize(output, encoded, found, {
      ...{ dtype: path === undefined ? null : type, elapsedMs, path: path ?? "-", files },
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
      ? `went on: read ${formatBytes(textBytes)} more, ${countNoun(idCount, "id")} in all`
      : `encoded ${formatBytes(textBytes)} to ${countNoun(idCount, "id")} (${perToken} bytes each)`;
  output.succeed(
    [
      `${did} in ${formatSeconds(elapsedMs / 1000)}${formatSpeed(textBytes, elapsedMs)}, ${formatBytes(peakMemoryBytes())} memory`,
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
  const { documentCount, fileCount, formerFileCount, omitsEmpty } = encoded as EncodedFiles;
  const former = formerFileCount > 0 ? `, ${groupDigits(formerFileCount)} of them there before` : "";
  const empty = omitsEmpty ? "; empty ones are left out" : "";
  return [`${countNoun(documentCount, "document")} in ${countNoun(fileCount, "file")}${former}${empty}`];
}

const { idType } = encodingTable;
const ofFiles = Object.entries({ idType, ...idFiles }) as [keyof AskedIds, Option][];

/** So many ids of a part are written again where a machine stops. */
const partIds = 1 << 28;

type AskedIds = Pick<Requested<typeof encodingTable>, "output" | "idType" | keyof typeof idFiles>;

/**
 * The files of ids: how they are laid out, and what they are called. Undefined for stdout, and for a pipe, to which raw ids
 * can be written.
 */
export function idFilesOf(asked: AskedIds): AskedFiles | undefined {
  const { output, idsFormat, keepField: keptFields, ifChanged, documentEnd } = asked;
  if (output === undefined) {
    const given = ofFiles.find(([key]) => asked[key] !== undefined);
    if (given === undefined) return undefined;
    throw usageError(`--${given[1].name} is for files of ids`, "name one: -o ids.npy");
  }
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
  if (format.name === "parquet" && asked.idType !== undefined)
    throw usageError("--dtype is not for parquet: its ids are int32");
  if (keptFields !== undefined) checkKept(keptFields, format);
  const shardSize = asked.shardSize ?? (isPart(format) ? partIds : undefined);
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
