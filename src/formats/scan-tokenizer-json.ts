import { isUtf8 } from "node:buffer";
import { ascii, json, utf8 } from "#bytes";
import { host } from "#runtime";
import { type encodingModels, tokenTables } from "#tokenizer";

/** A vocabulary, and its merges as ids. */
export type ScannedModel = { readonly vocab: TokenIds; readonly merges: encodingModels.RankedMerges };

/** A `tokenizer.json`: its model, and `root`, which is the rest as JSON. */
export type ScannedJson = ScannedModel & { readonly root: unknown };

/**
 * Reads the vocabulary and the merges of a `tokenizer.json` directly from its bytes. That takes a third of the time of
 * JSON.parse, which would create some 200,000 strings and lists. Returns null if anything is unusual or wrong; the file
 * must then be parsed as a whole.
 */
export function scanTokenizerJson(file: Uint8Array): ScannedJson | null {
  const scan = new TokenizerScan(file);
  const root = scanRoot(file, scan);
  const { vocab, merges } = scan;
  return root === null || vocab === null || merges === null ? null : { root, vocab, merges };
}

/** Returns the `root` of `scanTokenizerJson`, or null, without reading the vocabulary and the merges. */
export const scanFrame = (file: Uint8Array): unknown => scanRoot(file, new FrameScan(file));

function scanRoot(file: Uint8Array, scan: FrameScan): unknown {
  if (!isUtf8(file)) return null;
  const start = json.skipSpace(file, 0);
  if (file[start] !== ascii.openBrace) return null;
  try {
    const end = json.walkMembers(
      file,
      start,
      refuseDuplicates((key, pos) => {
        if (key !== "model" || file[pos] !== ascii.openBrace) return json.skipValue(file, pos);
        return json.walkMembers(
          file,
          pos,
          refuseDuplicates((inner, at) => scan.takeMember(inner, at)),
        );
      }),
    );
    if (end === json.invalid) return null;
    const root: unknown = JSON.parse(scan.frameText());
    return json.isTooDeep(root) ? null : root;
  } catch {
    return null;
  }
}

/** Reads the vocabulary and the merges of GPT-2's two files. Returns null if anything is unusual or wrong. */
export function scanGpt2(vocabFile: Uint8Array, mergesFile: Uint8Array): ScannedModel | null {
  if (!isUtf8(vocabFile) || !isUtf8(mergesFile)) return null;
  const texts = allocateTexts(vocabFile.length, Math.max(vocabFile.length, mergesFile.length));
  const end = scanVocabulary(vocabFile, json.skipSpace(vocabFile, 0), texts);
  if (end === json.invalid || json.skipSpace(vocabFile, end) !== vocabFile.length || !indexTexts(texts))
    return null;
  const room = allocateMerges(mergesFile.length / smallestLineBytes);
  const count = scanMergeLines(mergesFile, texts, room);
  return count === json.invalid ? null : { vocab: new TokenIds(texts), merges: firstMerges(room, count) };
}

/** The shortest line: a space between two empty tokens, and a line feed. */
const smallestLineBytes = 2;

/**
 * Reads merges from lines `a b`. Stores the ids of both halves and of the result of each merge, by rank. Returns the
 * number of merges, or `json.invalid`.
 */
function scanMergeLines(
  file: Uint8Array,
  texts: TokenTexts,
  { left, right, merged }: encodingModels.RankedMerges,
): number {
  const { bytes, ids, isMergeResult } = texts;
  const start = texts.starts[texts.count]!;
  let pos = 0;
  // `#version: 0.2`
  if (file[0] === 0x23) {
    if (utf8.decode(file, 0, 8) !== "#version") return json.invalid;
    pos = file.indexOf(ascii.lineFeed) + 1;
    if (pos === 0) return json.invalid;
  }
  let rank = 0;
  let next = 256;
  while (pos < file.length) {
    let at = start;
    let hash = 0;
    let byte = file[pos]!;
    for (; byte > ascii.space; byte = file[pos]!) {
      bytes[at] = byte;
      at = (at + 1) | 0;
      hash = hashStep(hash, byte);
      pos = (pos + 1) | 0;
    }
    const middle = at;
    const leftIndex = byte === ascii.space ? findText(texts, start, middle, hash) : -1;
    hash = 0;
    pos = (pos + 1) | 0;
    for (byte = file[pos]!; byte > ascii.space; byte = file[pos]!) {
      bytes[at] = byte;
      at = (at + 1) | 0;
      hash = hashStep(hash, byte);
      pos = (pos + 1) | 0;
    }
    // Carriage returns, empty lines and a last line without a line end are invalid here, so the slower reader in
    // gpt2.ts reads files that have them.
    const rightIndex = byte === ascii.lineFeed ? findText(texts, middle, at, hash) : -1;
    if (leftIndex < 0 || rightIndex < 0) return json.invalid;
    const made = indexOfSpan(texts, start, at, next);
    if (made < 0) return json.invalid;
    isMergeResult[made] = 1;
    const id = ids[made]!;
    left[rank] = ids[leftIndex]!;
    right[rank] = ids[rightIndex]!;
    merged[rank] = id;
    next = (id + 1) | 0;
    rank = (rank + 1) | 0;
    pos = (pos + 1) | 0;
  }
  return rank;
}

type TakeMember = Parameters<typeof json.walkMembers>[2];

/**
 * Makes the scan give up on an object with duplicate keys. Then JSON.parse reads the file, and uses the last of equal
 * keys.
 */
function refuseDuplicates(take: TakeMember): TakeMember {
  const keys = new Set<string | number>();
  return (key, ...places) => {
    if (keys.has(key)) return json.invalid;
    keys.add(key);
    return take(key, ...places);
  };
}

/** Scans the members of `model` in file order, and skips vocabulary and merges. */
class FrameScan {
  /** The file up to `copiedEnd`, with empty vocabulary and merges. */
  private text = "";
  private copiedEnd = 0;

  constructor(protected readonly file: Uint8Array) {}

  /** Scans a member of `model`. Returns the position after its value. */
  takeMember(key: string | number, pos: number): number {
    if (key !== "vocab" && key !== "merges") return json.skipValue(this.file, pos);
    const end = key === "vocab" ? this.takeVocab(pos) : this.takeMerges(pos);
    if (end === json.invalid) return json.invalid;
    this.text += `${utf8.decode(this.file, this.copiedEnd, pos)}${key === "vocab" ? "{}" : "[]"}`;
    this.copiedEnd = end;
    return end;
  }

  protected takeVocab(pos: number): number {
    return json.skipValue(this.file, pos);
  }

  protected takeMerges(pos: number): number {
    return json.skipValue(this.file, pos);
  }

  frameText(): string {
    return this.text + utf8.decode(this.file, this.copiedEnd);
  }
}

class TokenizerScan extends FrameScan {
  vocab: TokenIds | null = null;
  merges: encodingModels.RankedMerges | null = null;

  protected override takeVocab(pos: number): number {
    const texts = allocateTexts(this.file.length);
    const end = scanVocabulary(this.file, pos, texts);
    if (end === json.invalid || !indexTexts(texts)) return json.invalid;
    this.vocab = new TokenIds(texts);
    return end;
  }

  /** Scans the merges. Gives up if they come before the vocabulary. */
  protected override takeMerges(pos: number): number {
    if (this.vocab === null) return json.invalid;
    const room = allocateMerges((this.file.length - pos) / smallestMergeBytes);
    const { end, count } = scanMerges(this.file, pos, this.vocab.texts, room);
    if (end !== json.invalid) this.merges = firstMerges(room, count);
    return end;
  }
}

function allocateMerges(countMax: number): encodingModels.RankedMerges {
  const most = Math.ceil(countMax);
  return { left: new Int32Array(most), right: new Int32Array(most), merged: new Int32Array(most) };
}

const firstMerges = (
  { left, right, merged }: encodingModels.RankedMerges,
  count: number,
): encodingModels.RankedMerges => ({
  left: left.slice(0, count),
  right: right.slice(0, count),
  merged: merged.slice(0, count),
});

/** A lower bound of the bytes of a merge: `" ",` joins two empty tokens. */
const smallestMergeBytes = 4;

/** The result of `readString`: the end of the copied bytes, and their hash. */
const found = new Int32Array(2);

/**
 * Copies the bytes of the string at `pos`, with its escapes replaced, to bytes[at ..]. Returns the position after its
 * closing quote, or `json.invalid`.
 */
function readString(file: Uint8Array, pos: number, bytes: Uint8Array, at: number): number {
  if (file[pos] !== ascii.quote) return json.invalid;
  let hash = 0;
  const start = pos;
  const first = at;
  for (pos = (pos + 1) | 0; pos < file.length; pos = (pos + 1) | 0) {
    let byte = file[pos]!;
    if (byte === ascii.quote) {
      found[0] = at;
      found[1] = hash;
      return (pos + 1) | 0;
    }
    if (byte === ascii.backslash) {
      const codeUnit = escapedCodeUnit(file, (pos + 1) | 0);
      if (codeUnit < 0) return readEscaped(file, start, bytes, first);
      pos = (pos + (file[pos + 1] === lowerU ? 5 : 1)) | 0;
      byte = codeUnit;
      if (codeUnit >= 0x80) {
        if (codeUnit >= 0x800) {
          bytes[at] = 0xe0 | (codeUnit >> 12);
          hash = hashStep(hash, bytes[at]!);
          at = (at + 1) | 0;
        }
        bytes[at] = codeUnit >= 0x800 ? 0x80 | ((codeUnit >> 6) & 0x3f) : 0xc0 | (codeUnit >> 6);
        hash = hashStep(hash, bytes[at]!);
        at = (at + 1) | 0;
        byte = 0x80 | (codeUnit & 0x3f);
      }
    } else if (byte < ascii.space) return json.invalid;
    bytes[at] = byte;
    at = (at + 1) | 0;
    hash = hashStep(hash, byte);
  }
  return json.invalid;
}

const lowerU = 0x75;

/**
 * Returns the code unit of the escape whose second character is at `pos`. Returns -1 for a surrogate, and for
 * any escape other than `\"`, `\\` and a valid `\uXXXX`.
 */
function escapedCodeUnit(file: Uint8Array, pos: number): number {
  const letter = file[pos]!;
  if (letter === ascii.quote || letter === ascii.backslash) return letter;
  if (letter !== lowerU) return -1;
  let codeUnit = 0;
  for (let at = pos + 1; at < pos + 5; at++) {
    const byte = file[at]!;
    const lower = byte | 0x20;
    const digit =
      byte >= ascii.zero && byte <= ascii.zero + 9
        ? byte - ascii.zero
        : lower >= 0x61 && lower <= 0x66
          ? lower - 0x57
          : -1;
    if (digit < 0) return -1;
    codeUnit = (codeUnit << 4) | digit;
  }
  return codeUnit >= 0xd800 && codeUnit <= 0xdfff ? -1 : codeUnit;
}

/** Reads a string with an escape that `escapedCodeUnit` does not decode. */
function readEscaped(file: Uint8Array, start: number, bytes: Uint8Array, at: number): number {
  const end = json.skipValue(file, start);
  if (end === json.invalid) return json.invalid;
  let text: string;
  try {
    text = JSON.parse(utf8.decode(file, start, end));
  } catch {
    return json.invalid;
  }
  // Half a surrogate pair has no UTF-8.
  if (!text.isWellFormed()) return json.invalid;
  const { written } = new TextEncoder().encodeInto(text, bytes.subarray(at));
  found[0] = at + written;
  found[1] = hashOf(bytes, at, at + written);
  return end;
}

/**
 * Reads the texts of a vocabulary `{"a": 0, …}`, their hashes and ids. Returns the position after the object, or
 * `json.invalid`.
 */
function scanVocabulary(file: Uint8Array, pos: number, texts: TokenTexts): number {
  const { bytes, starts, hashes, ids } = texts;
  if (file[pos] !== ascii.openBrace) return json.invalid;
  let count = 0;
  let idMax = 0;
  let at = 0;
  const first = json.skipSpace(file, pos + 1);
  if (file[first] === ascii.closeBrace) return first + 1;
  for (;;) {
    pos = readString(file, json.skipSpace(file, pos + 1), bytes, at);
    if (pos === json.invalid) return json.invalid;
    at = found[0]!;
    hashes[count] = found[1]!;
    starts[count + 1] = at;
    pos = json.skipSpace(file, pos);
    if (file[pos] !== ascii.colon) return json.invalid;
    pos = json.skipSpace(file, pos + 1);
    const idStart = pos;
    let id = 0;
    for (
      let digit = file[pos]! - ascii.zero;
      digit >= 0 && digit <= 9 && id < tokenTables.idLimitMax;
      digit = file[pos]! - ascii.zero
    ) {
      id = (10 * id + digit) | 0;
      pos = (pos + 1) | 0;
    }
    const isNumber = pos > idStart && (file[idStart] !== ascii.zero || pos === idStart + 1);
    if (!isNumber || id >= tokenTables.idLimitMax) return json.invalid;
    ids[count] = id;
    idMax = id > idMax ? id : idMax;
    count = (count + 1) | 0;
    pos = json.skipSpace(file, pos);
    if (file[pos] === ascii.closeBrace) break;
    if (file[pos] !== ascii.comma) return json.invalid;
  }
  texts.count = count;
  texts.idMax = idMax;
  return pos + 1;
}

/**
 * Reads merges `[["a", "b"], …]` or `["a b", …]`. Stores the ids of both halves and of the result of each merge, by
 * rank. Returns the position after the list, or `json.invalid`, and the number of merges.
 */
function scanMerges(
  file: Uint8Array,
  pos: number,
  texts: TokenTexts,
  { left, right, merged }: encodingModels.RankedMerges,
): { end: number; count: number } {
  const fail = { end: json.invalid, count: 0 };
  const { bytes, ids, isMergeResult } = texts;
  // The halves of a merge are copied one after the other, after the vocabulary's texts, so that they spell the result.
  const start = texts.starts[texts.count]!;
  let rank = 0;
  let next = 256;
  if (file[pos] !== ascii.openBracket) return fail;
  const first = json.skipSpace(file, pos + 1);
  if (file[first] === ascii.closeBracket) return { end: first + 1, count: 0 };
  for (;;) {
    pos = json.skipSpace(file, pos + 1);
    let leftHash: number;
    let rightHash: number;
    let middle: number;
    if (file[pos] === ascii.openBracket) {
      pos = readString(file, json.skipSpace(file, pos + 1), bytes, start);
      if (pos === json.invalid) return fail;
      middle = found[0]!;
      leftHash = found[1]!;
      pos = json.skipSpace(file, pos);
      if (file[pos] !== ascii.comma) return fail;
      pos = readString(file, json.skipSpace(file, pos + 1), bytes, middle);
      if (pos === json.invalid) return fail;
      rightHash = found[1]!;
      pos = json.skipSpace(file, pos);
      if (file[pos] !== ascii.closeBracket) return fail;
      pos = (pos + 1) | 0;
    } else {
      pos = readString(file, pos, bytes, start);
      if (pos === json.invalid) return fail;
      middle = closeGap(bytes, start, found[0]!);
      if (middle === json.invalid) return fail;
      found[0] = found[0]! - 1;
      leftHash = hashOf(bytes, start, middle);
      rightHash = hashOf(bytes, middle, found[0]!);
    }
    const end = found[0]!;
    const leftIndex = findText(texts, start, middle, leftHash);
    const rightIndex = findText(texts, middle, end, rightHash);
    if (leftIndex < 0 || rightIndex < 0) return fail;
    left[rank] = ids[leftIndex]!;
    right[rank] = ids[rightIndex]!;
    // The results of merges usually have consecutive ids, so `next` is the likely one.
    const made = indexOfSpan(texts, start, end, next);
    if (made < 0) return fail;
    isMergeResult[made] = 1;
    const id = ids[made]!;
    merged[rank] = id;
    next = (id + 1) | 0;
    rank = (rank + 1) | 0;
    pos = json.skipSpace(file, pos);
    if (file[pos] === ascii.closeBracket) return { end: pos + 1, count: rank };
    if (file[pos] !== ascii.comma) return fail;
  }
}

/**
 * Removes the only space in bytes[start .. end) and returns its position. Returns `json.invalid` if there is not
 * exactly one.
 */
function closeGap(bytes: Uint8Array, start: number, end: number): number {
  const gap = bytes.indexOf(ascii.space, start);
  if (gap < 0 || gap >= end) return json.invalid;
  bytes.copyWithin(gap, gap + 1, end);
  for (let pos = gap; pos < end - 1; pos++) if (bytes[pos] === ascii.space) return json.invalid;
  return gap;
}

function hashOf(bytes: Uint8Array, start: number, end: number): number {
  let hash = 0;
  for (let pos = start; pos < end; pos++) hash = hashStep(hash, bytes[pos]!);
  return hash;
}

host.disableFtl(
  json.skipSpace,
  readString,
  escapedCodeUnit,
  scanVocabulary,
  scanMerges,
  scanMergeLines,
  hashOf,
);

/**
 * TokenTexts: the tokens of a vocabulary, spelled as in their file, and their ids.
 *
 *   ARRAY          TYPE        LENGTH      MEANING
 *   bytes          Uint8Array              texts end to end, as UTF-8, followed by free space
 *   starts         Int32Array  count + 1   offset into bytes; text t is bytes[starts[t] .. starts[t + 1])
 *   hashes         Int32Array  count       the hash of the bytes of each text
 *   ids            Int32Array  count
 *   slots          Int32Array  2^slotBits  t + 1, or 0 if free; open addressing, at most half full; the home slot of
 *                                          a text is the top bits of its spread hash
 *   byId           Int32Array  count + 1   t + 1 if text t has the id, or 0 if no text has it; ids above count are
 *                                          left out
 *   isMergeResult  Uint8Array  count       1: a merge produces the text
 */
type TokenTexts = {
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
  isMergeResult: Uint8Array;
};

/** The shortest entry: `"":0,`. */
const smallestEntryBytes = 5;

/**
 * Allocates arrays for the texts of a vocabulary file of `fileBytes` bytes, and `moreBytes` bytes more for texts to
 * look up. The arrays are as large as the worst case needs, because memory that is never written costs nothing.
 */
function allocateTexts(fileBytes: number, moreBytes = fileBytes): TokenTexts {
  const countMax = Math.ceil(fileBytes / smallestEntryBytes) + 1;
  return {
    bytes: new Uint8Array(fileBytes + moreBytes),
    starts: new Int32Array(countMax + 1),
    hashes: new Int32Array(countMax),
    ids: new Int32Array(countMax),
    count: 0,
    idMax: 0,
    slots: new Int32Array(0),
    slotBits: 0,
    byId: new Int32Array(0),
    isMergeResult: new Uint8Array(0),
  };
}

const hashStep = (hash: number, byte: number) => (Math.imul(hash ^ byte, 0x01000193) + 0x3d4d51cb) | 0;
const homeOf = (hash: number, slotBits: number) => Math.imul(hash, 0x9e3779b1) >>> (32 - slotBits);

/** Fills `slots` and `byId`. Returns false if two texts are equal. */
function indexTexts(texts: TokenTexts): boolean {
  const { count, starts, hashes, ids } = texts;
  let slotBits = 4;
  while (2 ** slotBits < 2 * count) slotBits++;
  const slots = new Int32Array(2 ** slotBits);
  const byId = new Int32Array(count + 1);
  texts.slots = slots;
  texts.slotBits = slotBits;
  texts.byId = byId;
  texts.isMergeResult = new Uint8Array(count);
  for (let t = 0; t < count; t++) {
    if (findText(texts, starts[t]!, starts[t + 1]!, hashes[t]!) >= 0) return false;
    let slot = homeOf(hashes[t]!, slotBits);
    while (slots[slot] !== 0) slot = (slot + 1) & (slots.length - 1);
    slots[slot] = t + 1;
    if (ids[t]! <= count) byId[ids[t]!] = t + 1;
  }
  return true;
}

/** Returns the index of the text equal to bytes[start .. end), or -1. */
function findText(
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

/** Returns the index of the text equal to bytes[start .. end), or -1. Compares the text of `likelyId` first. */
function indexOfSpan(texts: TokenTexts, start: number, end: number, likelyId: number): number {
  const { bytes, starts, byId } = texts;
  const likely = likelyId < byId.length ? byId[likelyId]! - 1 : -1;
  if (likely >= 0 && equalSpans(bytes, starts[likely]!, starts[likely + 1]!, start, end)) return likely;
  return findText(texts, start, end, hashOf(bytes, start, end));
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

/** The ids of a vocabulary by token, as spelled in the file. Has `get`, `size` and iteration like a Map. */
export class TokenIds {
  private readonly encoder = new TextEncoder();

  constructor(readonly texts: TokenTexts) {}

  get(text: string): number | undefined {
    const { bytes, starts, count, ids } = this.texts;
    const start = starts[count]!;
    const { read, written } = this.encoder.encodeInto(text, bytes.subarray(start));
    // A text longer than the file cannot be in it, nor can half a surrogate pair, which has no UTF-8.
    if (read < text.length || !text.isWellFormed()) return undefined;
    const t = findText(this.texts, start, start + written, hashOf(bytes, start, start + written));
    return t < 0 ? undefined : ids[t];
  }

  get size(): number {
    return this.texts.count;
  }

  /** The largest id; 0 if there are none. */
  get idMax(): number {
    return this.texts.idMax;
  }

  /** The tokens as spelled in the file, in UTF-8. */
  get spelled(): encodingModels.PackedTokens {
    const { bytes, starts, count, ids } = this.texts;
    return { bytes, starts: starts.subarray(0, count + 1), ids: ids.subarray(0, count) };
  }

  /** Yields the tokens that have one of these ids. */
  withIds(wanted: ReadonlySet<number>): Generator<[string, number]> {
    return this.entries((t) => wanted.has(this.texts.ids[t]!));
  }

  /** Yields the tokens that no merge produces. */
  tokensWithoutMerge(): Generator<[string, number]> {
    return this.entries((t) => this.texts.isMergeResult[t] === 0);
  }

  private *entries(isWanted: (index: number) => boolean): Generator<[string, number]> {
    const { bytes, starts, count, ids } = this.texts;
    for (let t = 0; t < count; t++) {
      if (!isWanted(t)) continue;
      yield [Buffer.from(bytes.buffer, starts[t]!, starts[t + 1]! - starts[t]!).toString("utf8"), ids[t]!];
    }
  }

  [Symbol.iterator](): Generator<[string, number]> {
    return this.entries(() => true);
  }
}

host.disableFtl(indexTexts, findText, indexOfSpan, equalSpans);
