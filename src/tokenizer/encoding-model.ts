import { assert, type kernels } from "#runtime";

/**
 * EncodingModel: everything needed to turn the bytes of a pretoken into ids. Plain data, which never changes. The
 * kernel builds its tables from it (src/kernel/encode/build-model.ts).
 *
 *   ARRAY       TYPE         LENGTH       MEANING
 *   byteIds     Int32Array   256          id of each byte; without one, id of the unknown token, or `droppedByte` if
 *                                         there is none
 *   left        Int32Array   mergeCount   left id of the merge of each rank
 *   right       Int32Array   mergeCount   right id of the merge of each rank
 *   merged      Int32Array   mergeCount   id that the merge of rank r produces
 *
 * Ids are those of the vocabulary. Merges are applied in the order of ranks, unless some share a priority
 * (`firstTied`). Each is applied from left to right. If a pair is listed twice, the later rank wins, as in HF.
 */
export type EncodingModel = {
  readonly byteIds: Int32Array;
  readonly merges: RankedMerges;
  /** Every id of the model is less than this number. */
  readonly idLimit: number;
  /**
   * Whether `byteIds` has no id for some byte. Encoding drops such a byte, and its neighbours become adjacent. But if
   * merging begins with characters (`beginning`), a byte is not dropped if its character has a token, or becomes the
   * unknown token.
   */
  readonly dropsBytes: boolean;
  /**
   * Tokens of at least two bytes that merging their bytes does not produce, but that a pretoken of the same bytes
   * becomes (HF's `ignore_merges`); null if there are none. A part of a pretoken never becomes one.
   */
  readonly wholeTokens: PackedTokens | null;
  /** The characters with which merging begins; if left out, it begins with bytes. */
  readonly beginning?: FirstCharacters;
};

/**
 * Merging begins with the tokens of characters, as in SentencePiece (src/kernel/encode/first-characters.ts). `byteIds`
 * then has the ids of ASCII characters, and of the bytes that represent a character without a token.
 */
export type FirstCharacters = {
  /** The tokens that are a single character beyond ASCII. */
  readonly characters: PackedTokens;
  /**
   * The unknown token, with which merging begins for a character without a token; null if it begins with the tokens of
   * the character's bytes. If the `id` is `droppedByte`, such characters are dropped. If `isFused` is set, adjacent
   * unknown tokens become one.
   */
  readonly unknown: { readonly id: number; readonly isFused: boolean } | null;
  /**
   * Whether the tokenizer's files write a token's space as U+2581. In texts, a space and U+2581 then both match that
   * space.
   */
  readonly hasMarks: boolean;
};

export const droppedByte = -1;

/** Merges in the order of their ranks. */
export type RankedMerges = {
  readonly left: Int32Array;
  readonly right: Int32Array;
  readonly merged: Int32Array;
  /**
   * For each merge, the rank of the first merge with the same priority. Among pairs of equal priority, the leftmost in
   * a text is merged first. Absent if no two merges share a priority.
   */
  readonly firstTied?: Int32Array;
};

export type ModelParts = {
  readonly byteIds: Int32Array;
  readonly merges: RankedMerges;
  /** An upper bound of all ids. Defaults to the largest id of bytes, merges and whole tokens. */
  readonly idMax?: number;
  /** The ids of `EncodingModel.wholeTokens`, by the bytes of these tokens as Latin-1 text. */
  readonly wholeTokens?: ReadonlyMap<string, number>;
  readonly beginning?: FirstCharacters;
};

export function build(parts: ModelParts): EncodingModel {
  const { byteIds, merges, wholeTokens = new Map(), idMax = largestIdOf(parts), beginning } = parts;
  assert(idMax < 2 ** 27, "ids of the model fit into 27 bits");
  return {
    byteIds,
    merges,
    idLimit: idMax + 1,
    dropsBytes: byteIds.includes(droppedByte),
    wholeTokens: wholeTokens.size === 0 ? null : packTokens(wholeTokens),
    ...(beginning !== undefined && { beginning }),
  };
}

function largestIdOf({ byteIds, merges: { left, right, merged }, wholeTokens }: ModelParts): number {
  const wholeIds = [...(wholeTokens?.values() ?? [])];
  return [byteIds, left, right, merged, wholeIds].reduce((max, ids) => Math.max(max, maxOf(ids)), 0);
}

/** Returns the largest number, or 0 if none is above 0. `Math.max(...numbers)` would fail for a long array. */
export function maxOf(numbers: ArrayLike<number>): number {
  let max = 0;
  for (let i = 0; i < numbers.length; i++) if (numbers[i]! > max) max = numbers[i]!;
  return max;
}

/**
 * PackedTokens: tokens with their ids, as src/kernel/encode/model-layout.ts indexes them.
 *
 *   ARRAY    TYPE         LENGTH          MEANING
 *   bytes    Uint8Array   starts[count]   the tokens end to end
 *   starts   Int32Array   count + 1       token t is bytes[starts[t] .. starts[t + 1])
 *   ids      Int32Array   count           their ids
 */
export type PackedTokens = {
  readonly bytes: Uint8Array;
  readonly starts: Int32Array;
  readonly ids: Int32Array;
};

/** Packs tokens. The map has the id of each token under the token's bytes, written as Latin-1 text. */
export function packTokens(idsByText: ReadonlyMap<string, number>): PackedTokens {
  const starts = new Int32Array(idsByText.size + 1);
  let token = 0;
  for (const text of idsByText.keys()) {
    starts[token + 1] = starts[token]! + text.length;
    token++;
  }
  return {
    bytes: new Uint8Array(Buffer.from([...idsByText.keys()].join(""), "latin1")),
    starts,
    ids: Int32Array.from(idsByText.values()),
  };
}

/** The values of a model that JavaScript writes into a kernel's memory (`placeModel`). */
export type PlacedModel = {
  readonly model: EncodingModel;
  /** Whether every id fits 16 bits. */
  readonly isNarrow: boolean;
  readonly cuts: CutPlaces;
};

/**
 * Where a pretoken may be cut before it is merged, provided that no token crosses the position. `next to foreign
 * bytes`: only next to non-ASCII bytes. `everywhere`: between ASCII characters as well.
 */
export type CutPlaces = "nowhere" | "next to foreign bytes" | "everywhere";
const cutPlaces: readonly CutPlaces[] = ["nowhere", "next to foreign bytes", "everywhere"];

/** Every array starts at a multiple of `alignment` and is followed by `readAheadBytes` readable bytes. */
const alignment = 64;
const readAheadBytes = 8;

/**
 * Functions that return the size of the head of a model or of a token table, including the fields that the kernel fills
 * in.
 */
type HeadSizes = Pick<kernels.Kernel["exports"], "modelHeadBytes" | "tokenTableHeadBytes">;

/** Returns the number of bytes that `placeModel` needs. */
export function placedModelBytes(placed: PlacedModel, sizes: HeadSizes): number {
  const placing = new Placing(sizes, undefined, 0);
  placeFields(placing, placed);
  return placing.end;
}

/** Writes the model to `start`, beginning with its head (src/kernel/encode/model-layout.ts). */
export function placeModel(
  placed: PlacedModel,
  sizes: HeadSizes,
  buffer: ArrayBufferLike,
  start: number,
): void {
  placeFields(new Placing(sizes, buffer, start), placed);
}

function placeFields(placing: Placing, { model, isNarrow, cuts }: PlacedModel): void {
  const { byteIds, merges, idLimit, wholeTokens, beginning } = model;
  const head = placing.reserve(placing.sizes.modelHeadBytes());
  const fields = [
    placing.place(byteIds),
    placing.place(merges.left),
    placing.place(merges.right),
    placing.place(merges.merged),
    merges.merged.length,
    idLimit,
    Number(isNarrow),
    cutPlaces.indexOf(cuts),
    placeTokens(placing, wholeTokens ?? noTokens),
    placeTokens(placing, beginning?.characters ?? noTokens),
    wayToBegin(beginning),
    beginning?.unknown?.id ?? droppedByte,
    merges.firstTied === undefined ? 0 : placing.place(merges.firstTied),
  ];
  placing.fill(head, fields);
}

/** Returns the value of `beginning` in the model of the kernel (src/kernel/encode/first-characters.ts). */
function wayToBegin(beginning: FirstCharacters | undefined): number {
  if (beginning === undefined) return 0;
  if (beginning.unknown === null) return 1;
  return beginning.unknown.isFused ? 3 : 2;
}

export const noTokens: PackedTokens = {
  bytes: new Uint8Array(0),
  starts: new Int32Array(1),
  ids: new Int32Array(0),
};

function placeTokens(placing: Placing, { bytes, starts, ids }: PackedTokens): number {
  const head = placing.reserve(placing.sizes.tokenTableHeadBytes());
  placing.fill(head, [ids.length, placing.place(bytes), placing.place(starts), placing.place(ids), 0, 0]);
  return head;
}

/** Places arrays one after the other. Without a buffer, only computes their addresses. */
class Placing {
  constructor(
    readonly sizes: HeadSizes,
    private readonly buffer: ArrayBufferLike | undefined,
    public end: number,
  ) {}

  reserve(byteCount: number): number {
    const address = this.end;
    this.end += Math.ceil((byteCount + readAheadBytes) / alignment) * alignment;
    return address;
  }

  place(array: Uint8Array | Int32Array): number {
    const address = this.reserve(array.byteLength);
    if (this.buffer !== undefined) {
      const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
      new Uint8Array(this.buffer, address, array.byteLength).set(bytes);
    }
    return address;
  }

  fill(address: number, fields: readonly number[]): void {
    if (this.buffer !== undefined) new Uint32Array(this.buffer, address, fields.length).set(fields);
  }
}
