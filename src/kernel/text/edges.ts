import { reserveTable } from "../regions";

/**
 * The edges between the segments of a text. An added token is found only within one segment, and special tokens stay
 * text in segments that are not trusted.
 *
 * An ascending list of u32[2]: a position, and whether special tokens stay text from there to the next edge.
 */
@unmanaged
export class Edges {
  start: usize;
  capacity: u32;
  /** Edges before this index have been passed on from the search of early tokens to the next stage (sections.ts). */
  first: u32;
  /** The search has passed the edges before this index. */
  next: u32;
  count: u32;
}

const edgeBytes: u32 = 8;
const leastCapacity: u32 = isSmallScale ? 2 : 32;

/** Creates an empty list; returns null if memory runs out. */
export function newEdges(): Edges | null {
  const address = reserveTable(offsetof<Edges>());
  if (address === 0) return null;
  memory.fill(address, 0, offsetof<Edges>());
  return changetype<Edges>(address);
}

export function clearEdges(edges: Edges): void {
  edges.first = edges.next = edges.count = 0;
}

export function edgePosition(edges: Edges, index: u32): i32 {
  return load<i32>(edges.start + index * edgeBytes);
}

export function keepsSpecialAfter(edges: Edges, index: u32): u32 {
  return load<u32>(edges.start + index * edgeBytes, 4);
}

/** Whether adding an edge needs more memory. */
export function areEdgesFull(edges: Edges): bool {
  return edges.count === edges.capacity;
}

/**
 * Adds an edge. If the last edge has not been passed yet, an edge at the same position replaces it, and an edge before
 * it is ignored. Returns false if `makeRoom` does.
 */
export function addEdge(edges: Edges, position: i32, keepsSpecial: u32): bool {
  if (edges.count > max(edges.first, edges.next)) {
    const last = edgePosition(edges, edges.count - 1);
    if (position < last) return true;
    if (position === last) edges.count--;
  }
  if (areEdgesFull(edges) && !makeRoom(edges)) return false;
  const at = edges.start + edges.count++ * edgeBytes;
  store<i32>(at, position);
  store<u32>(at, keepsSpecial, 4);
  return true;
}

/** Lowers all positions by `delta`, after the text has moved. */
export function moveEdges(edges: Edges, delta: i32): void {
  for (let i = min(edges.first, edges.next); i < edges.count; i++) {
    const at = edges.start + i * edgeBytes;
    store<i32>(at, load<i32>(at) - delta);
  }
}

/**
 * Makes room for another edge: removes the edges before both `first` and `next`, and grows the list if the removed
 * edges were at most half of it. Returns false if memory runs out, or the list would exceed 1 GiB.
 */
function makeRoom(edges: Edges): bool {
  const done = min(edges.first, edges.next);
  const left = edges.count - done;
  const from = edges.start + done * edgeBytes;
  if (left >= done) {
    const capacity = max(2 * edges.capacity, leastCapacity);
    const start: usize = capacity > 1 << 27 ? 0 : reserveTable(capacity * edgeBytes);
    if (start === 0) return false;
    edges.start = start;
    edges.capacity = capacity;
  }
  memory.copy(edges.start, from, left * edgeBytes);
  edges.first -= done;
  edges.next -= done;
  edges.count = left;
  return true;
}
