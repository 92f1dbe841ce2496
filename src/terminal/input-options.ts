import { countNoun, groupDigits } from "#bytes";
import { corpusInputs, type Input, type InputFormat, inputSearch, inspection } from "#corpus";
import type { RequestedTraining } from "#options";
import { asOption, phrase, usageError } from "#runtime";
import type { Output } from "./output.ts";

/**
 * Refuses invalid names of files, a lack of names where one is needed, and names in addition to a plan. Reads no file.
 */
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
  // With --ranges or --counts, no file need be named.
  if (files.length > 0 || (ranges === undefined && counts === undefined))
    inputSearch.checkNames(files, asked);
}

/** Finds the inputs and the files that are skipped, and detects the format of the first stream if it is unknown. */
export const openInputs = async (
  names: readonly string[],
  options: inspection.InputOptions,
  output: Output,
) => inspectStreams(find(names, options, output), options);

/** Like `openInputs`, without inspecting streams. */
export function find(
  names: readonly string[],
  options: inspection.InputOptions,
  output: Output,
): inputSearch.FoundInputs {
  const found = inputSearch.findCorpus(names, options);
  output.keepOutputsFrom(found.inputs);
  output.tellSkipped(found.skipped);
  return found;
}

/**
 * If the format of the first stream is unknown, waits for its beginning, and detects the format. Then refuses
 * `--text-field` if no input has fields.
 */
export async function inspectStreams(
  found: inputSearch.FoundInputs,
  options: inspection.InputOptions,
): Promise<inputSearch.FoundInputs> {
  const inputs = await inspection.inspectFirstStream(found.inputs, options);
  if (options.textField !== undefined && !inputs.some((input) => corpusInputs.hasFields(input.format))) {
    const isSeen = inputs.filter(({ isStream }) => isStream).length < 2;
    throw usageError(
      phrase`${asOption("text-field", `"${options.textField}"`)} does not apply: ${isSeen ? "all inputs are plain text" : "no input has fields (bpe detects the format of the first pipe only)"}`,
      phrase`leave out ${asOption("text-field")}; if the inputs are JSON lines or Parquet, state their format: ${asOption("input-format", "jsonl")} or parquet`,
    );
  }
  return { ...found, inputs };
}

/**
 * Returns rows of a summary, which say how files are read and which files are skipped. The text of a row may be empty.
 */
export const notes = ({ inputs, skipped }: inputSearch.FoundInputs): [name: string, text: string][] => [
  ["read as", readAs(inputs)],
  ["skipped", skippedText(skipped)],
];

/** Like `notes`, as lines, for a summary without rows. */
export const noteLines = (found: inputSearch.FoundInputs) =>
  notes(found).flatMap(([name, text]) => (text === "" ? [] : [`${name} ${text}`]));

const formatNames: Record<InputFormat, string> = {
  text: "text",
  jsonl: "lines of JSON",
  json: "JSON records",
  parquet: "Parquet",
  fasta: "FASTA",
};

/** Says how files are read. Returns "" if all files have one format, which their names or an option determine. */
function readAs(inputs: readonly Input[]): string {
  const groups = Map.groupBy(inputs, ({ format, formatFrom }) => {
    if (formatFrom !== "content") return formatNames[format];
    return format === "text" ? "text, having no records" : `${formatNames[format]} by content`;
  });
  if (groups.size < 2 && inputs.every(({ formatFrom }) => formatFrom !== "content")) return "";
  return [...groups].map(([how, some]) => `${how}: ${filesText(some.map(({ path }) => path))}`).join("; ");
}

const namesMax = 2;

function filesText(paths: readonly string[]): string {
  if (paths.length > namesMax) return `${countNoun(paths.length, "file")}, from "${paths[0]}" on`;
  return paths.map((path) => `"${path}"`).join(", ");
}

function skippedText(skipped: readonly inputSearch.Skipped[]): string {
  if (skipped.length === 0) return "";
  const shown = skipped.slice(0, namesMax).map(({ path, reason }) => `"${path}" is ${reason}`);
  const rest = skipped.length - shown.length;
  return `${countNoun(skipped.length, "file")}: ${shown.join("; ")}${rest > 0 ? `; and ${groupDigits(rest)} more` : ""}`;
}
