import { encodeBytes } from "../../bytes/byte-characters.ts";
import { UserError } from "../../errors.ts";
import { Chunk, type OutputFile } from "../../vocabulary/formats/output-file.ts";
import { type TokenTable, tokenBytesOf } from "../token-table.ts";

/**
 * Numbering: the new ids of the tokens that stay. They are numbered from 0 in the order of their old ids, without gaps.
 *
 *   ARRAY   TYPE        LENGTH    MEANING
 *   newIds  Int32Array  idLimit   new id of each old one; -1 if it is gone, or never was
 */
export type Numbering = { readonly size: number; readonly newIds: Int32Array };

export const gone = -1;

export function numberTokens(stays: Uint8Array): Numbering {
  const newIds = new Int32Array(stays.length).fill(gone);
  let size = 0;
  for (let id = 0; id < stays.length; id++) if (stays[id] === 1) newIds[id] = size++;
  return { size, newIds };
}

/** The new id of an id in a file. A UserError if its token is gone, or if it is no id. */
export function newIdOf({ newIds }: Numbering, id: unknown, path: string, place: string): number {
  const newId = typeof id === "number" ? newIds[id] : undefined;
  if (newId !== undefined && newId !== gone) return newId;
  throw new UserError(`"${path}": ${place} has the id ${JSON.stringify(id)}, which no token has that stays`, {
    hint: "only bytes and added tokens always stay; make it an added token, or take that part out of the file",
  });
}

export const idsName = "ids.tsv";

/**
 * `ids.tsv`: for whoever owns embeddings. A row for each old id, ascending: `old`, `new` (empty if the token is gone),
 * and `token` in byte-to-character form.
 */
export const idsTsv = (tokens: TokenTable, numbering: Numbering): OutputFile => ({
  name: idsName,
  chunks: () => rows(tokens, numbering),
});

function* rows(tokens: TokenTable, { newIds }: Numbering): Generator<Uint8Array> {
  const chunk = new Chunk();
  chunk.ascii("old\tnew\ttoken\n");
  for (let id = 0; id < tokens.idLimit; id++) {
    const bytes = tokenBytesOf(tokens, id);
    if (bytes.length === 0) continue;
    chunk.text(`${id}\t${newIds[id] === gone ? "" : newIds[id]}\t${encodeBytes(bytes)}\n`);
    if (chunk.isFull) yield chunk.take();
  }
  yield chunk.take();
}
