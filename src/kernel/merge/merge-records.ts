/**
 * Records: the elements of the regions that have several fields (merge-regions.ts). A record is read and written in its
 * place in the memory; none is ever made or freed. Who uses it, and how, is said in the file that the region names.
 */

/** A pair of bytes while the first index is made (byte-pairs.ts). */
@unmanaged
export class BytePair {
  /** Weight of all its occurrences in the part; a Float64, which does not wrap where it is no longer exact. */
  weight: f64;
  /** How many occurrences that are. */
  count: u32;
  /** Where the next of them goes in the arena, or `noStart`. */
  start: u32;
}

export const bytePairCount: u32 = 1 << 16;

/** A pair that can still win (pair-table.ts). */
@unmanaged
export class Pair {
  /** Token ids of the halves. */
  left: u32;
  right: u32;
  /** Occurrences now, weighted; 0: merged, gone or forgotten. */
  count: u64;
  /** `count` when the list was written: their ratio says how stale it is. */
  listCount: u64;
  /** Where its list stands in the arena (occurrences.ts), and how many entries that has, stale ones included. */
  listStart: u32;
  listLength: u32;
}

/** An element of the heap (pair-queue.ts). */
@unmanaged
export class QueueEntry {
  /** Count of the pair when the entry was written. */
  count: u64;
  /** The pair's record. */
  pair: u32;
}

/** Bytes of an entry, with what aligns the next one. */
export const queueEntryBytes: usize = 16;

/** What stands on one side of the token in work, summed up by token id (neighbours.ts). */
@unmanaged
export class Sum {
  weight: u64;
  /** Occurrences. */
  count: u32;
  /** Where the next occurrence of the pair born goes in the arena, or `noSlot`. */
  slot: u32;
}

/** A merge in work: tokens `left` and `right` become `id` wherever they stand together. */
@unmanaged
export class Merge {
  left: u32;
  right: u32;
  id: u32;
  leftLength: u32;
  rightLength: u32;
  /** Where the list of occurrences begins in the arena. */
  listStart: u32;
  /** Occurrences looked at together. */
  blockSize: u32;
}

/**
 * Part: a piece of the work that is done at once, and how far it is. A list of occurrences, or the text, is one part or
 * is cut into several, one for each thread. Whoever works at a part is the only one that writes it.
 *
 *   FIELD            UNIT       MEANING
 *   state            see below  atomic: who may work at it (merge-threads.ts)
 *   start, end       entries    of the list, counted from its first one; or cells of the text
 *   next             the same   what is next
 *   step             steps      the weight step that the walk has come to (word-layout.ts)
 *   stagedCount      entries    occurrences merged (neighbours.ts)
 *   writtenCount     entries    of those, how many have been written into the lists of the pairs that were born
 *   leftSeenCount    tokens     distinct left neighbours
 *   rightSeenCount   tokens     distinct right neighbours
 *   hasMore          bool       whether something is left of the work in hand
 *   touched          none       keeps the loads ahead of their use from being optimised away
 *   voidWeight       weight     of the right neighbours that were themselves merged a moment later: "xyxy"
 */
@unmanaged
export class Part {
  state: u32;
  start: u32;
  end: u32;
  next: u32;
  step: u32;
  stagedCount: u32;
  writtenCount: u32;
  leftSeenCount: u32;
  rightSeenCount: u32;
  hasMore: u32;
  touched: u32;
  voidWeight: u64;
}

/** Bytes from one part to the next: two cache lines, since neighbours are written by different threads. */
export const partStride: usize = 128;

/**
 * The work that threads do together (merge-threads.ts).
 *
 *   FIELD      MEANING
 *   turn       atomic: counts up with each work; a helper waits for it to change
 *   sleepers   atomic: helpers that have to be woken
 *   isOver     atomic: 1 when helpers shall end
 *   kind       which work (Work)
 *   share      how much of each part: entries or cells
 *   partCount  parts in work
 *   stepCount  weight steps (word-layout.ts)
 *   helped     atomic: parts that helpers have done
 *   hasFailed  1 if a helper ended in the middle of a part
 */
@unmanaged
export class Job {
  turn: i32;
  sleepers: u32;
  isOver: u32;
  kind: u32;
  share: u32;
  partCount: u32;
  stepCount: u32;
  helped: u32;
  hasFailed: u32;
}

/** A token that exists already and that a merge may spell (tie-rules.ts): a special token, or one of a base. */
@unmanaged
export class Special {
  /** Its bytes are specialBytes[start .. start + length). */
  start: u32;
  length: u32;
  /** The tie key of the token that spells it. */
  key: u64;
}

/** What one memory tells another (memory-exchange.ts). */
@unmanaged
export class Told {
  /** A weight or a count, a whole number below 2^53. */
  weight: f64;
  /** A neighbour, or the left half of a pair. */
  token: u32;
  /** The right half of a pair. */
  right: u32;
}
