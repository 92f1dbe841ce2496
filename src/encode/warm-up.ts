import { closeSync, readSync } from "node:fs";
import { canSeek, type Input, openInput } from "../corpus/inputs.ts";
import { resolvePattern } from "../pattern/index.ts";
import { buildModel, type EncodingModel } from "./model.ts";
import { TextEncoding } from "./text-encoding.ts";
import type { EncodingParts } from "./tokenizer-parts.ts";

const sampleSizeBytes = 1 << 19;
const sliceSizeBytes = 1 << 16;
/** By then the compiler has seen all of it often enough. */
const roundsMax = 6;

/**
 * Encodes the start of a file with a made-up model, for nothing but the runtime's compiler: it learns the loops on the
 * text that they will meet. A worker that was started before the tokenizer is loaded so spends the time until then.
 * Yields after each slice.
 */
export function* warmUp(input: Input): Generator<void, void> {
  const sample = readSample(input);
  const parts = madeUpParts();
  for (let round = 0; round < roundsMax; round++) {
    // A fresh one, so that words are merged too, not only looked up.
    const encoding = new TextEncoding(parts);
    for (let pos = 0; pos < sample.length; pos += sliceSizeBytes) {
      encoding.push(sample, pos, Math.min(sample.length, pos + sliceSizeBytes));
      encoding.out.flush();
      yield;
    }
    encoding.end();
  }
}

/** The first bytes of the file; none where it cannot be read, for that is said when it has to be. */
function readSample(input: Input): Uint8Array {
  const sample = new Uint8Array(sampleSizeBytes);
  if (!canSeek(input)) return sample.subarray(0, 0);
  let fd: number;
  try {
    fd = openInput(input);
  } catch {
    return sample.subarray(0, 0);
  }
  try {
    return sample.subarray(0, readSync(fd, sample, 0, sample.length, 0));
  } finally {
    closeSync(fd);
  }
}

function madeUpParts(): EncodingParts {
  return {
    model: madeUpModel(),
    pattern: resolvePattern("gpt2").compiled,
    normalization: null,
    addsPrefixSpace: false,
    addedTokens: [],
    isNarrow: true,
  };
}

const frequentLetters = " etaoinshrdlu";

/** Bytes, all pairs of small letters, and what frequent ones make with one more: enough to merge most words a little. */
function madeUpModel(): EncodingModel {
  const merges: [left: number, right: number][] = [];
  for (let left = 0; left < 26; left++) {
    for (let right = 0; right < 26; right++) merges.push([0x61 + left, 0x61 + right]);
  }
  const pairCount = merges.length;
  for (let pair = 0; pair < pairCount; pair++) {
    for (const letter of Buffer.from(frequentLetters)) merges.push([256 + pair, letter]);
  }
  return buildModel({
    byteIds: Int32Array.from({ length: 256 }, (_, byte) => byte),
    merges: {
      left: Int32Array.from(merges, ([left]) => left),
      right: Int32Array.from(merges, ([, right]) => right),
      merged: Int32Array.from(merges, (_, rank) => 256 + rank),
    },
  });
}
