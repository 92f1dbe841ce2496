import { utf8 } from "#bytes";
import { assert } from "#runtime";
import { textPieces } from "#text";
import {
  type EncodingModel,
  encodingModels,
  TextEncoding,
  type TokenizerParts,
  tokenKeys,
  tokenTables,
  WordMerger,
} from "#tokenizer";

/**
 * A step of encoding a pretoken: two neighbouring ids are merged. Each step applies the merge with the lowest rank of
 * all that are possible then; if it is possible at several places, at the leftmost one. Merges that share a priority
 * count as one rank (`RankedMerges.firstTied`).
 */
export type MergeStep = {
  readonly rank: number;
  /** The index of the left id in the pretoken's list of ids, just before this merge. */
  readonly at: number;
  readonly left: number;
  readonly right: number;
  /** The id of the merged token. */
  readonly id: number;
};

/** A part of a text, with the steps that encode it. */
export type ExplainedPart = {
  /**
   * "added" for an added token. "whole" for a pretoken that is in the vocabulary as a whole, though no merges make it.
   * "merged" for any other pretoken.
   */
  readonly kind: "added" | "whole" | "merged";
  readonly bytes: Uint8Array;
  /** The ids with which the merging of a pretoken begins (`firstIds`); empty unless `kind` is "merged". */
  readonly start: readonly number[];
  readonly steps: readonly MergeStep[];
  readonly ids: readonly number[];
};

/**
 * Explains how a text is encoded, part by part. The ids of all parts together are the ids that encoding the text gives.
 */
export function explainText(parts: TokenizerParts, text: Uint8Array): ExplainedPart[] {
  const { model, tokens } = parts;
  const merger = new WordMerger(model);
  const wholeIds = wholeTokensOf(model);
  const shared = tokenKeys.textsOfShared(parts);
  const addedText = (id: number) => shared.get(id) ?? tokenTables.bytesOf(tokens, id);
  const uncut = (kind: "added" | "whole", id: number, bytes: Uint8Array): ExplainedPart => ({
    ...{ kind, bytes, start: [], steps: [] },
    ids: [id],
  });
  const explained = textPieces.sectionsOf(parts, text).flatMap((section) => {
    if (section.id !== undefined) return [uncut("added", section.id, addedText(section.id))];
    return textPieces.pretokensOf(parts, section.bytes).map((bytes) => {
      const id = wholeIds.get(latin1(bytes));
      return id === undefined ? explainMerges(model, merger, bytes) : uncut("whole", id, bytes);
    });
  });
  const ids = explained.flatMap((part) => part.ids);
  assert(String(ids) === String(encodeText(parts, text)), "what is explained is what encoding gives");
  return explained;
}

function explainMerges(model: EncodingModel, merger: WordMerger, bytes: Uint8Array): ExplainedPart {
  const { merges } = model;
  const start = firstIds(model, bytes);
  const ids = start.slice();
  /** For each current id, the index in `start` of its first byte or character. */
  const starts = Array.from(start, (_, byte) => byte);
  const trace = merger.trace(bytes);
  const steps: MergeStep[] = [];
  for (let i = 0; i < trace.length; i += 2) {
    const at = starts.indexOf(trace[i]!) - 1;
    const rank = trace[i + 1]!;
    const id = merges.merged[rank]!;
    starts.splice(at + 1, 1);
    const [left, right] = ids.splice(at, 2, id) as [number, number];
    steps.push({ rank, at, left, right, id });
  }
  return { kind: "merged", bytes, start, steps, ids };
}

/**
 * Returns the ids with which merging begins: those of bytes or, if the tokenizer begins with characters, of characters.
 * A character without a token then gives the unknown token, the ids of its bytes, or nothing
 * (`FirstCharacters.unknown`).
 */
export function firstIds({ byteIds, beginning }: EncodingModel, bytes: Uint8Array): number[] {
  const ofBytes = (some: Uint8Array) => Array.from(some, (byte) => byteIds[byte]!);
  if (beginning === undefined) return ofBytes(bytes).filter((id) => id !== encodingModels.droppedByte);
  const { characters, unknown } = beginning;
  const known = new Map(
    Array.from(characters.ids, (id, t) => [
      latin1(characters.bytes.subarray(characters.starts[t]!, characters.starts[t + 1]!)),
      id,
    ]),
  );
  const ids: number[] = [];
  for (let pos = 0; pos < bytes.length; ) {
    const size = Math.max(1, utf8.characterLengthAt(bytes, pos, bytes.length));
    const character = bytes.subarray(pos, (pos += size));
    const own = known.get(latin1(character));
    const next = own !== undefined ? [own] : size > 1 && unknown !== null ? [unknown.id] : ofBytes(character);
    const isFused = unknown?.isFused === true && next[0] === unknown.id && ids.at(-1) === unknown.id;
    if (!isFused) ids.push(...next.filter((id) => id !== encodingModels.droppedByte));
  }
  return ids;
}

function wholeTokensOf({ wholeTokens }: EncodingModel): ReadonlyMap<string, number> {
  if (wholeTokens === null) return new Map();
  const { bytes, starts, ids } = wholeTokens;
  return new Map(Array.from(ids, (id, i) => [latin1(bytes.subarray(starts[i]!, starts[i + 1]!)), id]));
}

const latin1 = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");

function encodeText(parts: TokenizerParts, text: Uint8Array): Uint16Array | Uint32Array {
  const encoding = new TextEncoding(parts);
  encoding.pushText(text, 0, text.length);
  return encoding.out.flush();
}
