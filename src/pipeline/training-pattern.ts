import { UserError, usageError } from "../errors.ts";
import type { Compat } from "../merge/merges.ts";
import {
  exportForm,
  fancyRegex,
  mayLeaveGaps,
  oniguruma,
  parsePattern,
  patternOfSources,
  type ResolvedPattern,
  resolvePattern,
} from "../pattern/pattern.ts";

/**
 * The pattern as the trainer to agree with reads it. HF's engine has its own dialect, and is fed line by line. rustbpe takes
 * one regular expression, and drops the text between its matches, as tiktoken does. A pattern that this trainer would cut
 * otherwise than we do is a usage error. `asked` is what was typed, or the splits that a file states.
 */
export function trainingPattern(asked: string | readonly string[], compat: Compat): ResolvedPattern {
  const isHuggingface = compat === "huggingface";
  // HF's trainer is fed line by line, so no pretoken goes on behind a line end.
  const lineWise = { lineWise: isHuggingface };
  const pattern =
    typeof asked === "string"
      ? resolvePattern(asked, { dialect: isHuggingface ? oniguruma : fancyRegex, ...lineWise })
      : patternOfSources(asked, lineWise);
  if (compat === "rustbpe") checkForRustbpe(pattern.sources);
  if (pattern.name === null) checkForExport(pattern);
  return pattern;
}

/** The pattern that superwords are learned from. It is fed line by line, whatever the trainer, and may leave text unmatched. */
export function liftedPattern(asked: string, compat: Compat): ResolvedPattern {
  const dialect = compat === "huggingface" ? oniguruma : fancyRegex;
  const pattern = resolvePattern(asked, { dialect, lineWise: true });
  if (pattern.name === null) checkForExport(pattern);
  return pattern;
}

/** A usage error if HF's engine could not read the regular expressions of tokenizer.json. */
function checkForExport(pattern: ResolvedPattern): void {
  const form = exportForm(pattern);
  if (form.kind !== "splits") return;
  for (const regex of form.regexes) {
    try {
      parsePattern(regex, oniguruma);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      throw usageError(`tokenizer.json cannot say the pattern: ${error.message}`, error.hint);
    }
  }
}

function checkForRustbpe(sources: readonly string[]): void {
  const refuse = (what: string, hint: string) => {
    throw usageError(`--compat rustbpe: ${what}: ${sources.join(" , ")}`, hint);
  };
  if (sources.length > 1)
    refuse(
      "rustbpe cuts text by one regular expression, and this pattern is a sequence of them",
      "train with --compat cs336 or huggingface",
    );
  if (mayLeaveGaps(sources[0]!))
    refuse(
      "the pattern may leave text unmatched, and rustbpe drops such text",
      "with |[\\s\\S] at its end a pattern takes every character; --compat cs336 keeps unmatched text",
    );
}
