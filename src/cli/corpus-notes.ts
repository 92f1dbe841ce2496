import type { Skipped } from "../corpus/each-file-once.ts";
import type { FoundInputs } from "../corpus/find-inputs.ts";
import type { Input, InputFormat } from "../corpus/input.ts";
import { counted, grouped } from "./units.ts";

/** What was decided about a corpus without being asked: rows of a summary, each a name and a text. */
export function corpusNotes({ inputs, skipped }: FoundInputs): [name: string, text: string][] {
  return [
    ["read as", readAs(inputs)],
    ["skipped", skippedText(skipped)],
  ].filter(([, text]) => text !== "") as [string, string][];
}

/** The same as lines, for a summary without rows. */
export const corpusNoteLines = (found: FoundInputs) =>
  corpusNotes(found).map(([name, text]) => `${name} ${text}`);

const formatNames: Record<InputFormat, string> = {
  text: "text",
  jsonl: "lines of JSON",
  json: "JSON records",
  parquet: "Parquet",
  fasta: "FASTA",
};

/** Empty if every file is read as its name or an option says, and all in one format. */
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
  if (paths.length > namesMax) return `${counted(paths.length, "file")}, from "${paths[0]}" on`;
  return paths.map((path) => `"${path}"`).join(", ");
}

function skippedText(skipped: readonly Skipped[]): string {
  if (skipped.length === 0) return "";
  const shown = skipped.slice(0, namesMax).map(({ path, reason }) => `"${path}" is ${reason}`);
  const rest = skipped.length - shown.length;
  return `${counted(skipped.length, "file")}: ${shown.join("; ")}${rest > 0 ? `; and ${grouped(rest)} more` : ""}`;
}
