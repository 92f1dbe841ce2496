import { basename, dirname, join } from "node:path";
import { files, scaled } from "#runtime";
import type { TokenizerParts, tokenCounting } from "#tokenizer";
import { readTokenCountFacts } from "./read-training-record.ts";
import { tokensTsvName } from "./recorded-files.ts";

/**
 * WrittenTokenCounts: the token counts in the `tokens.tsv` and the training record next to a tokenizer.
 *
 *   ARRAY          TYPE          LENGTH          MEANING
 *   createdCounts  Float64Array  idLimit         occurrences of each token when it was created; 0 for special tokens
 *   endCounts      Float64Array  idLimit         occurrences after all merges
 *   tokensAfter    Float64Array  mergeCount + 1  tokens of the whole corpus after the first k merges
 */
export type WrittenTokenCounts = {
  readonly facts: tokenCounting.Facts;
  readonly createdCounts: Float64Array;
  readonly endCounts: Float64Array;
  readonly tokensAfter: Float64Array;
  /** How many occurrences of the last merge's pair were replaced. */
  readonly lastPairCount: number;
};

/**
 * Reads the counts. Returns null if the files are missing, if they do not fit the tokenizer or each other, or if the
 * tokenizer was loaded from `tokens.tsv` itself. Throws a UserError if the system refuses to read `tokens.tsv`, or if it
 * is too large. Yields between slices of work of some 10 ms.
 */
export function* read(parts: TokenizerParts): Generator<undefined, WrittenTokenCounts | null> {
  const { description, tokens, model } = parts;
  const { path } = description;
  const facts = readTokenCountFacts(path);
  const tablePath = join(files.isFile(path) ? dirname(path) : path, tokensTsvName);
  if (facts === null || basename(path) === tokensTsvName || !files.isFile(tablePath)) return null;
  const rows = yield* parseRows(files.readText(tablePath), tokens.idLimit);
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
  // Training compares the end counts with the count of the pair merged last, to find intermediate tokens
  // (`markIntermediates`). The table has only the number of that pair's replaced occurrences, which is smaller if
  // occurrences overlap ("a a" in "aaa"). If this smaller number gives another number of intermediate tokens than the
  // record states (`residueCount`), the table is not used.
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

/** Parses the columns into arrays by id. Returns null unless there is exactly one whole row for each id, in order. */
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
