import { type NamedPattern, patterns } from "./names.ts";
import { onigurumaSource } from "./oniguruma-source.ts";
import { parsePattern } from "./syntax.ts";

/** How HF's tokenizer.json says a pattern: its ByteLevel pre-tokenizer holds gpt2 itself, all else is a list of Splits. */
export type PatternExport =
  | { readonly kind: "byte-level" }
  | { readonly kind: "splits"; readonly regexes: readonly string[] };

export function exportForm(pattern: {
  readonly name: string | null;
  readonly sources: readonly string[];
}): PatternExport {
  if (pattern.name === "gpt2") return { kind: "byte-level" };
  if (pattern.name === null) {
    return {
      kind: "splits",
      regexes: pattern.sources.map((source) => onigurumaSource(parsePattern(source))),
    };
  }
  const named: NamedPattern = patterns[pattern.name as keyof typeof patterns];
  return { kind: "splits", regexes: named.huggingfaceSources ?? named.sources };
}
