import { realpathSync } from "node:fs";
import { dirname } from "node:path";
import { inputFormats } from "../corpus/formats.ts";
import { checkNames, findInputs, type Input, type InputOptions } from "../corpus/inputs.ts";
import { UserError } from "../errors.ts";
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

/**
 * An error if an input stands in a directory that the run writes: a directory of texts that holds its own older result
 * would make every result different from the one before.
 */
export function refuseOwnResults(inputs: readonly Input[], written: readonly (string | undefined)[]): void {
  const results = written.flatMap((path) => (path === undefined ? [] : (realPathOf(path) ?? [])));
  const folders = new Map<string, string | undefined>();
  for (const { path, isStream } of inputs) {
    if (isStream || results.length === 0) continue;
    const folder = dirname(path);
    if (!folders.has(folder)) folders.set(folder, realPathOf(folder));
    const result = results.find((result) => `${folders.get(folder)}/`.startsWith(`${result}/`));
    if (result === undefined) continue;
    throw new UserError(`"${path}" is in "${result}", which this run writes`, {
      hint: "write to a place outside of the corpus, or say with --include which files are meant",
    });
  }
}

function realPathOf(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
