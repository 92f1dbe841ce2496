import { compilePattern, type ResolvedPattern } from "../pattern/pattern.ts";
import type { TokenizerParts } from "../tokenizer/tokenizer-parts.ts";
import { partsOfVocabulary } from "../tokenizer/trained-tokenizer.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";

/** The tokenizer of a training, with the pattern it encodes by: what loading its files gives. */
export function trainedParts(
  vocabulary: Vocabulary,
  { name, sources, compiled }: ResolvedPattern,
): TokenizerParts {
  // HF's trainer also cuts after line ends; its tokenizer does not.
  const isPlain = compiled.kind !== "scripts";
  return partsOfVocabulary(vocabulary, {
    name,
    sources,
    compiled: isPlain ? compilePattern(sources) : compiled,
  });
}
