import { oniguruma } from "./dialect.ts";
import { canBeEmpty, parsePattern } from "./parse-pattern.ts";

// What reads regular expressions and has the tables of Unicode. It is loaded for patterns that are not named (`loadCompiler`): named ones are
// compiled when the executable is built, and named-patterns.ts has the other facts about them.

export { compileSplits, formOfHuggingface } from "./compile-splits.ts";
export { javascriptSource } from "./javascript-source.ts";
export { mayLeaveGaps, portableForm } from "./portable-source.ts";
export { wordCharacters } from "./unicode.ts";

/** Throws a UserError if HF's engine cannot read the expression. */
export const checkForHuggingface = (source: string): void => void parsePattern(source, oniguruma);

/** Whether the expression, as HF's engine reads it, can match the empty string. */
export const canMatchNothing = (source: string): boolean => canBeEmpty(parsePattern(source, oniguruma));
