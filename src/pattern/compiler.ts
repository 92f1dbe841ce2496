import { oniguruma } from "./dialect.ts";
import { canBeEmpty, parsePattern } from "./parse-pattern.ts";

// The code that reads regular expressions, and the tables of Unicode. The executable loads it (`loadCompiler`) for
// patterns without a name, and for word characters next to `single_word` tokens. Named patterns need none of it: they
// are compiled when the executable is built, and all else about them is in named-patterns.ts.

export { compileSplits, formOfHuggingface } from "./compile-splits.ts";
export { javascriptSource } from "./javascript-source.ts";
export { mayLeaveGaps, portableForm } from "./portable-source.ts";
export { wordCharacters } from "./unicode.ts";

/** Throws a UserError if HF's engine cannot read the expression. */
export const checkForHuggingface = (source: string): void => void parsePattern(source, oniguruma);

/** Whether the expression, as HF's engine reads it, can match the empty string. */
export const canMatchNothing = (source: string): boolean => canBeEmpty(parsePattern(source, oniguruma));
