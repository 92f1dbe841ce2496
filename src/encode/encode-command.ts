import { countNoun, formatBytes, formatSeconds, groupDigits } from "#bytes";
import { corpusInputs, type inputSearch, type keptField } from "#corpus";
import { corpusEncoding } from "#encoding";
import { recordFiles } from "#formats";
import { idFormats, idWriters } from "#ids";
import { warnings } from "#jobs";
import { optionTables } from "#options";
import { asOption, machine, phrase, shell, usageError } from "#runtime";
import { stagedFile } from "#store";
import {
  dataOutput,
  givenTokenizers,
  type Invocation,
  inputFiles,
  type Output,
  openRanges,
  stopping,
} from "#terminal";
import { cuttings } from "#text";
import { tokenizers } from "#tokenizer";
import { encodeOptions, idFiles } from "./encode-options.ts";
import { type AskedFiles, type EncodedFiles, encodeIntoFiles, isPart, pathsToLock } from "./id-files.ts";
import { asParquet, checkHeadFits } from "./id-output.ts";
import { formatSpeed } from "./text-speed.ts";

/** `bpe encode`: writes the ids of all inputs, in order, to files or to stdout. */
export async function runEncode(invocation: Invocation, output: Output): Promise<void> {
  const startMs = performance.now();
  // 1. Refuse mistakes that the options alone reveal, before any input is read.
  const asked = optionTables.readTyped(encodeOptions, invocation.options);
  const { output: path, ranges: plan, appendToken } = asked;
  const tokenizer = await givenTokenizers.tokenizerOf(asked);
  const files = idFilesOf(asked);
  if (files !== undefined && isPart(files.format) && plan === undefined)
    throw usageError(
      phrase`${asOption("ids-format", "part")} needs ${asOption("ranges")}`,
      phrase`give ${asOption("ranges", "FILE")}, a file that bpe plan wrote`,
    );
  inputFiles.check(invocation.files, asked);

  // 2. Lock the output, and find the inputs.
  await dataOutput.lockFiles(output, ...(files === undefined ? [path] : pathsToLock(files)));
  if (files === undefined) checkHeadFits(path);
  const reading = { ...asked, trained: recordFiles.readReading([tokenizer.path]) };
  const named =
    plan === undefined ? inputFiles.find(invocation.files, reading, output) : { inputs: [], skipped: [] };

  // 3. Start threads now, so that they get ready while the tokenizer loads. With a plan, the size of its ranges is not
  // known yet, so no threads start here.
  const budget = new machine.MemoryBudget(asked.memoryLimit);
  const threadCountFor = corpusEncoding.encodingThreadsFor(asked.workers, budget);
  const namedThreads = plan === undefined ? threadCountFor(corpusInputs.expectedTextBytes(named.inputs)) : 1;
  const workers =
    namedThreads > 1 ? corpusEncoding.startEncodingWorkers(namedThreads, named.inputs) : undefined;
  try {
    // The id type of some formats, and the digest of the tokenizer in the manifest, need the table of tokens.
    const isDecoded = files?.format.typeFor !== undefined || files?.shardSize !== undefined;
    const parts = await givenTokenizers.open(tokenizer, isDecoded, output);
    const found = plan === undefined ? await inputFiles.inspectStreams(named, reading) : named;
    const wholeTextsOnly = !cuttings.canBeCutSafely(parts);
    const ofPart = files !== undefined && isPart(files.format);
    const cutting = {
      ...corpusEncoding.cutSettingsOf(parts),
      textField: asked.textField,
      wholeTextsOnly,
      isPart: ofPart,
    };
    const planned = plan === undefined ? undefined : await openRanges(plan, cutting, output);
    const { inputs, ranges } = planned ?? { inputs: found.inputs };

    // 4. Encode on all threads, and write the ids in order.
    const type = asked.idType ?? files?.format.typeFor?.(parts.tokens.idLimit) ?? idWriters.typeFor(parts);
    const encoding: corpusEncoding.EncodeIntoOptions = {
      ...{ inputs, ranges, parts, budget, workers, type },
      workerCount: ranges === undefined ? namedThreads : threadCountFor(corpusInputs.sizeOfRanges(ranges)),
      appendId: appendToken === undefined ? undefined : tokenizers.specialTokenId(parts, appendToken),
      report: output.encoding,
    };
    const encoded =
      files === undefined
        ? await dataOutput.writeData(path, (out) => corpusEncoding.encodeInto(path, out, encoding))
        : await encodeIntoFiles(encoding, parts, files, stopping.onStop, output.checking);

    // 5. Summarize.
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
  encoded: corpusEncoding.EncodedFile | EncodedFiles,
  found: inputSearch.FoundInputs,
  {
    dtype,
    elapsedMs,
    path,
    files,
  }: { dtype: idWriters.IdType | null; elapsedMs: number; path: string; files: AskedFiles | undefined },
): void {
  const { idCount, textBytes, invalidByteCount } = encoded;
  if (files?.ifChanged && (encoded as EncodedFiles).isUnchanged) {
    const message = `unchanged: "${files.base}.json" was made from the same inputs with the same options`;
    output.succeed(message, { changed: false, output: path });
    return;
  }
  const { fileCount, documentCount, formerFileCount = 0 } = encoded as Partial<EncodedFiles>;
  output.tell(
    warnings.invalidBytes({ count: invalidByteCount, became: "was encoded as a pretoken of its own" }),
  );
  const perToken = idCount === 0 ? "-" : (textBytes / idCount).toFixed(3);
  // The summary also counts the ids of runs that this run resumed.
  const did =
    formerFileCount > 0
      ? `resumed: read ${formatBytes(textBytes)} more, ${countNoun(idCount, "id")} in all`
      : `encoded ${formatBytes(textBytes)} to ${countNoun(idCount, "id")} (${perToken} bytes each)`;
  output.succeed(
    [
      `${did} in ${formatSeconds(elapsedMs / 1000)}${formatSpeed(textBytes, elapsedMs)}, ${formatBytes(machine.peakMemoryBytes())} memory`,
      ...filesLine(encoded, files),
      ...inputFiles.noteLines(found),
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
      peakMemoryBytes: machine.peakMemoryBytes(),
      output: path,
    },
  );
}

/** Returns the line about documents and files, if the files store documents or are shards. */
export function filesLine(encoded: object, files: AskedFiles | undefined): string[] {
  if (!("fileCount" in encoded) || (!files?.format.hasDocuments && files?.shardSize === undefined)) return [];
  const { documentCount, fileCount, formerFileCount, omitsEmpty } = encoded as EncodedFiles;
  const former = formerFileCount > 0 ? `, ${groupDigits(formerFileCount)} of them from earlier runs` : "";
  const empty = omitsEmpty ? "; empty documents are left out" : "";
  return [`${countNoun(documentCount, "document")} in ${countNoun(fileCount, "file")}${former}${empty}`];
}

const { idType } = encodeOptions;
const ofFiles = Object.entries({ idType, ...idFiles }) as [keyof AskedIds, optionTables.Option][];

/**
 * The default shard size of the format `part`, in ids. After an interruption, at most about this many ids have to be
 * encoded again.
 */
const partIds = 1 << 28;

type AskedIds = Pick<
  optionTables.Requested<typeof encodeOptions>,
  "output" | "idType" | keyof typeof idFiles
>;

/**
 * Returns the format and the names of the requested files of ids. Returns undefined for stdout, which receives decimal
 * numbers. Also returns undefined for the formats npy and bin if `-o` is a pipe or a device whose name has the format's
 * ending, unless shards are requested. `canPrint` says whether the command writes to stdout without `-o`.
 */
export function idFilesOf(asked: AskedIds, canPrint = true): AskedFiles | undefined {
  const { output, idsFormat, keepField: keptFields, ifChanged, documentEnd } = asked;
  if (output === undefined) {
    const given = ofFiles.find(([key]) => asked[key] !== undefined);
    if (given === undefined) return undefined;
    const name = idsFormat !== undefined ? "ids" : keptFields === undefined ? "ids.npy" : "ids.parquet";
    throw usageError(
      phrase`${asOption(given[1].name)} is for files of ids, but without ${asOption("output", undefined, "o")}, decimal ids go to stdout`,
      phrase`write the ids into a file, e.g. ${asOption("output", name, "o")}`,
    );
  }
  const format = idFormats.of(idsFormat, output);
  if (/(^|\/)$/.test(output))
    throw usageError(
      phrase`${asOption("output", `"${output}"`)} is a directory`,
      `name files in it: -o ${shell.quoted(`${output}ids${idsFormat === undefined ? ".npy" : ""}`)}`,
    );
  if (format === undefined) {
    throw usageError(
      phrase`${asOption("output", `"${output}"`)} does not say which format to write`,
      phrase`end the name in .npy, .bin, .parquet or .ds, or choose a format with ${asOption("ids-format")}${canPrint ? phrase`; for decimal ids on stdout, leave out ${asOption("output", undefined, "o")}` : ""}`,
    );
  }
  if (format.name === "parquet" && asked.idType !== undefined)
    throw usageError(
      phrase`${asOption("dtype")} has no effect on parquet: its ids are always int32`,
      phrase`leave out ${asOption("dtype")}`,
    );
  if (keptFields !== undefined) checkKept(keptFields, format, output);
  const shardSize = asked.shardSize ?? (isPart(format) ? partIds : undefined);
  // Files of llmc end in .bin, too, but have a head.
  const isPlain =
    shardSize === undefined &&
    (format.name === "npy" || format.name === "bin") &&
    idFormats.baseOf(output, format) !== output;
  if (isPlain && stagedFile.placeOfFile(output) === null) return undefined;
  return { base: idFormats.baseOf(output, format), format, shardSize, documentEnd, keptFields, ifChanged };
}

function checkKept(fields: readonly keptField.Field[], format: idFormats.IdFormat, output: string): void {
  if (!format.keepsFields)
    throw usageError(
      phrase`${asOption("keep-field")} is for parquet, but the ids would be written as ${format.name}`,
      asParquet(idFormats.baseOf(output, format)),
    );
  const twice = fields.find((field, i) => fields.findIndex(({ name }) => name === field.name) < i);
  if (twice !== undefined) throw usageError(phrase`${asOption("keep-field")} names "${twice.name}" twice`);
}
