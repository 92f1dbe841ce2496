import { spareThirdTier } from "../../runtime/host.ts";

/**
 * TokenTexts: the tokens of a vocabulary, spelled as in their file, and their ids.
 *
 *   ARRAY    TYPE         LENGTH        MEANING
 *   bytes    Uint8Array                 texts end to end, as UTF-8, and free room behind them
 *   starts   Int32Array   count + 1     offset into bytes; text t is bytes[starts[t] .. starts[t + 1])
 *   hashes   Int32Array   count         of the bytes of each text
 *   ids      Int32Array   count
 *   slots    Int32Array   2^slotBits    open addressing, at most half full, home = top bits of the spread hash; t + 1, 0 is free
 *   byId     Int32Array   count + 1     t + 1 of the token with that id, 0 for none; larger ids are left out
 */
export type TokenTexts = {
  readonly bytes: Uint8Array;
  readonly starts: Int32Array;
  readonly hashes: Int32Array;
  readonly ids: Int32Array;
  count: number;
  /** The largest id. */
  idMax: number;
  slots: Int32Array;
  slotBits: number;
  byId: Int32Array;
};

/** `"":0,` */
const smallestEntryBytes = 5;

/** Room for the most that a file of so many bytes can hold: memory that is not written costs nothing. */
export function allocateTexts(fileBytes: number): TokenTexts {
  const countMax = Math.ceil(fileBytes / smallestEntryBytes) + 1;
  return {
    bytes: new Uint8Array(2 * fileBytes),
    starts: new Int32Array(countMax + 1),
    hashes: new Int32Array(countMax),
    ids: new Int32Array(countMax),
    count: 0,
    idMax: 0,
    slots: new Int32Array(0),
    slotBits: 0,
    byId: new Int32Array(0),
  };
}

export const hashStep = (hash: number, byte: number) => (Math.imul(hash ^ byte, 0x01000193) + 0x3d4d51cb) | 0;
const homeOf = (hash: number, slotBits: number) => Math.imul(hash, 0x9e3779b1) >>> (32 - slotBits);

/** Fills `slots` and `byId`; false if two texts are the same. */
export function indexTexts(texts: TokenTexts): boolean {
  const { count, starts, hashes, ids } = texts;
  let slotBits = 4;
  while (2 ** slotBits < 2 * count) slotBits++;
  const slots = new Int32Array(2 ** slotBits);
  const byId = new Int32Array(count + 1);
  texts.slots = slots;
  texts.slotBits = slotBits;
  texts.byId = byId;
  for (let t = 0; t < count; t++) {
    if (findText(texts, starts[t]!, starts[t + 1]!, hashes[t]!) >= 0) return false;
    let slot = homeOf(hashes[t]!, slotBits);
    while (slots[slot] !== 0) slot = (slot + 1) & (slots.length - 1);
    slots[slot] = t + 1;
    if (ids[t]! <= count) byId[ids[t]!] = t + 1;
  }
  return true;
}

/** Index of the text equal to bytes[start .. end), or -1. */
export function findText(
  { bytes, starts, hashes, slots, slotBits }: TokenTexts,
  start: number,
  end: number,
  hash: number,
): number {
  for (let slot = homeOf(hash, slotBits); ; slot = (slot + 1) & (slots.length - 1)) {
    const t = slots[slot]! - 1;
    if (t < 0) return -1;
    if (hashes[t] === hash && equalSpans(bytes, starts[t]!, starts[t + 1]!, start, end)) return t;
  }
}

/** The id of the text equal to bytes[start .. end), or -1; the text of `likelyId` is compared first. */
export function idOfSpan(texts: TokenTexts, start: number, end: number, likelyId: number): number {
  const { bytes, starts, ids, byId } = texts;
  const likely = likelyId < byId.length ? byId[likelyId]! - 1 : -1;
  if (likely >= 0 && equalSpans(bytes, starts[likely]!, starts[likely + 1]!, start, end)) return likelyId;
  let hash = 0;
  for (let pos = start; pos < end; pos++) hash = hashStep(hash, bytes[pos]!);
  const t = findText(texts, start, end, hash);
  return t < 0 ? -1 : ids[t]!;
}

function equalSpans(
  bytes: Uint8Array,
  start: number,
  end: number,
  otherStart: number,
  otherEnd: number,
): boolean {
  if (end - start !== otherEnd - otherStart) return false;
  for (let pos = start; pos < end; pos++) if (bytes[pos] !== bytes[otherStart + pos - start]) return false;
  return true;
}

/** The texts, to be read like a Map of tokens to ids. */
export class ScannedVocabulary {
  private readonly encoder = new TextEncoder();

  constructor(readonly texts: TokenTexts) {}

  get(text: string): number | undefined {
    const { bytes, starts, count, ids } = this.texts;
    const start = starts[count]!;
    const { read, written } = this.encoder.encodeInto(text, bytes.subarray(start));
    // Half a surrogate pair is in no file of UTF-8, and a text longer than the file is not in it.
    if (read < text.length || !text.isWellFormed()) return undefined;
    let hash = 0;
    for (let i = 0; i < written; i++) hash = hashStep(hash, bytes[start + i]!);
    const t = findText(this.texts, start, start + written, hash);
    return t < 0 ? undefined : ids[t];
  }

  get size(): number {
    return this.texts.count;
  }

  get idMax(): number {
    return this.texts.idMax;
  }

  *[Symbol.iterator](): Generator<[string, number]> {
    const { bytes, starts, count, ids } = this.texts;
    for (let t = 0; t < count; t++) {
      yield [Buffer.from(bytes.buffer, starts[t]!, starts[t + 1]! - starts[t]!).toString("utf8"), ids[t]!];
    }
  }
}

spareThirdTier(indexTexts, findText, idOfSpan, equalSpans);
