import { loadCompiler } from "#ready-made";
import { type NamedPattern, patterns } from "./named-patterns.ts";

const named: Readonly<Record<string, NamedPattern>> = patterns;

/**
 * Whether some text may have a character outside all matches. HF and `bpe` keep such characters as pretokens; tiktoken
 * and rustbpe drop them. The answer false is certain; the answer true may be wrong.
 */
export const mayLeaveGaps = ({
  name,
  sources,
}: {
  name: string | null;
  sources: readonly string[];
}): boolean =>
  name === null ? sources.some(loadCompiler().mayLeaveGaps) : named[name]!.mayLeaveGaps === true;

/**
 * A pattern as HF's tokenizer.json expresses it: gpt2 is part of the ByteLevel pre-tokenizer; any other pattern is a
 * list of Splits.
 */
export type PatternExport =
  | { readonly kind: "byte-level" }
  | {
      readonly kind: "splits";
      readonly regexes: readonly string[];
      /** The expressions for tiktoken. */
      readonly sources: readonly string[];
      /** Whether some character may be outside all matches. HF keeps such characters, and tiktoken drops them. */
      readonly mayLeaveGaps: boolean;
    };

export function exported(pattern: {
  readonly name: string | null;
  readonly sources: readonly string[];
  readonly huggingfaceSources?: readonly string[];
}): PatternExport {
  if (pattern.name === "gpt2") return { kind: "byte-level" };
  const regexes =
    pattern.name === null
      ? (pattern.huggingfaceSources ?? pattern.sources.map((source) => loadCompiler().portableForm(source)))
      : huggingface(named[pattern.name]!);
  return { kind: "splits", regexes, sources: pattern.sources, mayLeaveGaps: mayLeaveGaps(pattern) };
}

/**
 * Returns the canonical form of a pattern: its regular expressions in HF's files. A name and the regular expressions of
 * the named pattern have the same form.
 */
export function common({ name, sources }: { name: string | null; sources: readonly string[] }) {
  const typed = JSON.stringify(sources);
  const same = Object.entries<NamedPattern>(patterns).find(
    ([, other]) => JSON.stringify(other.sources) === typed,
  );
  const known = name ?? same?.[0] ?? null;
  const form = exported({ name: known === "gpt2" ? "r50k" : known, sources });
  return form.kind === "splits" ? form.regexes : [];
}

/** The regular expressions of a named pattern for HF's engine. */
export const huggingface = (pattern: NamedPattern) => pattern.huggingfaceSources ?? pattern.sources;

/** Returns llama.cpp's pre-tokenizer for a pattern as HF's files express it; undefined if there is none. */
export function llamaCppOf(form: PatternExport) {
  const regexes = form.kind === "byte-level" ? patterns.gpt2.sources : form.regexes;
  const isOne = (pattern: NamedPattern) => JSON.stringify(huggingface(pattern)) === JSON.stringify(regexes);
  return Object.values(named).find(isOne)?.llamaCpp;
}

/**
 * Returns llama.cpp's pre-tokenizer for a named pattern; undefined if there is none, or if the pattern has no name
 * (`null`).
 */
export const namedLlamaCpp = (name: string | null) => (name === null ? undefined : named[name])?.llamaCpp;

/** Describes llama.cpp's pre-tokenizer for a pattern; `null` means a user's own regular expression. */
export function describeLlamaCpp(name: string | null): string {
  const llamaCpp = namedLlamaCpp(name);
  if (llamaCpp === undefined) return "has no pre-tokenizer for this pattern";
  const { name: preTokenizer, differsAt } = llamaCpp;
  return `pre-tokenizer ${preTokenizer}${differsAt === undefined ? "" : `; it cuts differently at ${differsAt}`}`;
}
