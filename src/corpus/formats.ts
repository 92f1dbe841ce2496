/** How documents stand in an input: bytes of text, a JSON object a line, or a column of a Parquet file. */
export type InputFormat = "text" | "jsonl" | "parquet";

export const inputFormats: readonly InputFormat[] = ["text", "jsonl", "parquet"];

/** The format that a name tells; a compressed file has it before the ending of its compression. */
export function formatOfName(path: string): InputFormat {
  const [, ending] = /\.([^./]+)(\.(gz|zst))?$/.exec(path.toLowerCase()) ?? [];
  if (ending === "jsonl" || ending === "ndjson") return "jsonl";
  return ending === "parquet" ? "parquet" : "text";
}
