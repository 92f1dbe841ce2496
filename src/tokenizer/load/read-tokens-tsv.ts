import { basename, dirname, join } from "node:path";
import { isFile } from "../../runtime/named-files.ts";
import { ledgerName } from "../../vocabulary/formats/tokens-tsv.ts";
import type { LedgerFacts } from "../../vocabulary/ledger.ts";
import type { TokenizerParts } from "../tokenizer-parts.ts";
import { readText } from "./read-file.ts";
import { recordedLedger } from "./read-training-record.ts";

/**
 * What `tokens.tsv` and the record beside a tokenizer say of its training, by id.
 *
 *   ARRAY        TYPE          LENGTH          MEANING
 *   birthCounts  Float64Array  idLimit         occurrences of each token when it was made; 0 of special tokens
 *   endCounts    Float64Array  idLimit         occurrences when all merges are made
 *   tokensAfter  Float64Array  mergeCount + 1  tokens of the whole corpus when so many merges are made
 */
export type WrittenLedger = {
  readonly facts: LedgerFacts;
  readonly birthCounts: Float64Array;
  readonly endCounts: Float64Array;
  readonly tokensAfter: Float64Array;
  readonly isResidue: (id: number) => boolean;
};

/**
 * Reads them; null if they are not there, or are not of this tokenizer: its merges and the record have to agree with every
 * row. Yields between slices of work of some 10 ms.
 */
export function* readWrittenLedger(parts: TokenizerParts): Generator<undefined, WrittenLedger | null> {
  const { description, tokens, model } = parts;
  const { path } = description;
  const facts = recordedLedger(path);
  const tablePath = join(isFile(path) ? dirname(path) : path, ledgerName);
  if (facts === null || basename(path) === ledgerName || !isFile(tablePath)) return null;
  const rows = yield* parseRows(readText(tablePath), tokens.idLimit);
  if (rows === null) return null;
  const { lengths, birthCounts, endCounts, left, right } = rows;
  for (let id = 0; id < tokens.idLimit; id++) {
    if (lengths[id] !== tokens.starts[id + 1]! - tokens.starts[id]!) return null;
  }
  const { merges } = model;
  const mergeCount = merges.merged.length;
  const tokensAfter = new Float64Array(mergeCount + 1);
  for (let id = 0; id < tokens.idLimit; id++) if (left[id] === none) tokensAfter[0]! += birthCounts[id]!;
  for (let k = 0; k < mergeCount; k++) {
    const id = merges.merged[k]!;
    if (left[id] !== merges.left[k] || right[id] !== merges.right[k]) return null;
    tokensAfter[k + 1] = tokensAfter[k]! - birthCounts[id]!;
  }
  if (tokensAfter[mergeCount] !== facts.tokenCount) return null;
  // Of a pair of equal tokens fewer are replaced than were counted: then the table does not tell how many were.
  const last = merges.merged[mergeCount - 1];
  const lastCount = last === undefined ? 0 : birthCounts[last]!;
  const isResidue = (id: number) =>
    left[id] !== none && endCounts[id]! < lastCount && endCounts[id]! < birthCounts[id]!;
  const residueCount = merges.merged.reduce((count, id) => count + Number(isResidue(id)), 0);
  if (residueCount !== facts.residueCount) return null;
  return { facts, birthCounts, endCounts, tokensAfter, isResidue };
}

const none = -1;
const rowsPerSlice = 1 << 14;

/** The columns by id; null if there is not a row for each id, in their order. */
function* parseRows(text: string, idLimit: number) {
  const lengths = new Float64Array(idLimit);
  const birthCounts = new Float64Array(idLimit);
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
    birthCounts[id] = Number(cells[3]);
    endCounts[id] = Number(cells[4]);
    if (cells[5] !== "") left[id] = Number(cells[5]);
    if (cells[6] !== "") right[id] = Number(cells[6]);
    start = end + 1;
  }
  return id === idLimit ? { lengths, birthCounts, endCounts, left, right } : null;
}

const cellCount = 7;
