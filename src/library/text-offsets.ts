import { UserError } from "#runtime";
import { type decoding, obstacles, type TextNotes, type TokenizerParts } from "#tokenizer";
import { type IdsAround, withIdsAround } from "./special-ids.ts";

/** The ids of a text, and where their tokens are: the token of ids[i] is at [starts[i], ends[i]) of the text. */
export type EncodedWithOffsets = {
  readonly ids: Uint32Array<ArrayBuffer>;
  readonly starts: Uint32Array<ArrayBuffer>;
  readonly ends: Uint32Array<ArrayBuffer>;
};

/** @internal Throws a UserError if the tokenizer has no offsets or, for a string, no offsets in characters. */
export function refuseWithoutOffsets(parts: TokenizerParts, isString: boolean): void {
  const obstacle = obstacles.toOffsets(parts) ?? (isString ? obstacles.toTrims(parts) : undefined);
  if (obstacle !== undefined) throw new UserError(obstacle);
}

/**
 * @internal Returns the positions of a text's tokens. In a string, positions count UTF-16 code units, and are trimmed
 * as HF does it. In bytes, the tokens follow each other without gaps. Throws a UserError if the tokens do not spell the
 * text.
 */
export function findOffsets(
  text: string | Uint8Array,
  bytes: Uint8Array,
  ids: Uint32Array,
  notes: TextNotes,
  decoder: decoding.TokenDecoder,
): decoding.Spans {
  const spans = decoder.spans(bytes, ids, notes, typeof text === "string");
  if (spans === null)
    throw new UserError("this text has no offsets: its tokens decode to a different text", {
      hint: "encode the text without offsets",
    });
  if (typeof text !== "string") return spans;
  const units = unitsOf(text);
  if (units === undefined) return spans;
  const inUnits = (positions: Uint32Array<ArrayBuffer>) => positions.map((position) => units[position]!);
  return { starts: inUnits(spans.starts), ends: inUnits(spans.ends) };
}

/**
 * Returns the start of each character of a string, and the end of the last one; undefined if the string has no
 * surrogates, so that each character is one code unit.
 */
function unitsOf(text: string): Uint32Array | undefined {
  if (!/[\ud800-\udfff]/.test(text)) return undefined;
  const units = new Uint32Array(text.length + 1);
  let count = 0;
  let unit = 0;
  for (const character of text) {
    units[count++] = unit;
    unit += character.length;
  }
  units[count] = unit;
  return units.subarray(0, count + 1);
}

/** @internal Adds the ids around a text. Their offsets are 0. */
export function withOffsetsAround({ ids, starts, ends }: EncodedWithOffsets, around: IdsAround) {
  const nowhere = { before: around.before.map(() => 0), after: around.after.map(() => 0) };
  return {
    ids: withIdsAround(ids, around),
    starts: withIdsAround(starts, nowhere),
    ends: withIdsAround(ends, nowhere),
  };
}
