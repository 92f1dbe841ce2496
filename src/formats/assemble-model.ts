import { byteOfCodePoint, byteToCharacter, decodeCharacters } from "../bytes/byte-characters.ts";
import { escapeBytes } from "../bytes/escape.ts";
import { shown } from "../bytes/schema.ts";
import { exitCode, UserError } from "../errors.ts";
import type { AddedToken } from "../text/cutting.ts";
import { WordMerger } from "../tokenizer/encoding-kernel.ts";
import {
  buildModel,
  droppedByte,
  type EncodingModel,
  type PackedTokens,
  type RankedMerges,
} from "../tokenizer/encoding-model.ts";
import {
  idLimitMax,
  joinTokens,
  lateTokenTable,
  packTokenList,
  type TokenTable,
  tableOfPacked,
} from "../tokenizer/token-table.ts";
import type { LoadOptions } from "../tokenizer/tokenizer-parts.ts";

/** Ids by tokens: a Map, or what is read like one; and the largest id, 0 without any. */
export type TokenIds = Pick<ReadonlyMap<string, number>, "get" | "size"> &
  Iterable<[string, number]> & {
    readonly idMax: number;
    /** The tokens as they are spelled, in UTF-8; absent in a Map. */
    readonly spelled?: PackedTokens;
  };

/** A vocabulary in byte-to-character form, as HF's and GPT-2's files have it. */
type CharacterVocabulary = {
  readonly path: string;
  readonly vocab: TokenIds;
  /** In the order of ranks. */
  readonly merges: readonly (readonly [left: string, right: string])[];
  /** A pretoken that is a token is not merged. */
  readonly ignoresMerges: boolean;
  /** Stands for bytes that the vocabulary lacks; null leaves them out. */
  readonly unknownToken: string | null;
};

/** The model of a vocabulary and merges that are strings. An error names what does not fit together. */
export function assembleModel(vocabulary: CharacterVocabulary): EncodingModel {
  return modelOf(vocabulary, rankedMerges(vocabulary));
}

/** The same for merges of ids. */
export function modelOf(
  { vocab, ignoresMerges, unknownToken }: Omit<CharacterVocabulary, "merges" | "path">,
  merges: RankedMerges,
): EncodingModel {
  const unknownId = unknownToken === null ? undefined : vocab.get(unknownToken);
  const byteIds = Int32Array.from(
    byteToCharacter,
    (character) => vocab.get(character) ?? unknownId ?? droppedByte,
  );
  const { idMax } = vocab;
  const model = buildModel({ byteIds, merges, idMax });
  if (!ignoresMerges) return model;
  const wholeTokens = tokensBeyondMerging(model, vocab);
  return wholeTokens.size === 0 ? model : buildModel({ byteIds, merges, idMax, wholeTokens });
}

function rankedMerges({ path, vocab, merges }: CharacterVocabulary): RankedMerges {
  const left = new Int32Array(merges.length);
  const right = new Int32Array(merges.length);
  const merged = new Int32Array(merges.length);
  const textOf = textsById(vocab);
  merges.forEach(([leftText, rightText], rank) => {
    left[rank] = idOf(vocab, leftText, path, rank);
    right[rank] = idOf(vocab, rightText, path, rank);
    // Mostly it is the next id: comparing is cheaper than joining the two strings and looking them up.
    const next = rank === 0 ? 256 : merged[rank - 1]! + 1;
    merged[rank] = isMadeOf(textOf[next], leftText, rightText)
      ? next
      : idOf(vocab, leftText + rightText, path, rank);
  });
  return { left, right, merged };
}

/** A token of each id up to the vocabulary's size; an id with several tokens gets any of them. */
function textsById(vocab: TokenIds): string[] {
  const texts: string[] = [];
  for (const [text, id] of vocab) if (id <= vocab.size) texts[id] = text;
  return texts;
}

function isMadeOf(text: string | undefined, left: string, right: string): boolean {
  return (
    text !== undefined &&
    text.length === left.length + right.length &&
    text.startsWith(left) &&
    text.endsWith(right)
  );
}

function idOf(vocab: TokenIds, token: string, path: string, rank: number): number {
  const id = vocab.get(token);
  if (id === undefined) {
    throw new UserError(`"${path}": merge ${rank} needs the token ${shown(token)}, which has no id`, {
      hint: "the vocabulary and the merges must belong to one tokenizer",
    });
  }
  return id;
}

/** The ids of tokens that merging their bytes does not produce, by their bytes as Latin-1 text. */
function tokensBeyondMerging(model: EncodingModel, vocab: TokenIds): Map<string, number> {
  const merger = new WordMerger(model);
  const found = new Map<string, number>();
  for (const [text, id] of vocab) {
    const bytes = decodeCharacters(text);
    if (bytes === null || bytes.length === 0) continue;
    const ids = merger.merge(bytes);
    if (ids.length === 1 && ids[0] === id) continue;
    found.set(Buffer.from(bytes).toString("latin1"), id);
  }
  return found;
}

/** The bytes of each id: a token's characters decoded, an added token's content as UTF-8. */
export function assembleTokens(vocab: TokenIds, addedTokens: readonly AddedToken[]): TokenTable {
  return lateTokenTable(() => {
    const encoder = new TextEncoder();
    const spelled =
      vocab.spelled ?? packTokenList(Array.from(vocab, ([text, id]) => [id, encoder.encode(text)]));
    const { tokens, rawIds } = decodeSpelled(spelled);
    const beside = addedTokens.filter(({ content }) => vocab.get(content) === undefined);
    const added = addedTokens.map(({ id, content }) => [id, encoder.encode(content)] as const);
    return { ...tableOfPacked(joinTokens(tokens, added)), rawIds, nameCount: vocab.size + beside.length };
  });
}

/** The bytes of tokens in byte-to-character form, and the ids of those that have another character: these stay UTF-8. */
function decodeSpelled({ bytes: texts, starts: from, ids }: PackedTokens) {
  const count = ids.length;
  const bytes = new Uint8Array(from[count]!);
  const starts = new Int32Array(count + 1);
  const rawIds = new Set<number>();
  let end = 0;
  for (let t = 0; t < count; t++) {
    const start = end;
    const textEnd = from[t + 1]!;
    for (let pos = from[t]!; pos < textEnd; pos++) {
      let codePoint = texts[pos]!;
      // All of the 256 characters have one byte or two; three or four lead to no code point of theirs.
      if (codePoint >= 0x80) codePoint = ((codePoint - 0xc0) << 6) | (texts[++pos]! & 0x3f);
      const byte = byteOfCodePoint(codePoint);
      if (byte < 0) {
        end = start;
        for (let raw = from[t]!; raw < textEnd; raw++) bytes[end++] = texts[raw]!;
        rawIds.add(ids[t]!);
        break;
      }
      bytes[end++] = byte;
    }
    starts[t + 1] = end;
  }
  return { tokens: { bytes, starts, ids }, rawIds };
}

/** A vocabulary as JSON gives it: token to id. */
export function idsOfTokens(entries: Record<string, unknown>, path: string): TokenIds {
  const vocab = new Map<string, number>();
  let idMax = 0;
  // `for in` is safe: a JSON object inherits nothing. Its entries would be 32,000 arrays.
  for (const token in entries) {
    const id = checkId(entries[token], token, path);
    vocab.set(token, id);
    idMax = Math.max(idMax, id);
  }
  return Object.assign(vocab, { idMax });
}

/** Checks an id of a file or an option. */
export function checkId(id: unknown, token: string, path: string): number {
  if (typeof id !== "number" || !Number.isInteger(id) || id < 0) {
    throw new UserError(`"${path}": the id of ${shown(token)} is ${shown(id)}, no whole number`);
  }
  if (id >= idLimitMax) {
    throw new UserError(`"${path}": the id ${id} of ${shown(token)} is too large`, {
      hint: `ids below ${idLimitMax} are supported`,
    });
  }
  return id;
}

/**
 * Refuses a special token whose id is that of another token: one of the two would be decoded as the other. `others` are tokens
 * as keys of HF's vocabulary, or as bytes, with their ids; one that stands for the same text may be among them.
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
        `"${path}": the special tokens ${shown(other)} and ${shown(content)} have one id, ${id}`,
      );
    byId.set(id, content);
  }
  for (const [key, id] of others) {
    const content = byId.get(id);
    if (content === undefined || key === content) continue;
    const bytes = typeof key === "string" ? (decodeCharacters(key) ?? Buffer.from(key)) : key;
    if (Buffer.from(content).equals(bytes)) continue;
    throw new UserError(
      `"${path}": the special token ${shown(content)} has the id ${id} of the token "${escapeBytes(bytes)}"`,
      { hint: "give it an id that no token has" },
    );
  }
}

/** Refuses options for files that hold their pattern and their special tokens. */
export function refuseOptions(name: string, { pattern, specialTokens = [] }: LoadOptions): void {
  if (pattern === undefined && specialTokens.length === 0) return;
  const given = pattern !== undefined ? "--pattern" : "--special-token";
  throw new UserError(`${given} is stored in ${name}, so it cannot be given as an option`, {
    hint: "leave it out, or name the vocab.json or the file of ranks",
    exitCode: exitCode.usage,
  });
}
