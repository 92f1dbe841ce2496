import { copyBytes, type Text, textBuffers } from "#bytes";
import { kernels, scaled } from "#runtime";
import {
  type CutPlaces,
  type EncodingModel,
  type PlacedModel,
  placedModelBytes,
  placeModel,
} from "./encoding-model.ts";
import { NoMemory, noMemoryForTokenizer } from "./no-memory.ts";

export type EncodingKernelOptions = {
  /** Where pretokens may be cut before they are merged. By default, only next to non-ASCII bytes. */
  readonly cuts?: CutPlaces;
  /** The maximum growth of memory for long texts and pretokens, in bytes; no limit if left out. */
  readonly growthBytesMax?: number | undefined;
  /** The memory to use, which must be all zero. If left out, a new one is allocated. */
  readonly memory?: WebAssembly.Memory;
  /** Makes the cache of words 2^cacheShrinkBits times smaller than usual. */
  readonly cacheShrinkBits?: number;
};

/**
 * An instance of the kernel (src/kernel/encode/encode-words.ts). Its memory has the model, the text to encode, and the
 * ends of the text's pretokens.
 */
export class EncodingKernel {
  private reservedText: Text | undefined;
  private capacityBytes = 0;
  /** The whole memory, viewed as ids. */
  private allIds: Uint16Array<ArrayBufferLike> | Uint32Array<ArrayBufferLike> = new Uint16Array(0);
  /** The whole memory, viewed as the ids that `mergeText` writes. */
  private mergedIds = new Int32Array(0);
  /** The ends of the current pretokens. */
  readonly ends: Int32Array<ArrayBufferLike>;
  readonly kernel: kernels.Kernel;
  /** The address of the model's head: numbers, and the addresses of its arrays (src/kernel/encode/model-layout.ts). */
  readonly modelAddress: number;

  constructor(
    model: EncodingModel,
    readonly isNarrow: boolean,
    {
      cuts = "next to foreign bytes",
      growthBytesMax = Number.POSITIVE_INFINITY,
      memory: givenMemory,
      cacheShrinkBits = 0,
    }: EncodingKernelOptions = {},
  ) {
    this.kernel = kernels.create(givenMemory);
    const { exports, memory } = this.kernel;
    this.modelAddress = setUpModel(this.kernel, { model, isNarrow, cuts }, cacheShrinkBits);
    exports.limitGrowth(Math.min(growthBytesMax, 2 ** 32));
    this.ends = new Int32Array(memory.buffer, exports.endsAddress() >>> 0, exports.endsCapacity());
  }

  get text(): Text {
    return this.reservedText!;
  }

  /**
   * Returns the region for text, which is at least `capacityBytes` bytes large. If the region has to grow, its content
   * stays, but what follows it in memory is overwritten.
   */
  reserveText(capacityBytes: number): Text {
    if (this.reservedText !== undefined && capacityBytes <= this.capacityBytes) return this.reservedText;
    const { exports, memory } = this.kernel;
    const byteCount = capacityBytes + textBuffers.paddingBytes;
    const what = `a pretoken in a text of ${Math.ceil(capacityBytes / 2 ** 20)} MB`;
    // A text that is too long is refused before the kernel is asked for memory, so there are no `refusedBytes` to
    // report.
    if (byteCount > longestTextBytes) throw new NoMemory(what);
    if (exports.setTextBytes(byteCount) === 0) throw this.noMemoryFor(what);
    const address = exports.textAddress() >>> 0;
    const bytes = new Uint8Array(memory.buffer, address, byteCount);
    this.capacityBytes = capacityBytes;
    this.reservedText = { bytes, view: new DataView(memory.buffer, address, byteCount) };
    return this.reservedText;
  }

  /** Appends the ids of the pretokens [ends[i], ends[i + 1]) of the text. */
  encode(ends: Int32Array, endCount: number, out: IdBuffer): void {
    const wordsMax = this.ends.length - 1;
    for (let first = 0; first < endCount - 1; first += wordsMax) {
      const wordCount = Math.min(wordsMax, endCount - 1 - first);
      this.ends.set(ends.subarray(first, first + wordCount + 1));
      this.takeIds(this.kernel.exports.encodeWords(wordCount + 1), out);
    }
  }

  /**
   * Appends the `idCount` ids of the last kernel call to `out`. Copies a few ids one by one, because creating a view
   * would take longer. Throws if `idCount` is below 0, which means that memory ran out.
   */
  takeIds(idCount: number, out: IdBuffer): void {
    if (idCount < 0 || idCount > copiedIdsMax) {
      out.append(this.idsOf(idCount));
      return;
    }
    const { exports, memory } = this.kernel;
    const idBytes = this.isNarrow ? 2 : 4;
    const first = (exports.idsAddress() >>> 0) / idBytes;
    // After memory has grown, this view does not cover all of it.
    if (first + idCount > this.allIds.length) {
      this.allIds = this.isNarrow ? new Uint16Array(memory.buffer) : new Uint32Array(memory.buffer);
    }
    out.appendFrom(this.allIds, first, idCount);
  }

  /**
   * Returns a view of the `idCount` ids of the last kernel call; the next call overwrites them. Throws if `idCount` is
   * below 0, which means that memory ran out.
   */
  idsOf(idCount: number): Uint16Array | Uint32Array {
    if (idCount < 0) throw this.noMemoryFor("a pretoken");
    const { exports, memory } = this.kernel;
    const address = exports.idsAddress() >>> 0;
    return this.isNarrow
      ? new Uint16Array(memory.buffer, address, idCount)
      : new Uint32Array(memory.buffer, address, idCount);
  }

  private noMemoryFor(what: string): NoMemory {
    const megabytes = Math.ceil(this.kernel.exports.refusedBytes() / 1e6);
    return new NoMemory(`${what}, which needs about ${megabytes} MB`);
  }

  /** For tests: returns the ends of pretokens together with the cuts inside pretokens. */
  cuts(endCount: number): number[] {
    const { exports, memory } = this.kernel;
    const found: number[] = [];
    exports.beginCuts(0, endCount);
    for (let count = exports.nextCuts(); count > 0; count = exports.nextCuts()) {
      const part = new Int32Array(memory.buffer, exports.cutEndsAddress() >>> 0, count);
      found.push(...part.subarray(found.length === 0 ? 0 : 1));
    }
    return found;
  }

  /** For tests: returns the numbers of short, middle and long words in the cache. */
  cachedWords(): number[] {
    const heads = new Uint32Array(this.kernel.memory.buffer, this.kernel.exports.cacheHeads() >>> 0, 24);
    return [heads[4]! - 1, heads[12]!, heads[20]!]; // the kernel counts a sentinel as a short word
  }

  /** For tests: sets the number of symbols above which merging uses a heap. */
  limitMerging(scannedSymbolsMax: number): void {
    this.kernel.exports.limitMerging(scannedSymbolsMax);
  }

  /**
   * Returns the ids of the first `lengthBytes` bytes of the text, as one pretoken. The next call overwrites
   * them.
   */
  merge(lengthBytes: number): Int32Array {
    const { exports, memory } = this.kernel;
    const idCount = exports.mergeText(lengthBytes);
    if (idCount < 0) throw this.noMemoryFor("a pretoken");
    return new Int32Array(memory.buffer, exports.wordIdsAddress() >>> 0, idCount);
  }

  /** Whether the first `lengthBytes` bytes of the text, as one pretoken, become this token. */
  mergesTo(id: number, lengthBytes: number): boolean {
    const { exports, memory } = this.kernel;
    const idCount = exports.mergeText(lengthBytes);
    if (idCount < 0) throw this.noMemoryFor("a pretoken");
    if (idCount !== 1) return false;
    const at = (exports.wordIdsAddress() >>> 0) / 4;
    if (at >= this.mergedIds.length) this.mergedIds = new Int32Array(memory.buffer);
    return this.mergedIds[at] === id;
  }

  /**
   * Returns the merges of the first `lengthBytes` bytes of the text (`WordMerger.trace`). The next call
   * overwrites them.
   */
  trace(lengthBytes: number): Uint32Array {
    const { exports, memory } = this.kernel;
    const mergeCount = exports.traceText(lengthBytes);
    if (mergeCount < 0) throw this.noMemoryFor("a pretoken");
    return new Uint32Array(memory.buffer, exports.traceAddress() >>> 0, 2 * mergeCount);
  }
}

function setUpModel(kernel: kernels.Kernel, placed: PlacedModel, cacheShrinkBits = 0): number {
  const head = placeInKernel(kernel, placed);
  if (kernel.exports.useModel(cacheShrinkBits) === 0) throw noMemoryForTokenizer();
  return head;
}

/** Writes a model into a kernel's memory. Returns the address of its head. */
export function placeInKernel({ exports, memory }: kernels.Kernel, placed: PlacedModel): number {
  const head = exports.beginModel(placedModelBytes(placed, exports)) >>> 0;
  if (head === 0) throw noMemoryForTokenizer();
  placeModel(placed, exports, memory.buffer, head);
  return head;
}

const copiedIdsMax = scaled(32, 2);

/** The longest text with its padding: positions are signed 32-bit integers. */
const longestTextBytes = 2 ** 31 - 1;

/** Merges one pretoken at a time, for queries about a tokenizer. */
export class WordMerger {
  readonly kernel: EncodingKernel;

  constructor(model: EncodingModel) {
    this.kernel = new EncodingKernel(model, false);
  }

  /**
   * Returns the ids of a pretoken or of a part of one. A part is allowed only if the model has no `wholeTokens`, which
   * only complete pretokens become. The next call overwrites them.
   */
  merge(bytes: Uint8Array): Int32Array {
    this.kernel.reserveText(bytes.length).bytes.set(bytes);
    return this.kernel.merge(bytes.length);
  }

  /** Whether bytes [start, end), merged as by `merge`, become this token. */
  mergesTo(id: number, bytes: Uint8Array, start: number, end: number): boolean {
    copyBytes(bytes, start, end, this.kernel.reserveText(end - start).bytes, 0);
    return this.kernel.mergesTo(id, end - start);
  }

  /**
   * Returns the merges of a pretoken in the order in which they are applied. Each is two numbers: the index of the
   * symbol at which its right half begins, and its rank. Symbols are the tokens with which merging begins. The next
   * call overwrites the result.
   */
  trace(bytes: Uint8Array): Uint32Array {
    this.kernel.reserveText(bytes.length).bytes.set(bytes);
    return this.kernel.trace(bytes.length);
  }

  /** Returns the rank of the last merge of a pretoken; -1 for none. */
  lastRank(bytes: Uint8Array): number {
    return this.trace(bytes).at(-1) ?? -1;
  }
}

export type Ids = Uint16Array<ArrayBuffer> | Uint32Array<ArrayBuffer>;

/** A buffer that gathers ids in ids[0 .. count). An id takes 16 bits if all ids of the tokenizer fit, otherwise 32. */
export class IdBuffer {
  ids: Ids;
  count = 0;
  /** How many ids were removed by `flush` or `take`. */
  private removedCount = 0;
  /** Positions among the ids at which records end, ascending. A text that is not a record adds none. */
  private recordEnds: number[] = [];

  constructor(
    private readonly isNarrow: boolean,
    capacity = scaled(1 << 12, 2),
  ) {
    this.ids = this.allocate(capacity);
  }

  private reserve(idCount: number): void {
    const needed = this.count + idCount;
    if (needed <= this.ids.length) return;
    const longer = this.allocate(Math.max(2 * this.ids.length, needed));
    longer.set(this.ids.subarray(0, this.count));
    this.ids = longer;
  }

  push(id: number): void {
    this.reserve(1);
    this.ids[this.count++] = id;
  }

  append(ids: Uint16Array | Uint32Array): void {
    this.reserve(ids.length);
    this.ids.set(ids, this.count);
    this.count += ids.length;
  }

  appendFrom(all: Uint16Array | Uint32Array, first: number, count: number): void {
    this.reserve(count);
    const { ids, count: before } = this;
    for (let i = 0; i < count; i++) ids[before + i] = all[first + i]!;
    this.count = before + count;
  }

  /** Marks the end of a record after the ids gathered so far. */
  endRecord(): void {
    this.recordEnds.push(this.count);
  }

  get isEmpty(): boolean {
    return this.count === 0 && this.recordEnds.length === 0;
  }

  /** The number of ids appended so far, including removed ones. */
  get totalCount(): number {
    return this.removedCount + this.count;
  }

  /** Removes and returns the ends of records among the gathered ids. */
  takeRecordEnds(): Uint32Array {
    const taken = Uint32Array.from(this.recordEnds);
    this.recordEnds = [];
    return taken;
  }

  /**
   * Removes and returns the gathered ids, which stay valid until the next id is added. The buffer keeps their memory.
   */
  flush(): Uint16Array | Uint32Array {
    const gathered = this.ids.subarray(0, this.count);
    this.forget();
    return gathered;
  }

  /**
   * Removes and returns the gathered ids together with their memory. The buffer continues with the memory `spare`, or
   * with new memory.
   */
  take(spare?: ArrayBuffer): Ids {
    const taken = this.ids.subarray(0, this.count) as Ids;
    if (spare === undefined) this.ids = this.allocate(this.ids.length);
    else this.ids = this.isNarrow ? new Uint16Array(spare) : new Uint32Array(spare);
    this.forget();
    return taken;
  }

  private forget(): void {
    this.removedCount += this.count;
    this.count = 0;
  }

  /** If the buffer is empty and has memory for more than `keptIdsMax` ids, releases the excess. */
  shrink(): void {
    if (this.count > 0 || this.ids.length <= keptIdsMax) return;
    this.ids = this.allocate(keptIdsMax);
  }

  private allocate(capacity: number) {
    return this.isNarrow ? new Uint16Array(capacity) : new Uint32Array(capacity);
  }
}

const keptIdsMax = scaled(2 ** 20, 8);
