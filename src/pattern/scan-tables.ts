import {
  type Automaton,
  BeyondAutomaton,
  type CharacterClasses,
  CompileSteps,
  classCountMax,
  here,
} from "./automaton.ts";
import { lastCodePoint } from "./unicode.ts";

/**
 * ScanTables: an automaton in the scanner's layout. Written once by the compiler, then frozen; plain data, so that it can
 * be posted to workers.
 *
 *   ARRAY          TYPE         LENGTH              MEANING
 *   transitions    Int32Array   stateCount << 8     entry of state s and column c at s << 8 | c
 *   columnBlocks   Uint16Array  32 + 1024 + 32768   offset into `columns` of the 64 columns that share all bytes of a
 *                                                   character but the last
 *   columns        Uint8Array   blockCount * 64     column of each such character; equal blocks are kept once
 *
 * An entry is next state << 16 | commits << 4 | slot: write the position into the slot (`noSlot`: into a bin that is never
 * read), then settle `commits` slots. The scanner carries the entry itself from step to step.
 *
 * Columns: 0-127 are ASCII itself, `firstClassColumn` + class is any other character, then `invalidColumn` is a byte that
 * is not part of valid UTF-8, `endColumn` is the end of the document.
 *
 * columnBlocks, by the bytes of the character without their marks (110…, 10…):
 *   two bytes    b0                              blocks 0-1 are invalid (overlong)
 *   three bytes  32 + (b0 << 6 | b1)             blocks 0-31 are invalid (overlong), and those of surrogates
 *   four bytes   1056 + (b0 << 12 | b1 << 6 | b2)  blocks below 1024 are overlong, from 17408 on beyond U+10FFFF
 *
 * "é" is c3 a9, its two-byte block 3, so its column is columns[columnBlocks[3] | 0x29].
 */
export type ScanTables = {
  readonly stateCount: number;
  readonly classCount: number;
  /** The maximum number of slots that are written but not committed. Their ends are carried over from call to call. */
  readonly slotCount: number;
  readonly transitions: Int32Array;
  readonly columnBlocks: Uint16Array;
  readonly columns: Uint8Array;
};

export const firstClassColumn = 128;
export const invalidColumn = firstClassColumn + classCountMax;
export const endColumn = invalidColumn + 1;
export const noSlot = 15;

export const threeByteBlocks = 32;
const fourByteBlocks = 32 + 1024;
const blockTotal = 32 + 1024 + 32768;
const blockBits = 6;
const blockSize = 1 << blockBits;

/**
 * The column of the character that begins at `pos` with a byte of at least 0x80, and the character's length in bytes:
 * column | length << 8. A byte that is not part of valid UTF-8 has `invalidColumn` and length 1. The text ends at
 * `limit`; bytes after it may be read, but do not affect the result.
 */
export function columnAt(
  bytes: Uint8Array,
  pos: number,
  limit: number,
  columnBlocks: Uint16Array,
  columns: Uint8Array,
): number {
  const lead = bytes[pos]!;
  // The XOR leaves a continuation byte below 64.
  const second = bytes[(pos + 1) | 0]! ^ 0x80;
  if (lead < 0xe0) {
    if (lead >= 0xc0 && second < 64 && pos + 2 <= limit) {
      const column = columns[columnBlocks[lead & 31]! | second]!;
      if (column !== invalidColumn) return column | (2 << 8);
    }
    return invalidColumn | (1 << 8);
  }
  const third = bytes[(pos + 2) | 0]! ^ 0x80;
  if (lead < 0xf0) {
    if ((second | third) < 64 && pos + 3 <= limit) {
      const column = columns[columnBlocks[threeByteBlocks + (((lead & 15) << 6) | second)]! | third]!;
      if (column !== invalidColumn) return column | (3 << 8);
    }
    return invalidColumn | (1 << 8);
  }
  const fourth = bytes[(pos + 3) | 0]! ^ 0x80;
  if ((second | third | fourth) < 64 && lead < 0xf8 && pos + 4 <= limit) {
    const column =
      columns[columnBlocks[fourByteBlocks + (((lead & 7) << 12) | (second << 6) | third)]! | fourth]!;
    if (column !== invalidColumn) return column | (4 << 8);
  }
  return invalidColumn | (1 << 8);
}

/** Lays out an automaton for the scanner. Throws BeyondAutomaton if an action does not fit into an entry. */
export function buildScanTables(automaton: Automaton, steps = new CompileSteps()): ScanTables {
  const { classes, symbolCount, stateCount, nextStates, actions, actionList } = automaton;
  const classCount = classes.classCount;
  let slotCount = 1;
  const actionBits = actionList.map(({ commitCount, writes }) => {
    const [write] = writes;
    if (writes.length > 1 || (write !== undefined && write.from !== here)) {
      throw new BeyondAutomaton("it moves its boundaries too often");
    }
    const slot = write?.slot ?? noSlot;
    if (commitCount > 15 || (write !== undefined && slot >= noSlot)) {
      throw new BeyondAutomaton("it decides too many boundaries at once");
    }
    if (write !== undefined) slotCount = Math.max(slotCount, slot + 1);
    return (commitCount << 4) | slot;
  });

  const asciiClasses = classesOfAscii(classes);
  steps.add(blockTotal + (stateCount << 8));
  const transitions = new Int32Array(stateCount << 8);
  for (let state = 0; state < stateCount; state++) {
    const row = state << 8;
    const firstEntry = state * symbolCount;
    const entryOf = (symbol: number) =>
      (nextStates[firstEntry + symbol]! << 16) | actionBits[actions[firstEntry + symbol]!]!;
    for (let id = 0; id < classCount; id++) transitions[row | (firstClassColumn + id)] = entryOf(id);
    for (let byte = 0; byte < 128; byte++) {
      transitions[row | byte] = transitions[row | (firstClassColumn + asciiClasses[byte]!)]!;
    }
    transitions[row | invalidColumn] = entryOf(classCount);
    transitions[row | endColumn] = entryOf(classCount + 1);
  }
  return { stateCount, classCount, slotCount, transitions, ...buildColumns(classes) };
}

function classesOfAscii({ runStarts, runClasses }: CharacterClasses): Uint8Array {
  const classOf = new Uint8Array(128);
  runStarts.forEach((start, run) => {
    if (start < 128) classOf.fill(runClasses[run]!, start);
  });
  return classOf;
}

function buildColumns({ runStarts, runClasses }: CharacterClasses): {
  columnBlocks: Uint16Array;
  columns: Uint8Array;
} {
  const blocks = new BlockList();
  // Fills blocks of code points: whole blocks in stretches, those in which a run begins or ends column by column.
  const blockOf = new Uint16Array((lastCodePoint + 1) >> blockBits);
  const mixed = new Uint8Array(blockSize);
  let mixedBlock = -1;
  for (let run = 0; run < runStarts.length; run++) {
    const column = firstClassColumn + runClasses[run]!;
    const start = runStarts[run]!;
    const end = run + 1 < runStarts.length ? runStarts[run + 1]! : lastCodePoint + 1;
    const firstBlock = start >> blockBits;
    const endBlock = end >> blockBits;
    if (firstBlock === mixedBlock) mixed.fill(column, start & (blockSize - 1));
    if (endBlock === firstBlock) {
      if (firstBlock !== mixedBlock) mixed.fill(column);
      mixedBlock = firstBlock;
      continue;
    }
    if (firstBlock === mixedBlock) blockOf[firstBlock] = blocks.offsetOf(mixed);
    blockOf.fill(
      blocks.uniformOffset(column),
      firstBlock === mixedBlock ? firstBlock + 1 : firstBlock,
      endBlock,
    );
    mixed.fill(column);
    mixedBlock = endBlock;
  }
  const invalid = blocks.uniformOffset(invalidColumn);
  blockOf.fill(invalid, 0xd800 >> blockBits, 0xe000 >> blockBits);

  const columnBlocks = new Uint16Array(blockTotal).fill(invalid);
  columnBlocks.set(blockOf.subarray(2, 32), 2);
  columnBlocks.set(blockOf.subarray(32, 1024), threeByteBlocks + 32);
  columnBlocks.set(blockOf.subarray(1024), fourByteBlocks + 1024);
  return { columnBlocks, columns: blocks.concatenated() };
}

/** Concatenates blocks of 64 columns, each distinct one once. */
class BlockList {
  private bytes = Buffer.alloc(64 * blockSize);
  private size = 0;
  private readonly offsets = new Map<string, number>();
  private readonly uniformOffsets = new Map<number, number>();

  offsetOf(block: Uint8Array): number {
    if (this.size + blockSize > this.bytes.length)
      this.bytes = Buffer.concat([this.bytes], 2 * this.bytes.length);
    this.bytes.set(block, this.size);
    const key = this.bytes.toString("latin1", this.size, this.size + blockSize);
    const known = this.offsets.get(key);
    if (known !== undefined) return known;
    const offset = this.size;
    // Offsets have 16 bits. That is room for 1,024 distinct blocks, of the 17,408 of Unicode.
    if (offset >= 1 << 16) throw new BeyondAutomaton("it tells too many characters apart");
    this.offsets.set(key, offset);
    this.size += blockSize;
    return offset;
  }

  uniformOffset(column: number): number {
    let offset = this.uniformOffsets.get(column);
    if (offset === undefined) {
      offset = this.offsetOf(new Uint8Array(blockSize).fill(column));
      this.uniformOffsets.set(column, offset);
    }
    return offset;
  }

  concatenated(): Uint8Array {
    return new Uint8Array(this.bytes.subarray(0, this.size));
  }
}

/**
 * FourByteTables: four ASCII bytes in one step. The effect of four bytes is a function from states to (next state, slots
 * written, commits). Most of the 128^4 quads have equal functions: the named patterns have 400 to 1600 distinct ones, composed
 * of 40 to 120 functions of two bytes. So two lookups that do not depend on the state give the quad's function, and one lookup
 * with the state gives the effect of four bytes. The tables are derived from ScanTables: ahead of time for named patterns
 * (ready-made.ts), else by each thread after enough text (kernel-scan.ts). Only the kernel reads them.
 *
 *   ARRAY         TYPE         LENGTH                       MEANING
 *   pairs         Uint8Array   65536                        pair function of two bytes, at first | second << 8
 *   quads         Uint16Array  pairCount << 8               quad function of two pairs, at first << 8 | second
 *   quadEntries   Int32Array   stateCount << quadBits       entry of state s and quad q at s << quadBits | q
 *
 * An entry is (next state << quadBits) << 15 | commits << 12 | four slots of 3 bits. The first slot (lowest bits) receives
 * the position of the first byte, and so on. All slots are relative to the end count before the quad; slot 7 is the bin.
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
 * Builds four-byte tables. Returns undefined if they would be too large, or an entry does not fit; the scan then reads
 * one byte at a time.
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

/** For each state, a bit mask of its live slots: those that may be committed before they are written again. */
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

/** Byte functions, as vectors of table entries by state. Bytes that no state distinguishes share one function. */
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
 * Pair functions, as vectors of next state << 16 | commits << 8 | second slot << 4 | first slot, without idle writes.
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

/** Quad functions, as vectors of next state << 15 | commits << 12 | four slots, without idle writes. */
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
        // From the last byte to the first: a write is idle if it is never committed, or if a later write overwrites it.
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
 * The slot relative to an earlier end count: `bin` if nothing is written or the write is idle, a number above `bin` if
 * the slot does not fit.
 */
function slotUnless(idle: number, slot: number, commitsBefore: number, bin: number): number {
  if (slot === noSlot) return bin;
  const shifted = slot + commitsBefore;
  if (shifted < 31 && (idle >> shifted) & 1) return bin;
  return shifted < bin ? shifted : bin + 1;
}

/** Numbers distinct vectors of the same length. */
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

  /** The id of a vector; -1 if there is no room for another one. */
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
