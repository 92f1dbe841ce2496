import { basename } from "node:path";
import { Chunk, type OutputFile } from "../../vocabulary/formats/output-file.ts";
import { objectAt } from "../load/checked-json.ts";
import { readBytes, readJson } from "../load/read-file.ts";
import { tokenBytesOf } from "../token-table.ts";
import { allAddedTokens, type TokenizerParts } from "../tokenizer-parts.ts";
import { formOf, jsonWithRows, placeOfRows } from "./json-with-rows.ts";
import { gone, type Numbering } from "./token-numbering.ts";

/** A file of ranks with the tokens that stay. A token's rank is its id, so the order of the ranks stays. */
export function prunedRanks(path: string, parts: TokenizerParts, numbering: Numbering): OutputFile {
  return { name: basename(path), chunks: () => rankChunks(parts, numbering) };
}

function* rankChunks(parts: TokenizerParts, { newIds }: Numbering): Generator<Uint8Array> {
  const chunk = new Chunk();
  const addedIds = new Set(allAddedTokens(parts).map(({ id }) => id));
  for (let id = 0; id < newIds.length; id++) {
    if (newIds[id] === gone || addedIds.has(id)) continue;
    chunk.text(`${Buffer.from(tokenBytesOf(parts.tokens, id)).toString("base64")} ${newIds[id]}\n`);
    if (chunk.isFull) yield chunk.take();
  }
  yield chunk.take();
}

/** Mistral's `tekken.json` with the tokens that stay. It lists no others, so it holds just what its size says. */
export function prunedTekken(path: string, parts: TokenizerParts, { size, newIds }: Numbering): OutputFile {
  const root = objectAt(readJson(path), path, "the tokenizer");
  const config = objectAt(root.config, path, "config");
  const vocab = root.vocab as readonly object[];
  // Special tokens have the first ids, and all of them stay.
  const specialCount = allAddedTokens(parts).length;
  const form = formOf(readBytes(path));
  const value = {
    ...root,
    config: { ...config, default_vocab_size: size },
    vocab: placeOfRows("vocab"),
  };
  return {
    name: basename(path),
    chunks: () =>
      jsonWithRows(value, form, {
        vocab: {
          brackets: "[]",
          *rows() {
            for (let id = specialCount; id < newIds.length; id++) {
              if (newIds[id] === gone) continue;
              const entry = { ...vocab[id - specialCount], rank: newIds[id]! - specialCount };
              yield JSON.stringify(entry, null, form.isIndented ? 2 : 0);
            }
          },
        },
      }),
  };
}
