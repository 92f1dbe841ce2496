import { vocabularyStatistics } from "#evaluation";
import { writtenCounts } from "#formats";
import { runToEnd } from "#runtime";
import { type TokenizerParts, tokenizers, tokenTables } from "#tokenizer";
import type { ScriptCounts } from "./text-survey.ts";

/**
 * The script of a token that is not whole characters is unknown, so any of these tokens may belong to any script. A
 * script is left out if they together occur more often than this share of the occurrences of the script's own tokens.
 */
const unknownShareMax = 0.05;

/**
 * Returns how many tokens and bytes of each script are in the corpus of the training, by the counts in tokens.tsv.
 * Leaves out scripts whose counts are too inexact. Without counts, the list is empty.
 */
export function corpusScripts(parts: TokenizerParts): ScriptCounts[] {
  const written = runToEnd(writtenCounts.read(parts));
  if (written === null) return [];
  const { endCounts } = written;
  const added = new Set(tokenizers.allAddedTokens(parts).map(({ id }) => id));
  const scripts = new Map<string, { name: string; tokens: number; bytes: number }>();
  let unknownTokens = 0;
  for (const [id, count] of endCounts.entries()) {
    if (count === 0 || added.has(id)) continue;
    const bytes = tokenTables.bytesOf(parts.tokens, id);
    const name = vocabularyStatistics.scriptOrKindOf(bytes);
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
