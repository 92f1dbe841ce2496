import {
  checkNames,
  type FoundInputs,
  findCorpus,
  hasFields,
  type InputOptions,
  inspectFirstStream,
} from "#corpus";
import type { RequestedTraining } from "#options";
import { asOption, phrase, usageError } from "#runtime";
import type { Output } from "./output.ts";

/** Refuses names that are invalid, or that are given in addition to a plan. Reads no file. */
export function check(
  files: readonly string[],
  asked: Pick<RequestedTraining, "counts" | "inputFormat"> & { readonly ranges?: string | undefined },
): void {
  const { ranges, counts } = asked;
  if (ranges !== undefined && files.length > 0) {
    throw usageError(
      phrase`${asOption("ranges")} cannot be combined with the file "${files[0]}": a plan names its files itself`,
      "give either a plan or files",
    );
  }
  // With either option, no file need be named.
  if (files.length > 0 || (ranges === undefined && counts === undefined)) checkNames(files, asked);
}

/** Lists the inputs and the skipped files, and inspects the first stream (`inspectStreams`). */
export const openInputs = async (names: readonly string[], options: InputOptions, output: Output) =>
  inspectStreams(find(names, options, output), options);

/** Like `openInputs`, without inspecting streams. */
export function find(names: readonly string[], options: InputOptions, output: Output): FoundInputs {
  const found = findCorpus(names, options);
  output.keepOutputsFrom(found.inputs);
  output.tellSkipped(found.skipped);
  return found;
}

/**
 * Detects the format of the first stream, waiting for its beginning. Then refuses `--text-field` if no input has
 * fields, which is not known earlier.
 */
export async function inspectStreams(found: FoundInputs, options: InputOptions): Promise<FoundInputs> {
  const inputs = await inspectFirstStream(found.inputs, options);
  if (options.textField !== undefined && !inputs.some((input) => hasFields(input.format))) {
    const isSeen = inputs.filter(({ isStream }) => isStream).length < 2;
    throw usageError(
      phrase`${asOption("text-field", `"${options.textField}"`)} does not apply: ${isSeen ? "all inputs are plain text" : "no input has fields (only the first stream is checked)"}`,
      phrase`if they are JSON lines or Parquet, say so: ${asOption("input-format", "jsonl")} or parquet`,
    );
  }
  return { ...found, inputs };
}
