import { fancyRegex } from "./dialect.ts";
import { mayLeaveGaps } from "./gaps.ts";
import { type NamedPattern, patterns } from "./named-patterns.ts";
import { portableForm } from "./portable-source.ts";

/** How HF's tokenizer.json says a pattern: its ByteLevel pre-tokenizer holds gpt2 itself, all else is a list of Splits. */
export type PatternExport =
  | { readonly kind: "byte-level" }
  | {
      readonly kind: "splits";
      readonly regexes: readonly string[];
      /** Text may be left between matches, which HF keeps and tiktoken drops. */
      readonly mayLeaveGaps: boolean;
    };

export function exportForm(pattern: {
  readonly name: string | null;
  readonly sources: readonly string[];
  readonly huggingfaceSources?: readonly string[];
}): PatternExport {
  if (pattern.name === "gpt2") return { kind: "byte-level" };
  const regexes =
    pattern.name === null
      ? (pattern.huggingfaceSources ?? pattern.sources.map((source) => portableForm(source, fancyRegex)))
      : huggingfaceForm(patterns[pattern.name as keyof typeof patterns]);
  return { kind: "splits", regexes, mayLeaveGaps: pattern.sources.some(mayLeaveGaps) };
}

/** The regular expressions that HF's engine must be given for a named pattern. */
export const huggingfaceForm = (pattern: NamedPattern) => pattern.huggingfaceSources ?? pattern.sources;
