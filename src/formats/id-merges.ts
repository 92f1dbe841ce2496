import { readSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { grown } from "../bytes/arrays.ts";
import { assert, UserError } from "../errors.ts";
import { isFile, readText, statOf, withRegularFile } from "../runtime/system-error.ts";
import { narrowIdMax } from "../tokenizer/tokenizer-parts.ts";
import { alphabetSizeMax } from "./id-reader.ts";
import { idTypeFor } from "./id-writers.ts";
import { Chunk } from "./output-file.ts";

/**
 * Merges over an alphabet of ids: ids below `alphabetSize` are its symbols, merge k makes `alphabetSize` + k.
 *
 *   ARRAY   TYPE         LENGTH       MEANING
 *   left    Int32Array   mergeCount   id of the left half of merge k
 *   right   Int32Array   mergeCount   id of its right half
 *
 * The file has a line for each merge, `left right` in decimal, behind a line that says the size of the alphabet.
 */
export type IdMerges = {
  readonly alphabetSize: number;
  readonly left: Int32Array;
  readonly right: Int32Array;
};

/** The types of ids in files: of the alphabet, and of all tokens. */
export const idTypesOf = ({ alphabetSize, left }: IdMerges) => ({
  symbolType: idTypeFor({ isNarrow: alphabetSize - 1 <= narrowIdMax }),
  tokenType: idTypeFor({ isNarrow: alphabetSize + left.length - 1 <= narrowIdMax }),
});

const head = "#bpe-ids ";

/** `merges.txt`. */
export function* idMergesFile(merges: IdMerges): Generator<Uint8Array> {
  yield new TextEncoder().encode(`${head}${merges.alphabetSize}\n`);
  yield* idMergeLines(merges);
}

/** The lines of the merges. */
export function* idMergeLines({ left, right }: IdMerges): Generator<Uint8Array> {
  const chunk = new Chunk();
  for (let k = 0; k < left.length; k++) {
    chunk.decimal(left[k]!);
    chunk.ascii(" ");
    chunk.decimal(right[k]!);
    chunk.ascii("\n");
    if (chunk.isFull) yield chunk.take();
  }
  if (chunk.length > 0) yield chunk.take();
}

/** The merges over ids that a path names: a directory, or a file in it. Undefined if it is no tokenizer of ids. */
export function idMergesPath(path: string): string | undefined {
  const stats = statOf(path);
  const isNamed = stats?.isFile() && ["merges.txt", "tokenizer.json"].includes(basename(path));
  // Anything else, a pipe, is no tokenizer, and nothing is looked for below it.
  if (!isNamed && !stats?.isDirectory()) return undefined;
  const mergesPath = join(isNamed ? dirname(path) : path, "merges.txt");
  return isFile(mergesPath) && readStart(mergesPath) === head ? mergesPath : undefined;
}

function readStart(path: string): string {
  const start = Buffer.alloc(head.length);
  return withRegularFile(path, (fd) => start.toString("latin1", 0, readSync(fd, start, 0, head.length, 0)));
}

/** Reads a `merges.txt` over ids; an error says what is wrong with it. */
export function readIdMerges(path: string): IdMerges {
  const fail = (what: string): never => {
    throw new UserError(`"${path}": ${what}`, {
      hint: "name the directory, or the merges.txt, that bpe train --input-format ids wrote",
    });
  };
  const lines = readText(path).split("\n");
  const size = lines[0]!.startsWith(head) ? Number(lines[0]!.slice(head.length)) : Number.NaN;
  if (!(Number.isInteger(size) && size >= 1 && size <= alphabetSizeMax)) fail("it holds no merges over ids");
  if (lines.at(-1) !== "") fail("its last line is cut off");
  const mergeCount = lines.length - 2;
  const left = new Int32Array(mergeCount);
  const right = new Int32Array(mergeCount);
  for (let k = 0; k < mergeCount; k++) {
    const [, a, b] = /^(\d{1,10}) (\d{1,10})$/.exec(lines[k + 1]!) ?? [];
    if (!(Number(a) < size + k && Number(b) < size + k)) fail(`line ${k + 2} is no merge of ids before it`);
    left[k] = Number(a);
    right[k] = Number(b);
  }
  return { alphabetSize: size, left, right };
}

/**
 * The character of a symbol: the code point of its number, behind the surrogates from their first on. So every alphabet of up
 * to 2^20 symbols is characters, in the order of their ids.
 */
export const characterOf = (id: number) =>
  String.fromCodePoint(id < surrogatesStart ? id : id + surrogateCount);

const surrogatesStart = 0xd800;
const surrogateCount = 0x800;

/** More characters of all tokens together are not written as strings. */
const charactersMax = 2 ** 26;

/** How many symbols each token stands for, by its id. */
export function symbolCounts({ alphabetSize, left, right }: IdMerges): Float64Array {
  const counts = new Float64Array(alphabetSize + left.length).fill(1, 0, alphabetSize);
  for (let k = 0; k < left.length; k++) counts[alphabetSize + k] = counts[left[k]!]! + counts[right[k]!]!;
  return counts;
}

/** Why there is no `tokenizer.json` of these merges, or null. */
export function charactersObstacle(merges: IdMerges): string | null {
  const sum = symbolCounts(merges).reduce((total, count) => total + count, -merges.alphabetSize);
  return sum <= charactersMax ? null : `its tokens have ${sum} symbols in all`;
}

/** `tokenizer.json`: HF's BPE over the characters of the symbols. A text is one word. */
export function* idTokenizerJson(merges: IdMerges): Generator<Uint8Array> {
  const { alphabetSize, left, right } = merges;
  const model = { dropout: null, unk_token: null, continuing_subword_prefix: null, end_of_word_suffix: null };
  const flags = { fuse_unk: false, byte_fallback: false, ignore_merges: false };
  const empty = { normalizer: null, pre_tokenizer: null, post_processor: null, decoder: { type: "Fuse" } };
  const root = { version: "1.0", truncation: null, padding: null, added_tokens: [], ...empty };
  const text = new TextEncoder();
  const start = JSON.stringify({ ...root, model: { type: "BPE", ...model, ...flags } }, null, 2);
  yield text.encode(`${start.slice(0, -"\n  }\n}".length)},\n    "vocab": {`);
  const texts: string[] = [];
  const chunk = new Chunk();
  for (let id = 0; id < alphabetSize + left.length; id++) {
    const k = id - alphabetSize;
    texts.push(k < 0 ? characterOf(id) : texts[left[k]!]! + texts[right[k]!]!);
    chunk.text(`${id === 0 ? "" : ","}\n      ${JSON.stringify(texts[id])}: ${id}`);
    if (chunk.isFull) yield chunk.take();
  }
  chunk.text('\n    },\n    "merges": [');
  for (let k = 0; k < left.length; k++) {
    const pair = JSON.stringify([texts[left[k]!]!, texts[right[k]!]!]);
    chunk.text(`${k === 0 ? "" : ","}\n      ${pair}`);
    if (chunk.isFull) yield chunk.take();
  }
  chunk.text(`${left.length === 0 ? "" : "\n    "}]\n  }\n}`);
  yield chunk.take();
}

/** Symbols between two yields. */
const sliceSymbols = 1 << 14;

/** The symbols that tokens stand for, in order. Each part is valid until the next one is asked for. */
export function* symbolsOf(
  { alphabetSize, left, right }: IdMerges,
  ids: ArrayLike<number>,
): Generator<Uint32Array, void> {
  const symbols = new Uint32Array(sliceSymbols);
  let count = 0;
  // Right halves that wait for their left ones.
  const waiting: number[] = [];
  for (let i = 0; i < ids.length; i++) {
    waiting.push(ids[i]!);
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      for (; id >= alphabetSize; id = left[id - alphabetSize]!) waiting.push(right[id - alphabetSize]!);
      symbols[count++] = id;
      if (count < sliceSymbols) continue;
      yield symbols;
      count = 0;
    }
  }
  if (count > 0) yield symbols.subarray(0, count);
}

/**
 * Encodes sequences of symbols: the pair of the lowest rank is merged first, from the left.
 *
 * The symbols of a document are a linked list, and the pairs that can be merged are in a heap, by rank and then by position.
 * A merge gives rise to two pairs at most, so a document of n symbols takes n log n.
 *
 *   ARRAY   TYPE           LENGTH         MEANING
 *   tokens  Uint32Array    symbolCount    id of the token that begins at a position, `gone` inside of one
 *   next    Int32Array     symbolCount    where the next token begins; symbolCount behind the last
 *   before  Int32Array     symbolCount    where the token before it begins, -1 before the first
 *   heap    Float64Array   heapCount      rank x symbolCount + position of a pair; the least on top
 */
export class SequenceMerger {
  private readonly ranks = new Map<number, number>();
  private heap = new Float64Array(1 << 12);
  private heapCount = 0;
  private symbolCount = 0;

  constructor(private readonly merges: IdMerges) {
    merges.left.forEach((left, rank) => {
      this.ranks.set(keyOf(left, merges.right[rank]!), rank);
    });
  }

  /** Encodes a document. Yields now and then. */
  *merge(symbols: Uint32Array): Generator<undefined, Uint32Array> {
    const { length } = symbols;
    const { alphabetSize, left, right } = this.merges;
    const tokens = symbols.slice();
    const next = Int32Array.from({ length }, (_, pos) => pos + 1);
    const before = Int32Array.from({ length }, (_, pos) => pos - 1);
    assert(left.length * length < 2 ** 53, "ranks and positions together are exact");
    this.symbolCount = length;
    this.heapCount = 0;
    for (let pos = 0; pos + 1 < length; pos++) {
      this.offer(tokens, pos, pos + 1);
      if (pos % workPerSlice === 0) yield;
    }
    for (let work = 1; this.heapCount > 0; work++) {
      if (work % workPerSlice === 0) yield;
      const top = this.takeTop();
      const rank = Math.floor(top / length);
      const pos = top - rank * length;
      const behind = next[pos]!;
      // The pair may be gone: one of the two has become another token.
      if (tokens[pos] !== left[rank] || behind >= length || tokens[behind] !== right[rank]) continue;
      tokens[pos] = alphabetSize + rank;
      tokens[behind] = gone;
      const after = next[behind]!;
      next[pos] = after;
      if (after < length) {
        before[after] = pos;
        this.offer(tokens, pos, after);
      }
      if (before[pos]! >= 0) this.offer(tokens, before[pos]!, pos);
    }
    return tokens.filter((token) => token !== gone);
  }

  /** Puts the pair of the tokens at two positions into the heap, if it can be merged. */
  private offer(tokens: Uint32Array, pos: number, behind: number): void {
    const rank = this.ranks.get(keyOf(tokens[pos]!, tokens[behind]!));
    if (rank === undefined) return;
    if (this.heapCount === this.heap.length) this.heap = grown(this.heap);
    const { heap } = this;
    const entry = rank * this.symbolCount + pos;
    let index = this.heapCount++;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (heap[parent]! <= entry) break;
      heap[index] = heap[parent]!;
      index = parent;
    }
    heap[index] = entry;
  }

  private takeTop(): number {
    const { heap } = this;
    const top = heap[0]!;
    const entry = heap[--this.heapCount]!;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= this.heapCount) break;
      if (child + 1 < this.heapCount && heap[child + 1]! < heap[child]!) child++;
      if (heap[child]! >= entry) break;
      heap[index] = heap[child]!;
      index = child;
    }
    heap[index] = entry;
    return top;
  }
}

const gone = 0xffffffff;
const workPerSlice = 1 << 14;

/** Ids are below 2^26 (`IdMerges`), so that a pair is a whole number below 2^52. */
const keyOf = (left: number, right: number) => left * 2 ** 26 + right;
