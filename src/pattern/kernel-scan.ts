import { namedMasks } from "#named-masks";
import { host, kernels, scaled } from "#runtime";
import { type AnnotationTables, automatonDigest, type PatternTables } from "./compiled-pattern.ts";
import { buildFourByteTables, type FourByteTables } from "./four-byte-tables.ts";

/** For each kind of faster tables, the number of scanned bytes after which it is set up. */
export type SetUpAfter = {
  readonly fourByteTablesBytes: number;
  readonly masksBytes: number;
};

const usualSetUpAfter: SetUpAfter = {
  /**
   * Building four-byte tables (four-byte-tables.ts) takes 1 to 16 ms, which does not pay off for less text than this.
   */
  fourByteTablesBytes: scaled(1 << 18, 1 << 10),
  /**
   * Setting up masks (src/kernel/masks) takes half a millisecond, and the WebAssembly engine needs some time to compile
   * their loops. For less text than this, that does not pay off.
   */
  masksBytes: scaled(1 << 20, 64),
};

/**
 * A pattern's automata in the kernel (src/kernel/scan), with tables that make the scan by the first automaton faster.
 */
export class KernelScan {
  /** Whether the four-byte tables are still to be built. */
  private wantsFourBytes: boolean;
  private wantsMasks = true;
  private scannedBytes = 0;

  private constructor(
    private readonly kernel: kernels.Kernel,
    private readonly tables: PatternTables,
    private readonly addresses: AutomatonAddresses,
    private readonly after: SetUpAfter,
  ) {
    this.wantsFourBytes = tables.fourBytes === undefined;
    setUpFourBytes(kernel, tables.fourBytes ?? undefined);
    kernel.exports.useMaskTables(0, 0, 0, 0);
  }

  /**
   * Copies a pattern's tables into a kernel. Returns undefined if the kernel's region for such tables is too full. Throws
   * a RangeError if the memory cannot grow.
   */
  static create(
    kernel: kernels.Kernel,
    automata: readonly PatternTables[],
    after = usualSetUpAfter,
  ): KernelScan | undefined {
    const addresses = setUpAutomata(kernel, automata);
    return addresses && new KernelScan(kernel, automata[0]!, addresses, after);
  }

  /** Whether all faster tables are set up, or known to be impossible. */
  get isComplete(): boolean {
    return !this.wantsFourBytes && !this.wantsMasks;
  }

  /** Adds to the number of bytes that were scanned. */
  noteScanned(byteCount: number): void {
    this.scannedBytes += byteCount;
  }

  /** Sets up faster tables once enough text was scanned for them to pay off. */
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

/**
 * Copies the automata into the kernel's memory, from the last to the first, because each has the address of the next
 * one. Returns undefined if the region for such tables is too full. Throws a RangeError if the memory cannot grow.
 */
function setUpAutomata(
  kernel: kernels.Kernel,
  automata: readonly PatternTables[],
): AutomatonAddresses | undefined {
  let nextAddress = 0;
  let addresses: AutomatonAddresses | undefined;
  for (const tables of automata.toReversed()) {
    const transitions = kernels.putArray(kernel, tables.transitions);
    const columnBlocks = kernels.putArray(kernel, tables.columnBlocks);
    const columns = kernels.putArray(kernel, tables.columns);
    const annotation = tables.annotation === undefined ? 0 : setUpAnnotation(kernel, tables.annotation);
    const head = new Int32Array([
      transitions,
      columnBlocks,
      columns,
      tables.slotCount,
      annotation ?? 0,
      nextAddress,
    ]);
    const piecesBytes = tables === automata[0] ? 0 : 4 * kernel.exports.endsCapacity();
    nextAddress = kernels.putArray(kernel, head, head.byteLength + piecesBytes);
    if (annotation === undefined || [transitions, columnBlocks, columns, nextAddress].includes(0))
      return undefined;
    addresses = { columnBlocks, columns };
  }
  kernel.exports.useAutomaton(nextAddress);
  return addresses;
}

/**
 * Copies the annotation tables into the kernel's memory, and returns the address of their head; undefined if the region
 * for such tables is too full. Throws a RangeError if the memory cannot grow.
 */
function setUpAnnotation(
  kernel: kernels.Kernel,
  { steps, replacements, quiet, live }: AnnotationTables,
): number | undefined {
  const addresses = [steps, replacements, quiet, live].map((array) => kernels.putArray(kernel, array));
  // After the addresses, the head has the variables of an annotation that has not begun (src/kernel/scan/annotate.ts).
  const head = kernels.putArray(
    kernel,
    new Int32Array([...addresses, 0, -1, 0, 0]),
    kernel.exports.shadowBytes(),
  );
  return [...addresses, head].includes(0) ? undefined : head;
}

/**
 * Sets up masks (src/kernel/masks) if the build made some for this automaton, and the region for such tables has space.
 * Otherwise the kernel scans with tables. Throws a RangeError if the memory cannot grow.
 */
function setUpMasks(
  kernel: kernels.Kernel,
  tables: PatternTables,
  { columnBlocks, columns }: AutomatonAddresses,
): void {
  const { exports } = kernel;
  const masks = namedMasks?.[automatonDigest(tables)];
  if (masks === undefined) return;
  const columnsLength = tables.columns.length;
  const address = kernels.putArray(kernel, host.fromBase64(masks), exports.maskTablesBytes(columnsLength));
  if (address !== 0) exports.useMaskTables(address, columnBlocks, columns, columnsLength);
}

/**
 * Sets up four-byte tables if they exist, and the region for such tables has space. Otherwise the kernel scans byte by
 * byte. Throws a RangeError if the memory cannot grow.
 */
function setUpFourBytes(kernel: kernels.Kernel, tables: FourByteTables | undefined): void {
  const arrays = tables === undefined ? [] : [tables.pairs, tables.quads, tables.quadEntries];
  const addresses = arrays.map((array) => kernels.putArray(kernel, array));
  const hasAll = tables !== undefined && !addresses.includes(0);
  if (!hasAll) kernel.exports.useFourByteTables(0, 0, 0, 0);
  else kernel.exports.useFourByteTables(addresses[0]!, addresses[1]!, addresses[2]!, tables.quadBits);
}
