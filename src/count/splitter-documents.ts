import { SpecialTokenFinder } from "../bytes/special-token-finder.ts";
import type { Text } from "../bytes/text.ts";
import type { Splitter } from "../pattern/pattern.ts";
import type { DocumentPart, Documents, PretokenTaker } from "./documents.ts";

/** Bytes that the splitter hands to the counter at a time: their pretokens and tables stay in the first caches. */
const blockSizeBytes = 1 << 14;
/** A slice of work, between two yields to the event loop. */
const sliceSizeBytes = 1 << 20;

/** Documents whose boundaries a splitter finds in JavaScript: the backtracking matcher, and chains of automata. */
export class SplitterDocuments implements Documents {
  readonly isReadByKernelOnly = false;
  isInside = false;
  documentCount = 0;
  firstInvalidPos = -1;
  private readonly finder: SpecialTokenFinder;
  private text: Text;

  constructor(
    private readonly splitter: Splitter,
    specialTokens: readonly Uint8Array[],
    private readonly taker: PretokenTaker,
  ) {
    this.finder = new SpecialTokenFinder(specialTokens);
    this.text = taker.text(0);
  }

  get keepPos(): number {
    return this.splitter.ends[0]!;
  }

  get invalidByteCount(): number {
    return this.splitter.invalidByteCount;
  }

  start(pos: number, isInside: boolean): void {
    this.splitter.start(pos);
    this.isInside = isInside;
  }

  searchText(limit: number): void {
    this.text = this.taker.text(limit);
    this.finder.reset(this.text.bytes.subarray(0, limit));
  }

  count({ end, sureEnd, stop: lastStop, limit: lastLimit, endsDocument }: DocumentPart): boolean {
    const { splitter, finder } = this;
    this.firstInvalidPos = -1;
    const pausePos = splitter.pos + sliceSizeBytes;
    for (;;) {
      const tokenPos = finder.find(splitter.pos, end);
      const isFound = tokenPos < sureEnd;
      const stop = isFound ? tokenPos : lastStop;
      if (stop > splitter.pos && !this.isInside) {
        this.isInside = true;
        this.documentCount++;
      }
      while (splitter.pos < stop) {
        const blockStop = Math.min(splitter.pos + blockSizeBytes, stop);
        this.scanTo(blockStop, isFound ? stop : lastLimit);
        if (splitter.pos < blockStop || splitter.pos >= pausePos) return false;
      }
      if ((isFound || endsDocument) && !this.finishAt(stop)) return false;
      if (!isFound) return true;
      this.isInside = false;
      splitter.start(tokenPos + finder.lengthAt(tokenPos, end));
    }
  }

  lookAhead(end: number, limit: number): void {
    if (this.splitter.pos === end) this.scanTo(end + 1, limit);
  }

  shift(deltaBytes: number): void {
    this.splitter.shift(deltaBytes);
  }

  private scanTo(stop: number, limit: number): void {
    const { splitter } = this;
    splitter.scan(this.text, stop, limit);
    if (this.firstInvalidPos < 0) this.firstInvalidPos = splitter.firstInvalidPos;
    this.take();
  }

  /** The document ends at `stop`; false if the slice of work ended before that was settled. */
  private finishAt(stop: number): boolean {
    const isSettled = this.splitter.finish(stop);
    this.take();
    return isSettled;
  }

  private take(): void {
    const { splitter, taker } = this;
    if (splitter.endCount > 1) taker.count(splitter.ends, splitter.endCount);
    splitter.take();
  }
}
