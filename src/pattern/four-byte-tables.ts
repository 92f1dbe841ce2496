import { endColumn, firstClassColumn, invalidColumn, noSlot, type ScanTables } from "./scan-tables.ts";

/**
 * FourByteTables: four ASCII bytes (a *quad*) in one step. The effect of a quad is a function from states to (next
 * state, slots written, commits). Many of the 128^4 quads have the same function. A quad's function is that of its
 * first two bytes, followed by that of its last two. So lookups that do not depend on the state give the number of the
 * quad's function, and one lookup with the state gives the effect of four bytes.
 *
 *   ARRAY         TYPE         LENGTH                       MEANING
 *   pairs         Uint8Array   65536                        pair function of two bytes, at first | second << 8
 *   quads         Uint16Array  pairCount << 8               quad function of two pairs, at first << 8 | second
 *   quadEntries   Int32Array   stateCount << quadBits       entry of state s and quad q at s << quadBits | q
 *
 * An entry is (next state << quadBits) << 15 | commits << 12 | four slots of 3 bits. The first slot (lowest bits)
 * receives the position of the first byte, and so on. All slots are numbered as before the commits of the quad. Slot 7
 * is the bin: a write to it is discarded.
 */
export type FourByteTables = {
  readonly quadBits: number;
  readonly pairs: Uint8Array;
  readonly quads: Uint16Array;
  readonly quadEntries: Int32Array;
};

const binSlot = 7;
const pairCountMax = 255;
const quadCountMax = 4096;
const quadEntryCountMax = 1 << 17;

/**
 * Builds four-byte tables. Returns undefined if they would be too large, or if an entry does not fit; a scan by tables
 * then reads one character at a time.
 */
export function buildFourByteTables(tables: ScanTables): FourByteTables | undefined {
  const { stateCount } = tables;
  const liveSlots = findLiveSlots(tables);
  const bytes = internBytes(tables);
  const pairs = internPairs(bytes, liveSlots, stateCount);
  if (pairs === undefined) return undefined;
  const quads = internQuads(pairs, liveSlots, stateCount);
  if (quads === undefined) return undefined;

  const quadBits = Math.max(1, 32 - Math.clz32(quads.functions.count - 1));
  if (stateCount << quadBits > quadEntryCountMax) return undefined;
  const quadEntries = new Int32Array(stateCount << quadBits);
  for (let quad = 0; quad < quads.functions.count; quad++) {
    for (let state = 0; state < stateCount; state++) {
      const entry = quads.functions.vectors[quad * stateCount + state]!;
      quadEntries[(state << quadBits) | quad] = ((entry >>> 15) << (15 + quadBits)) | (entry & 0x7fff);
    }
  }
  return { quadBits, pairs: pairs.idOfBytes, quads: quads.idOfPairs, quadEntries };
}

/** Returns for each state a bit mask of its live slots: those that may be committed before they are written again. */
export function findLiveSlots({ stateCount, classCount, transitions }: ScanTables): Int32Array {
  const columns = [invalidColumn, endColumn];
  for (let id = 0; id < classCount; id++) columns.push(firstClassColumn + id);
  const live = new Int32Array(stateCount);
  for (let changed = true; changed; ) {
    changed = false;
    for (let state = stateCount - 1; state >= 0; state--) {
      let mask = live[state]!;
      for (const column of columns) {
        const entry = transitions[(state << 8) | column]!;
        const commitCount = (entry >> 4) & 15;
        const written = (entry & 15) === noSlot ? 0 : 1 << (entry & 15);
        mask |= (((1 << commitCount) - 1) | (live[entry >>> 16]! << commitCount)) & ~written;
      }
      if (mask === live[state]) continue;
      live[state] = mask;
      changed = true;
    }
  }
  return live;
}

/**
 * Gives a number to each distinct byte function: a vector that has the table entry of an ASCII byte for each state.
 * Bytes that no state distinguishes share a function.
 */
function internBytes({ stateCount, transitions }: ScanTables): {
  functions: VectorSet;
  idOfByte: Uint8Array;
} {
  const functions = new VectorSet(stateCount, 128);
  const idOfByte = new Uint8Array(128);
  const vector = new Int32Array(stateCount);
  for (let byte = 0; byte < 128; byte++) {
    for (let state = 0; state < stateCount; state++) vector[state] = transitions[(state << 8) | byte]!;
    idOfByte[byte] = functions.idOf(vector);
  }
  return { functions, idOfByte };
}

/**
 * Gives a number to each distinct pair function: a vector that has, for each state, next state << 16 | commits << 8 |
 * second slot << 4 | first slot. *Idle* writes are left out: a write is idle if its slot is never committed, or is
 * overwritten before it is committed. Returns undefined if there are too many functions, or if a slot does not fit.
 */
function internPairs(
  bytes: { functions: VectorSet; idOfByte: Uint8Array },
  liveSlots: Int32Array,
  stateCount: number,
): { functions: VectorSet; idOfBytes: Uint8Array } | undefined {
  const { count, vectors } = bytes.functions;
  const functions = new VectorSet(stateCount, pairCountMax);
  const idOfClasses = new Uint8Array(count * count);
  const vector = new Int32Array(stateCount);
  for (let first = 0; first < count; first++) {
    for (let second = 0; second < count; second++) {
      for (let state = 0; state < stateCount; state++) {
        const a = vectors[first * stateCount + state]!;
        const b = vectors[second * stateCount + (a >>> 16)]!;
        const commitsOfA = (a >> 4) & 15;
        const commitCount = commitsOfA + ((b >> 4) & 15);
        let idle = ~(((1 << commitCount) - 1) | (liveSlots[b >>> 16]! << commitCount));
        const slotOfB = slotUnless(idle, b & 15, commitsOfA, noSlot);
        if (slotOfB !== noSlot) idle |= 1 << slotOfB;
        const slotOfA = slotUnless(idle, a & 15, 0, noSlot);
        if (slotOfB > noSlot) return undefined;
        vector[state] = ((b >>> 16) << 16) | (commitCount << 8) | (slotOfB << 4) | slotOfA;
      }
      const id = functions.idOf(vector);
      if (id < 0) return undefined;
      idOfClasses[first * count + second] = id;
    }
  }
  const idOfBytes = new Uint8Array(1 << 16);
  for (let first = 0; first < 128; first++) {
    for (let second = 0; second < 128; second++) {
      idOfBytes[first | (second << 8)] =
        idOfClasses[bytes.idOfByte[first]! * count + bytes.idOfByte[second]!]!;
    }
  }
  return { functions, idOfBytes };
}

/**
 * Gives a number to each distinct quad function: a vector that has, for each state, next state << 15 | commits << 12 |
 * four slots, without idle writes. Returns undefined if there are too many functions, or if an entry does not fit.
 */
function internQuads(
  pairs: { functions: VectorSet },
  liveSlots: Int32Array,
  stateCount: number,
): { functions: VectorSet; idOfPairs: Uint16Array } | undefined {
  const { count, vectors } = pairs.functions;
  const functions = new VectorSet(stateCount, quadCountMax);
  const idOfPairs = new Uint16Array(count << 8);
  const vector = new Int32Array(stateCount);
  for (let first = 0; first < count; first++) {
    for (let second = 0; second < count; second++) {
      for (let state = 0; state < stateCount; state++) {
        const a = vectors[first * stateCount + state]!;
        const b = vectors[second * stateCount + (a >>> 16)]!;
        const commitsOfA = (a >> 8) & 15;
        const commitCount = commitsOfA + ((b >> 8) & 15);
        // The writes are examined from the last byte to the first, because a write is idle if a later one overwrites
        // its slot.
        let idle = ~(((1 << commitCount) - 1) | (liveSlots[b >>> 16]! << commitCount));
        const fourth = slotUnless(idle, (b >> 4) & 15, commitsOfA, binSlot);
        if (fourth !== binSlot) idle |= 1 << fourth;
        const third = slotUnless(idle, b & 15, commitsOfA, binSlot);
        if (third !== binSlot) idle |= 1 << third;
        const secondSlot = slotUnless(idle, (a >> 4) & 15, 0, binSlot);
        if (secondSlot !== binSlot) idle |= 1 << secondSlot;
        const firstSlot = slotUnless(idle, a & 15, 0, binSlot);
        if (Math.max(firstSlot, secondSlot, third, fourth, commitCount) > binSlot) return undefined;
        vector[state] =
          ((b >>> 16) << 15) |
          (commitCount << 12) |
          (fourth << 9) |
          (third << 6) |
          (secondSlot << 3) |
          firstSlot;
      }
      const id = functions.idOf(vector);
      if (id < 0) return undefined;
      idOfPairs[(first << 8) | second] = id;
    }
  }
  return { functions, idOfPairs };
}

/**
 * Returns the number that `slot` had `commitsBefore` commits earlier. Returns `bin` if nothing is written or the write
 * is idle, and a number above `bin` if the slot does not fit.
 */
function slotUnless(idle: number, slot: number, commitsBefore: number, bin: number): number {
  if (slot === noSlot) return bin;
  const shifted = slot + commitsBefore;
  if (shifted < 31 && (idle >> shifted) & 1) return bin;
  return shifted < bin ? shifted : bin + 1;
}

/** A set of vectors of the same length, numbered from 0. */
class VectorSet {
  count = 0;
  /** Vector v begins at v * length. */
  readonly vectors: Int32Array;
  private readonly length: number;
  private readonly countMax: number;
  private readonly heads = new Int32Array(hashSize).fill(-1);
  private readonly links: Int32Array;

  constructor(length: number, countMax: number) {
    this.length = length;
    this.countMax = countMax;
    this.vectors = new Int32Array(length * countMax);
    this.links = new Int32Array(countMax);
  }

  /** Returns the id of a vector, which is added if it is new. Returns -1 if the vector is new and the set is full. */
  idOf(vector: Int32Array): number {
    const { length, vectors, heads, links } = this;
    let hash = 0;
    for (let i = 0; i < length; i++) {
      hash = Math.imul(hash ^ vector[i]!, 0x9e3779b1);
      hash ^= hash >>> 15;
    }
    hash &= hashSize - 1;
    for (let id = heads[hash]!; id >= 0; id = links[id]!) {
      if (isVectorAt(vectors, id * length, vector)) return id;
    }
    if (this.count === this.countMax) return -1;
    vectors.set(vector, this.count * length);
    links[this.count] = heads[hash]!;
    heads[hash] = this.count;
    return this.count++;
  }
}

const hashSize = 4096;

function isVectorAt(vectors: Int32Array, start: number, vector: Int32Array): boolean {
  for (let i = 0; i < vector.length; i++) if (vectors[start + i] !== vector[i]) return false;
  return true;
}
