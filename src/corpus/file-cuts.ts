import { readSync } from "node:fs";
import { allocateText, type Text } from "../bytes/text.ts";
import { CutFinder, type CutOptions } from "./cut-finder.ts";

/** Where a file can be cut: before this byte, and whether that is inside a document. */
export type FileCut = { readonly atByte: number; readonly inside: boolean };

/**
 * How far from the wished place a cut is looked for. Text has one every few bytes (docs/pattern.md); where a megabyte has
 * none, the next may well have none either, and the range ends where a later search succeeds.
 */
const searchSizeBytes = 1 << 20;
const defaultProbeSizeBytes = 1 << 16;

/** Finds the places where a file of text can be cut. */
export class TextCutSearch {
  private readonly finder: CutFinder;
  private readonly probeSizeBytes: number;
  private readonly text: Text;

  constructor(
    private readonly fd: number,
    private readonly fileBytes: number,
    options: CutOptions & { readonly probeSizeBytes?: number },
  ) {
    this.finder = new CutFinder(options);
    this.probeSizeBytes = options.probeSizeBytes ?? defaultProbeSizeBytes;
    this.text = allocateText(this.probeSizeBytes + 2 * this.finder.contextBytes);
  }

  /** The first cut found from `wishByte` on and before `stopByte`; undefined if none is near enough. */
  *near(wishByte: number, stopByte: number): Generator<undefined, FileCut | undefined> {
    const endByte = Math.min(stopByte, wishByte + Math.max(searchSizeBytes, this.probeSizeBytes));
    for (let probeByte = wishByte; probeByte < endByte; probeByte += this.probeSizeBytes) {
      const { contextBytes } = this.finder;
      const baseByte = Math.max(0, probeByte - contextBytes);
      const wantedEndByte = Math.min(this.fileBytes, probeByte + this.probeSizeBytes + contextBytes);
      const limit = readSync(this.fd, this.text.bytes, 0, wantedEndByte - baseByte, baseByte);
      const from = probeByte - baseByte;
      const cut = this.finder.find(this.text, from, Math.min(limit, from + this.probeSizeBytes), limit);
      if (cut !== undefined && baseByte + cut.pos > 0) {
        const atByte = baseByte + cut.pos;
        return atByte < stopByte ? { atByte, inside: cut.inside } : undefined;
      }
      yield undefined;
    }
    return undefined;
  }
}

/** Finds the places where a file of records in lines can be cut: behind the first byte of what is between two records. */
export class RecordCutSearch {
  private readonly window = Buffer.alloc(defaultProbeSizeBytes);

  constructor(
    private readonly fd: number,
    private readonly separator: Buffer,
  ) {}

  /** The first place from `wishByte` on and before `stopByte` where a record begins; undefined if none is near enough. */
  *near(wishByte: number, stopByte: number): Generator<undefined, FileCut | undefined> {
    const { window, separator } = this;
    // The line feed before `wishByte` counts, too. A record that begins at `stopByte` has no bytes.
    const endByte = Math.min(stopByte, wishByte + searchSizeBytes) - 1;
    // What is between two records may be cut by the end of a window.
    const overlapBytes = separator.length - 1;
    for (let offset = wishByte - 1; offset < endByte; offset += window.length - overlapBytes) {
      const wantedBytes = Math.min(window.length, endByte - offset + overlapBytes);
      const readBytes = readSync(this.fd, window, 0, wantedBytes, offset);
      const found = window.subarray(0, readBytes).indexOf(separator);
      if (found >= 0) return { atByte: offset + found + 1, inside: false };
      yield undefined;
    }
    return undefined;
  }
}
