/** Whether all sizes are tiny, as in kernel-small.wasm. scripts/build-kernel.ts defines it as a constant. */
declare const isSmallScale: bool;
