/**
 * Whether all sizes are tiny, as in kernel-small.wasm. The compiler defines it (scripts/build-kernel.ts), so
 * `isSmallScale ? 16 : 1 << 14` folds to a constant; the result of a function call would not. Both values of a size are
 * written in one place, the tiny one first.
 */
declare const isSmallScale: bool;
