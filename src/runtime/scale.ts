/** Defined by builds, and for tests by `bun test --define`; undefined when the sources run directly. */
declare const BPE_SMALL_SCALE: boolean | undefined;

/**
 * Whether every size is tiny, as in dist/bpe-small and in some tests, so that small texts reach the edges of all
 * blocks, windows, batches and tables.
 */
export const isSmallScale = typeof BPE_SMALL_SCALE !== "undefined" && BPE_SMALL_SCALE;

/** Chooses a size that no result depends on: `usual`, or `tiny` at small scale. */
export const scaled = (usual: number, tiny: number): number => (isSmallScale ? tiny : usual);
