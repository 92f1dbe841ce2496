import { idMergesNames, outputFiles } from "#formats";
import { files, scaled, UserError } from "#runtime";
import { tokenizers } from "#tokenizer";
import { alphabetSizeMax } from "./id-reader.ts";
import * as idWriters from "./id-writers.ts";

/**
 * Merges over an alphabet of ids. Ids below `alphabetSize` are symbols, and merge k produces the id
 * `alphabetSize` + k.
 *
 *   ARRAY   TYPE         LENGTH       MEANING
 *   left    Int32Array   mergeCount   id of the left half of merge k
 *   right   Int32Array   mergeCount   id of the right half of merge k
 *
 * In `merges.txt`, the first line has the size of the alphabet, and each further line a merge: `left right` in
 * decimal.
 */
export type IdMerges = {
  readonly alphabetSize: number;
  readonly left: Int32Array;
  readonly right: Int32Array;
};

/** Returns the id types of files of symbols and of files of tokens. */
export const typesOf = ({ alphabetSize, left }: IdMerges) => ({
  symbolType: idWriters.typeFor({ isNarrow: alphabetSize - 1 <= tokenizers.narrowIdMax }),
  tokenType: idWriters.typeFor({ isNarrow: alphabetSize + left.length - 1 <= tokenizers.narrowIdMax }),
});

/** Yields `merges.txt`. */
export function* idMergesFile(merges: IdMerges): Generator<Uint8Array> {
  yield new TextEncoder().encode(`${idMergesNames.head}${merges.alphabetSize}\n`);
  yield* linesOf(merges);
}

/** Yields the merges as lines. */
export function* linesOf({ left, right }: IdMerges): Generator<Uint8Array> {
  const chunk = new outputFiles.Chunk();
  for (let k = 0; k < left.length; k++) {
    chunk.decimal(left[k]!);
    chunk.ascii(" ");
    chunk.decimal(right[k]!);
    chunk.ascii("\n");
    if (chunk.isFull) yield chunk.take();
  }
  if (chunk.length > 0) yield chunk.take();
}

/** Reads a `merges.txt` over ids. Throws an error that says what is wrong with it. */
export function read(path: string): IdMerges {
  const fail = (what: string): never => {
    throw new UserError(`"${path}": ${what}`, {
      hint: "name the directory, or the merges.txt, that bpe ids train wrote",
    });
  };
  const lines = files.readText(path).split("\n");
  const size = lines[0]!.startsWith(idMergesNames.head)
    ? Number(lines[0]!.slice(idMergesNames.head.length))
    : Number.NaN;
  if (!(Number.isInteger(size) && size >= 1 && size <= alphabetSizeMax))
    fail("it contains no merges over ids");
  if (lines.at(-1) !== "") fail("its last line is cut off");
  const mergeCount = lines.length - 2;
  const left = new Int32Array(mergeCount);
  const right = new Int32Array(mergeCount);
  for (let k = 0; k < mergeCount; k++) {
    const [, a, b] = /^(\d{1,10}) (\d{1,10})$/.exec(lines[k + 1]!) ?? [];
    if (!(Number(a) < size + k && Number(b) < size + k))
      fail(`its line ${k + 2} is not two ids below ${size + k}, separated by a space`);
    left[k] = Number(a);
    right[k] = Number(b);
  }
  return { alphabetSize: size, left, right };
}

/**
 * Returns the character that represents symbol `id`: the one at index `id` among all code points that are not
 * surrogates. There are enough of them, because an alphabet has at most 2^20 symbols.
 */
export const characterOf = (id: number) =>
  String.fromCodePoint(id < surrogatesStart ? id : id + surrogateCount);

const surrogatesStart = 0xd800;
const surrogateCount = 0x800;

/** The maximum number of characters of all learned tokens together, for writing them as strings. */
const charactersMax = 2 ** 26;

/** Counts the symbols of each token, by id. */
export function symbolCounts({ alphabetSize, left, right }: IdMerges): Float64Array {
  const counts = new Float64Array(alphabetSize + left.length).fill(1, 0, alphabetSize);
  for (let k = 0; k < left.length; k++) counts[alphabetSize + k] = counts[left[k]!]! + counts[right[k]!]!;
  return counts;
}

/** Returns the reason why these merges cannot be written as a `tokenizer.json`, or null. */
export function charactersObstacle(merges: IdMerges): string | null {
  const sum = symbolCounts(merges).reduce((total, count) => total + count, -merges.alphabetSize);
  return sum <= charactersMax ? null : `its tokens have ${sum} symbols in all; the limit is ${charactersMax}`;
}

/**
 * Yields `tokenizer.json`: a BPE model of HF over the characters that represent the symbols (`characterOf`). It has no
 * pre-tokenizer.
 */
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
  const chunk = new outputFiles.Chunk();
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

/** Number of symbols between two yields. */
const sliceSymbols = scaled(1 << 14, 16);

/** Yields the symbols of tokens, in order. Each part is valid until the next one is requested. */
export function* symbolsOf(
  { alphabetSize, left, right }: IdMerges,
  ids: ArrayLike<number>,
): Generator<Uint32Array, void> {
  const symbols = new Uint32Array(sliceSymbols);
  let count = 0;
  // Tokens to expand later: the right halves of the tokens that are being expanded.
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
