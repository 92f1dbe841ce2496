import type { pageData } from "#pages";
import {
  type encodingModels,
  type TokenizerParts,
  type tokenCounting,
  tokenizers,
  tokenTables,
  type Vocabulary,
} from "#tokenizer";

export type Deflate = (bytes: Uint8Array<ArrayBuffer>) => Uint8Array;

/**
 * The columns of a vocabulary before they are compressed.
 *
 *   ARRAY    TYPE          LENGTH      MEANING
 *   steps    Int32Array    mergeCount  the difference of each id from the expected one (`stepsOf`)
 *   created  Float64Array  mergeCount  occurrences of a merge's token in the corpus, when the merge was made
 *   end      Float64Array  mergeCount  occurrences of a merge's token at the end; absent if they follow from `created`
 *   text     Float64Array  mergeCount  occurrences of a merge's token in a text
 */
type Source = {
  readonly idLimit: number;
  readonly merges: Pick<encodingModels.RankedMerges, "left" | "right">;
  readonly steps: Int32Array;
  readonly leaves: pageData.PackedVocabulary["leaves"];
  readonly tokenCounts: MergeCounts | null;
  readonly text: Float64Array | null;
};

type MergeCounts = {
  readonly created: Float64Array;
  readonly end?: Float64Array;
  /** An upper bound of the numbers in `created` and `end`. */
  readonly largest: number;
  readonly tokensBefore: number | null;
  readonly lastPairCount: number;
};

/** Token counts of a training. */
export type TokenCountsById = {
  /** How often each id's token occurred when it was created. */
  readonly createdCounts: Float64Array;
  /** How often each id's token occurs at the end. */
  readonly endCounts: Float64Array;
  /** Item k is the number of tokens in the corpus after k merges. */
  readonly tokensAfter: Float64Array;
  readonly lastPairCount: number;
};

const leafBytesMax = 256;

/** Packs a newly trained vocabulary. It takes few passes, because the user is waiting. */
export function packTrained(
  vocabulary: Vocabulary,
  tokenCounts: tokenCounting.TokenCounts,
  deflate: Deflate,
): pageData.PackedVocabulary {
  const { size, mergeCount, tokenIds, idsAreNumbers } = vocabulary;
  const startCount = tokenIds.length - mergeCount;
  const { createdCounts, pairCounts, tokensAfter } = tokenCounts;
  const merges = tokenizers.mergesInIds(vocabulary);
  return pack(
    {
      idLimit: size,
      merges,
      steps: idsAreNumbers ? noSteps(startCount, mergeCount) : stepsOf(tokenIds.subarray(startCount), size),
      leaves: trainedLeaves(vocabulary, tokenCounts),
      tokenCounts: {
        created: createdCounts.subarray(startCount),
        largest: tokensAfter[0]!,
        tokensBefore: tokensAfter[0]!,
        lastPairCount: pairCounts.at(-1) ?? 0,
      },
      text: null,
    },
    deflate,
  );
}

/** Lists start tokens and special tokens by id. Leaves out special tokens that share the id of another token. */
function trainedLeaves(
  vocabulary: Vocabulary,
  { createdCounts, endCounts }: tokenCounting.TokenCounts,
): pageData.PackedVocabulary["leaves"] {
  const { tokenIds, tokenBytes, mergeCount, specialTokens, specialIds } = vocabulary;
  const startCount = tokenIds.length - mergeCount;
  const leaves: pageData.PackedVocabulary["leaves"][number][] = [];
  for (let token = 0; token < startCount; token++) {
    const latin1 = latin1Of(tokenBytes.copy(token, leafBytesMax));
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

const latin1Of = (bytes: Uint8Array) => String.fromCharCode(...bytes.subarray(0, leafBytesMax));

export function packLoaded(
  { tokens, model }: TokenizerParts,
  known: {
    readonly tokenCounts?: TokenCountsById | undefined;
    readonly textCounts?: Float64Array | undefined;
  },
  deflate: Deflate,
): pageData.PackedVocabulary {
  const { merges } = model;
  const { tokenCounts, textCounts } = known;
  const byMerge = (byId: Float64Array) => Float64Array.from(merges.merged, (id) => byId[id]!);
  const isMade = new Uint8Array(tokens.idLimit);
  for (const id of merges.merged) isMade[id] = 1;
  const leaves: pageData.PackedVocabulary["leaves"][number][] = [];
  for (let id = isMade.indexOf(0); id >= 0; id = isMade.indexOf(0, id + 1)) {
    const bytes = tokenTables.bytesOf(tokens, id);
    if (bytes.length === 0) continue;
    const counts = [tokenCounts?.createdCounts[id] ?? null, tokenCounts?.endCounts[id] ?? null] as const;
    leaves.push([id, latin1Of(bytes), bytes.length, ...counts, textCounts?.[id] ?? null]);
  }
  return pack(
    {
      idLimit: tokens.idLimit,
      merges,
      steps: stepsOf(merges.merged, tokens.idLimit),
      leaves,
      tokenCounts:
        tokenCounts === undefined
          ? null
          : loadedCounts(byMerge(tokenCounts.createdCounts), byMerge(tokenCounts.endCounts), tokenCounts),
      text: textCounts === undefined ? null : byMerge(textCounts),
    },
    deflate,
  );
}

const loadedCounts = (
  created: Float64Array,
  end: Float64Array,
  { tokensAfter, lastPairCount }: TokenCountsById,
): MergeCounts => ({
  created,
  end,
  largest: Math.max(largestOf(created), largestOf(end)),
  tokensBefore: tokensBeforeOf(created, tokensAfter),
  lastPairCount,
});

function pack(
  { idLimit, merges, steps, leaves, tokenCounts, text }: Source,
  deflate: Deflate,
): pageData.PackedVocabulary {
  const columns = Object.entries({
    step: narrowed(steps, idLimit - 1),
    left: narrowed(merges.left, idLimit - 1),
    right: narrowed(merges.right, idLimit - 1),
    ...(tokenCounts !== null && { created: narrowed(tokenCounts.created, tokenCounts.largest) }),
    ...(tokenCounts?.end && { end: narrowed(tokenCounts.end, tokenCounts.largest) }),
    ...(text !== null && { text: narrowed(text, largestOf(text)) }),
  });
  const raw = Buffer.concat(columns.map(([, { buffer }]) => new Uint8Array(buffer)));
  return {
    mergeCount: steps.length,
    leaves,
    idLimit,
    tokensBefore: tokenCounts?.tokensBefore ?? null,
    lastPairCount: tokenCounts?.lastPairCount ?? null,
    columns: columns.map(([name, { BYTES_PER_ELEMENT: width }]) => ({ name, width })),
    data: Buffer.from(deflate(new Uint8Array(raw))).toString("base64"),
  };
}

/** Returns the steps of consecutive ids from `first` on. */
function noSteps(first: number, count: number): Int32Array {
  const steps = new Int32Array(count);
  steps[0] = first;
  return steps;
}

/**
 * Returns the `step` of each id (see PackedVocabulary): the id minus the expected id, modulo `idLimit`. The expected id
 * is 0 at first, and then the previous id + 1. So the steps of consecutive ids are 0, which compresses well.
 */
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

/**
 * Returns the number of tokens before the first merge, from which the page subtracts the occurrences of each new token.
 * Returns null if these subtractions do not give the number at the end, because a merge is missing or two merges share
 * an id.
 */
function tokensBeforeOf(created: Float64Array, tokensAfter: Float64Array): number | null {
  let left = tokensAfter[0]!;
  for (let k = 0; k < created.length; k++) left -= created[k]!;
  return left === tokensAfter.at(-1) ? tokensAfter[0]! : null;
}

function largestOf(numbers: Float64Array): number {
  let largest = 0;
  for (let k = 0; k < numbers.length; k++) if (numbers[k]! > largest) largest = numbers[k]!;
  return largest;
}

/** Copies numbers into the narrowest array that holds the largest of them. */
function narrowed(numbers: Int32Array | Float64Array, largest: number) {
  if (largest < 2 ** 8) return new Uint8Array(numbers);
  if (largest < 2 ** 16) return new Uint16Array(numbers);
  return largest < 2 ** 32 ? new Uint32Array(numbers) : new Float64Array(numbers);
}
