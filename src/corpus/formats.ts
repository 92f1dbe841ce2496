/** How documents stand in an input: bytes of text, a JSON object a line, or a column of a Parquet file. */
export type InputFormat = "text" | "jsonl" | "parquet";

export const inputFormats: readonly InputFormat[] = ["text", "jsonl", "parquet"];

/** The format that a name tells; a compressed file has it before the ending of its compression. */
export function formatOfName(path: string): InputFormat {
  if (/\.(jsonl|ndjson)(\.(gz|zst))?$/i.test(path)) return "jsonl";
  return /\.parquet$/i.test(path) ? "parquet" : "text";
}
