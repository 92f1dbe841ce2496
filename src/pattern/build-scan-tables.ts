import { type Automaton, BeyondAutomaton, type CharacterClasses, CompileSteps, here } from "./automaton.ts";
import {
  blockBits,
  blockTotal,
  endColumn,
  firstClassColumn,
  fourByteBlocks,
  invalidColumn,
  noSlot,
  type ScanTables,
  threeByteBlocks,
} from "./scan-tables.ts";
import * as unicode from "./unicode.ts";

const blockSize = 1 << blockBits;

/** Lays out an automaton for the scanner. Throws BeyondAutomaton if it does not fit. */
export function buildScanTables(automaton: Automaton, steps = new CompileSteps()): ScanTables {
  const { classes, symbolCount, stateCount, nextStates, actions, actionList } = automaton;
  const classCount = classes.classCount;
  let slotCount = 1;
  const actionBits = actionList.map(({ commitCount, writes }) => {
    const [write] = writes;
    if (writes.length > 1 || (write !== undefined && write.from !== here)) {
      throw new BeyondAutomaton(
        "it cannot be matched in one pass: it reorders the possible ends of pretokens",
      );
    }
    const slot = write?.slot ?? noSlot;
    if (commitCount > 15 || (write !== undefined && slot >= noSlot)) {
      throw new BeyondAutomaton(
        "it cannot be matched in one pass: it decides the ends of too many pretokens at once",
      );
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
  // A run is a range of code points of one class. A block of code points inside one run is stored at once. A block in
  // which runs begin or end is collected in `mixed`.
  const blockOf = new Uint16Array((unicode.lastCodePoint + 1) >> blockBits);
  const mixed = new Uint8Array(blockSize);
  let mixedBlock = -1;
  for (let run = 0; run < runStarts.length; run++) {
    const column = firstClassColumn + runClasses[run]!;
    const start = runStarts[run]!;
    const end = run + 1 < runStarts.length ? runStarts[run + 1]! : unicode.lastCodePoint + 1;
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

/** Stores blocks of 64 columns one after another, each distinct block once. */
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
    // Offsets have 16 bits, which allows 1,024 distinct blocks; Unicode has 17,408 blocks.
    if (offset >= 1 << 16) throw new BeyondAutomaton("it distinguishes too many kinds of characters");
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
