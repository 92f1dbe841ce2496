import type { Text } from "../corpus/text.ts";
import { UserError } from "../errors.ts";
import { methodsOf, spareThirdTier } from "../runtime/compile-sparingly.ts";
import { giveBack } from "../runtime/give-back.ts";
import { lowCountSize, middleBytesMax, shortBytesMax } from "./lanes.ts";
import {
  addLongWord,
  addLongWords,
  allocateLongWords,
  carryLongCounts,
  countLongWords,
  hashLongWords,
  type LongWords,
  longLayout,
  touchLongWords,
} from "./long-words.ts";
import {
  addMiddleWord,
  addMiddleWords,
  allocateMiddleWords,
  carryMiddleCounts,
  countMiddleWords,
  cutMiddleWords,
  middleLayout,
  touchMiddleWords,
} from "./middle-words.ts";
import { distinctWordCountOf, type PackedCounts, transferables, wordTableOfCounts } from "./packed-counts.ts";
import {
  addShortWord,
  addShortWords,
  allocateShortWords,
  carryShortCounts,
  countShortWords,
  shortLayout,
} from "./short-words.ts";
import { addSlots, reserveSlots, type SlotLayout, type Slots, slotBitsWith } from "./slots.ts";
import type { WordTable } from "./word-table.ts";

/** Pretokens counted together: few enough that their keys stay in the first cache, enough for misses to overlap. */
const batchPretokens = 1024;

/** Tables at the start: 64 + 12 + 2 + 16 KB. A corpus of 130 KB grows them a few times. */
const firstShortSlotBits = 12;
const firstMiddleSlotBits = 9;
const firstLongSlotBits = 8;
const firstRecordLanes = 4096;

/**
 * Distinct words with exact counts. Words are kept in three tables by their length, because most are short and a
 * short word is compared in two instructions; each batch of pretokens goes through a few small loops, one a table,
 * none of which has a branch that cannot be predicted.
 */
export class WordCounter {
  static {
    spareThirdTier(...methodsOf(WordCounter));
  }

  private tables = emptyCounts();

  // For the length of one batch:
  /** Indices of the pretokens that are no short words, and one place more. */
  private readonly longer = new Int32Array(batchPretokens + 1);
  /** Four lanes for each middle word. */
  private readonly middleKeys = new Int32Array((batchPretokens + 1) * 4);
  /** The home slot of each middle word. */
  private readonly middleHomes = new Int32Array(batchPretokens + 1);
  /** Indices of the pretokens that are long words. */
  private readonly long = new Int32Array(batchPretokens + 1);
  private readonly longHashes = new Int32Array(batchPretokens);
  /** Second result of `countShortWords`. */
  private readonly inserted = new Int32Array(1);

  /** @param carryInterval ones that are counted before low lanes are carried to the high ones, at most 2^30 */
  constructor(private readonly carryInterval = lowCountSize) {}

  /** Occurrences of all words. */
  get pretokenCount(): number {
    return this.tables.pretokenCount;
  }

  get distinctWordCount(): number {
    return distinctWordCountOf(this.tables);
  }

  /** Bytes in use: more may be reserved, and cost nothing yet. */
  get memoryBytes(): number {
    const { short, middle, long } = this.tables;
    const arrays = [short.lanes, middle.lanes, long.slots.lanes, long.records];
    const scratch = [this.longer, this.middleKeys, this.middleHomes, this.long, this.longHashes];
    return [...arrays, ...scratch].reduce((sum, array) => sum + array.byteLength, 0);
  }

  /**
   * Counts pretokens: pretoken i is bytes [ends[i], ends[i + 1]) of the text, for i from 0 to endCount - 2. The text
   * is readable `paddingBytes` past the last end.
   */
  count(text: Text, ends: Int32Array, endCount: number): void {
    const pretokenCount = endCount - 1;
    for (let first = 0; first < pretokenCount; first += batchPretokens) {
      this.countBatch(text.view, ends, first, Math.min(batchPretokens, pretokenCount - first));
    }
  }

  /** Adds `count` occurrences of the word at bytes [start, end) of the text, readable as for `count`. */
  add(text: Text, start: number, end: number, count: number): void {
    const { tables } = this;
    tables.pretokenCount = sumOfCounts(tables.pretokenCount, count);
    const high = Math.floor(count / lowCountSize);
    const low = count - high * lowCountSize;
    if (end - start <= shortBytesMax) {
      reserveSlots(tables.short, shortLayout, 1);
      addShortWord(tables.short, text, start, end, low, high);
    } else if (end - start <= middleBytesMax) {
      reserveSlots(tables.middle, middleLayout, 1);
      addMiddleWord(tables.middle, text, start, end, low, high);
    } else {
      reserveSlots(tables.long.slots, longLayout, 1);
      addLongWord(tables.long, text, start, end, low, high);
    }
  }

  /** What counting a text of so many bytes, and then sorting all words into a table, takes at most. */
  memoryBytesWith(textBytes: number): number {
    const { short, middle, long } = this.tables;
    return (
      slotBytesWith(short, shortLayout, textBytes / leastShortBytes) +
      slotBytesWith(middle, middleLayout, textBytes / (shortBytesMax + 1)) +
      slotBytesWith(long.slots, longLayout, textBytes / (middleBytesMax + 1)) +
      recordBytesWith(long, textBytes) +
      tableBytesOf(this.tables) +
      (tableWordBytes * textBytes) / leastShortBytes
    );
  }

  /** What absorbing the words of another counter, and then sorting all into a table, takes at most. */
  memoryBytesWithPacked(packed: PackedCounts): number {
    const { short, middle, long } = this.tables;
    const lanesBoth = [this.tables, packed].reduce((sum, { short, middle, long }) => {
      return sum + short.lanes.length + middle.lanes.length + long.slots.lanes.length + long.recordEnd;
    }, 0);
    const grownBytes =
      slotBytesWith(short, shortLayout, packed.short.usedCount) +
      slotBytesWith(middle, middleLayout, packed.middle.usedCount) +
      slotBytesWith(long.slots, longLayout, packed.long.slots.usedCount);
    return 4 * lanesBoth + grownBytes + tableBytesOf(this.tables) + tableBytesOf(packed);
  }

  /** Forgets all words; their memory goes back to the system. */
  clear(): void {
    const { short, middle, long } = this.tables;
    const first = emptyCounts();
    this.tables = {
      ...first,
      short: restarted(short, first.short),
      middle: restarted(middle, first.middle),
      long: {
        ...first.long,
        slots: restarted(long.slots, first.long.slots),
        records: restartedLanes(long.records, first.long.records),
      },
    };
  }

  /** Adds all words to another counter and begins anew, in the memory that this one has already. */
  moveInto(other: WordCounter): void {
    const packed = this.pack();
    other.absorb(packed);
    // The other one has taken over the tables that were the larger ones.
    const { tables } = this;
    const { short, middle, long } = packed;
    if (other.tables.short !== short) tables.short = reused(short, tables.short);
    if (other.tables.middle !== middle) tables.middle = reused(middle, tables.middle);
    if (other.tables.long !== long) {
      tables.long = {
        ...tables.long,
        slots: reused(long.slots, tables.long.slots),
        records: reusedLanes(long.records, tables.long.records),
      };
    }
  }

  /** Gives away the words and counts, to be posted and absorbed elsewhere; the counter begins anew. */
  pack(): PackedCounts {
    const packed = this.tables;
    this.tables = emptyCounts();
    return packed;
  }

  /** Adds the counts of another counter, and uses up what it packed. */
  absorb(packed: PackedCounts): void {
    const { tables } = this;
    tables.pretokenCount = sumOfCounts(tables.pretokenCount, packed.pretokenCount);
    // What is added to a count is carried at once; a count that stays as it was keeps its bound.
    tables.onesSinceCarry = Math.max(tables.onesSinceCarry, packed.onesSinceCarry);
    // The smaller table is added to the larger, whosever it was.
    const [short, addedShort] = bySize(tables.short, packed.short, (slots) => slots.usedCount);
    const [middle, addedMiddle] = bySize(tables.middle, packed.middle, (slots) => slots.usedCount);
    const [long, addedLong] = bySize(tables.long, packed.long, (words) => words.recordEnd);
    addSlots(short, addedShort, shortLayout, addShortWords);
    addSlots(middle, addedMiddle, middleLayout, addMiddleWords);
    reserveSlots(long.slots, longLayout, addedLong.slots.usedCount);
    addLongWords(long, addedLong);
    Object.assign(tables, { short, middle, long });
  }

  /** The words and counts so far, copied. */
  toWordTable(): WordTable {
    return wordTableOfCounts(this.tables);
  }

  private countBatch(view: DataView, ends: Int32Array, first: number, pretokenCount: number): void {
    const { tables, longer, inserted } = this;
    const { short } = tables;
    tables.pretokenCount = sumOfCounts(tables.pretokenCount, pretokenCount);
    if (tables.onesSinceCarry + pretokenCount > this.carryInterval) carryCounts(tables);
    tables.onesSinceCarry += pretokenCount;
    reserveSlots(short, shortLayout, pretokenCount);
    const longerCount = countShortWords(
      view,
      ends,
      first,
      pretokenCount,
      longer,
      short.lanes,
      short.slotBits,
      inserted,
    );
    short.usedCount += inserted[0]!;
    if (longerCount > 0) this.countLonger(view, ends, longerCount);
  }

  /** Counts the pretokens of a batch that are middle or long words. */
  private countLonger(view: DataView, ends: Int32Array, longerCount: number): void {
    const { longer, long, middleKeys, middleHomes, longHashes } = this;
    const { middle, long: longWords } = this.tables;
    reserveSlots(middle, middleLayout, longerCount);
    const longCount = cutMiddleWords(
      view,
      ends,
      longer,
      longerCount,
      middleKeys,
      middleHomes,
      middle.slotBits,
      long,
    );
    const middleCount = longerCount - longCount;
    touchMiddleWords(middle.lanes, middleHomes, middleCount);
    middle.usedCount += countMiddleWords(middle.lanes, middleKeys, middleHomes, middleCount);
    if (longCount === 0) return;
    reserveSlots(longWords.slots, longLayout, longCount);
    hashLongWords(view, ends, long, longCount, longHashes, longWords.slots);
    touchLongWords(longWords, longHashes, longCount);
    countLongWords(longWords, view, ends, long, longCount, longHashes);
  }
}

function emptyCounts(): PackedCounts {
  return {
    pretokenCount: 0,
    onesSinceCarry: 0,
    short: allocateShortWords(firstShortSlotBits),
    middle: allocateMiddleWords(firstMiddleSlotBits),
    long: allocateLongWords(firstLongSlotBits, firstRecordLanes),
  };
}

/** Among distinct words of 1 to 7 bytes, as short as can be: 256 of one byte, 65,536 of two, the others of three. */
const leastShortBytes = 2.8;
/** What a word takes in a table and while it is sorted, beside its bytes: 4 + 8 and 4 + 8. */
const tableWordBytes = 24;

function slotBytesWith(slots: Slots, layout: SlotLayout, keyCount: number): number {
  return 4 * layout.slotLanes * 2 ** slotBitsWith(slots, keyCount);
}

/** Records grow by doubling, but only what is written is taken. */
function recordBytesWith({ recordEnd }: LongWords, textBytes: number): number {
  return 4 * recordEnd + 2 * textBytes;
}

/** At most: short words have up to 7 bytes, middle ones 15, and long ones are less than their records. */
function tableBytesOf(counts: PackedCounts): number {
  const { short, middle, long } = counts;
  const wordBytes = shortBytesMax * short.usedCount + middleBytesMax * middle.usedCount + 4 * long.recordEnd;
  return wordBytes + tableWordBytes * distinctWordCountOf(counts);
}

/** The table as `first` is, on the memory it has: that it reserved stays reserved, that it wrote is given back. */
function restarted(slots: Slots, first: Slots): Slots {
  return { ...first, lanes: restartedLanes(slots.lanes, first.lanes) };
}

function restartedLanes(lanes: Int32Array, first: Int32Array): Int32Array {
  giveBack(lanes);
  return begunLanes(lanes, first);
}

/** The same for what is filled again at once: the memory is kept. */
function reused(slots: Slots, first: Slots): Slots {
  return { ...first, lanes: reusedLanes(slots.lanes, first.lanes) };
}

function reusedLanes(lanes: Int32Array, first: Int32Array): Int32Array {
  lanes.fill(0);
  return begunLanes(lanes, first);
}

function begunLanes(lanes: Int32Array, first: Int32Array): Int32Array {
  const restarted = new Int32Array(lanes.buffer as ArrayBuffer, 0, first.length);
  restarted.set(first);
  return restarted;
}

function carryCounts(counts: PackedCounts): void {
  carryShortCounts(counts.short.lanes);
  carryMiddleCounts(counts.middle.lanes);
  carryLongCounts(counts.long);
  counts.onesSinceCarry = 0;
}

function bySize<T>(a: T, b: T, sizeOf: (table: T) => number): [larger: T, smaller: T] {
  return sizeOf(a) >= sizeOf(b) ? [a, b] : [b, a];
}

/** The total bounds every count: as long as it is exact, all are. */
export function sumOfCounts(total: number, added: number): number {
  if (total + added > Number.MAX_SAFE_INTEGER) {
    throw new UserError("the corpus has more than 2^53 words, more than can be counted exactly", {
      hint: "train on a part of the corpus",
    });
  }
  return total + added;
}

export { type PackedCounts, transferables };
