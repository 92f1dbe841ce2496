import { readTokenCounts } from "#formats";
import { runToEnd } from "#runtime";
import { allAddedTokens, scriptOrKindOf, type TokenizerParts, tokenBytesOf } from "#tokenizer";
import type { ScriptCounts } from "./text-survey.ts";

/**
 * The maximum number of tokens of parts of characters, whose script is not known, for each token of a script. Its
 * bytes per token are then off by this share at most.
 */
const unknownShareMax = 0.05;

/**
 * Returns tokens and bytes by script in the corpus that a tokenizer was trained on, by the counts in tokens.tsv: of
 * those scripts for which the counts are exact enough. Returns an empty list without counts.
 */
export function corpusScripts(parts: TokenizerParts): ScriptCounts[] {
  const written = runToEnd(readTokenCounts(parts));
  if (written === null) return [];
  const { endCounts } = written;
  const added = new Set(allAddedTokens(parts).map(({ id }) => id));
  const scripts = new Map<string, { name: string; tokens: number; bytes: number }>();
  let unknownTokens = 0;
  for (const [id, count] of endCounts.entries()) {
    if (count === 0 || added.has(id)) continue;
    const bytes = tokenBytesOf(parts.tokens, id);
    const name = scriptOrKindOf(bytes);
    if (name === undefined) {
      unknownTokens += count;
      continue;
    }
    const script = scripts.get(name) ?? { name, tokens: 0, bytes: 0 };
    scripts.set(name, script);
    script.tokens += count;
    script.bytes += count * bytes.length;
  }
  return [...scripts.values()].filter(({ tokens }) => unknownTokens <= unknownShareMax * tokens);
}
