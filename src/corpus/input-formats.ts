/**
 * How documents stand in an input: bytes of text; a JSON object a line; JSON objects in one array, or one behind the
 * other; or a column of a Parquet file.
 */
export type InputFormat = "text" | "jsonl" | "json" | "parquet";

export const inputFormats: readonly InputFormat[] = ["text", "jsonl", "json", "parquet"];

/** What tells the format of an input: an option, the ending of its name, or its first bytes. */
export type FormatSource = "option" | "name" | "content";

/** The format that a name tells; a compressed file has it before the ending of its compression. */
export function formatOfName(path: string): InputFormat | undefined {
  const [, ending] = /\.([^./]+)(\.(gz|gzip|zst|zstd))?$/.exec(path.toLowerCase()) ?? [];
  if (ending === "jsonl" || ending === "ndjson") return "jsonl";
  return ending === "json" || ending === "parquet" ? ending : undefined;
}
