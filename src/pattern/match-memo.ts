import { PatternLimit, type Program } from "./matcher-program.ts";

const memoBytesMax = 1 << 28;

/**
 * Values of the memo; 0: nothing is known.
 *   failed       no way on from there matches
 *   found        from there the body of the look around matches
 *   failed + n   from there the bodies of n atomic groups around match, and what is behind them fails: so do the n groups,
 *                whatever other ways there are inside
 */
export const memoValue = { found: 1, failed: 2 } as const;

/**
 * What the matcher remembers of each place where ways meet (`Program.memoIds`), and each position: a byte, one of
 * `memoValue`, at (position - base) * memoIdCount + id.
 */
export class MatchMemo {
  private values = new Uint8Array(1 << 10);
  private base = 0;
  /** All from there on is empty. */
  private end = 0;

  private readonly memoIdCount: number;

  constructor(private readonly program: Program) {
    this.memoIdCount = program.memoIdCount;
  }

  /** A text begins at `pos`. */
  begin(pos: number): void {
    this.forgetBefore(this.end);
    this.base = pos;
    this.end = pos;
  }

  /** 0 where nothing is known. */
  at(id: number, pos: number): number {
    if (pos >= this.end || pos < this.base) return 0;
    return this.values[(pos - this.base) * this.memoIdCount + id]!;
  }

  /** For positions [from, to]; those before the base are not kept. An id below 0 is none. Throws PatternLimit. */
  set(id: number, from: number, to: number, value: number): void {
    const { memoIdCount } = this;
    if (id < 0) return;
    if (to >= this.end) this.grow(to + 1);
    const { values, base } = this;
    for (let pos = Math.max(from, base); pos <= to; pos++) values[(pos - base) * memoIdCount + id] = value;
  }

  private grow(end: number): void {
    const needed = (end - this.base) * this.memoIdCount;
    if (needed > this.values.length) {
      if (needed > memoBytesMax)
        throw new PatternLimit(
          this.program.source,
          `looks further than ${memoBytesMax} bytes of memory allow`,
        );
      const longer = new Uint8Array(Math.min(2 * needed, memoBytesMax));
      longer.set(this.values);
      this.values = longer;
    }
    this.end = end;
  }

  /** Nobody asks for positions before `pos` any more. */
  forgetBefore(pos: number): void {
    const { values, base, end } = this;
    const { memoIdCount } = this;
    const usedBytes = (end - base) * memoIdCount;
    if (pos >= end) {
      values.fill(0, 0, usedBytes);
      this.base = pos;
      this.end = pos;
      return;
    }
    const forgotten = (pos - base) * memoIdCount;
    if (forgotten < 1 << 12 || forgotten < usedBytes >> 1) return;
    values.copyWithin(0, forgotten, usedBytes);
    values.fill(0, usedBytes - forgotten, usedBytes);
    this.base = pos;
  }
}
