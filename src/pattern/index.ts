/** The room's front door: what the other stages use of patterns. */
export { type CompiledPattern, compilePattern } from "./compile.ts";
export { createSplitter } from "./create-splitter.ts";
export { patternDigest } from "./digest.ts";
export { exportForm, type PatternExport } from "./export-form.ts";
export { type NamedPattern, type PatternName, patterns } from "./names.ts";
export { describePattern, patternOfSources } from "./of-sources.ts";
export { type ResolvedPattern, resolvePattern } from "./resolve.ts";
export { findSafeCut } from "./safe-cut.ts";
export type { Splitter } from "./splitter.ts";
