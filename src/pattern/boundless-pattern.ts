import { compilePattern } from "./compile.ts";
import type { CompiledPattern, PatternTables } from "./compiled-pattern.ts";
import { boundlessName, patterns } from "./named-patterns.ts";

/*
 * BoundlessBPE's pretokenizer (Schmidt et al., arXiv 2504.00178 and 2604.05192): text is cut where its script changes, and
 * each part by GPT-4o's expression, or letter by letter in scripts that put no spaces between words.
 */

/** The expression for the scripts in `letterwiseScripts`: one letter with its marks is a pretoken. */
const letterwiseSource = String.raw` ?\p{L}\p{M}*|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`;

/** For records and people: the expression for most scripts, then the other one. They are no splits one after the other. */
const boundlessSources: readonly string[] = [patterns.o200k.sources[0]!, letterwiseSource];

export function compileBoundless(): CompiledPattern {
  const [word, letters] = boundlessSources.map((source) => automatonOf(source));
  return { kind: "scripts", word: word!, letters: letters! };
}

function automatonOf(source: string): PatternTables {
  const compiled = compilePattern([source]);
  if (compiled.kind !== "automata") throw new Error("both expressions are automata");
  return compiled.automata[0]!;
}

/** The pretokenizer as the other rooms use a pattern. It is no `--pattern`: no expression can say it. */
export const boundlessPattern = () => ({
  name: boundlessName,
  sources: boundlessSources,
  compiled: compileBoundless(),
});
