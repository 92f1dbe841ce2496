import { isUtf8 } from "node:buffer";
import { byteCharacters } from "#bytes";
import {
  changes,
  TextEncoding,
  type TokenizerParts,
  type TokenTable,
  tokenizers,
  tokenTables,
  WordMerger,
} from "#tokenizer";
import { Chunk, type OutputFile } from "./output-file.ts";

const idsName = "ids.tsv";

/**
 * Returns `ids.tsv`, with a row for each old id that has a token. The column `new` is empty if the token was removed.
 */
export const ofIds = (tokens: TokenTable, numbering: changes.Numbering): OutputFile => ({
  name: idsName,
  chunks: () => idRows(tokens, numbering),
});

function* idRows(tokens: TokenTable, { newIds }: changes.Numbering): Generator<Uint8Array> {
  const chunk = new Chunk();
  chunk.ascii("old\tnew\ttoken\n");
  for (let id = 0; id < tokens.idLimit; id++) {
    const bytes = tokenTables.bytesOf(tokens, id);
    if (bytes.length === 0) continue;
    chunk.text(
      `${id}\t${newIds[id] === changes.removed ? "" : newIds[id]}\t${byteCharacters.encode(bytes)}\n`,
    );
    if (chunk.isFull) yield chunk.take();
  }
  yield chunk.take();
}

/**
 * Yields a table that maps each token of a new tokenizer to tokens of an old one. The column `old` has the old id of
 * the same token or, if there is none, the old ids of the pieces into which the old tokenizer cuts it.
 *
 * A token that is valid UTF-8 is encoded like any text, but without a prefix space. The bytes of any other are merged as
 * one word.
 */
export function* ofPieces(old: TokenizerParts, fresh: TokenizerParts): Generator<Uint8Array> {
  const idOf = idsByToken(old);
  const encoding = new TextEncoding({ ...old, addsPrefixSpace: false });
  const merger = new WordMerger(old.model);
  const pieces = (bytes: Uint8Array) => {
    if (!isUtf8(bytes)) return merger.merge(bytes);
    encoding.pushText(bytes, 0, bytes.length);
    return encoding.out.flush();
  };
  const addedIds = addedIdsOf(fresh);
  const chunk = new Chunk();
  chunk.ascii("new\told\ttoken\n");
  for (let id = 0; id < fresh.tokens.idLimit; id++) {
    const bytes = tokenTables.bytesOf(fresh.tokens, id);
    if (bytes.length === 0) continue;
    const known = idOf.get(keyOf(bytes, addedIds.has(id)));
    chunk.text(`${id}\t${known ?? pieces(bytes).join(" ")}\t${byteCharacters.encode(bytes)}\n`);
    if (chunk.isFull) yield chunk.take();
  }
  yield chunk.take();
}

const addedIdsOf = (parts: TokenizerParts) => new Set(tokenizers.allAddedTokens(parts).map(({ id }) => id));

/** Returns a key for a token. An added token never has the key of an ordinary token. */
const keyOf = (bytes: Uint8Array, isAdded: boolean) =>
  `${isAdded ? "added" : "token"} ${Buffer.from(bytes).toString("latin1")}`;

function idsByToken(parts: TokenizerParts): Map<string, number> {
  const { tokens } = parts;
  const addedIds = addedIdsOf(parts);
  const ids = new Map<string, number>();
  for (let id = 0; id < tokens.idLimit; id++) {
    const bytes = tokenTables.bytesOf(tokens, id);
    if (bytes.length > 0) ids.set(keyOf(bytes, addedIds.has(id)), id);
  }
  return ids;
}
