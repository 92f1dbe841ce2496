import { checkNames, type FoundInputs, findCorpus } from "../corpus/find-inputs.ts";
import { hasFields } from "../corpus/input.ts";
import type { InputOptions } from "../corpus/inspect-input.ts";
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
export function openInputs(names: readonly string[], options: InputOptions, output: Output): FoundInputs {
  const found = findCorpus(names, options);
  const { inputs, skipped } = found;
  output.keepLogFrom(inputs);
  output.tellSkipped(skipped);
  if (options.textField !== undefined && !inputs.some((input) => hasFields(input.format))) {
    throw usageError(
      `--text-field "${options.textField}": no input has fields, all are plain text`,
      "--input-format jsonl (or parquet) reads files of other names as such",
    );
  }
  return found;
}
