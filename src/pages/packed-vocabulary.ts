import {
  copyTokenBytes,
  mergesInIds,
  type RankedMerges,
  type TokenCounts,
  type TokenizerParts,
  tokenBytesOf,
  type Vocabulary,
} from "#tokenizer";
import type { PackedVocabulary } from "./page-data.ts";

export type Deflate = (bytes: Uint8Array<ArrayBuffer>) => Uint8Array;

/**
 * What is packed of a tokenizer.
 *
 *   ARRAY        TYPE          LENGTH          MEANING
 *   created      Float64Array  mergeCount      occurrences in the corpus of what a merge makes, when it was made
 *   end          Float64Array  mergeCount      the same when all merges are made
 *   text         Float64Array  mergeCount      the same in a text
 *   tokensAfter  Float64Array  mergeCount + 1  tokens of the corpus after this many merges
 */
type Source = {
  readonly idLimit: number;
  readonly merges: RankedMerges;
  readonly leaves: PackedVocabulary["leaves"];
  readonly tokenCounts: MergeCounts | null;
  readonly text: Float64Array | null;
};

type MergeCounts = {
  readonly created: Float64Array;
  readonly end: Float64Array;
  readonly tokensAfter: Float64Array;
  readonly lastPairCount: number;
};

/** What a training knows of the tokens by id. */
export type TokenCountsById = {
  readonly createdCounts: Float64Array;
  readonly endCounts: Float64Array;
  readonly tokensAfter: Float64Array;
  readonly lastPairCount: number;
};

const leafBytesMax = 256;

/** Packs a vocabulary that was just trained. */
export function packTrained(
  vocabulary: Vocabulary,
  tokenCounts: TokenCounts,
  deflate: Deflate,
): PackedVocabulary {
  const { size, mergeCount, left, right, tokenIds } = vocabulary;
  const startCount = tokenIds.length - mergeCount;
  const isNumbered = tokenIds.length === size && tokenIds.every((id, token) => id === token);
  const { createdCounts, endCounts, pairCounts, tokensAfter } = tokenCounts;
  return pack(
    {
      idLimit: size,
      // Ids that are the numbers of the tokens need no copies.
      merges: isNumbered ? { left, right, merged: tokenIds.subarray(startCount) } : mergesInIds(vocabulary),
      leaves: trainedLeaves(vocabulary, tokenCounts),
      tokenCounts: {
        created: createdCounts.subarray(startCount),
        end: endCounts.subarray(startCount),
        tokensAfter,
        lastPairCount: pairCounts.at(-1) ?? 0,
      },
      text: null,
    },
    deflate,
  );
}

/** Bytes and special tokens, in the order of ids. A special token that shares its id with another one is that one. */
function trainedLeaves(
  vocabulary: Vocabulary,
  { createdCounts, endCounts }: TokenCounts,
): PackedVocabulary["leaves"] {
  const { tokenIds, tokenBytes, mergeCount, specialTokens, specialIds } = vocabulary;
  const startCount = tokenIds.length - mergeCount;
  const leaves: PackedVocabulary["leaves"][number][] = [];
  for (let token = 0; token < startCount; token++) {
    const latin1 = latin1Of(copyTokenBytes(tokenBytes, token, leafBytesMax));
    const counts = [createdCounts[token]!, endCounts[token]!, null] as const;
    leaves.push([tokenIds[token]!, latin1, tokenBytes.lengths[token]!, ...counts]);
  }
  for (const [s, content] of specialTokens.entries()) {
    const id = specialIds[s]!;
    if (tokenIds.includes(id)) continue;
    const bytes = new TextEncoder().encode(content);
    leaves.push([id, latin1Of(bytes), bytes.length, null, null, null]);
  }
  return leaves.sort(([a], [b]) => a - b);
}

const latin1Of = (bytes: Uint8Array) => Buffer.from(bytes.subarray(0, leafBytesMax)).toString("latin1");

/** Packs a loaded tokenizer, with the table of its training, and counts of a text by id, if there are any. */
export function packLoaded(
  { tokens, model }: TokenizerParts,
  known: {
    readonly tokenCounts?: TokenCountsById | undefined;
    readonly textCounts?: Float64Array | undefined;
  },
  deflate: Deflate,
): PackedVocabulary {
  const { merges } = model;
  const { tokenCounts, textCounts } = known;
  const byMerge = (byId: Float64Array) => Float64Array.from(merges.merged, (id) => byId[id]!);
  const isMade = new Uint8Array(tokens.idLimit);
  for (const id of merges.merged) isMade[id] = 1;
  const leaves: PackedVocabulary["leaves"][number][] = [];
  for (let id = isMade.indexOf(0); id >= 0; id = isMade.indexOf(0, id + 1)) {
    const bytes = tokenBytesOf(tokens, id);
    if (bytes.length === 0) continue;
    const counts = [tokenCounts?.createdCounts[id] ?? null, tokenCounts?.endCounts[id] ?? null] as const;
    leaves.push([id, latin1Of(bytes), bytes.length, ...counts, textCounts?.[id] ?? null]);
  }
  return pack(
    {
      idLimit: tokens.idLimit,
      merges,
      leaves,
      tokenCounts:
        tokenCounts === undefined
          ? null
          : {
              ...tokenCounts,
              created: byMerge(tokenCounts.createdCounts),
              end: byMerge(tokenCounts.endCounts),
            },
      text: textCounts === undefined ? null : byMerge(textCounts),
    },
    deflate,
  );
}

function pack({ idLimit, merges, leaves, tokenCounts, text }: Source, deflate: Deflate): PackedVocabulary {
  const { left, right, merged } = merges;
  const columns = Object.entries({
    step: narrowed(stepsOf(merged, idLimit), idLimit - 1),
    left: narrowed(left, idLimit - 1),
    right: narrowed(right, idLimit - 1),
    ...(tokenCounts !== null && {
      created: narrowed(tokenCounts.created, largestOf(tokenCounts.created)),
      end: narrowed(tokenCounts.end, largestOf(tokenCounts.end)),
    }),
    ...(text !== null && { text: narrowed(text, largestOf(text)) }),
  });
  const raw = Buffer.concat(columns.map(([, { buffer }]) => new Uint8Array(buffer)));
  return {
    mergeCount: merged.length,
    leaves,
    idLimit,
    tokensBefore: tokenCounts === null ? null : tokensBeforeOf(tokenCounts),
    lastPairCount: tokenCounts?.lastPairCount ?? null,
    columns: columns.map(([name, { BYTES_PER_ELEMENT: width }]) => ({ name, width })),
    data: Buffer.from(deflate(new Uint8Array(raw))).toString("base64"),
  };
}

/** Most ids follow one another: their steps are 0. */
function stepsOf(ids: Int32Array, idLimit: number): Int32Array {
  const steps = new Int32Array(ids.length);
  let expected = 0;
  for (let k = 0; k < ids.length; k++) {
    const id = ids[k]!;
    if (id !== expected) steps[k] = (id - expected + idLimit) % idLimit;
    expected = id + 1;
  }
  return steps;
}

/** Each merge takes away as many tokens as it makes: what is left adds up, if all merges are there, each with its own id. */
function tokensBeforeOf({ created, tokensAfter }: MergeCounts): number | null {
  let left = tokensAfter[0]!;
  for (let k = 0; k < created.length; k++) left -= created[k]!;
  return left === tokensAfter.at(-1) ? tokensAfter[0]! : null;
}

function largestOf(numbers: Float64Array): number {
  let largest = 0;
  for (let k = 0; k < numbers.length; k++) if (numbers[k]! > largest) largest = numbers[k]!;
  return largest;
}

/** A copy whose numbers, which go up to the largest, take few bytes. */
function narrowed(numbers: Int32Array | Float64Array, largest: number) {
  if (largest < 2 ** 8) return new Uint8Array(numbers);
  if (largest < 2 ** 16) return new Uint16Array(numbers);
  return largest < 2 ** 32 ? new Uint32Array(numbers) : new Float64Array(numbers);
}
