import { Chunk } from "../../vocabulary/formats/output-file.ts";

/** A list or an object of a JSON file that is written row by row, because it is long. */
export type JsonRows = {
  readonly brackets: "[]" | "{}";
  /** Each as JSON in one line, or with line ends as at the margin. */
  readonly rows: () => Iterable<string>;
};

/** How the file is laid out. */
export type JsonForm = { readonly isIndented: boolean };

/** Whether a file of JSON is indented, by its beginning. */
export const formOf = (file: Uint8Array): JsonForm => ({
  isIndented: /^\s*\{\s*\n/.test(
    Buffer.from(file.buffer, file.byteOffset, Math.min(64, file.length)).toString(),
  ),
});

/** What stands in a value instead of rows: no text of a tokenizer's file has it. */
export const placeOfRows = (name: string) => `\0rows ${name}`;

/** A value as JSON, with the rows of each name in the places of `placeOfRows(name)`. */
export function* jsonWithRows(
  value: object,
  { isIndented }: JsonForm,
  rowsByName: Readonly<Record<string, JsonRows>>,
): Generator<Uint8Array> {
  const chunk = new Chunk();
  const text = JSON.stringify(value, null, isIndented ? 2 : undefined);
  let margin = "";
  for (const part of text.split(/("\\u0000rows [a-z_]+")/)) {
    const name = /^"\\u0000rows ([a-z_]+)"$/.exec(part)?.[1];
    if (name === undefined) {
      chunk.text(part);
      const indent = /^ */.exec(part.slice(part.lastIndexOf("\n") + 1))![0];
      margin = isIndented ? `\n${indent}` : "";
      continue;
    }
    const { brackets, rows } = rowsByName[name]!;
    yield* rowChunks(chunk, brackets, rows(), margin);
  }
  yield chunk.take();
}

function* rowChunks(
  chunk: Chunk,
  brackets: string,
  rows: Iterable<string>,
  margin: string,
): Generator<Uint8Array> {
  const inner = margin === "" ? "" : `${margin}  `;
  let isFirst = true;
  chunk.text(brackets[0]!);
  for (const row of rows) {
    chunk.text(`${isFirst ? "" : ","}${inner}${inner === "" ? row : row.replaceAll("\n", inner)}`);
    isFirst = false;
    if (chunk.isFull) yield chunk.take();
  }
  chunk.text(`${isFirst ? "" : margin}${brackets[1]}`);
}
