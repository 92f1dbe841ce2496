import { inputFormats } from "../corpus/formats.ts";
import { checkNames, findInputs, type Input, type InputOptions } from "../corpus/inputs.ts";
import { oneOf, usageError } from "./arguments.ts";
import type { Invocation } from "./run.ts";

/** How the files named are to be read. Looks at none; that none is named is a mistake unless something stands for them. */
export function readInputOptions({ options, files }: Invocation): InputOptions {
  const format = options.get("input-format")?.[0];
  const reading = {
    format: format === undefined ? undefined : oneOf("--input-format", format, inputFormats),
    textField: options.get("text-field")?.[0],
    include: options.get("include"),
  };
  const isOptional = options.has("counts") || options.has("ranges");
  if (files.length > 0 || !isOptional) checkNames(files, reading);
  return reading;
}

/** The inputs that are named, as they are now. */
export function openInputs(names: readonly string[], options: InputOptions): Input[] {
  const inputs = findInputs(names, options);
  if (options.textField !== undefined && inputs.every((input) => input.format === "text")) {
    throw usageError(
      `--text-field "${options.textField}": no input has fields, all are plain text`,
      "--input-format jsonl (or parquet) reads files of other names as such",
    );
  }
  return inputs;
}
