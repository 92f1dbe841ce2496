import { namedMasks } from "#named-masks";
import { fromBase64, type Kernel, putArray, scaled } from "#runtime";
import { automatonDigest, type PatternTables, type ShadowTables } from "./compiled-pattern.ts";
import { buildFourByteTables, type FourByteTables } from "./scan-tables.ts";

/** After how many bytes the tables that make the scan faster are set up. */
export type SetUpAfter = {
  readonly fourByteTablesBytes: number;
  readonly masksBytes: number;
};

const usualSetUpAfter: SetUpAfter = {
  /** Four-byte tables take 1 to 16 ms to build: as long as this much text takes by single bytes, or several times as long. */
  fourByteTablesBytes: scaled(1 << 18, 1 << 10),
  /** Half a millisecond, and some time of the compiler for the loops. */
  masksBytes: scaled(1 << 20, 64),
};

/** A pattern's automata in the kernel (src/kernel/scan), with what makes the first one's scan faster. */
export class KernelScan {
  /** Whether the four-byte tables are still to be built, if the text is long enough. */
  private wantsFourBytes: boolean;
  private wantsMasks = true;
  private scannedBytes = 0;

  private constructor(
    private readonly kernel: Kernel,
    private readonly tables: PatternTables,
    private readonly addresses: AutomatonAddresses,
    private readonly after: SetUpAfter,
  ) {
    this.wantsFourBytes = tables.fourBytes === undefined;
    setUpFourBytes(kernel, tables.fourBytes ?? undefined);
    kernel.exports.useMaskTables(0, 0, 0, 0);
  }

  /** Undefined where the kernel's memory has no room for the tables. */
  static create(
    kernel: Kernel,
    automata: readonly PatternTables[],
    after = usualSetUpAfter,
  ): KernelScan | undefined {
    const addresses = setUpAutomata(kernel, automata);
    return addresses && new KernelScan(kernel, automata[0]!, addresses, after);
  }

  /** Whether there is nothing left to set up. */
  get isComplete(): boolean {
    return !this.wantsFourBytes && !this.wantsMasks;
  }

  /** So many bytes were scanned. */
  noteScanned(byteCount: number): void {
    this.scannedBytes += byteCount;
  }

  /** Sets up tables that make the scan faster, once there was enough text for them to pay. */
  prepare(): void {
    const { kernel, tables, after, scannedBytes } = this;
    if (this.wantsFourBytes && scannedBytes >= after.fourByteTablesBytes) {
      this.wantsFourBytes = false;
      setUpFourBytes(kernel, buildFourByteTables(tables));
    }
    if (this.wantsMasks && scannedBytes >= after.masksBytes) {
      this.wantsMasks = false;
      setUpMasks(kernel, tables, this.addresses);
    }
  }
}

type AutomatonAddresses = { readonly columnBlocks: number; readonly columns: number };

/** Puts the automata into memory, from the last to the first, each with the address of the next one. */
function setUpAutomata(kernel: Kernel, automata: readonly PatternTables[]): AutomatonAddresses | undefined {
  let next = 0;
  let addresses: AutomatonAddresses | undefined;
  for (const tables of automata.toReversed()) {
    const transitions = putArray(kernel, tables.transitions);
    const columnBlocks = putArray(kernel, tables.columnBlocks);
    const columns = putArray(kernel, tables.columns);
    const shadow = tables.shadow === undefined ? 0 : setUpShadow(kernel, tables.shadow);
    const head = new Int32Array([transitions, columnBlocks, columns, tables.slotCount, shadow ?? 0, next]);
    const piecesBytes = tables === automata[0] ? 0 : 4 * kernel.exports.endsCapacity();
    next = putArray(kernel, head, head.byteLength + piecesBytes);
    if (shadow === undefined || [transitions, columnBlocks, columns, next].includes(0)) return undefined;
    addresses = { columnBlocks, columns };
  }
  kernel.exports.useAutomaton(next);
  return addresses;
}

/** Undefined without room. */
function setUpShadow(kernel: Kernel, { steps, replacements, quiet, live }: ShadowTables): number | undefined {
  const addresses = [steps, replacements, quiet, live].map((array) => putArray(kernel, array));
  // Behind the addresses: no run has been read.
  const head = putArray(kernel, new Int32Array([...addresses, 0, -1, 0, 0]), kernel.exports.shadowBytes());
  return [...addresses, head].includes(0) ? undefined : head;
}

/**
 * An automaton that equals that of a named pattern has masks (src/kernel/masks). For any other, and where the kernel has no
 * room, the tables have to do.
 */
function setUpMasks(
  kernel: Kernel,
  tables: PatternTables,
  { columnBlocks, columns }: AutomatonAddresses,
): void {
  const { exports } = kernel;
  const masks = namedMasks?.[automatonDigest(tables)];
  if (masks === undefined) return;
  const columnsLength = tables.columns.length;
  const address = putArray(kernel, fromBase64(masks), exports.maskTablesBytes(columnsLength));
  if (address !== 0) exports.useMaskTables(address, columnBlocks, columns, columnsLength);
}

/** Without room for them a byte a step has to do. */
function setUpFourBytes(kernel: Kernel, tables: FourByteTables | undefined): void {
  const arrays = tables === undefined ? [] : [tables.pairs, tables.quads, tables.quadEntries];
  const addresses = arrays.map((array) => putArray(kernel, array));
  const hasAll = tables !== undefined && !addresses.includes(0);
  if (!hasAll) kernel.exports.useFourByteTables(0, 0, 0, 0);
  else kernel.exports.useFourByteTables(addresses[0]!, addresses[1]!, addresses[2]!, tables.quadBits);
}
