// Compiles a pattern into tables that cut bytes into pretokens. This is one module because the dialects, the automaton
// and the kernel's tables share one syntax tree.

export { loadCompiler } from "#ready-made";
export { type CompiledPattern, type PatternTables, patternDigest } from "./compiled-pattern.ts";
export { cutText, findSafeCut } from "./cut-text.ts";
export * as patternForms from "./export-form.ts";
export { KernelScan, type SetUpAfter } from "./kernel-scan.ts";
export {
  describeAliases,
  type NamedPattern,
  type PatternName,
  patterns,
  usualSuperwordPattern,
} from "./named-patterns.ts";
export {
  compiledForTexts,
  compilePattern,
  describePattern,
  patternOfSources,
  type ResolvedPattern,
  resolvePattern,
} from "./pattern.ts";
export * as unicode from "./unicode.ts";
export { unicodeVersion } from "./unicode-version.ts";
