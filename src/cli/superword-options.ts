import { usageError } from "../errors.ts";
import type { Compat } from "../merge/merges.ts";
import { type SuperwordSettings, settleSuperwords } from "../pipeline/superword-settings.ts";
import type { Trained } from "../pipeline/train.ts";
import type { TypedOptions } from "./option-values.ts";
import { grouped } from "./units.ts";

/**
 * The options of superwords; null: there are to be none.
 *
 * @param sizes of the vocabularies that are to be made
 * @param baseSize bytes and special tokens
 */
export function readSuperwordOptions(
  options: TypedOptions,
  sizes: readonly number[],
  baseSize: number,
  compat: Compat,
): SuperwordSettings | null {
  const fromVocabSize = options.wholeNumber("superwords-from", 1);
  const pattern = options.text("superword-pattern");
  if (fromVocabSize === undefined) {
    if (pattern === undefined) return null;
    throw usageError(
      "--superword-pattern is for --superwords-from, which is missing",
      "e.g. --superwords-from 24000",
    );
  }
  if (options.has("counts")) {
    throw usageError(
      "--superwords-from needs the text, and --counts has only its words",
      "name the files that were counted",
    );
  }
  return settleSuperwords(
    { fromVocabSize, pattern },
    { vocabSizeLeast: Math.min(...sizes), baseSize },
    compat,
    { from: "--superwords-from", vocabSize: "--vocab-size" },
  );
}

/** The row of the summary about superwords, if they were learned. */
export function superwordRows({ superwordFacts: facts }: Trained): [string, string][] {
  if (facts === undefined) return [];
  const dropped = facts.droppedCount === 0 ? "" : `, ${grouped(facts.droppedCount)} left out`;
  const text =
    `behind ${grouped(facts.inheritedCount)} merges${dropped}, from ${grouped(facts.pretokenCount)} pretokens, ` +
    `${grouped(facts.distinctWordCount)} of them distinct`;
  return [["superwords", text]];
}
