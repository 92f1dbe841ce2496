/**
 * Whether every size is tiny, as in kernel-small.wasm: a constant of the compiler (scripts/build-kernel.ts), so that `isSmallScale ?
 * 16 : 1 << 14` is a constant too, which a call would not be. Both values of a size are in one place, the tiny one first.
 */
declare const isSmallScale: bool;
