import { isUtf8 } from "node:buffer";
import { byteCharacters, escapeBytes, json, schema, showValue } from "#bytes";
import { asOption, assert, exitCode, host, phrase, UserError } from "#runtime";
import type { AddedToken } from "#text";
import {
  type EncodingModel,
  encodingModels,
  modelSettings,
  type TokenTable,
  type tokenizers,
  tokenTables,
  WordMerger,
} from "#tokenizer";
import { type ScannedModel, scanTokenizerJson, type TokenIds } from "./scan-tokenizer-json.ts";

type ModelKind = {
  /** Whether a pretoken that equals a token becomes that token, without merging. */
  readonly ignoresMerges: boolean;
  /** The token for bytes that the vocabulary lacks. If it is null or has no id, such bytes are dropped. */
  readonly unknownToken: string | null;
};

/** Builds the model of a vocabulary in byte-to-character form (byte-characters.ts), as in HF's and GPT-2's files. */
export function assembleModel(
  { vocab, merges }: ScannedModel,
  { ignoresMerges, unknownToken }: ModelKind,
): EncodingModel {
  const unknownId = unknownToken === null ? undefined : vocab.get(unknownToken);
  const byteIds = Int32Array.from(
    byteCharacters.characters,
    (character) => vocab.get(character) ?? unknownId ?? encodingModels.droppedByte,
  );
  const { idMax } = vocab;
  const model = encodingModels.build({ byteIds, merges, idMax });
  if (!ignoresMerges) return model;
  const wholeTokens = tokensBeyondMerging(model, vocab);
  return wholeTokens.size === 0 ? model : encodingModels.build({ byteIds, merges, idMax, wholeTokens });
}

/**
 * Scans a parsed vocabulary and merges for which the fast scan gave up. Throws an error if a merge uses or makes a
 * token that has no id. If all tokens have ids, the file is only spelled in an unusual way, so its content is
 * serialized and scanned again.
 */
export function scanParsed(
  ids: Readonly<Record<string, number>>,
  merges: readonly (readonly [left: string, right: string])[],
  path: string,
): ScannedModel {
  merges.forEach(([left, right], rank) => {
    const unknown = [left, right, left + right].find((token) => !Object.hasOwn(ids, token));
    if (unknown === undefined) return;
    throw new UserError(
      `"${path}": merge ${rank + 1} needs the token ${showValue(unknown)}, which is not in the vocabulary`,
      { hint: "take the vocabulary and the merges from the same tokenizer" },
    );
  });
  const scanned = scanTokenizerJson(
    new TextEncoder().encode(JSON.stringify({ model: { vocab: ids, merges } })),
  );
  assert(scanned !== null, "only a vocabulary and merges without faults are scanned");
  return scanned;
}

/**
 * Returns the ids of tokens that merging their bytes does not produce, by their bytes as Latin-1 text. Leaves out
 * tokens that are not in byte-to-character form.
 */
function tokensBeyondMerging(model: EncodingModel, vocab: TokenIds): Map<string, number> {
  const merger = new WordMerger(model);
  const found = new Map<string, number>();
  const { tokens, rawTexts } = decodeSpelled(vocab.spelled);
  const { bytes, starts, ids } = tokens;
  for (let t = 0; t < ids.length; t++) {
    const [start, end] = [starts[t]!, starts[t + 1]!];
    if (start === end || rawTexts.has(t) || merger.mergesTo(ids[t]!, bytes, start, end)) continue;
    found.set(Buffer.from(bytes.subarray(start, end)).toString("latin1"), ids[t]!);
  }
  return found;
}

/**
 * Returns the bytes of each id: those that the characters of a token represent, or the UTF-8 of an added token. An id
 * in `shared` (`findSharedTokens`) gets the bytes of the ordinary token.
 */
export function assembleTokens(
  vocab: TokenIds,
  addedTokens: readonly AddedToken[],
  shared: readonly SharedToken[] = [],
): TokenTable {
  const sharedIds = new Set(shared.map(({ id }) => id));
  return tokenTables.lazy(() => {
    const encoder = new TextEncoder();
    const { tokens, rawTexts } = decodeSpelled(vocab.spelled);
    const rawIds = new Set(Array.from(rawTexts, (t) => tokens.ids[t]!));
    const addedOnly = addedTokens.filter(({ content }) => vocab.get(content) === undefined);
    const own = addedTokens.filter(({ id }) => !sharedIds.has(id));
    const added = own.map(({ id, content }) => [id, encoder.encode(content)] as const);
    return {
      ...tokenTables.fromPacked(tokenTables.append(tokens, added)),
      rawIds,
      nameCount: vocab.size + addedOnly.length,
    };
  });
}

type SharedToken = { readonly content: string; readonly id: number; readonly bytes: Uint8Array };

/**
 * Finds added tokens whose text is the key of an ordinary token with other bytes, such as `é`, which is also the key of
 * the byte 0xE9.
 */
export function findSharedTokens(
  { byteIds, merges, wholeTokens }: EncodingModel,
  vocab: TokenIds,
  addedTokens: readonly AddedToken[],
): SharedToken[] {
  const isMade = (id: number, bytes: Uint8Array) =>
    byteIds.includes(id) ||
    merges.merged.includes(id) ||
    // A pretoken that becomes one of `wholeTokens` is always valid UTF-8.
    (isUtf8(bytes) && wholeTokens?.ids.includes(id) === true);
  return addedTokens.flatMap(({ content, id }) => {
    const bytes =
      byteCharacters.isAscii(content) || vocab.get(content) !== id ? null : byteCharacters.decode(content);
    return bytes !== null && isMade(id, bytes) ? [{ content, id, bytes }] : [];
  });
}

export const notesOfSharedTokens = (shared: readonly SharedToken[]) =>
  shared.map(({ content, id, bytes }) => modelSettings.describeSharedId(content, id, bytes));

/**
 * Decodes tokens in byte-to-character form. A token with a character that represents no byte keeps its text in UTF-8,
 * and `rawTexts` has its index.
 */
function decodeSpelled({ bytes: texts, starts: from, ids }: encodingModels.PackedTokens) {
  const count = ids.length;
  const bytes = new Uint8Array(from[count]!);
  const starts = new Int32Array(count + 1);
  const rawTexts = new Set<number>();
  let end = 0;
  for (let t = 0; t < count; t++) {
    const start = end;
    const textEnd = from[t + 1]!;
    for (let pos = from[t]!; pos < textEnd; pos++) {
      let codePoint = texts[pos]!;
      // All 256 characters of the alphabet are encoded in one or two bytes; longer sequences decode to no code point of
      // the alphabet.
      if (codePoint >= 0x80) codePoint = ((codePoint - 0xc0) << 6) | (texts[++pos]! & 0x3f);
      const byte = byteCharacters.byteOf(codePoint);
      if (byte < 0) {
        end = start;
        for (let raw = from[t]!; raw < textEnd; raw++) bytes[end++] = texts[raw]!;
        rawTexts.add(t);
        break;
      }
      bytes[end++] = byte;
    }
    starts[t + 1] = end;
  }
  return { tokens: { bytes, starts, ids }, rawTexts };
}

host.disableFtl(decodeSpelled);

/** Checks a parsed vocabulary, which maps tokens to ids. */
export function checkIds(entries: Record<string, unknown>, path: string): Record<string, number> {
  // `for in` is safe, because a parsed object inherits no enumerable property. `Object.entries` would allocate an array
  // for each token.
  for (const token in entries) {
    checkId(entries[token], token, path);
    if (!token.isWellFormed())
      throw new UserError(
        `"${path}": the token ${showValue(token)} has half of a surrogate pair, which is not a character`,
        { hint: json.correctHint },
      );
  }
  return entries as Record<string, number>;
}

/** Checks an id from a file or an option. */
export function checkId(id: unknown, token: string, path: string): number {
  if (typeof id !== "number" || !Number.isInteger(id) || id < 0) {
    throw new UserError(
      `"${path}": the id of ${showValue(token)} ${schema.describeMismatch(id, "a whole number of 0 or more")}`,
      { hint: json.correctHint },
    );
  }
  if (id >= tokenTables.idLimitMax) {
    throw new UserError(
      `"${path}": the id of ${showValue(token)} is ${id}, but must be below ${tokenTables.idLimitMax}`,
      { hint: "give this token a smaller id" },
    );
  }
  return id;
}

/**
 * Refuses a special token that shares its id with another token, because one of the two would be decoded as the other.
 * `others` holds tokens, as keys of HF's vocabulary or as bytes, with their ids; the special tokens may be among them.
 */
export function checkOwnIds(
  added: readonly AddedToken[],
  others: Iterable<readonly [key: string | Uint8Array, id: number]>,
  path: string,
): void {
  const byId = new Map<number, string>();
  for (const { content, id } of added) {
    const other = byId.get(id);
    if (other !== undefined)
      throw new UserError(
        `"${path}": the special tokens ${showValue(other)} and ${showValue(content)} have the same id, ${id}`,
        { hint: "give each of these tokens an id of its own" },
      );
    byId.set(id, content);
  }
  for (const [key, id] of others) {
    const content = byId.get(id);
    if (content === undefined || key === content) continue;
    const bytes = typeof key === "string" ? (byteCharacters.decode(key) ?? Buffer.from(key)) : key;
    if (Buffer.compare(Buffer.from(content), bytes) === 0) continue;
    throw new UserError(
      `"${path}": the special token ${showValue(content)} has the id ${id}, which is the id of the token "${escapeBytes(bytes)}"`,
      { hint: "give the special token an id that no other token has" },
    );
  }
}

/** Refuses options for formats that store their pattern and their special tokens. */
export function refuseOptions(path: string, { pattern, specialTokens = [] }: tokenizers.LoadOptions): void {
  if (pattern === undefined && specialTokens.length === 0) return;
  const [own, refused, given, them] =
    pattern === undefined
      ? ["special tokens", "others", "the special tokens", "them"]
      : ["pattern", asOption("pattern"), asOption("pattern"), "it"];
  throw new UserError(phrase`"${path}" has its own ${own}, so ${refused} cannot be given`, {
    hint: phrase`leave out ${given}; if another tokenizer needs ${them}, give ${them} to bpe convert, and use the converted one`,
    exitCode: exitCode.usage,
  });
}
