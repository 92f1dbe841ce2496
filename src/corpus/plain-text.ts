import { type Message, UserError } from "#runtime";
import { compressionOf, contentOf, headBytesMax, notText } from "./content.ts";
import { formatOfName } from "./input.ts";
import { defaultTextField, jsonHeadBytesMax, recordsIn } from "./json-shape.ts";

/**
 * Throws a UserError for a file that is compressed, or that `bpe train` would not read as plain text.
 *
 * @param sizeBytes the size of the file
 * @param readHead returns the first bytes of the file, at most `byteCount`
 * @param hint what to do with a file that is compressed or has records
 */
export async function checkPlainText(
  name: string,
  sizeBytes: number,
  readHead: (byteCount: number) => Promise<Uint8Array>,
  hint: Message,
): Promise<void> {
  const head = await readHead(jsonHeadBytesMax);
  const start = head.subarray(0, headBytesMax);
  const packing = compressionOf(start);
  if (packing !== "none")
    throw new UserError(
      `"${name}" is compressed with ${packing}, but in a browser, bpe reads only plain text`,
      {
        hint,
      },
    );
  const content = contentOf(start, name);
  if (typeof content === "object") throw notText(name, content);
  const named = formatOfName(name);
  const isWhole = head.length === sizeBytes;
  const records =
    content === "parquet" || named === "jsonl" || named === "parquet"
      ? (named ?? content)
      : recordsIn({ bytes: head, isWhole }, named === "json", defaultTextField);
  if (records !== undefined)
    throw new UserError(
      `"${name}" contains records (${records}), but in a browser, bpe reads only plain text`,
      {
        hint,
      },
    );
}
