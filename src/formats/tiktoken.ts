import { basename } from "node:path";
import { exitCode, UserError } from "../errors.ts";
import { patterns, type ResolvedPattern } from "../pattern/pattern.ts";
import { toBase64 } from "../runtime/host.ts";
import { modelOfRanks, type RankedToken } from "../tokenizer/merges-of-ranks.ts";
import { buildTokenTable, type TokenTable } from "../tokenizer/token-table.ts";
import {
  type AddedToken,
  areNarrow,
  type LoadOptions,
  plainSpecial,
  type SpecialTokenOption,
  type TokenizerParts,
} from "../tokenizer/tokenizer-parts.ts";
import { copyTokenBytes } from "../vocabulary/token-bytes.ts";
import { type FinishedTokenizer, isSpecialEntry, type Vocabulary } from "../vocabulary/vocabulary.ts";
import { checkId, checkOwnIds } from "./assemble-model.ts";
import { type KnownRanks, knownRanks } from "./known-ranks.ts";
import type { OutputFile } from "./output-file.ts";
import { checkTakesAll, compileSplits, nameOf } from "./pre-tokenizer.ts";
import { readBytes } from "./read-file.ts";
import { type RecordedTraining, recordedTraining } from "./read-training-record.ts";
import { places, rows } from "./rows.ts";

/**
 * tiktoken's file of ranks: `base64(token bytes) id` lines, ids ascending, without the special tokens. tiktoken merges
 * in the order of ids, so a vocabulary whose ids follow another order has no such file: see `tiktokenObstacle`.
 */
export function tiktokenFiles({ vocabulary }: FinishedTokenizer): OutputFile[] {
  return [{ name: "tokenizer.tiktoken", chunks: () => rankRows(vocabulary) }];
}

/** `base64(token bytes) id` lines, ids ascending, without the special tokens. */
export function rankRows(vocabulary: Vocabulary): Generator<Uint8Array> {
  const { size, entries, tokenBytes } = vocabulary;
  return rows(vocabulary, size, {
    base64Digits,
    write: (kernel, first, to, limit) => kernel.writeRanks(first, size, places.digits, to, limit),
    append: (chunk, id) => {
      const token = entries[id]!;
      if (isSpecialEntry(token)) return;
      chunk.ascii(toBase64(copyTokenBytes(tokenBytes, token)));
      chunk.ascii(" ");
      chunk.decimal(id);
      chunk.ascii("\n");
    },
  });
}

const base64Digits = new TextEncoder().encode(
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
);

/** Why a tokenizer cannot be written in this format, or null. */
export function tiktokenObstacle({ vocabulary, exportForm }: FinishedTokenizer): string | null {
  if (exportForm.kind === "splits" && exportForm.regexes.length > 1) {
    return "tiktoken cuts text by one regular expression, and this pattern is a sequence of them";
  }
  if (exportForm.kind === "splits" && exportForm.mayLeaveGaps) {
    return "the pattern may leave text unmatched, which tiktoken drops; with |[\\s\\S] at its end it takes every character";
  }
  const tokenCount = vocabulary.tokenIds.length;
  if (tokenCount + vocabulary.specialTokens.length !== vocabulary.size) {
    return "a special token shares the id of a token, and tiktoken merges in the order of ids";
  }
  return null;
}

/**
 * Loads a file of ranks, as tiktoken has it. Pattern and special tokens are not in it: the user gives them, or a record beside
 * it has them, or the file is a known one.
 */
export function loadTiktokenFile(path: string, options: LoadOptions): TokenizerParts {
  const bytes = readBytes(path);
  const tokens = readRanks(bytes.toString("latin1"), path);
  const known = knownRanks(bytes);
  const recorded = recordedTraining(path, basename(path));
  const sources = recorded?.patternSources ?? (known && patterns[known.pattern].sources);
  const pattern = options.pattern ?? patternOf(sources, path);
  if (pattern.name === null) checkTakesAll(pattern.sources, path);
  const normalization = recorded?.normalization ?? known?.normalization ?? null;
  const idMax = tokens.reduce((max, { rank }) => Math.max(max, rank), -1);
  const specialIds =
    recorded === null
      ? specialsOfKnown(known, options.specialTokens, idMax)
      : giveIds([...recordedSpecials(recorded), ...(options.specialTokens ?? [])], idMax);
  const addedTokens = Array.from(
    specialIds,
    ([content, id]): AddedToken => ({ ...plainSpecial, id, content, normalized: normalization !== null }),
  );
  const taken = new Set(specialIds.values());
  const sharing = tokens.filter(({ rank }) => taken.has(rank));
  checkOwnIds(
    addedTokens,
    sharing.map(({ bytes, rank }) => [bytes, rank]),
    path,
  );
  return {
    model: modelOfRanks(tokens, path),
    pattern: pattern.compiled,
    normalization,
    addsPrefixSpace: false,
    addedTokens,
    isNarrow: areNarrow(idMax, addedTokens),
    tokens: tableOf(tokens, addedTokens, path),
    description: { path, kind: kindOf(known), patternName: pattern.name, patternSources: pattern.sources },
    notes: [],
  };
}

function kindOf(known: KnownRanks | undefined): string {
  if (known === undefined) return "rank file";
  const others = known.sameRanks === undefined ? "" : `; with other special tokens, of ${known.sameRanks}`;
  return `rank file of ${known.name}${others}`;
}

function readRanks(text: string, path: string): RankedToken[] {
  const tokens: RankedToken[] = [];
  text.split("\n").forEach((line, i) => {
    if (line.trim() === "") return;
    // Whisper's ranks have an empty token, `=`.
    const match = /^([A-Za-z0-9+/]+={0,2}|=) (\d+)\r?$/.exec(line);
    if (match === null) throw new UserError(`"${path}": line ${i + 1} is not a token in base64 and its rank`);
    tokens.push({
      bytes: new Uint8Array(Buffer.from(match[1]!, "base64")),
      rank: checkId(Number(match[2]), match[1]!, path),
    });
  });
  return tokens;
}

function patternOf(sources: readonly string[] | undefined, path: string): ResolvedPattern {
  if (sources === undefined) {
    throw new UserError(`"${path}": the pattern is not in a file of ranks, and these are not known`, {
      hint: "name it, e.g. --pattern cl100k, and each special token: --special-token '<|endoftext|>=100257'",
      exitCode: exitCode.usage,
    });
  }
  return { name: nameOf(sources), sources, compiled: compileSplits(sources, path) };
}

/** A training with `--compat huggingface` gives special tokens the first ids, every other training the next free ones. */
function recordedSpecials(recorded: RecordedTraining): SpecialTokenOption[] {
  const { specialTokens, specialIds, reservedTokens, compat } = recorded;
  const firstIds = compat === "huggingface" ? [...specialTokens.keys()] : [];
  const given = specialTokens.map((text, i) => ({ text, id: (specialIds ?? firstIds)[i] }));
  return [...given, ...reservedTokens.map((text) => ({ text, id: undefined }))];
}

/** The user's tokens, and those of a published file whose ids the user does not give to others: its ranks may have several sets. */
function specialsOfKnown(
  known: KnownRanks | undefined,
  asked: readonly SpecialTokenOption[] = [],
  idMax: number,
): Map<string, number> {
  const others = (known?.specialTokens ?? []).map(([text, id]) => ({ text, id }));
  const isFree = ({ text, id }: { text: string; id: number }) =>
    asked.every((token) => token.text === text || token.id !== id);
  return giveIds([...others.filter(isFree), ...asked], idMax);
}

/** Ids by text: those that are given, that of the same text before, or the next free one. */
function giveIds(specials: readonly SpecialTokenOption[], idMax: number): Map<string, number> {
  const ids = new Map<string, number>();
  let nextId = idMax + 1;
  for (const { text, id } of specials) {
    const given = id ?? ids.get(text) ?? nextId;
    ids.set(text, given);
    nextId = Math.max(nextId, given + 1);
  }
  return ids;
}

function tableOf(
  tokens: readonly RankedToken[],
  addedTokens: readonly AddedToken[],
  path: string,
): TokenTable {
  const encoder = new TextEncoder();
  return buildTokenTable([
    ...tokens.map(({ rank, bytes }) => [rank, bytes] as const),
    ...addedTokens.map(({ id, content }) => [checkId(id, content, path), encoder.encode(content)] as const),
  ]);
}
