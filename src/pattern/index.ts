// Compiles a pattern into tables that cut bytes into pretokens.

export { loadCompiler } from "#ready-made";
export { type CompiledPattern, patternDigest } from "./compiled-pattern.ts";
export { cutText, findSafeCut } from "./cut-text.ts";
export * as patternForms from "./export-form.ts";
export { KernelScan, type SetUpAfter } from "./kernel-scan.ts";
export * as namedPatterns from "./named-patterns.ts";
export { patterns } from "./named-patterns.ts";
export * as compiledPatterns from "./pattern.ts";
export * as unicode from "./unicode.ts";
export { unicodeVersion } from "./unicode-version.ts";
