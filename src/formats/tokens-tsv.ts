import { isUtf8 } from "node:buffer";
import { basename, dirname, join } from "node:path";
import { byteToCharacter, encodeBytes } from "#bytes";
import { isFile, readText, scaled } from "#runtime";
import {
  allAddedTokens,
  isSpecialEntry,
  keptBytesMax,
  type Numbering,
  removed,
  specialOfEntry,
  TextEncoding,
  type TokenCountFacts,
  type TokenCounts,
  type TokenizerParts,
  type TokenTable,
  tokenBytesOf,
  tokenCountsOfFirst,
  type Vocabulary,
  WordMerger,
} from "#tokenizer";
import { Chunk, type OutputFile } from "./output-file.ts";
import { readTokenCountFacts } from "./read-training-record.ts";
import { tokensTsvName } from "./recorded-files.ts";
import { appendToken, plainSpelling } from "./rows.ts";

/**
 * `tokens.tsv`: the token counts of a training as a table, a row for each id, ascending.
 *
 *   COLUMN  MEANING
 *   id      of the token
 *   token   in byte-to-character form, as in merges.txt: it has no tab and no line end
 *   bytes   its length in bytes
 *   birth   occurrences in the corpus when it was created; of a byte: before the first merge
 *   end     occurrences after all merges
 *   left    id of its left half
 *   right   id of its right half
 *
 * Bytes have no halves. Special tokens have neither counts nor halves, because they are not part of any pretoken.
 */
const head = "id\ttoken\tbytes\tbirth\tend\tleft\tright\n";

export function tokensTsv(vocabulary: Vocabulary, tokenCounts: TokenCounts): OutputFile {
  return { name: tokensTsvName, chunks: () => rows(vocabulary, tokenCountsOfFirst(tokenCounts, vocabulary)) };
}

/**
 * Yields the table. Its text is gathered as one string, because a few large steps are fast even before the
 * code is compiled.
 */
function* rows(vocabulary: Vocabulary, tokenCounts: TokenCounts): Generator<Uint8Array> {
  const { size, tokenBytes, tokenIds, specialTokens, left, right } = vocabulary;
  const { startCount, createdCounts, endCounts } = tokenCounts;
  const chunk = new Chunk();
  const tokenOf = tokensOfIds(vocabulary);
  const spelled = spelledTokens(vocabulary);
  let text = head;
  for (let id = 0; id < size; id++) {
    const token = tokenOf[id]!;
    if (isSpecialEntry(token)) {
      const bytes = new TextEncoder().encode(specialTokens[specialOfEntry(token)]!);
      text += `${id}\t${encodeBytes(bytes)}\t${bytes.length}\t\t\t\t\n`;
    } else {
      const merge = token - startCount;
      const halves = merge < 0 ? "\t" : `${tokenIds[left[merge]!]}\t${tokenIds[right[merge]!]}`;
      const numbers = `${tokenBytes.lengths[token]}\t${createdCounts[token]}\t${endCounts[token]}\t${halves}`;
      const short = spelled[token];
      if (short === undefined) {
        chunk.text(`${text}${id}\t`);
        appendToken(chunk, tokenBytes, token, plainSpelling);
        text = `\t${numbers}\n`;
      } else text += `${id}\t${short}\t${numbers}\n`;
    }
    if (text.length < gatheredCharacters && !chunk.isFull) continue;
    chunk.text(text);
    text = "";
    yield chunk.take();
  }
  chunk.text(text);
  yield chunk.take();
}

const gatheredCharacters = scaled(1 << 14, 16);

/**
 * Returns the tokens in byte-to-character form, by token number; undefined for long tokens, which could have
 * megabytes.
 */
function spelledTokens({ tokenBytes, left, right }: Vocabulary): (string | undefined)[] {
  const spelled: (string | undefined)[] = byteToCharacter.slice();
  for (let merge = 0; merge < left.length; merge++) {
    const token = byteToCharacter.length + merge;
    const isShort = tokenBytes.lengths[token]! <= keptBytesMax;
    spelled.push(isShort ? spelled[left[merge]!]! + spelled[right[merge]!]! : undefined);
  }
  return spelled;
}

/**
 * Returns the entry of each id, like `entries`; but the ordinary token for an id that it shares with a
 * special token.
 */
function tokensOfIds({ entries, tokenIds, specialTokens, size }: Vocabulary): Int32Array {
  if (tokenIds.length + specialTokens.length === size) return entries;
  const tokens = entries.slice();
  for (let token = 0; token < tokenIds.length; token++) tokens[tokenIds[token]!] = token;
  return tokens;
}

/** A table below this size is written by default. */
const smallBytes = 1e6;

/** Returns the table if it was requested, and by default if it is small. */
export const tokensTsvFiles = (
  isWanted: boolean | undefined,
  vocabulary: Vocabulary,
  tokenCounts: TokenCounts,
): OutputFile[] =>
  (isWanted ?? tokensTsvBytesMax(vocabulary, tokenCounts) < smallBytes)
    ? [tokensTsv(vocabulary, tokenCounts)]
    : [];

/**
 * Returns an upper bound of the size of `tokens.tsv`. Computing its exact size would take 2 % of the time of
 * a training on 100 MB.
 */
export function tokensTsvBytesMax(
  { size, tokenBytes, specialTokens }: Vocabulary,
  { tokensAfter }: TokenCounts,
): number {
  const { lengths } = tokenBytes;
  let longest = 0;
  let spelledBytes = 0;
  for (let token = 0; token < lengths.length; token++) {
    longest = Math.max(longest, lengths[token]!);
    spelledBytes += lengths[token]!;
  }
  for (const special of specialTokens) {
    const { length } = new TextEncoder().encode(special);
    longest = Math.max(longest, length);
    spelledBytes += length;
  }
  const digitsOf = (number: number) => String(number).length;
  const tabsAndLineEnd = 7;
  // A row has three ids, a length, and two counts.
  const numbers = 3 * digitsOf(size) + digitsOf(longest) + 2 * digitsOf(tokensAfter[0]!);
  // A byte is spelled as one or two bytes.
  return head.length + size * (tabsAndLineEnd + numbers) + 2 * spelledBytes;
}

/**
 * WrittenTokenCounts: what `tokens.tsv` and the record next to a tokenizer say, as arrays by id.
 *
 *   ARRAY          TYPE          LENGTH          MEANING
 *   createdCounts  Float64Array  idLimit         occurrences of each token when it was created; 0 for special tokens
 *   endCounts      Float64Array  idLimit         occurrences after all merges
 *   tokensAfter    Float64Array  mergeCount + 1  tokens of the whole corpus after the first k merges
 */
export type WrittenTokenCounts = {
  readonly facts: TokenCountFacts;
  readonly createdCounts: Float64Array;
  readonly endCounts: Float64Array;
  readonly tokensAfter: Float64Array;
  /** Occurrences of the last pair that was merged. */
  readonly lastPairCount: number;
};

/**
 * Reads the counts. Returns null if the files are missing or belong to another tokenizer: every row must
 * agree with the merges and the record. Yields between slices of work of some 10 ms.
 */
export function* readTokenCounts(parts: TokenizerParts): Generator<undefined, WrittenTokenCounts | null> {
  const { description, tokens, model } = parts;
  const { path } = description;
  const facts = readTokenCountFacts(path);
  const tablePath = join(isFile(path) ? dirname(path) : path, tokensTsvName);
  if (facts === null || basename(path) === tokensTsvName || !isFile(tablePath)) return null;
  const rows = yield* parseRows(readText(tablePath), tokens.idLimit);
  if (rows === null) return null;
  const { lengths, createdCounts, endCounts, left, right } = rows;
  for (let id = 0; id < tokens.idLimit; id++) {
    if (lengths[id] !== tokens.starts[id + 1]! - tokens.starts[id]!) return null;
  }
  const { merges } = model;
  const mergeCount = merges.merged.length;
  const tokensAfter = new Float64Array(mergeCount + 1);
  for (let id = 0; id < tokens.idLimit; id++) if (left[id] === none) tokensAfter[0]! += createdCounts[id]!;
  for (let k = 0; k < mergeCount; k++) {
    const id = merges.merged[k]!;
    if (left[id] !== merges.left[k] || right[id] !== merges.right[k]) return null;
    tokensAfter[k + 1] = tokensAfter[k]! - createdCounts[id]!;
  }
  if (tokensAfter[mergeCount] !== facts.tokenCount) return null;
  // For a pair of equal tokens, fewer occurrences are replaced than counted. The table only has the number of
  // replaced ones.
  const last = merges.merged[mergeCount - 1];
  const lastCount = last === undefined ? 0 : createdCounts[last]!;
  const isIntermediate = (id: number) =>
    left[id] !== none && endCounts[id]! < lastCount && endCounts[id]! < createdCounts[id]!;
  const residueCount = merges.merged.reduce((count, id) => count + Number(isIntermediate(id)), 0);
  if (residueCount !== facts.residueCount) return null;
  return { facts, createdCounts, endCounts, tokensAfter, lastPairCount: lastCount };
}

const none = -1;
const rowsPerSlice = scaled(1 << 14, 3);

/** Parses the columns into arrays by id. Returns null unless there is exactly one row for each id, in order. */
function* parseRows(text: string, idLimit: number) {
  const lengths = new Float64Array(idLimit);
  const createdCounts = new Float64Array(idLimit);
  const endCounts = new Float64Array(idLimit);
  const left = new Int32Array(idLimit).fill(none);
  const right = new Int32Array(idLimit).fill(none);
  let id = 0;
  let start = text.indexOf("\n") + 1;
  for (; start > 0 && start < text.length; id++) {
    if (id % rowsPerSlice === 0) yield;
    const end = text.indexOf("\n", start);
    if (end < 0 || id === idLimit) return null;
    const cells = text.slice(start, end).split("\t");
    if (cells.length !== cellCount || cells[0] !== String(id)) return null;
    lengths[id] = Number(cells[2]);
    createdCounts[id] = Number(cells[3]);
    endCounts[id] = Number(cells[4]);
    if (cells[5] !== "") left[id] = Number(cells[5]);
    if (cells[6] !== "") right[id] = Number(cells[6]);
    start = end + 1;
  }
  return id === idLimit ? { lengths, createdCounts, endCounts, left, right } : null;
}

const cellCount = 7;

const idsName = "ids.tsv";

/**
 * Returns `ids.tsv`, which tells how to renumber embeddings. It has a row for each old id, ascending, with
 * `old`, `new` (empty if the token was removed), and `token` in byte-to-character form.
 */
export const idsTsv = (tokens: TokenTable, numbering: Numbering): OutputFile => ({
  name: idsName,
  chunks: () => idRows(tokens, numbering),
});

function* idRows(tokens: TokenTable, { newIds }: Numbering): Generator<Uint8Array> {
  const chunk = new Chunk();
  chunk.ascii("old\tnew\ttoken\n");
  for (let id = 0; id < tokens.idLimit; id++) {
    const bytes = tokenBytesOf(tokens, id);
    if (bytes.length === 0) continue;
    chunk.text(`${id}\t${newIds[id] === removed ? "" : newIds[id]}\t${encodeBytes(bytes)}\n`);
    if (chunk.isFull) yield chunk.take();
  }
  yield chunk.take();
}

/**
 * Yields a table that maps each token of a new tokenizer to tokens of an old one, for the rows of an
 * embedding. It has a row for each new id, ascending, with `new`; `old`, the id of the same token, or the ids
 * of its pieces separated by spaces; and `token` in byte-to-character form.
 *
 * A token's text is encoded like any text, but without a prefix space. Bytes that are not whole characters
 * are merged as one pretoken.
 */
export function* piecesTsv(old: TokenizerParts, fresh: TokenizerParts): Generator<Uint8Array> {
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
    const bytes = tokenBytesOf(fresh.tokens, id);
    if (bytes.length === 0) continue;
    const known = idOf.get(keyOf(bytes, addedIds.has(id)));
    chunk.text(`${id}\t${known ?? pieces(bytes).join(" ")}\t${encodeBytes(bytes)}\n`);
    if (chunk.isFull) yield chunk.take();
  }
  yield chunk.take();
}

const addedIdsOf = (parts: TokenizerParts) => new Set(allAddedTokens(parts).map(({ id }) => id));

/** Returns a key for a token. An added token never has the key of an ordinary token. */
const keyOf = (bytes: Uint8Array, isAdded: boolean) =>
  `${isAdded ? "added" : "token"} ${Buffer.from(bytes).toString("latin1")}`;

function idsByToken(parts: TokenizerParts): Map<string, number> {
  const { tokens } = parts;
  const addedIds = addedIdsOf(parts);
  const ids = new Map<string, number>();
  for (let id = 0; id < tokens.idLimit; id++) {
    const bytes = tokenBytesOf(tokens, id);
    if (bytes.length > 0) ids.set(keyOf(bytes, addedIds.has(id)), id);
  }
  return ids;
}
