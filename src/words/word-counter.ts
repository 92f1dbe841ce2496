import { type Text, textBuffers } from "#bytes";
import {
  asOption,
  FileWindow,
  kernels,
  memoryPages,
  messages,
  phrase,
  runToEnd,
  scaled,
  UserError,
} from "#runtime";
import type { WordTable } from "./word-table.ts";
import * as wordTables from "./word-table.ts";

/** The memory of a kernel that has counted words. The bytes [freeStart, freeEnd) are unused, and zero. */
export type FreeMemory = {
  readonly kernel: kernels.Kernel;
  /** The end of the tables before the free bytes. The bytes [fixedEnd, freeStart) are zero, too. */
  readonly fixedEnd: number;
  readonly freeStart: number;
  readonly freeEnd: number;
};

/** `TokenWords` (word-table.ts) in the memory of the kernel that counted them, as contiguous records, one for each word. */
export type RecordWords = FreeMemory & {
  readonly wordCount: number;
  /** The size in bytes of a token in the records. */
  readonly positionBytes: 2 | 4;
  /** The address of an array of flags, one byte for each id. */
  readonly flagsStart: number;
  /** Discards the words and returns their memory to the system. */
  readonly discard: () => void;
};

/** Words in the memory of a kernel. The memory is shared, so posting it to another thread copies nothing. */
export type PackedCounts = { readonly memory: WebAssembly.Memory; readonly tables: PackedTables };

/**
 * The locations of words in a memory; addresses and sizes are in bytes. Any thread may read the words once counting has
 * stopped.
 */
export type PackedTables = {
  readonly buffer: ArrayBufferLike;
  readonly distinctWordCount: number;
  readonly pretokenCount: number;
  /** The slots of short words (up to 7 bytes) and of middle ones (up to 15). */
  readonly slots: readonly [short: Place, middle: Place];
  readonly records: Place;
  /** The number of distinct words of each kind. */
  readonly keyCounts: readonly [short: number, middle: number, long: number];
  /** The size in bytes of the slots of all kinds and of `records`. */
  readonly tableBytes: number;
  /** An upper bound of the memory for a `WordTable` with these words, and for sorting it. */
  readonly wordTableBytes: number;
  /** The part of the text's region that was written. */
  readonly text: Place;
  /** The end of the part of the fixed region that was written. */
  readonly fixedEnd: number;
};

type Place = { readonly address: number; readonly byteCount: number };

/** One of `count` equal ranges of hashes of words. */
export type Slice = { readonly index: number; readonly count: number };
const wholeSlice: Slice = { index: 0, count: 1 };

/** The initial number of slots of each table, as an exponent of two. */
export type FirstSlotBits = { readonly short: number; readonly middle: number; readonly long: number };

/** Tables of 64, 12 and 2 KB. For a corpus of 130 KB they grow a few times. */
const firstSlotBits: FirstSlotBits = { short: scaled(12, 1), middle: scaled(9, 1), long: scaled(8, 1) };

/** The numbers that the kernel gives its tables (src/kernel/words/word-tables.ts). */
const kinds = { short: 0, middle: 1, long: 2 } as const;
type Kind = (typeof kinds)[keyof typeof kinds];
type SlotKind = Exclude<Kind, typeof kinds.long>;

/**
 * Counts words exactly: the JavaScript side of the kernel's tables (src/kernel/words/). The memory is allocated on
 * first use.
 */
export class WordCounter {
  private ownKernel: kernels.Kernel | undefined;
  private ownWindow: FileWindow | undefined;
  /** The size of the largest text so far. */
  private textBytes = 0;
  /** The end of the part of the fixed region that another kernel wrote in this memory. */
  private fixedEnd = 0;
  /** The text to which `add` copies words. */
  private word: Uint8Array = new Uint8Array(0);
  private slice = wholeSlice;

  /**
   * @param textBytesMax an upper bound of the size of all text whose words this counter will count or absorb
   * @param memoryCount the number of memories for words that exist at the same time, in all threads together
   */
  constructor(
    private readonly textBytesMax = Number.POSITIVE_INFINITY,
    private readonly slotBits = firstSlotBits,
    private readonly memoryCount?: number,
  ) {}

  /** The kernel that counts, created on first use. */
  get kernel(): kernels.Kernel {
    if (this.ownKernel === undefined) {
      const wantedBytes = memoryBytesPerTextByte * this.textBytesMax;
      this.open(openKernel(kernels.createWholeMemory(wantedBytes, this.memoryCount)));
      this.begin();
    }
    return this.ownKernel!;
  }

  private open(kernel: kernels.Kernel | undefined): void {
    this.ownWindow?.clear();
    this.ownWindow = undefined;
    this.ownKernel = kernel;
    this.word = new Uint8Array(0);
    this.textBytes = 0;
    this.fixedEnd = 0;
  }

  /** The number of occurrences of all words. */
  get pretokenCount(): number {
    return this.ownKernel?.exports.pretokenCount() ?? 0;
  }

  get distinctWordCount(): number {
    return this.ownKernel?.exports.distinctWordCount() ?? 0;
  }

  /** The size in bytes of the slots of all kinds and of the records. */
  get memoryBytes(): number {
    return this.ownKernel === undefined
      ? 0
      : tableBytesOf(this.ownKernel) + this.ownKernel.exports.recordsBytes();
  }

  /** The region of the text, for mapping files into it. `text` turns it into plain memory again. */
  get window(): FileWindow {
    const { exports, memory } = this.kernel;
    this.ownWindow ??= new FileWindow(memory, exports.textAddress() >>> 0, exports.textCapacity());
    return this.ownWindow;
  }

  /**
   * Returns the text in the kernel's memory, with a capacity of `capacityBytes`, always at the same address. What was
   * written to it stays, but a file that was mapped into it does not.
   */
  text(capacityBytes: number): Text {
    const { exports, memory } = this.kernel;
    this.ownWindow?.clear();
    const byteCount = capacityBytes + textBuffers.paddingBytes;
    if (byteCount > exports.textCapacity()) {
      const [needed, most] = [byteCount, exports.textCapacity()].map(
        (size) => `${Math.ceil(size / 2 ** 20)} MB`,
      );
      throw new UserError(
        `a text needs ${needed} of memory at once, but one thread can use at most ${most}`,
        {
          hint: phrase`split long texts into smaller ones${messages.orFewerWorkers}`,
        },
      );
    }
    const address = exports.textAddress() >>> 0;
    this.textBytes = Math.max(this.textBytes, byteCount);
    return {
      bytes: new Uint8Array(memory.buffer, address, byteCount),
      view: new DataView(memory.buffer, address, byteCount),
    };
  }

  /**
   * Counts the pretokens [ends[i], ends[i + 1]) of the kernel's text, which is readable `paddingBytes` past the last
   * end.
   */
  take(ends: Int32Array, endCount: number): void {
    const { exports, memory } = this.kernel;
    const endCountMax = exports.endsCapacity();
    sumOfCounts(exports.pretokenCount(), endCount - 1);
    for (let first = 0; first < endCount - 1; first += endCountMax - 1) {
      const some = Math.min(endCountMax, endCount - first);
      const kernelEnds = new Int32Array(memory.buffer, exports.endsAddress() >>> 0, some);
      kernelEnds.set(ends.subarray(first, first + some));
      if (exports.countPretokens(some - 1) === 0) throw noRoomForWordsError();
    }
  }

  /**
   * Must be called with the kernel's result after the kernel itself has counted pretokens. Throws a UserError if the
   * kernel ran out of memory, or if the total exceeds 2^53 - 1.
   */
  kernelTook(done: number): void {
    if (done < 0) throw noRoomForWordsError();
    sumOfCounts(this.pretokenCount, 0);
  }

  /** Adds `count` occurrences of the word at bytes [start, end) of a text. */
  add({ bytes }: Text, start: number, end: number, count: number): void {
    const { exports } = this.kernel;
    sumOfCounts(exports.pretokenCount(), count);
    const length = end - start;
    if (length > this.word.length) this.word = this.text(length).bytes;
    const { word } = this;
    if (length > 64) word.set(bytes.subarray(start, end));
    else for (let i = 0; i < length; i++) word[i] = bytes[start + i]!;
    if (exports.addWord(length, count) === 0) throw noRoomForWordsError();
  }

  /** An upper bound of the memory for counting a text of `textBytes`, and then sorting all words. */
  memoryBytesWith(textBytes: number): number {
    const { keyCounts, recordBytes } = mostWords(textBytes);
    const newBytes = this.slotsBytesWith(keyCounts) + recordBytes + tableWordBytes * keyCounts[kinds.short]!;
    return newBytes + this.kernel.exports.recordsBytes() + wordTableBytesOf(this.kernel);
  }

  /** Whether the words of any text of `textBytes` fit into the kernel's memory. */
  hasRoomFor(textBytes: number): boolean {
    const { keyCounts, recordBytes } = mostWords(textBytes);
    return this.hasRoom(keyCounts, recordBytes);
  }

  /** An upper bound of the memory for absorbing the words of another counter; infinite if they may not fit. */
  memoryBytesWithPacked({ tables }: PackedCounts): number {
    const { keyCounts, records } = tables;
    const otherBytes = tables.tableBytes + tables.wordTableBytes;
    if (this.distinctWordCount === 0) return otherBytes;
    if (!this.hasRoom(keyCounts, records.byteCount)) return Number.POSITIVE_INFINITY;
    const newBytes = this.slotsBytesWith(keyCounts) + records.byteCount;
    return this.memoryBytes + wordTableBytesOf(this.kernel) + otherBytes + newBytes;
  }

  /** The size of all slots once `keyCounts` more keys of each kind have been added. */
  private slotsBytesWith(keyCounts: readonly number[]): number {
    const { exports } = this.kernel;
    return keyCounts.reduce((sum, count, kind) => sum + exports.slotsBytesWith(kind, count), 0);
  }

  /** Whether `keyCounts` more keys of each kind fit, with records of `recordBytes` bytes. */
  private hasRoom(keyCounts: readonly number[], recordBytes: number): boolean {
    const { exports } = this.kernel;
    const haveSlots = keyCounts.every((count, kind) => exports.hasSlots(kind, count) !== 0);
    return haveSlots && exports.hasRecords(recordBytes) !== 0;
  }

  /** Discards all words and returns their memory to the system. */
  clear(): void {
    if (this.ownKernel === undefined) return;
    for (const written of writtenParts(this.ownKernel)) memoryPages.release(written);
    this.begin();
  }

  /** Moves all words to another counter. Yields between steps of work, as `absorb` does. */
  *moveInto(other: WordCounter): Generator<undefined, void> {
    if (this.ownKernel === undefined) return;
    yield* other.addWordsOf(tablesOf(this.ownKernel));
    for (const written of writtenParts(this.ownKernel)) written.fill(0);
    this.begin();
  }

  /** Hands over the words, with their memory, for another counter to absorb. This counter is empty afterwards. */
  pack(): PackedCounts {
    const { memory } = this.kernel;
    // The next owner may write to the memory, but mapped pages must not be written.
    this.ownWindow?.clear();
    if (this.textBytes > worthGivingBackBytes) {
      memoryPages.release(partOf(this.kernel, textOf(this.kernel, this.textBytes)));
      this.textBytes = 0;
    }
    const tables = tablesOf(this.kernel, this.textBytes);
    this.open(undefined);
    return { memory, tables };
  }

  /**
   * Adds the words that another counter packed, and consumes them. If this counter is empty, it takes over their memory
   * instead.
   */
  *absorb(packed: PackedCounts): Generator<undefined, void> {
    const other = openKernel(packed.memory);
    if (this.distinctWordCount === 0) {
      this.open(other);
      this.textBytes = packed.tables.text.byteCount;
      this.fixedEnd = packed.tables.fixedEnd;
      return;
    }
    yield* this.addWordsOf(packed.tables);
    if (packed.tables.tableBytes < worthGivingBackBytes) return;
    for (const written of writtenParts(other)) memoryPages.release(written);
  }

  /** Like `listWords`, but without yielding. */
  toWordTable(): WordTable {
    return runToEnd(this.listWords());
  }

  /** Copies the words and counts so far to a table. */
  *listWords(): Generator<undefined, WordTable> {
    if (this.ownKernel === undefined) return wordTables.newTable({ wordCount: 0, byteCount: 0 });
    const { exports } = this.ownKernel;
    const byteCount = exports.wordBytes();
    checkWordBytes(byteCount);
    const table = wordTables.newTable({ wordCount: exports.distinctWordCount(), byteCount });
    const { bytes, starts, counts } = table;
    const { buffer } = this.ownKernel.memory;
    const listedStarts = new Uint32Array(buffer, exports.listedStartsAddress() >>> 0);
    const listedCounts = new Float64Array(buffer, exports.listedCountsAddress() >>> 0);
    exports.beginList();
    let start = 0;
    let callCount = 0;
    for (let word = 0; ; ) {
      const wordCount = exports.listWords(start);
      if (wordCount === 0) break;
      starts.set(listedStarts.subarray(0, wordCount), word);
      counts.set(listedCounts.subarray(0, wordCount), word);
      const listedBytes = exports.listedBytesCount();
      bytes.set(new Uint8Array(buffer, exports.listedBytesAddress() >>> 0, listedBytes), start);
      start += listedBytes;
      word += wordCount;
      if (++callCount % listCallsAtOnce === 0) yield;
    }
    starts[table.wordCount] = start;
    return table;
  }

  /**
   * Converts all words to contiguous records. Returns undefined if the memory is too small for that. Afterwards no word
   * can be added, but words can still be listed.
   */
  *convertToRecords(idLimit: number, positionBytes: 2 | 4): Generator<undefined, RecordWords | undefined> {
    const { kernel } = this;
    const { exports } = kernel;
    const flagsStart = exports.reserveFixed(idLimit) >>> 0;
    const shortAndMiddle =
      recordBytesOfSlot * (exports.usedSlots(kinds.short) + exports.usedSlots(kinds.middle));
    if (flagsStart === 0 || exports.hasRecords(shortAndMiddle) === 0) return undefined;
    exports.startMovingToRecords();
    while (exports.moveToRecordsSome(slotsAtOnce) === 1) yield;
    for (const kind of Object.values(kinds)) memoryPages.release(partOf(kernel, slotsOf(kernel, kind)));
    exports.endMovingToRecords();
    return {
      ...this.freeText(),
      wordCount: this.distinctWordCount,
      positionBytes,
      flagsStart,
      discard: () => this.clear(),
    };
  }

  /**
   * Returns the memory of a counter that is no longer needed. Its words and its text are lost. Returns undefined if it
   * has no memory.
   */
  giveUpMemory(): FreeMemory | undefined {
    if (this.ownKernel === undefined) return undefined;
    const free = this.freeText();
    this.open(undefined);
    return free;
  }

  /** Clears the text's region, which is free from then on. */
  private freeText(): FreeMemory {
    const { kernel } = this;
    this.ownWindow?.clear();
    const text = textOf(kernel, this.textBytes);
    if (text.byteCount > worthGivingBackBytes) memoryPages.release(partOf(kernel, text));
    else new Uint8Array(kernel.memory.buffer, text.address, text.byteCount).fill(0);
    return {
      kernel,
      fixedEnd: Math.max(this.fixedEnd, fixedEndOf(kernel)),
      freeStart: text.address,
      freeEnd: text.address + kernel.exports.textCapacity(),
    };
  }

  private begin(): void {
    const { short, middle, long } = this.slotBits;
    this.ownKernel!.exports.beginTables(short, middle, long);
  }

  private *addWordsOf(from: PackedTables): Generator<undefined, void> {
    const { exports } = this.kernel;
    sumOfCounts(exports.pretokenCount(), from.pretokenCount);
    exports.addPretokens(from.pretokenCount);
    for (const kind of Object.values(kinds)) yield* this.addKindOf(from, kind);
  }

  private addKindOf(from: PackedTables, kind: Kind): Generator<undefined, void> {
    return kind === kinds.long ? this.addRecordsOf(from) : this.addSlotsOf(from, kind);
  }

  /**
   * Adds those words of another counter's table that are in this counter's slice. Their slots are a range of the table,
   * because slots are in the order of hashes. The range is copied to the text's region in portions.
   *
   * Tables of one corpus share most keys, and growing a table costs more than adding to it. So the number of new keys
   * is estimated from the first portion, and this table grows for as many. The first portion is a fair sample, because
   * hashes are as good as random.
   *
   * This table must grow before anything is added: keys arrive in the order of their hashes, and would cluster at the
   * front of a table that is too small.
   */
  private *addSlotsOf(from: PackedTables, kind: SlotKind): Generator<undefined, void> {
    const { exports } = this.kernel;
    const { address, byteCount } = from.slots[kind];
    const { index, count } = this.slice;
    const slotCount = byteCount / slotBytes[kind];
    const first = Math.floor((slotCount * index) / count);
    const end = Math.ceil((slotCount * (index + 1)) / count);
    const wantedSlots = Math.max(Math.ceil((end - first) / portionCount), leastPortionSlots);
    const portionSlots = Math.min(wantedSlots, mostPortionSlots);
    const slots = new Uint8Array(from.buffer, address, byteCount);
    const portion = this.text(portionSlots * slotBytes[kind]).bytes;
    const add = (at: number, some: number, isFirst: boolean, stops: boolean) => {
      const someBytes = some * slotBytes[kind];
      portion.set(slots.subarray(at * slotBytes[kind], at * slotBytes[kind] + someBytes));
      const missing = isFirst ? exports.missingKeys(kind, someBytes) * ((end - first) / some) : 0;
      if (exports.reserveSlots(kind, Math.max(missing, some)) === 0) throw noRoomForWordsError();
      return exports.addSlots(kind, someBytes, stops) !== 0;
    };
    let addedSlots = 0;
    for (let at = first; at < end; at += portionSlots) {
      add(at, Math.min(portionSlots, end - at), at === first, false);
      addedSlots += portionSlots;
      if (addedSlots < slotsAtOnce) continue;
      addedSlots = 0;
      yield;
    }
    // A key that found no free slot in the range is stored after the range, before the next free slot. So the slots
    // after the range are read up to a free one. Slots are circular: the first one follows the last one.
    let left = slotCount - (end - first);
    for (let at = end % slotCount; left > 0; ) {
      const some = Math.min(tailSlots, slotCount - at, left);
      if (add(at, some, false, true)) return;
      at = (at + some) % slotCount;
      left -= some;
    }
  }

  private *addRecordsOf({ buffer, records }: PackedTables): Generator<undefined, void> {
    const { exports } = this.kernel;
    const { address, byteCount } = records;
    let portionBytes = scaled(1 << 16, 16);
    for (let done = firstRecordByte; done < byteCount; ) {
      const someBytes = Math.min(portionBytes, byteCount - done);
      this.text(someBytes).bytes.set(new Uint8Array(buffer, address + done, someBytes));
      const addedBytes = exports.addRecords(someBytes);
      if (addedBytes < 0) throw noRoomForWordsError();
      // If not even one record fits into the portion, the next portion is larger.
      if (addedBytes === 0) portionBytes *= 2;
      done += addedBytes;
      yield;
    }
  }

  /** Creates a counter for the words of one slice, in the text's region of a packed counter. */
  static forSlice({ memory, tables }: PackedCounts, slice: Slice): WordCounter {
    memoryPages.release(partOf({ memory }, tables.text));
    const kernel = kernels.createWithRegions(memory);
    kernel.exports.layOutInText();
    kernel.exports.openTables();
    kernel.exports.setSlice(slice.index, slice.count);
    const counter = new WordCounter();
    counter.slice = slice;
    counter.open(kernel);
    counter.begin();
    return counter;
  }

  /**
   * Whether this counter has room for the words of its slice from all tables. Assumes that the slice has at most twice
   * the mean share of short and middle words, and possibly all long words.
   */
  hasRoomForSliceOf(all: readonly PackedTables[]): boolean {
    const keyCounts = Object.values(kinds).map(
      (kind) =>
        sumOf(all, (tables) => tables.keyCounts[kind]) * (kind === kinds.long ? 1 : 2 / this.slice.count),
    );
    return this.hasRoom(
      keyCounts,
      sumOf(all, ({ records }) => records.byteCount),
    );
  }

  /** Adds the slice's words of one kind, which depends on the round. Yields as `absorb` does. */
  *addSliceOf(all: readonly PackedTables[], round: number): Generator<undefined, void> {
    for (const tables of all) {
      if (round === 0) {
        sumOfCounts(this.pretokenCount, tables.pretokenCount);
        this.kernel.exports.addPretokens(tables.pretokenCount);
      }
      yield* this.addKindOf(tables, kindsInRounds[round]!);
      yield;
    }
  }
}

/**
 * Slices are added up kind by kind: once all threads have added the words of a kind, the tables of that kind are
 * released. So memory hardly grows. The kind that usually has the fewest words comes first.
 */
const kindsInRounds = [kinds.long, kinds.short, kinds.middle] as const;
export const sliceRounds = kindsInRounds.length;

/** Releases the memory of the words that all threads have added in a round. */
export function discardRound({ memory, tables }: PackedCounts, round: number): void {
  const kind = kindsInRounds[round]!;
  memoryPages.release(partOf({ memory }, kind === kinds.long ? tables.records : tables.slots[kind]));
}

const sumOf = (all: readonly PackedTables[], of: (tables: PackedTables) => number) =>
  all.reduce((sum, tables) => sum + of(tables), 0);

const portionCount = scaled(64, 3);
/** The minimum size of a portion. Each portion creates some objects for the garbage collector. */
const leastPortionSlots = scaled(256, 3);
/**
 * The number of slots that are read at a time after a slice's range of slots, up to a free one. It is small, because
 * the next free slot is near.
 */
const tailSlots = scaled(64, 2);
const mostPortionSlots = scaled(1 << 16, 8);
/** The number of slots that are processed between two yields. */
const slotsAtOnce = scaled(1 << 16, 8);
/** The number of the kernel's calls that list words between two yields. */
const listCallsAtOnce = scaled(16, 1);
const slotBytes = [16, 24] as const;
const recordHeadBytes = 16;
/** The maximum size of the record of a short or middle word, including the bytes that are written past its end. */
const recordBytesOfSlot = 40;
/** The first eight bytes of the records are unused. */
const firstRecordByte = 8;

/** Smaller tables are left to the garbage collector, because the first system call that releases memory takes 2 ms. */
const worthGivingBackBytes = scaled(16e6, 1);

/**
 * The minimum mean length in bytes of many distinct words: at most 256 words have one byte, at most 65,536 have two,
 * all others three or more.
 */
const leastShortBytes = 2.8;
/**
 * The memory of a word in addition to its bytes: a start and a count, plus an index and a key while words are sorted.
 */
const tableWordBytes = 24;

/**
 * Upper bounds for a text of at least 1 MB: of its distinct words of each kind, and of the bytes of the long words'
 * records. The largest record in relation to its word has 40 bytes, for a word of 17 bytes.
 */
const mostWords = (textBytes: number) => ({
  keyCounts: [textBytes / leastShortBytes, textBytes / 8, textBytes / 16],
  recordBytes: 2.4 * textBytes,
});

/**
 * The bytes of memory per byte of text that suffice for the words of any text. Short words need the most: a word of 2.8
 * bytes takes a slot of 16 bytes, the table may be only 3/8 full, and the table has an eighth of the memory.
 */
const memoryBytesPerTextByte = 128;

/** Returns the `textBytesMax` with which fixed tables get `tableBytes` bytes: a sixteenth of the counter's memory. */
export const textBytesForTables = (tableBytes: number) =>
  Math.ceil((16 * tableBytes) / memoryBytesPerTextByte);

/** Creates a kernel that works on the tables in a memory. */
function openKernel(memory: WebAssembly.Memory): kernels.Kernel {
  const kernel = kernels.createWithRegions(memory);
  kernel.exports.openTables();
  return kernel;
}

function tableBytesOf({ exports }: kernels.Kernel): number {
  return Object.values(kinds).reduce<number>((sum, kind) => sum + exports.slotsBytes(kind), 0);
}

/** Returns where the words of a kernel are. `textBytes` of its text were written. */
function tablesOf(kernel: kernels.Kernel, textBytes = 0): PackedTables {
  const { exports, memory } = kernel;
  return {
    buffer: memory.buffer,
    distinctWordCount: exports.distinctWordCount(),
    pretokenCount: exports.pretokenCount(),
    slots: [slotsOf(kernel, kinds.short), slotsOf(kernel, kinds.middle)],
    records: recordsOf(kernel),
    keyCounts: [
      exports.usedSlots(kinds.short),
      exports.usedSlots(kinds.middle),
      exports.usedSlots(kinds.long),
    ],
    tableBytes: tableBytesOf(kernel) + exports.recordsBytes(),
    wordTableBytes: wordTableBytesOf(kernel),
    text: textOf(kernel, textBytes),
    fixedEnd: fixedEndOf(kernel),
  };
}

/** Returns the end of the part of the fixed region that this kernel reserved. */
const fixedEndOf = ({ exports }: kernels.Kernel) => exports.reserveFixed(0) >>> 0;

const slotsOf = ({ exports }: kernels.Kernel, kind: number): Place => ({
  address: exports.slotsAddress(kind) >>> 0,
  byteCount: exports.slotsBytes(kind),
});

const recordsOf = ({ exports }: kernels.Kernel): Place => ({
  address: exports.recordsAddress() >>> 0,
  byteCount: exports.recordsBytes(),
});

const textOf = ({ exports }: kernels.Kernel, byteCount: number): Place => ({
  address: exports.textAddress() >>> 0,
  byteCount,
});

/**
 * Returns an upper bound of the memory for a `WordTable` of all words, and for sorting it. Short words have up to 7
 * bytes, middle ones up to 15.
 */
function wordTableBytesOf({ exports }: kernels.Kernel): number {
  const longBytes = exports.recordsBytes() - recordHeadBytes * exports.usedSlots(kinds.long);
  const wordBytes = 7 * exports.usedSlots(kinds.short) + 15 * exports.usedSlots(kinds.middle) + longBytes;
  return wordBytes + tableWordBytes * exports.distinctWordCount();
}

/** The parts of the memory that the tables have written. */
const writtenParts = (kernel: kernels.Kernel): Int32Array[] =>
  [...Object.values(kinds).map((kind) => slotsOf(kernel, kind)), recordsOf(kernel)].map((place) =>
    partOf(kernel, place),
  );

const partOf = ({ memory }: Pick<kernels.Kernel, "memory">, { address, byteCount }: Place) =>
  new Int32Array(memory.buffer, address, Math.ceil(byteCount / 4));

/** Concatenates tables that have no words in common. */
export function joinTables(tables: readonly WordTable[]): WordTable {
  const byteCount = tables.reduce((sum, { bytes }) => sum + bytes.length, 0);
  checkWordBytes(byteCount);
  const joined = wordTables.newTable({
    wordCount: tables.reduce((sum, { wordCount }) => sum + wordCount, 0),
    byteCount,
  });
  let [word, start] = [0, 0];
  for (const { wordCount, bytes, starts, counts } of tables) {
    joined.bytes.set(bytes, start);
    joined.counts.set(counts, word);
    for (let w = 0; w <= wordCount; w++) joined.starts[word + w] = start + starts[w]!;
    word += wordCount;
    start += bytes.length;
  }
  return joined;
}

function checkWordBytes(byteCount: number): void {
  if (byteCount > wordBytesMax) throw wordTables.tooManyWordsError("4 GB");
}

/** The largest start of a word: starts are 32-bit numbers. */
const wordBytesMax = 2 ** 32 - 1;

function noRoomForWordsError(): UserError {
  return new UserError("the corpus has more distinct words than one thread can hold in memory", {
    hint: phrase`${messages.ifHas("workers", phrase`use more workers (${asOption("workers", undefined, "w")}), `)}${messages.shorterWordsOr}use a part of the corpus`,
  });
}

/**
 * Adds up counts, and throws a UserError if the total is above 2^53 - 1. No count is larger than the total, so all
 * counts are exact.
 */
export function sumOfCounts(total: number, added: number): number {
  if (total + added > Number.MAX_SAFE_INTEGER) {
    throw new UserError("the corpus has more than 2^53 words, too many to be counted exactly", {
      hint: "use a part of the corpus",
    });
  }
  return total + added;
}
