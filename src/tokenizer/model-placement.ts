import type { EncodingModel, WholeTokens } from "./encoding-model.ts";

/** Tokens with their ids, as src/kernel/encode/model-layout.ts indexes them. */
export type PackedTokens = WholeTokens;

/** What JavaScript puts into the kernel's EncodingModel. */
export type PlacedModel = {
  readonly model: EncodingModel;
  /** Every id fits 16 bits. */
  readonly isNarrow: boolean;
  /** Tokens that the kernel finds in the text; the id is -1 if the token is to stay text. */
  readonly addedTokens: PackedTokens;
  /** Where pretokens may be cut if no merge crosses; nowhere in some tests. */
  readonly cuts: CutPlaces;
};

/** `everywhere` pays where pretokens are lines: between words, too (src/kernel/encode/never-merged.ts). */
export type CutPlaces = "nowhere" | "beside foreign bytes" | "everywhere";
const cutPlaces: readonly CutPlaces[] = ["nowhere", "beside foreign bytes", "everywhere"];

/** Every array begins at a multiple of `alignment`; `readAheadBytes` bytes behind it may be read. */
const alignment = 64;
const readAheadBytes = 8;

/** Fields of the heads, with those that the kernel fills in. */
const modelFieldCount = 22;
const tokenTableFieldCount = 6;

/** Bytes that `placeModel` writes. */
export function placedModelBytes(placed: PlacedModel): number {
  const placing = new Placing(undefined, 0);
  placeFields(placing, placed);
  return placing.end;
}

/** Writes the model to `start`, its head first (src/kernel/encode/model-layout.ts). */
export function placeModel(placed: PlacedModel, buffer: ArrayBufferLike, start: number): void {
  placeFields(new Placing(buffer, start), placed);
}

function placeFields(placing: Placing, { model, isNarrow, addedTokens, cuts }: PlacedModel): void {
  const { byteIds, merges, idLimit, wholeTokens } = model;
  const head = placing.reserve(4 * modelFieldCount);
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
    placeTokens(placing, addedTokens),
  ];
  placing.fill(head, fields);
}

export const noTokens: PackedTokens = {
  bytes: new Uint8Array(0),
  starts: new Int32Array(1),
  ids: new Int32Array(0),
};

function placeTokens(placing: Placing, { bytes, starts, ids }: PackedTokens): number {
  const head = placing.reserve(4 * tokenTableFieldCount);
  placing.fill(head, [ids.length, placing.place(bytes), placing.place(starts), placing.place(ids), 0, 0]);
  return head;
}

/** Places arrays one behind the other; without a buffer it only computes their addresses. */
class Placing {
  constructor(
    private readonly buffer: ArrayBufferLike | undefined,
    public end: number,
  ) {}

  /** The address of so many bytes. */
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
