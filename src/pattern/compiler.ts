import { oniguruma } from "./dialect.ts";
import { canBeEmpty, parsePattern } from "./parse-pattern.ts";

// The code that reads regular expressions. It is loaded on demand (`loadCompiler`), because it includes the tables of
// Unicode, which most runs with a named pattern do not need.

export { compileSplits, formOfHuggingface } from "./compile-splits.ts";
export { javascriptSource } from "./javascript-source.ts";
export { mayLeaveGaps, portableForm } from "./portable-source.ts";
export { wordCharacters } from "./unicode.ts";

/** Throws a UserError if `parsePattern` refuses the expression as HF's engine reads it. */
export const checkForHuggingface = (source: string): void => void parsePattern(source, oniguruma);

/** Whether the expression, as HF's engine reads it, can match the empty string. */
export const canMatchNothing = (source: string): boolean => canBeEmpty(parsePattern(source, oniguruma));
