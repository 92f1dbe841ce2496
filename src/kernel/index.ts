// The kernel: hot loops in AssemblyScript, compiled to one WebAssembly module. What is exported here is what JavaScript may
// call; `KernelExports` in src/runtime/kernel.ts has the same functions as JavaScript sees them.
export { memoryBytes } from "./memory";
export { rowsEnd, useVocabulary, writeIds, writeMerges, writeRanks } from "./vocabulary-rows";
