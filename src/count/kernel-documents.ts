import { setUpTokens } from "../bytes/kernel-token-search.ts";
import { KernelScan, type SetUpAfter } from "../pattern/kernel-scan.ts";
import type { ScanTables } from "../pattern/scan-tables.ts";
import { type Kernel, putArray } from "../runtime/kernel.ts";
import { noRoomForWords, type WordCounter } from "../words/word-counter.ts";
import type { DocumentPart, Documents } from "./documents.ts";

/** Documents whose boundaries one automaton finds, or two: special tokens, boundaries and words are the kernel's (src/kernel/document-loop.ts). */
export class KernelDocuments implements Documents {
  readonly isReadByKernelOnly = true;
  private readonly kernel: Kernel;

  private constructor(
    private readonly scan: KernelScan,
    private readonly counter: WordCounter,
  ) {
    this.kernel = counter.kernel;
  }

  /** Undefined where the kernel's memory has no room for the tables of such a pattern or such tokens. */
  static create(
    [tables, second]: readonly ScanTables[],
    specialTokens: readonly Uint8Array[],
    counter: WordCounter,
    setUpAfter?: SetUpAfter,
  ): KernelDocuments | undefined {
    const { kernel } = counter;
    const scan = KernelScan.create(kernel, tables!, setUpAfter);
    const isSetUp = scan && setUpTokens(kernel, specialTokens) && setUpSecond(kernel, second);
    return isSetUp ? new KernelDocuments(scan, counter) : undefined;
  }

  get keepPos(): number {
    return this.kernel.exports.keepPosition();
  }

  get isInside(): boolean {
    return this.kernel.exports.isInside() !== 0;
  }

  get documentCount(): number {
    return this.kernel.exports.documents();
  }

  get invalidByteCount(): number {
    return this.kernel.exports.invalidBytes();
  }

  get firstInvalidPos(): number {
    return this.kernel.exports.firstInvalidPosition();
  }

  start(pos: number, isInside: boolean): void {
    this.kernel.exports.startCounting(pos, Number(isInside));
  }

  searchText(limit: number): void {
    this.kernel.exports.searchText(limit);
  }

  count({ end, sureEnd, stop, limit, endsDocument }: DocumentPart): boolean {
    const { exports } = this.kernel;
    this.scan.prepare();
    exports.clearFirstInvalid();
    const posBefore = exports.scanPosition();
    const done = exports.countDocuments(end, sureEnd, stop, limit, Number(endsDocument));
    if (done < 0) throw noRoomForWords();
    this.counter.checkTotal();
    this.scan.noteScanned(exports.scanPosition() - posBefore);
    return done === 1;
  }

  lookAhead(end: number, limit: number): void {
    if (this.kernel.exports.countLookahead(end, limit) === 0) throw noRoomForWords();
    this.counter.checkTotal();
  }

  shift(deltaBytes: number): void {
    this.kernel.exports.shiftText(deltaBytes);
  }
}

/** An automaton that cuts the pieces of the first one, if there is one. */
function setUpSecond(kernel: Kernel, tables: ScanTables | undefined): boolean {
  const { exports } = kernel;
  if (exports.usePieces(Number(tables !== undefined)) === 0) return false;
  if (tables === undefined) return true;
  const { transitions, columnBlocks, columns, slotCount } = tables;
  const addresses = [transitions, columnBlocks, columns].map((array) => putArray(kernel, array));
  exports.useSecondAutomaton(addresses[0]!, addresses[1]!, addresses[2]!, slotCount);
  return !addresses.includes(0);
}
