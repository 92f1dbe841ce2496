import { setUpTokens } from "../bytes/special-token-finder.ts";
import type { PatternTables } from "../pattern/compiled-pattern.ts";
import { KernelScan, type SetUpAfter } from "../pattern/kernel-scan.ts";
import type { Kernel } from "../runtime/kernel.ts";
import { noRoomForWords } from "../words/word-counter.ts";
import type { DocumentPart, Documents, KernelTaker } from "./documents.ts";

/** Documents whose boundaries one automaton finds: the kernel finds special tokens, boundaries and words (src/kernel/text-loop.ts). */
export class KernelDocuments implements Documents {
  readonly isReadByKernelOnly = true;
  private readonly kernel: Kernel;

  private constructor(
    private readonly scan: KernelScan,
    private readonly taker: KernelTaker,
  ) {
    this.kernel = taker.kernel;
  }

  /** Undefined if the kernel's memory has no room for the tables of the pattern or of the tokens. */
  static create(
    tables: PatternTables,
    specialTokens: readonly Uint8Array[],
    taker: KernelTaker,
    setUpAfter?: SetUpAfter,
  ): KernelDocuments | undefined {
    const { kernel } = taker;
    const scan = KernelScan.create(kernel, tables, setUpAfter);
    return scan && setUpTokens(kernel, specialTokens) ? new KernelDocuments(scan, taker) : undefined;
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
    this.kernel.exports.openText(pos, Number(isInside));
  }

  searchText(limit: number): void {
    this.kernel.exports.searchText(limit);
  }

  count({ end, sureEnd, stop, limit, endsDocument }: DocumentPart): boolean {
    const { exports } = this.kernel;
    this.scan.prepare();
    const posBefore = exports.scanPosition();
    const done = exports.takeText(end, sureEnd, stop, limit, Number(endsDocument));
    if (done < 0) throw noRoomForWords();
    this.taker.kernelTook();
    this.scan.noteScanned(exports.scanPosition() - posBefore);
    return done === 1;
  }

  lookAhead(end: number, limit: number): void {
    if (this.kernel.exports.lookAhead(end, limit) < 0) throw noRoomForWords();
    this.taker.kernelTook();
  }

  shift(deltaBytes: number): void {
    this.kernel.exports.moveText(deltaBytes);
  }
}
