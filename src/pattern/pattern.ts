/** The room's front door: what the other stages use of patterns. */
export { type CompiledPattern, compilePattern } from "./compile.ts";
export { createSplitter } from "./create-splitter.ts";
export { type Dialect, fancyRegex, oniguruma } from "./dialect.ts";
export { patternDigest } from "./digest.ts";
export { exportForm, huggingfaceForm, type PatternExport } from "./export-form.ts";
export { mayLeaveGaps } from "./gaps.ts";
export { type NamedPattern, type PatternName, patterns } from "./named-patterns.ts";
export { describePattern, patternOfSources } from "./of-sources.ts";
export { PatternLimit } from "./pattern-limit.ts";
export { portableForm } from "./portable-source.ts";
export { type ResolvedPattern, resolvePattern } from "./resolve.ts";
export { findSafeCut } from "./safe-cut.ts";
export type { Splitter } from "./splitter.ts";
export { parsePattern } from "./syntax.ts";
