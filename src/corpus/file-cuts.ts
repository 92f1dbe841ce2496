import { readSync } from "node:fs";
import type { FileSource } from "./byte-sources.ts";
import type { FileCut } from "./range.ts";

export const lineFeed = 0x0a;
const windowSizeBytes = 1 << 16;
/** How far a cut is looked for; where lines are longer, a range is as long as its last line needs. */
const searchSizeBytes = 1 << 20;

/** Finds the places where a file of lines that stand for themselves can be cut. */
export class LineSearch {
  private readonly window = Buffer.alloc(windowSizeBytes);

  constructor(private readonly fd: number) {}

  /** The first place at or behind `wishByte` and before `stopByte` where a line begins; undefined if none is in reach. */
  *near(wishByte: number, stopByte: number): Generator<undefined, FileCut | undefined> {
    const { window } = this;
    // The line feed in front of `wishByte` counts, too. A line that begins at `stopByte` has no bytes.
    const endByte = Math.min(stopByte, wishByte + searchSizeBytes) - 1;
    for (let offset = wishByte - 1; offset < endByte; offset += window.length) {
      const wantedBytes = Math.min(window.length, endByte - offset);
      const readBytes = readSync(this.fd, window, 0, wantedBytes, offset);
      const found = window.subarray(0, readBytes).indexOf(lineFeed);
      if (found >= 0) return { atByte: offset + found + 1, inside: false };
      yield undefined;
    }
    return undefined;
  }
}

/** How many lines end before `endByte`. */
export function countLines(source: FileSource, endByte: number): number {
  const window = Buffer.alloc(1 << 20);
  let count = 0;
  for (let offset = 0; offset < endByte; ) {
    const readBytes = source.read(window, 0, Math.min(window.length, endByte - offset), offset);
    count += lineFeedsIn(window.subarray(0, readBytes));
    offset += readBytes;
  }
  return count;
}

export function lineFeedsIn(bytes: Buffer): number {
  let count = 0;
  for (let pos = bytes.indexOf(lineFeed); pos >= 0; pos = bytes.indexOf(lineFeed, pos + 1)) count++;
  return count;
}
