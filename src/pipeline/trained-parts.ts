import { compilePattern, type ResolvedPattern } from "../pattern/pattern.ts";
import type { TokenizerParts } from "../tokenizer/tokenizer-parts.ts";
import { partsOfVocabulary } from "../tokenizer/trained-tokenizer.ts";
import type { Vocabulary } from "../vocabulary/vocabulary.ts";

/** The tokenizer of a training, with the pattern it encodes by: what loading its files gives. */
export function trainedParts(vocabulary: Vocabulary, { name, sources }: ResolvedPattern): TokenizerParts {
  // HF's trainer also cuts after line ends; its tokenizer does not.
  return partsOfVocabulary(vocabulary, { name, sources, compiled: compilePattern(sources) });
}
