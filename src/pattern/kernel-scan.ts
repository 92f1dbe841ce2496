import { type Kernel, putArray } from "../runtime/kernel.ts";
import type { PatternTables } from "./compiled-pattern.ts";
import { buildFourByteTables, type FourByteTables } from "./four-byte-tables.ts";
import { buildMaskTables } from "./masks/build-mask-tables.ts";

/** After how many bytes the tables that make the scan faster are set up. */
export type SetUpAfter = {
  readonly fourByteTablesBytes: number;
  readonly masksBytes: number;
  readonly formulaBytes: number;
};

const usualSetUpAfter: SetUpAfter = {
  /** Four-byte tables take 1 to 16 ms to build: as long as this much text takes by single bytes, or several times as long. */
  fourByteTablesBytes: 1 << 18,
  /** Half a millisecond where the formula is known, and some time of the compiler for the loops. */
  masksBytes: 1 << 20,
  /** Finding and proving a formula takes some 20 ms in a process that has not done it before. */
  formulaBytes: 1 << 24,
};

/** A pattern's automaton in the kernel (src/kernel/scan), with what makes its scan faster. */
export class KernelScan {
  /** Whether the four-byte tables are still to be built, if the text is long enough. */
  private wantsFourBytes: boolean;
  private wantsMasks: boolean;
  private scannedBytes = 0;

  private constructor(
    private readonly kernel: Kernel,
    private readonly tables: PatternTables,
    private readonly addresses: AutomatonAddresses,
    private readonly after: SetUpAfter,
  ) {
    this.wantsFourBytes = tables.fourBytes === undefined;
    this.wantsMasks = tables.masks !== null;
  }

  /** Undefined where the kernel's memory has no room for the tables. */
  static create(kernel: Kernel, tables: PatternTables, after = usualSetUpAfter): KernelScan | undefined {
    const addresses = setUpAutomaton(kernel, tables);
    return addresses && new KernelScan(kernel, tables, addresses, after);
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
    if (
      this.wantsMasks &&
      scannedBytes >= (tables.masks === undefined ? after.formulaBytes : after.masksBytes)
    ) {
      this.wantsMasks = false;
      setUpMasks(kernel, tables, this.addresses);
    }
  }
}

type AutomatonAddresses = { readonly columnBlocks: number; readonly columns: number };

function setUpAutomaton(kernel: Kernel, tables: PatternTables): AutomatonAddresses | undefined {
  const { slotCount, fourBytes } = tables;
  const transitions = putArray(kernel, tables.transitions);
  const columnBlocks = putArray(kernel, tables.columnBlocks);
  const columns = putArray(kernel, tables.columns);
  if (transitions === 0 || columnBlocks === 0 || columns === 0) return undefined;
  kernel.exports.useAutomaton(transitions, columnBlocks, columns, slotCount);
  setUpFourBytes(kernel, fourBytes ?? undefined);
  kernel.exports.useMaskTables(0, 0, 0, 0);
  return { columnBlocks, columns };
}

/** Where the pattern has no formula, or the kernel no room, the tables have to do. */
function setUpMasks(
  kernel: Kernel,
  tables: PatternTables,
  { columnBlocks, columns }: AutomatonAddresses,
): void {
  const { exports } = kernel;
  const masks = tables.masks === undefined ? buildMaskTables(tables) : tables.masks;
  if (masks === undefined || masks === null) return;
  const columnsLength = tables.columns.length;
  const address = putArray(kernel, masks, exports.maskTablesBytes(columnsLength));
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
