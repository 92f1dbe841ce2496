import { encodeBytes } from "../../bytes/byte-characters.ts";
import { createSha256 } from "../../runtime/host.ts";
import type { Operations } from "../operations.ts";
import { copyTokenBytes } from "../token-bytes.ts";
import type { FinishedTokenizer, Vocabulary } from "../vocabulary.ts";
import { Chunk, type OutputFile } from "./output-file.ts";

/**
 * The file of a tokenizer with supermerges, from which `bpe encode` and the library load it: a head, then the operations in
 * their order, as BoundlessBPE's authors number them, then the SHA-256 of all lines before.
 *
 *     #bpe-boundless<TAB>{"version":1,"operationCount":2,"specialTokens":["<|endoftext|>"],"reservedCount":0}
 *     W<TAB>111428<TAB>Ġ t
 *     S<TAB>3114<TAB>Ġof Ġthe
 *     #sha256<TAB>9b0c…
 *
 * W is a merge inside of pretokens, S joins whole ones; then how often it was made, and its halves in byte-to-character form.
 * Ids: the bytes are 0-255, each operation that makes a token not there before has the next one, then special tokens.
 */
export const operationsName = "operations.txt";
export const operationsMark = "#bpe-boundless";
export const operationsVersion = 1;
export const checksumMark = "#sha256";

export function boundlessFiles({ vocabulary }: FinishedTokenizer): OutputFile[] {
  return [{ name: operationsName, chunks: () => operationLines(vocabulary, vocabulary.operations!) }];
}

function* operationLines(vocabulary: Vocabulary, operations: Operations): Generator<Uint8Array> {
  const { specialTokens, reservedCount, tokenBytes } = vocabulary;
  const { operationCount, areSuper, left, right, counts } = operations;
  const head = { version: operationsVersion, operationCount, specialTokens, reservedCount };
  const chunk = new Chunk();
  const sha256 = createSha256();
  const taken = () => {
    const bytes = chunk.take();
    sha256.update(bytes);
    return bytes;
  };
  chunk.text(`${operationsMark}\t${JSON.stringify(head)}\n`);
  for (let k = 0; k < operationCount; k++) {
    chunk.ascii(areSuper[k] === 1 ? "S\t" : "W\t");
    chunk.ascii(String(counts[k]));
    chunk.ascii("\t");
    chunk.text(encodeBytes(copyTokenBytes(tokenBytes, left[k]!)));
    chunk.ascii(" ");
    chunk.text(encodeBytes(copyTokenBytes(tokenBytes, right[k]!)));
    chunk.ascii("\n");
    if (chunk.isFull) yield taken();
  }
  yield taken();
  chunk.ascii(`${checksumMark}\t${sha256.digest("hex")}\n`);
  yield chunk.take();
}

/** Why a tokenizer cannot be written in this format, or null. */
export const boundlessObstacle = ({ vocabulary }: FinishedTokenizer): string | null =>
  vocabulary.operations === undefined
    ? "it is for tokenizers with supermerges, which --superwords boundless learns"
    : null;

/** Why a tokenizer with supermerges cannot be written in any other format; null for others. */
export const supermergeObstacle = ({ vocabulary }: FinishedTokenizer): string | null =>
  vocabulary.operations === undefined
    ? null
    : "it has no place for supermerges, which join whole pretokens; --format boundless has";
