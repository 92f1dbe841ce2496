import { basename } from "node:path";
import { exitCode, UserError } from "../../errors.ts";
import type { ResolvedPattern } from "../../pattern/index.ts";
import { buildModel, type EncodingModel } from "../model.ts";
import { addPair, allocatePairs, findPair, noRank, type PairTable } from "../pairs.ts";
import { buildTokenTable } from "../token-table.ts";
import { type AddedToken, plainSpecial, type TokenizerParts } from "../tokenizer-parts.ts";
import { areNarrow, checkId } from "./assemble.ts";
import { readText, refuse } from "./files.ts";
import type { LoadOptions, SpecialTokenOption } from "./load.ts";
import { compileSplits, nameOf } from "./pre-tokenizer.ts";
import { recordedTraining } from "./training-record.ts";

type RankedToken = { readonly rank: number; readonly bytes: Uint8Array };

/** Loads tiktoken's file of ranks. Pattern and special tokens are not in it: they are asked for, or recorded beside it. */
export function loadTiktokenFile(path: string, options: LoadOptions): TokenizerParts {
  const tokens = readRanks(path);
  const recorded = recordedTraining(path, basename(path));
  const pattern = options.pattern ?? recordedPattern(recorded?.patternSources, path);
  const ranks = tokens.map(({ rank }) => rank);
  const asked = options.specialTokens ?? [];
  const known = recorded === null ? [] : recordedSpecials(recorded.specialTokens, recorded.compat);
  const addedTokens = giveIds(
    [...known.filter(({ text }) => !asked.some((a) => a.text === text)), ...asked],
    ranks,
  );
  const table = buildTokenTable([
    ...tokens.map(({ rank, bytes }) => [rank, bytes] as const),
    ...addedTokens.map(
      ({ id, content }) => [checkId(id, content, path), new TextEncoder().encode(content)] as const,
    ),
  ]);
  return {
    model: modelOfRanks(tokens, path),
    pattern: pattern.compiled,
    normalization: null,
    addsPrefixSpace: false,
    addedTokens,
    isNarrow: areNarrow(ranks, addedTokens),
    tokens: table,
    description: { path, kind: ".tiktoken", patternName: pattern.name, patternSources: pattern.sources },
    notes: [],
  };
}

function readRanks(path: string): RankedToken[] {
  const tokens: RankedToken[] = [];
  readText(path)
    .split("\n")
    .forEach((line, i) => {
      if (line.trim() === "") return;
      const match = /^([A-Za-z0-9+/]+={0,2}) (\d+)\r?$/.exec(line);
      if (match === null)
        throw new UserError(`"${path}": line ${i + 1} is not a token in base64 and its rank`);
      tokens.push({
        bytes: new Uint8Array(Buffer.from(match[1]!, "base64")),
        rank: checkId(Number(match[2]), match[1]!, path),
      });
    });
  return tokens;
}

function recordedPattern(sources: readonly string[] | undefined, path: string): ResolvedPattern {
  if (sources === undefined) {
    throw new UserError(`"${path}": the pattern is not in a .tiktoken file`, {
      hint: "name it, e.g. --pattern cl100k, and each special token: --special-token '<|endoftext|>=100257'",
      exitCode: exitCode.usage,
    });
  }
  return { name: nameOf(sources), sources, compiled: compileSplits(sources, path) };
}

/** A training in HF's way gives special tokens the first ids, every other one the next free ones. */
function recordedSpecials(texts: readonly string[], compat: string): SpecialTokenOption[] {
  return texts.map((text, i) => ({ text, id: compat === "huggingface" ? i : undefined }));
}

function giveIds(specials: readonly SpecialTokenOption[], ranks: readonly number[]): AddedToken[] {
  let nextId = 0;
  for (const rank of ranks) nextId = Math.max(nextId, rank + 1);
  return specials.map(({ text, id }) => {
    const given = id ?? nextId;
    nextId = Math.max(nextId, given + 1);
    return { id: given, content: text, ...plainSpecial };
  });
}

/**
 * tiktoken merges whatever neighbours make a token together, lowest rank first. Between two ends that no merge crossed,
 * a stretch of text is merged the same way wherever it stands; so a token arises only from the two parts that merging
 * its own bytes stops at, and these are its merge. Shorter tokens first, for they are the parts. A token at which
 * merging does not arrive in two parts is only found whole, as tiktoken finds every pretoken that is a token.
 */
function modelOfRanks(tokens: readonly RankedToken[], path: string): EncodingModel {
  const byteIds = new Int32Array(256).fill(-1);
  for (const { bytes, rank } of tokens) if (bytes.length === 1) byteIds[bytes[0]!] = rank;
  if (byteIds.includes(-1)) {
    refuse(path, `it has no token for byte 0x${byteIds.indexOf(-1).toString(16).padStart(2, "0")}`);
  }
  const rankLimit = tokens.reduce((limit, { rank }) => Math.max(limit, rank + 1), 0);
  const longer = tokens.filter(({ bytes }) => bytes.length > 1);
  const pairs = allocatePairs(longer.length, rankLimit);
  const found: { left: number; right: number; id: number }[] = [];
  const wholeTokens = new Map<string, number>();
  for (const { bytes, rank } of longer.toSorted((a, b) => a.bytes.length - b.bytes.length)) {
    const ids = Array.from(bytes, (byte) => byteIds[byte]!);
    mergeByRank(ids, pairs);
    if (ids.length === 2) {
      addPair(pairs, ids[0]!, ids[1]!, rank);
      found.push({ left: ids[0]!, right: ids[1]!, id: rank });
    } else wholeTokens.set(Buffer.from(bytes).toString("latin1"), rank);
  }
  found.sort((a, b) => a.id - b.id);
  const merges = {
    left: Int32Array.from(found, ({ left }) => left),
    right: Int32Array.from(found, ({ right }) => right),
    merged: Int32Array.from(found, ({ id }) => id),
  };
  return buildModel({ byteIds, merges, wholeTokens });
}

/** Here a pair's rank is the id that it becomes. */
function mergeByRank(ids: number[], pairs: PairTable): void {
  for (;;) {
    let best = noRank;
    let bestPos = 0;
    for (let i = 0; i + 1 < ids.length; i++) {
      const rank = findPair(pairs, ids[i]!, ids[i + 1]!);
      if (rank < best) {
        best = rank;
        bestPos = i;
      }
    }
    if (best === noRank) return;
    ids.splice(bestPos, 2, best);
  }
}
