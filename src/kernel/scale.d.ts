/**
 * Whether every size is tiny, as in kernel-small.wasm. It is a constant of the compiler (scripts/build-kernel.ts), so that
 * `isSmallScale ? 16 : 1 << 14` is also constant, unlike a call. Both values of a size are in one place, the tiny one first.
 */
declare const isSmallScale: bool;
