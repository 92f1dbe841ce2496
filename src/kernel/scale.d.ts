/**
 * Whether all sizes are tiny, as in kernel-small.wasm. The build (scripts/build-kernel.ts) defines it as a constant, so
 * that `isSmallScale ? 16 : 1 << 14` folds to a constant, too.
 */
declare const isSmallScale: bool;
