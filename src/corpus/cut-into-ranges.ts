import { closeSync, readSync } from "node:fs";
import { type Text, textBuffers, utf8 } from "#bytes";
import { type CompiledPattern, findSafeCut } from "#pattern";
import { scaled } from "#runtime";
import { type Normalization, normalForms, SpecialTokenFinder } from "#text";
import { type Input, openInput, type Range, recordSeparator } from "./input.ts";

/** A position where a text may be divided between independent readers. */
export type Cut = {
  readonly pos: number;
  /** Whether the cut is a safe cut inside a document. Otherwise a document ends here. */
  readonly inside: boolean;
};

export type CutOptions = {
  /**
   * The pattern at whose safe cuts the text may be divided. If null, the text is cut only at the starts of special
   * tokens.
   */
  readonly pattern: CompiledPattern | null;
  /** How the text is normalized before the pattern cuts it; by default not at all. */
  readonly normalization?: Normalization | null;
  readonly specialTokens: readonly Uint8Array[];
};

/** The maximum number of bytes that follow the first byte of a character. */
const characterTailBytes = 3;

/** Finds positions where a text can be cut, by the bytes around them. */
export class CutFinder {
  /** The number of bytes that must be known before and after the searched bytes, to find the cuts in them. */
  readonly contextBytes: number;
  private readonly finder: SpecialTokenFinder;

  constructor(private readonly options: CutOptions) {
    this.finder = SpecialTokenFinder.of(options.specialTokens);
    this.contextBytes = Math.max(this.finder.longestBytes, characterTailBytes);
  }

  /**
   * Finds a cut in [from, stop) of a text that is known up to `limit`. The cut is the start of a special token that no
   * earlier special token overlaps. If there is no such token, and none reaches into [from, stop), the cut is the first
   * safe cut before `stop - characterTailBytes`. Otherwise, returns undefined.
   *
   * Before `from`, `contextBytes` bytes must be known, or all bytes since the beginning of the text or since an earlier
   * cut. After `stop`, `contextBytes` bytes must be known, or all bytes up to the end of the text.
   */
  find(text: Text, from: number, stop: number, limit: number): Cut | undefined {
    const { finder } = this;
    // A special token is a cut only if no earlier special token overlaps it. Every reader then finds it, whatever text
    // precedes it.
    finder.reset(text.bytes.subarray(0, limit));
    let reach = 0;
    let touched = false;
    for (let at = finder.find(0, limit); at < stop; at = finder.find(at + 1, limit)) {
      if (at >= from && at >= reach) return { pos: at, inside: false };
      reach = Math.max(reach, at + finder.foundBytes);
      touched ||= reach > from;
    }
    const { pattern } = this.options;
    if (touched || pattern === null) return undefined;

    // No special token begins in [from, stop). The search ends `characterTailBytes` earlier, so that the character at
    // the cut ends at or before `stop`, and no special token begins in it.
    const pos = this.safeCut(pattern, text, from, stop - characterTailBytes, limit);
    return pos < 0 ? undefined : { pos, inside: true };
  }

  /**
   * Returns the first safe cut in [from, stop), or a number below 0. If the text is normalized, normalization must not
   * change the character at the cut, nor any character that decides whether the cut is safe.
   */
  private safeCut(pattern: CompiledPattern, text: Text, from: number, stop: number, limit: number): number {
    const { normalization = null } = this.options;
    if (normalization === null) return findSafeCut(pattern, text, from, stop, limit);
    const normalizer = normalForms.TextNormalizer.of(normalization);
    const lowered = { ...text, bytes: normalizer.lowered(text.bytes) };
    const { bytes } = lowered;
    const isSettled = (pos: number, length: number) =>
      bytes[pos]! < 0x80 || (length > 0 && normalizer.isSettled(utf8.codePointOf(bytes, pos)));
    for (let start = from, pos = from; start < stop; ) {
      const length = pos < limit ? utf8.characterLengthAt(bytes, pos, limit) : 0;
      if (pos < limit && isSettled(pos, length)) {
        pos += length;
        continue;
      }
      const end = Math.min(stop, pos - afterCutBytes);
      const cut = end > start ? findSafeCut(pattern, lowered, start, end, pos) : -1;
      if (cut >= 0) return cut;
      start = pos = pos + Math.max(1, length);
    }
    return -1;
  }
}

/**
 * The number of bytes after a cut that matter: they decide whether the cut is safe, or normalization may combine them
 * with the character at the cut.
 */
const afterCutBytes = 12;

type FileCut = { readonly atByte: number; readonly inside: boolean };

/**
 * How many bytes are searched for a cut, from the wanted position on; in plain text, at least `probeSizeBytes`. If
 * these bytes have no cut, the range grows by another `rangeSizeBytes`, and the search begins again at its new end.
 */
const searchSizeBytes = scaled(1 << 20, 64);
const defaultProbeSizeBytes = scaled(1 << 16, 16);

class TextCutSearch {
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
    this.text = textBuffers.allocate(this.probeSizeBytes + 2 * this.finder.contextBytes);
  }

  /** Finds a cut in [targetByte, stopByte), near `targetByte`; undefined if the search finds none. */
  *findNear(targetByte: number, stopByte: number): Generator<undefined, FileCut | undefined> {
    const endByte = Math.min(stopByte, targetByte + Math.max(searchSizeBytes, this.probeSizeBytes));
    for (let probeByte = targetByte; probeByte < endByte; probeByte += this.probeSizeBytes) {
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

/** Finds where JSON lines or FASTA can be cut: after the first byte of the separator between two records. */
class RecordCutSearch {
  private readonly window = Buffer.alloc(defaultProbeSizeBytes);

  constructor(
    private readonly fd: number,
    private readonly separator: Uint8Array,
  ) {}

  /** Finds the first beginning of a record in [targetByte, stopByte); undefined if none is within `searchSizeBytes`. */
  *findNear(targetByte: number, stopByte: number): Generator<undefined, FileCut | undefined> {
    const { window, separator } = this;
    // The search begins one byte before `targetByte`, because a separator there means that a record begins at
    // `targetByte`. It finds no record that begins at `stopByte`, because a range from there would be empty.
    const endByte = Math.min(stopByte, targetByte + searchSizeBytes) - 1;
    // Windows overlap by all but one byte of a separator, because the end of a window may divide a separator.
    const overlapBytes = separator.length - 1;
    for (let offset = targetByte - 1; offset < endByte; offset += window.length - overlapBytes) {
      const wantedBytes = Math.min(window.length, endByte - offset + overlapBytes);
      const readBytes = readSync(this.fd, window, 0, wantedBytes, offset);
      const found = window.subarray(0, readBytes).indexOf(separator);
      if (found >= 0) return { atByte: offset + found + 1, inside: false };
      yield undefined;
    }
    return undefined;
  }
}

export type RangePlanOptions = CutOptions & {
  readonly rangeSizeBytes: number;
  /** Whether plain text is not cut, so that each text is in one range. Records are never cut. */
  readonly keepsTextsWhole?: boolean;
  readonly chunkSizeBytes?: number;
  /** The memory limit, in bytes, for the metadata of a Parquet file. */
  readonly textBytesMax?: number | undefined;
  /** The number of bytes of plain text that are searched for a cut at a time. */
  readonly probeSizeBytes?: number;
};

/**
 * Cuts a range of an input into smaller ones, and yields them in order. Also yields undefined whenever the bytes just
 * read have no cut, so that the caller can let the event loop run.
 */
export function* cutIntoRanges(
  input: Input,
  whole: Range,
  options: RangePlanOptions,
): Generator<Range | undefined, void> {
  const { rangeSizeBytes, keepsTextsWhole } = options;
  const { inputIndex } = whole;
  let { startByte, startsInside } = whole;
  const isText = input.format === "text";
  const staysWhole = input.format === "parquet" || (keepsTextsWhole && isText);
  // If less than half of `rangeSizeBytes` would be left after the wanted position, no cut is searched for, and this
  // range is the last.
  const isLast = (endByte: number) => staysWhole || whole.endByte - endByte < rangeSizeBytes / 2;
  if (!isLast(startByte + rangeSizeBytes)) {
    const fd = openInput(input);
    try {
      const search = isText
        ? new TextCutSearch(fd, input.sizeBytes, options)
        : new RecordCutSearch(fd, recordSeparator(input.format));
      for (let targetByte = startByte + rangeSizeBytes; !isLast(targetByte); targetByte += rangeSizeBytes) {
        const cut = yield* search.findNear(targetByte, whole.endByte);
        if (cut === undefined) continue; // The range grows by another `rangeSizeBytes`.
        yield { inputIndex, startByte, endByte: cut.atByte, startsInside, endsInside: cut.inside };
        startByte = cut.atByte;
        startsInside = cut.inside;
        targetByte = startByte;
      }
    } finally {
      closeSync(fd);
    }
  }
  yield { ...whole, startByte, startsInside };
}
