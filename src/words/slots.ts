import { UserError } from "../errors.ts";

/**
 * Slots: an open-addressing hash table with linear probing, its slots of a few Int32 lanes each end to end in one
 * array. What stands in a slot is its table's own affair (short-words.ts, middle-words.ts, encode/word-cache.ts).
 *
 * The home slot of a key is the top `slotBits` bits of its hash. So keys stand nearly in the order of their hashes,
 * whatever the size, and a table grows in place.
 */
export type Slots = {
  lanes: Int32Array;
  /** The table has 2^slotBits slots. */
  slotBits: number;
  usedCount: number;
};

/** How the slots of a table are laid out. */
export type SlotLayout = {
  readonly slotLanes: number;
  /** The lane of a slot that is 0 if and only if the slot is free. */
  readonly keyLane: number;
  /** Hash of the key in the slot at `pos`. */
  readonly hashAt: (lanes: Int32Array, pos: number) => number;
};

/** Slots are at most three quarters full: a missing key is then found to be missing in 8.5 probes on average. */
const fullestNumerator = 3;
const fullestDenominator = 4;

/** No array may be larger than 2^32 bytes, the runtime's limit. */
export const arrayLaneCountMax = 2 ** 30;

export function allocateSlots(slotBits: number, layout: SlotLayout): Slots {
  return { lanes: new Int32Array(layout.slotLanes * 2 ** slotBits), slotBits, usedCount: 0 };
}

/** How large the table must be for so many keys more. */
export function slotBitsWith({ usedCount, slotBits }: Slots, keyCount: number): number {
  while ((usedCount + keyCount) * fullestDenominator > fullestNumerator * 2 ** slotBits) slotBits++;
  return slotBits;
}

/** Makes room for so many keys more. */
export function reserveSlots(slots: Slots, layout: SlotLayout, keyCount: number): void {
  const slotBits = slotBitsWith(slots, keyCount);
  if (slotBits === slots.slotBits) return;

  const laneCount = layout.slotLanes * 2 ** slotBits;
  if (laneCount > arrayLaneCountMax) {
    const keyCountMax = slots.usedCount + keyCount;
    throw tooManyWords(`about ${Math.round(keyCountMax / 1e6)} million distinct words of one length class`);
  }
  const laneCountBefore = slots.lanes.length;
  slots.lanes = stretched(slots.lanes, laneCount);
  slots.slotBits = slotBits;
  touch(slots.lanes, laneCountBefore);
  spread(slots.lanes, laneCountBefore, slotBits, layout);
}

/** The first array that grows takes this much room, in lanes. */
const firstReservedLanes = 2 ** 22;
/** A longer one takes so many times what it needs. */
const reservedFactor = 16;

/**
 * The lanes given, and behind them zeros up to `laneCount`. Memory costs when it is first written, not when it is
 * allocated: so an array that grows is allocated much longer than it is, and grows without being copied.
 */
export function stretched(lanes: Int32Array, laneCount: number): Int32Array {
  if (laneCount * 4 <= lanes.buffer.byteLength) return new Int32Array(lanes.buffer, 0, laneCount);
  const wished = laneCount <= firstReservedLanes ? firstReservedLanes : laneCount * reservedFactor;
  const longer = new Int32Array(reservedBuffer(laneCount, Math.min(wished, arrayLaneCountMax)), 0, laneCount);
  longer.set(lanes);
  return longer;
}

/** Lanes of a page of memory. */
const pageLanes = 1024;

/**
 * Writes to each page of fresh memory from `start` on. A page that is read before it is written, as the slots of a table
 * are, costs two faults instead of one, and the second one interrupts the other cores.
 */
function touch(lanes: Int32Array, start: number): void {
  for (let pos = start; pos < lanes.length; pos += pageLanes) lanes[pos] = 0;
}

/** A buffer of as many lanes as wished or, where address space is rationed, as needed. */
function reservedBuffer(neededLanes: number, wishedLanes: number): ArrayBuffer {
  for (const laneCount of [wishedLanes, neededLanes]) {
    try {
      return new ArrayBuffer(laneCount * 4);
    } catch {
      // The runtime refuses with a RangeError: the next size is smaller.
    }
  }
  throw new UserError(`no memory for ${Math.ceil((neededLanes * 4) / 2 ** 20)} MB of distinct words`, {
    hint: "use fewer workers (-w 1), or train on a part of the corpus",
  });
}

/**
 * Moves the keys of the slots below `laneCountBefore` to where they belong in all of `lanes`, the rest of which is free.
 *
 * Run by run, a run being used slots without a free one between, from the last to the first: the keys of a run have
 * their homes in it, and their new homes at or behind its start, where all slots are free or already as they shall be.
 * Only keys that wrap around the end do not fit in this: they wait until all old slots are free.
 *
 * Subtle: within a run, the first key goes first. Of keys that want the same slot the one that was met earliest, which
 * is most often the most frequent one, so keeps it; the other way round, counting English was a fifth slower.
 */
export function spread(
  lanes: Int32Array,
  laneCountBefore: number,
  slotBits: number,
  layout: SlotLayout,
): void {
  const { slotLanes, keyLane } = layout;
  const aside: number[] = [];
  let run = new Int32Array(64 * slotLanes);
  for (let end = laneCountBefore; end > 0; end -= slotLanes) {
    let start = end;
    while (start > 0 && lanes[start - slotLanes + keyLane] !== 0) start -= slotLanes;
    if (end - start > run.length) run = new Int32Array(2 * (end - start));
    for (let pos = start; pos < end; pos++) {
      run[pos - start] = lanes[pos]!;
      lanes[pos] = 0;
    }
    for (let from = 0; from < end - start; from += slotLanes) {
      if (place(lanes, slotBits, layout, run, from)) continue;
      for (let lane = 0; lane < slotLanes; lane++) aside.push(run[from + lane]!);
    }
    end = start;
  }
  const kept = Int32Array.from(aside);
  for (let from = 0; from < kept.length; from += slotLanes) placeAround(lanes, kept, from, layout);
}

/** Puts the key at `from` in the first free slot from its home on; false if there is none before the end. */
export function place(
  lanes: Int32Array,
  slotBits: number,
  { slotLanes, keyLane, hashAt }: SlotLayout,
  run: Int32Array,
  from: number,
): boolean {
  let to = (hashAt(run, from) >>> (32 - slotBits)) * slotLanes;
  while (to < lanes.length && lanes[to + keyLane] !== 0) to += slotLanes;
  if (to === lanes.length) return false;
  for (let lane = 0; lane < slotLanes; lane++) lanes[to + lane] = run[from + lane]!;
  return true;
}

/** Puts a key for which there was no place before the end in the first free slot from the start on. */
function placeAround(
  lanes: Int32Array,
  keys: Int32Array,
  from: number,
  { slotLanes, keyLane }: SlotLayout,
): void {
  let to = 0;
  while (lanes[to + keyLane] !== 0) to += slotLanes;
  for (let lane = 0; lane < slotLanes; lane++) lanes[to + lane] = keys[from + lane]!;
}

export function tooManyWords(what: string): UserError {
  return new UserError(`the corpus has ${what}, more than can be counted`, {
    hint: "train on a part of the corpus, or choose a --pattern that cuts it into shorter words",
  });
}
