import { byteCharacters, escapeBytes } from "#bytes";
import * as tokenTables from "./token-table.ts";
import { allAddedTokens, type TokenizerParts } from "./tokenizer-parts.ts";

// Keys of tokens in HF's files. The key of an added token, and of a token in `rawIds`, is its text. The key of any
// other token is its bytes in byte-to-character form, such as "Ġthe" for " the".

/** Returns the key of each id; an empty string for an id without a token. */
export function byId(parts: TokenizerParts): string[] {
  const { tokens } = parts;
  const { idLimit, rawIds } = tokens;
  const keys = Array.from({ length: idLimit }, (_, id) => {
    const bytes = tokenTables.bytesOf(tokens, id);
    return rawIds?.has(id) ? Buffer.from(bytes).toString() : byteCharacters.encode(bytes);
  });
  // If a learned token has the same id, the key remains that of the learned token, because the id decodes to it.
  for (const { id, content } of allAddedTokens(parts))
    if (Buffer.from(tokenTables.bytesOf(tokens, id)).toString() === content) keys[id] = content;
  return keys;
}

/** Returns a map from keys to ids. It includes added tokens that share their id with another token. */
export function idsOf(parts: TokenizerParts): Map<string, number> {
  const ids = new Map(byId(parts).map((key, id) => [key, id]));
  ids.delete("");
  for (const { id, content } of allAddedTokens(parts)) ids.set(content, id);
  return ids;
}

/**
 * Returns, by id, the texts of added tokens whose id decodes to other bytes. For example, the special token "é" may
 * share the id of the byte E9, whose key is "é" as well.
 */
export function textsOfShared(parts: TokenizerParts): ReadonlyMap<number, Uint8Array> {
  const texts = allAddedTokens(parts).map(({ id, content }) => [id, Buffer.from(content)] as const);
  return new Map(
    texts.filter(([id, text]) => Buffer.compare(text, tokenTables.bytesOf(parts.tokens, id)) !== 0),
  );
}

/**
 * Returns a function that names an id: an added token by its text, any other token by its bytes. The name shows at most
 * `lengthMax` bytes of the token.
 */
export function namer(parts: TokenizerParts): (id: number, lengthMax?: number) => string {
  const shared = textsOfShared(parts);
  return (id, lengthMax) =>
    escapeBytes((shared.get(id) ?? tokenTables.bytesOf(parts.tokens, id)).subarray(0, lengthMax));
}
