import { parts } from "./merge-regions";

/**
 * Part: a piece of the work that is done at once, and how far it is. A list of occurrences, or the text, is one part or
 * is cut into several, one for each thread. Whoever works at a part is the only one that writes it.
 *
 *   FIELD            UNIT       MEANING
 *   state            see below  atomic: who may work at it (together.ts)
 *   start, end       entries    of the list, counted from its first one; or cells of the text
 *   next             the same   what is next
 *   step             steps      the weight step that the walk has come to (layout.ts)
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

export function partAt(index: u32): Part {
  return changetype<Part>(parts + <usize>index * partStride);
}

/** A part that has not begun. */
export function startPart(index: u32, start: u32, end: u32): void {
  const part = partAt(index);
  part.start = start;
  part.end = end;
  part.next = start;
  part.step = 0;
  part.stagedCount = 0;
  part.writtenCount = 0;
  part.leftSeenCount = 0;
  part.rightSeenCount = 0;
  part.voidWeight = 0;
}
