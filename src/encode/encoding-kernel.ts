import { paddingBytes, type Text } from "../corpus/text.ts";
import { UserError } from "../errors.ts";
import { createKernel, type Kernel } from "../runtime/kernel.ts";
import type { EncodingModel } from "./model.ts";

/** Each array of the model begins at a multiple of this, and so many bytes behind an array may be read. */
const arrayAlignment = 64;
const readAheadBytes = 8;

/**
 * The kernel with a model, in a memory of its own: src/kernel/encode/encode.ts as JavaScript sees it. The text to encode
 * stands in its memory, and so do the ends of the pretokens.
 */
export class EncodingKernel {
  /** Replaced when there is room for more: read it anew after `reserveText`. What stands in it stays. */
  text: Text;
  /** Ends of pretokens to encode, so many at a time. */
  readonly ends: Int32Array<ArrayBufferLike>;
  private readonly kernel: Kernel;

  /** The cache of words is 2^cacheShrinkBits times smaller than usual: for tests. */
  constructor(
    model: EncodingModel,
    private readonly isNarrow: boolean,
    cacheShrinkBits = 0,
  ) {
    this.kernel = createKernel();
    const { exports, memory } = this.kernel;
    const fields = fieldsOf(model, isNarrow);
    const start = exports.beginModel(sizeOf(fields)) >>> 0;
    if (start === 0) throw noMemory("the tokenizer");
    placeFields(fields, memory.buffer, start);
    if (exports.useModel(cacheShrinkBits) === 0) throw noMemory("the tokenizer");
    this.text = this.reserveText(0);
    this.ends = new Int32Array(memory.buffer, exports.endsAddress() >>> 0, exports.endsCapacity());
  }

  /** Makes room for so many bytes of text. */
  reserveText(capacityBytes: number): Text {
    const { exports, memory } = this.kernel;
    const byteCount = capacityBytes + paddingBytes;
    if (byteCount > longestTextBytes || exports.setTextBytes(byteCount) === 0) {
      throw noMemory(`a pretoken in a text of ${Math.ceil(capacityBytes / 2 ** 20)} MB`);
    }
    const address = exports.textAddress() >>> 0;
    const bytes = new Uint8Array(memory.buffer, address, byteCount);
    this.text = { bytes, view: new DataView(memory.buffer, address, byteCount) };
    return this.text;
  }

  /** The ids of pretokens [ends[i], ends[i + 1]) for i in 0 .. endCount - 1; they are written over by the next ones. */
  encode(endCount: number): Uint16Array | Uint32Array {
    const { exports, memory } = this.kernel;
    const idCount = exports.encodeWords(endCount);
    if (idCount < 0) throw noMemory("a pretoken");
    const address = exports.idsAddress() >>> 0;
    return this.isNarrow
      ? new Uint16Array(memory.buffer, address, idCount)
      : new Uint32Array(memory.buffer, address, idCount);
  }

  /** The ends with those of the cuts between bytes that no token joins: for tests. */
  cuts(endCount: number): number[] {
    const { exports, memory } = this.kernel;
    const found: number[] = [];
    exports.beginCuts(endCount);
    for (let count = exports.nextCuts(); count > 0; count = exports.nextCuts()) {
      const part = new Int32Array(memory.buffer, exports.cutEndsAddress() >>> 0, count);
      found.push(...part.subarray(found.length === 0 ? 0 : 1));
    }
    return found;
  }

  /** Other sizes at which one way of merging takes over from another: for tests. */
  limitMerging(scannedSymbolsMax: number, listedSymbolsMin: number): void {
    this.kernel.exports.limitMerging(scannedSymbolsMax, listedSymbolsMin);
  }

  /** The ids of the first `lengthBytes` bytes of the text, as one pretoken; they are written over by the next ones. */
  merge(lengthBytes: number): Int32Array {
    const { exports, memory } = this.kernel;
    const idCount = exports.mergeText(lengthBytes);
    if (idCount < 0) throw noMemory("a pretoken");
    return new Int32Array(memory.buffer, exports.wordIdsAddress() >>> 0, idCount);
  }
}

/** Positions are signed. */
const longestTextBytes = 2 ** 31 - 1;

const noMemory = (what: string) =>
  new UserError(`no memory for ${what}`, {
    hint: "a text that its pattern cuts nowhere has to fit into 4 GB, with some 40 bytes for each of its own",
  });

/** An array or a number of the model's head; null: an array that there is none of. */
type Field = Uint8Array | Int32Array | number | null;

/** The head of the model as src/kernel/encode/model.ts lays it out. */
function fieldsOf(model: EncodingModel, isNarrow: boolean): Field[] {
  const { pairs, joins, wholeTokens } = model;
  return [
    model.byteIds,
    model.byteRanks,
    model.mergedIds,
    model.mergedIds.length,
    Number(model.isMonotone),
    Number(isNarrow),
    pairs.slots,
    pairs.slotBits,
    pairs.rankBits,
    pairs.halves,
    pairs.filter,
    model.characters,
    model.adjacency,
    joins?.lanes ?? null,
    joins?.slotBits ?? 0,
    joins?.hasSizes ?? null,
    wholeTokens?.ids.length ?? 0,
    wholeTokens?.bytes ?? null,
    wholeTokens?.starts ?? null,
    wholeTokens?.ids ?? null,
  ];
}

const aligned = (sizeBytes: number) => Math.ceil(sizeBytes / arrayAlignment) * arrayAlignment;

const sizeOf = (fields: readonly Field[]) =>
  fields.reduce<number>(
    (sum, field) => sum + (isArray(field) ? aligned(field.byteLength + readAheadBytes) : 0),
    aligned(4 * fields.length),
  );

const isArray = (field: Field) => field !== null && typeof field !== "number";

/** Writes the head to `start` and the arrays behind it. */
function placeFields(fields: readonly Field[], buffer: ArrayBufferLike, start: number): void {
  const head = new Uint32Array(buffer, start, fields.length);
  let address = start + aligned(4 * fields.length);
  for (const [i, field] of fields.entries()) {
    if (!isArray(field)) {
      head[i] = field ?? 0;
      continue;
    }
    head[i] = address;
    new Uint8Array(buffer, address, field.byteLength).set(
      new Uint8Array(field.buffer, field.byteOffset, field.byteLength),
    );
    address += aligned(field.byteLength + readAheadBytes);
  }
}
