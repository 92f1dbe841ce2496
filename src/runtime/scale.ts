/** Defined by builds, and for tests by `bun test --define`; undefined when the sources run directly. */
declare const BPE_SMALL_SCALE: boolean | undefined;

/**
 * Whether every size that `scaled` chooses is tiny, as in dist/bpe-small and in some tests. Then small texts reach the
 * edges of blocks, windows, batches and tables.
 */
export const isSmallScale = typeof BPE_SMALL_SCALE !== "undefined" && BPE_SMALL_SCALE;

/** Chooses a size that no result depends on: `usual`, or `tiny` at small scale. */
export const scaled = (usual: number, tiny: number): number => (isSmallScale ? tiny : usual);
