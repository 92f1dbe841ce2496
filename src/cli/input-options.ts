import { checkNames, type FoundInputs, findCorpus } from "../corpus/find-inputs.ts";
import { hasFields } from "../corpus/input.ts";
import { type InputOptions, inspectFirstStream } from "../corpus/inspect-input.ts";
import { usageError } from "../errors.ts";
import type { Invocation } from "./arguments.ts";
import type { Output } from "./output.ts";

/** How the files are to be read. Looks at none. At least one must be named, unless an option stands for the files. */
export function readInputOptions({ options, files }: Invocation): InputOptions {
  const isOptional = options.has("counts") || options.has("ranges");
  return files.length > 0 || !isOptional ? readReading(files, options) : readingOf(options);
}

/** The same for files that an option names. */
export function readReading(names: readonly string[], options: Invocation["options"]): InputOptions {
  const reading = readingOf(options);
  checkNames(names, reading);
  return reading;
}

export function readingOf(options: Invocation["options"]): InputOptions {
  const format = options.word("input-format");
  if (format === "ids") throw usageError("--input-format ids is for train and encode");
  return {
    format,
    textField: options.text("text-field"),
    include: options.get("include"),
    binary: options.word("binary"),
  };
}

/** The inputs as they are now, and the files that are skipped. */
export const openInputs = async (names: readonly string[], options: InputOptions, output: Output) =>
  inspectStreams(findFiles(names, options, output), options);

/** The same, without a look at what streams hold. */
export function findFiles(names: readonly string[], options: InputOptions, output: Output): FoundInputs {
  const found = findCorpus(names, options);
  output.keepLogFrom(found.inputs);
  output.tellSkipped(found.skipped);
  return found;
}

/** With the format of the first stream, for whose beginning this waits. Then it is known whether an input has fields. */
export async function inspectStreams(found: FoundInputs, options: InputOptions): Promise<FoundInputs> {
  const inputs = await inspectFirstStream(found.inputs, options);
  if (options.textField !== undefined && !inputs.some((input) => hasFields(input.format))) {
    const isSeen = inputs.filter(({ isStream }) => isStream).length < 2;
    throw usageError(
      `--text-field "${options.textField}": no input has fields, ${isSeen ? "all are plain text" : "and only the first stream is looked at"}`,
      "--input-format jsonl (or parquet) reads files of other names as such",
    );
  }
  return { ...found, inputs };
}
