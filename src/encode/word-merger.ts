import { compileApart, methodsOf, spareThirdTier } from "../runtime/compile-sparingly.ts";
import { mergeHeaped } from "./merge-heaped.ts";
import { mergeListed } from "./merge-listed.ts";
import { mergeScanned } from "./merge-scanned.ts";
import { droppedByte, type EncodingModel } from "./model.ts";
import { findPair } from "./pairs.ts";
import { findWholeToken } from "./whole-tokens.ts";

/** Up to here the leftmost lowest rank is found by looking at all of them; about where a heap begins to pay. */
const scannedBytesMax = 64;
/** From here on positions are kept in a list a rank, which is linear; below, clearing the lists costs more. */
const listedBytesMin = 8192;

/**
 * Merges pretokens, one at a time, into ids. Three ways for three sizes, all to the same end: of all neighbours that
 * merge, those of the lowest rank first, of equal ranks the leftmost first.
 */
export class WordMerger {
  static {
    compileApart(mergeScanned, fillSymbols, fillByteRanks);
    spareThirdTier(...methodsOf(WordMerger));
  }

  /** The ids of the word merged last: the first so many of them as `merge` said. */
  ids = new Int32Array(scannedBytesMax);
  private readonly ranks = new Int32Array(scannedBytesMax);
  private rooms = { spans: new Int32Array(0), heap: new Float64Array(0) };

  constructor(private readonly model: EncodingModel) {}

  /** Encodes bytes[start .. end), a pretoken or a part of one, and returns the number of ids. */
  merge(bytes: Uint8Array, start: number, end: number): number {
    const { model } = this;
    const lengthBytes = end - start;
    if (model.wholeTokens !== null) {
      const id = findWholeToken(model.wholeTokens, bytes, start, end);
      if (id >= 0) {
        this.ids[0] = id;
        return 1;
      }
    }
    if (this.ids.length < lengthBytes) this.ids = new Int32Array(lengthBytes * 2);
    const symbolCount = fillSymbols(this.ids, bytes, start, end, model);
    if (symbolCount <= scannedBytesMax) {
      if (symbolCount === lengthBytes) fillByteRanks(this.ranks, bytes, start, end, model.byteRanks);
      else fillRanks(this.ranks, this.ids, symbolCount, model);
      return mergeScanned(this.ids, symbolCount, this.ranks, model);
    }
    if (symbolCount >= listedBytesMin && model.isMonotone) return mergeListed(this.ids, symbolCount, model);
    if (this.rooms.spans.length < symbolCount) {
      this.rooms = { spans: new Int32Array(symbolCount * 2), heap: this.rooms.heap };
    }
    if (this.rooms.heap.length < 3 * symbolCount) this.rooms.heap = new Float64Array(4 * symbolCount);
    return mergeHeaped(this.ids, symbolCount, this.rooms.spans, this.rooms.heap, model);
  }
}

/**
 * The ids that merging begins with: of bytes, and of characters where that is the same. Returns how many there are;
 * bytes that the vocabulary lacks are left out.
 */
function fillSymbols(
  ids: Int32Array,
  bytes: Uint8Array,
  start: number,
  end: number,
  { byteIds, characters }: EncodingModel,
): number {
  let symbolCount = 0;
  for (let pos = start; pos < end; pos++) {
    const byte = bytes[pos]!;
    if (byte >> 4 === 0xe && characters !== null && pos + 2 < end) {
      const tail = (bytes[pos + 1]! << 8) | bytes[pos + 2]!;
      const idAndOne =
        (tail & 0xc0c0) === 0x8080
          ? characters[((byte & 15) << 12) | ((tail >> 2) & 0xfc0) | (tail & 63)]!
          : 0;
      if (idAndOne !== 0) {
        ids[symbolCount++] = idAndOne - 1;
        pos += 2;
        continue;
      }
    }
    const id = byteIds[byte]!;
    ids[symbolCount] = id;
    symbolCount += id === droppedByte ? 0 : 1;
  }
  return symbolCount;
}

/** The ranks of neighbours where every symbol is a byte: no hashing. */
function fillByteRanks(
  ranks: Int32Array,
  bytes: Uint8Array,
  start: number,
  end: number,
  byteRanks: Int32Array,
): void {
  for (let pos = start + 1; pos < end; pos++) {
    ranks[pos - start - 1] = byteRanks[(bytes[pos - 1]! << 8) | bytes[pos]!]!;
  }
}

function fillRanks(ranks: Int32Array, ids: Int32Array, symbolCount: number, { pairs }: EncodingModel): void {
  for (let i = 0; i + 1 < symbolCount; i++) {
    ranks[i] = findPair(pairs, ids[i]!, ids[i + 1]!);
  }
}
