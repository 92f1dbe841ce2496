import type { Point } from "./heaps.ts";

/**
 * The measurements of `measure.ts`, stored as bench/record/scale.json.
 */
export type ScaleRecord = {
  readonly date: string;
  readonly commit: string;
  readonly bun: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly load: string;
  readonly pattern: string;
  /**
   * Parts of each corpus, each about twice as large as the previous one. "all" is a mixture with the same share of each
   * corpus.
   */
  readonly growth: readonly { readonly name: string; readonly points: readonly Point[] }[];
  /** `bpe count -w 1 --save-counts`: processor time, start included; median of the rounds. */
  readonly counting: readonly {
    readonly name: string;
    readonly sizeBytes: number;
    readonly cpuSeconds: number;
    readonly cpuSecondsAll: readonly number[];
    readonly distinctWordCount: number;
    /** The size in bytes of the distinct words. */
    readonly wordBytes: number;
    /** The size of the counts file. */
    readonly compactBytes: number;
    /** The size of the same words and counts as lines of text. */
    readonly tsvBytes: number;
  }[];
  /** The measurement of `bpe plan` with small ranges. */
  readonly planning: { readonly rangeCount: number; readonly cpuSeconds: number };
  /** The measurement of `bpe count --counts` on the counts files of the smallest slices. */
  readonly addingUp: {
    readonly fileCount: number;
    readonly readWordCount: number;
    readonly distinctWordCount: number;
    readonly cpuSeconds: number;
  };
  /**
   * Two measurements: `bpe train --counts` on the words of the corpora, and merging alone on six million made-up words.
   */
  readonly merging: readonly {
    readonly distinctWordCount: number;
    readonly wordBytes: number;
    readonly cpuSeconds: number;
    readonly peakBytes: number;
  }[];
  /** The effect of leaving out words that occur fewer than `minCount` times in a slice. */
  readonly leavingOut: readonly LeavingOut[];
  /** How many of the exact merges are also learned from a shuffled part of the corpora. */
  readonly sampling: readonly {
    readonly share: number;
    readonly mergeCount: number;
    readonly sharedMerges: number;
  }[];
};

export type LeavingOut = {
  readonly sliceCount: number;
  readonly sliceBytes: number;
  readonly minCount: number;
  /** The total number of words in the files of all slices, which are sent to one machine. */
  readonly sentWordCount: number;
  readonly distinctWordCount: number;
  /** The share of occurrences that are left out. */
  readonly leftOutShare: number;
  readonly mergeCount: number;
  /** How many merges, from the first on, are the exact ones. */
  readonly sameMergesFirst: number;
  /** The number of exact merges that are also learned without the words that were left out. */
  readonly sharedMerges: number;
};
