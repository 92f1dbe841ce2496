import { countNoun, formatBytes, groupDigits } from "#bytes";
import { vocabularyStatistics } from "#evaluation";
import { tokenizers, tokenKeys } from "#tokenizer";
import { type Finding, finding, percent, tokensOf } from "./checks.ts";
import { languages } from "./quality-checks.ts";
import type { Loaded } from "./subject.ts";
import type { Counted, CountedInput, ScriptCounts } from "./text-survey.ts";

// Checks of texts, and of the corpus that a tokenizer was trained on.

/** The minimum number of documents. Among fewer, it is normal that only one document is about a certain subject. */
const documentsMin = 100;
/** The minimum number of occurrences of a token in its only document. Fewer say little about that document. */
const occurrencesMin = 10;
/**
 * `checkDocuments` reports tokens only if they are at least this share of all different tokens that occur. Fewer tokens
 * are usually names that only one document mentions.
 */
const shareMin = 0.01;
const shownDocuments = 5;

/** Finds tokens that occur often, but in one document only. */
export function checkDocuments({ parts }: Loaded, counted: Counted): Finding[] {
  const { counts, documentCount, documentCounts, lastDocuments, inputs } = counted;
  if (documentCount < documentsMin) return [];
  const added = new Set(tokenizers.allAddedTokens(parts).map(({ id }) => id));
  const found = Array.from(counts.keys())
    .filter((id) => documentCounts[id] === 1 && counts[id]! >= occurrencesMin && !added.has(id))
    .sort((a, b) => counts[b]! - counts[a]! || a - b);
  const usedCount = documentCounts.reduce((used, documents) => (documents > 0 ? used + 1 : used), 0);
  if (found.length === 0 || found.length < shareMin * usedCount) return [];
  const nameOf = tokenKeys.namer(parts);
  const byDocument = new Map<number, number[]>();
  for (const id of found) {
    const ids = byDocument.get(lastDocuments[id]!) ?? [];
    byDocument.set(lastDocuments[id]!, ids);
    ids.push(id);
  }
  const documents = [...byDocument].sort(([a, ofA], [b, ofB]) => ofB.length - ofA.length || a - b);
  return [
    finding(
      "one-document-tokens",
      "note",
      `frequent in one of ${groupDigits(documentCount)} documents, and in no other: ${countNoun(found.length, "token")}, ${percent(found.length, usedCount)} of those in the text`,
      {
        ...tokensOf(parts, found),
        evidence: documents.slice(0, shownDocuments).map(([document, [first, ...others]]) => {
          const token = `${first} "${nameOf(first!, 80)}" ${groupDigits(counts[first!]!)} times`;
          return `${placeOf(document, inputs)}: ${countNoun(others.length + 1, "token")}, such as ${token}`;
        }),
        fix: "remove what these documents repeat from the corpus, or add others like them, and train again",
      },
    ),
  ];
}

function placeOf(document: number, inputs: readonly CountedInput[]): string {
  const input = inputs.find((of) => document < of.firstDocument + of.documentCount)!;
  if (input.documentCount === 1) return input.name;
  return `document ${document - input.firstDocument + 1} of ${input.name}`;
}

/** Scripts with fewer bytes of text are not compared. */
const bytesMin = 10_000;
/** A script is costly if it takes more than this many times the tokens of the cheapest script. */
const costlyRatio = 2;

/**
 * Finds scripts that take many tokens for the same content. Scripts need different numbers of bytes for the same
 * sentence, so the tokens per byte of each script are multiplied by the length of that sentence in bytes.
 */
export function checkScripts(scripts: readonly ScriptCounts[], text: string): Finding[] {
  const costs = scripts
    .flatMap((script) => {
      const sentenceBytes = sentenceBytesOf(script.name);
      if (sentenceBytes === undefined || script.bytes < bytesMin) return [];
      return [{ ...script, cost: (sentenceBytes * script.tokens) / script.bytes }];
    })
    .sort((a, b) => b.cost - a.cost);
  const best = costs.at(-1);
  if (best === undefined) return [];
  const costly = costs.filter(({ cost }) => cost > costlyRatio * best.cost);
  if (costly.length === 0) return [];
  return [
    finding(
      "costly-scripts",
      "note",
      `${countNoun(costly.length, "script")} of ${text}: each needs more than ${costlyRatio} times the tokens of ${best.name} for the same sentences`,
      {
        evidence: [
          ...costly.map(
            (script) => `${rateOf(script)}, ${(script.cost / best.cost).toFixed(1)} times the tokens`,
          ),
          rateOf(best),
        ],
        count: costly.length,
        fix: "train with more text in these scripts, or with fair shares of languages: docs/clean-and-fair.md",
      },
    ),
  ];
}

/** A script is unlike the corpus if its tokens per byte are more than this many times those in the corpus. */
const unlikeRatio = 1.5;

/**
 * Finds scripts that take many more tokens per byte in these texts than in the corpus that the tokenizer was trained
 * on.
 */
export function checkCorpus(scripts: readonly ScriptCounts[], corpus: readonly ScriptCounts[]): Finding[] {
  const unlike = scripts.flatMap((script) => {
    const own = corpus.find(({ name }) => name === script.name);
    if (own === undefined || sentenceBytesOf(own.name) === undefined) return [];
    if (Math.min(own.bytes, script.bytes) < bytesMin) return [];
    const ratio = (script.tokens / script.bytes) * (own.bytes / own.tokens);
    return ratio > unlikeRatio ? [{ script, own, ratio }] : [];
  });
  if (unlike.length === 0) return [];
  return [
    finding(
      "unlike-corpus",
      "note",
      `${countNoun(unlike.length, "script")} of the text: each needs more than ${unlikeRatio} times the tokens that as many bytes needed in the training corpus`,
      {
        evidence: unlike
          .sort((a, b) => b.ratio - a.ratio)
          .map(
            ({ script, own }) => `${rateOf(script)}, ${(own.bytes / own.tokens).toFixed(2)} in the corpus`,
          ),
        count: unlike.length,
        fix: "train with text like this, if the model will read it",
      },
    ),
  ];
}

const rateOf = ({ name, tokens, bytes }: ScriptCounts) =>
  `${name}: ${(bytes / tokens).toFixed(2)} bytes per token in ${formatBytes(bytes)}`;

/**
 * Returns the length of the sentence that all of `languages` contain: its mean number of bytes in the languages that
 * use the given script. Returns undefined if no language uses it.
 */
function sentenceBytesOf(script: string): number | undefined {
  const lengths = languages
    .map(({ text }) => Buffer.from(text))
    .filter((bytes) => vocabularyStatistics.scriptOrKindOf(bytes) === script)
    .map((bytes) => bytes.length);
  return lengths.length === 0 ? undefined : lengths.reduce((sum, length) => sum + length) / lengths.length;
}
