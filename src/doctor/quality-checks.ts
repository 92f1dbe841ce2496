import { countNoun, groupDigits } from "#bytes";
import { recordFiles } from "#formats";
import { probe, tokenizers, tokenKeys, tokenTables } from "#tokenizer";
import { type Finding, finding, percent, tokensOf } from "./checks.ts";
import { wholeCharactersCommand } from "./fixing-commands.ts";
import type { Loaded, Subject } from "./subject.ts";
import type { Counted } from "./text-survey.ts";

/** Checks for private data, costly languages, parts of characters, and tokens that do not occur. */
export function checkQuality({ path }: Subject, loaded: Loaded, counted: Counted | null): Finding[] {
  return [
    ...checkPrivate(loaded),
    ...checkLanguages(loaded),
    ...checkCharacters(loaded),
    ...(counted === null ? checkRecord(path) : checkCounts(loaded, counted)),
  ];
}

/** Kinds of private text, each recognized by its form. */
const privateKinds: readonly { name: string; matches: (text: string) => boolean }[] = [
  { name: "an e-mail address", matches: (text) => /[\w.+-]+@[\w-]+\.[a-z]{2,}/i.test(text) },
  {
    name: "a key",
    matches: (text) => /(?:sk-|ghp_|gho_|AKIA|AIza|xox[bp]-)[\w-]{8,}/.test(text),
  },
  {
    name: "a hash",
    matches: (text) =>
      /^\s?[0-9a-f]{16,}$/i.test(text) && /\d/.test(text) && /[a-f]/i.test(text) && isVaried(text.trim(), 8),
  },
  {
    name: "a telephone number",
    matches: (text) => /\+\d{1,3}[ -]?\d{6,}|\b\d{3}[-.]\d{3,4}[-.]\d{4}\b/.test(text) && isVaried(text, 4),
  },
  { name: "a long number", matches: (text) => /^\s?\d{8,}$/.test(text) && isVaried(text.trim(), 4) },
];

/** Whether a text has at least `least` different characters, and is no part of a sequence like 0123456789. */
function isVaried(text: string, least: number): boolean {
  return new Set(text).size >= least && !"0123456789abcdef0123456789ABCDEF0123456789".includes(text);
}

/**
 * For each byte, 1 if it is one of the characters listed below, else 0. Any text that one of `privateKinds` matches
 * contains at least one of these characters.
 */
const isTelling = new Uint8Array(256);
for (const character of "0123456789@-_A") isTelling[character.charCodeAt(0)] = 1;

function checkPrivate({ parts }: Loaded): Finding[] {
  const added = new Set(tokenizers.allAddedTokens(parts).map(({ id }) => id));
  const nameOf = tokenKeys.namer(parts);
  const found: { id: number; kind: string }[] = [];
  const { idLimit, bytes, starts } = parts.tokens;
  for (let id = 0; id < idLimit; id++) {
    const end = starts[id + 1]!;
    if (end - starts[id]! < 8) continue;
    let pos = starts[id]!;
    while (pos < end && isTelling[bytes[pos]!] === 0) pos++;
    if (pos === end || added.has(id)) continue;
    const text = Buffer.from(tokenTables.bytesOf(parts.tokens, id)).toString();
    const kind = privateKinds.find(({ matches }) => matches(text));
    if (kind !== undefined) found.push({ id, kind: kind.name });
  }
  if (found.length === 0) return [];
  const ids = found.map(({ id }) => id);
  return [
    finding(
      "private-data",
      "warning",
      `the vocabulary has ${countNoun(found.length, "token")} that may be a key, an address or a number of a person`,
      {
        ...tokensOf(parts, ids),
        evidence: found.slice(0, 5).map(({ id, kind }) => `${id} "${nameOf(id, 80)}" looks like ${kind}`),
        fix: "remove such texts from the corpus and train again, if the tokens are real data",
      },
    ),
  ];
}

/** A language is costly if it needs at least this many times the tokens of the cheapest language. */
const costlyRatio = 4;
const shownLanguages = 5;

/**
 * The parts of the probe text (docs/probe-1.json) that contain the same sentence, each in a different language or
 * script.
 */
export const languages = probe.parts.filter(({ name }) => name.includes("("));

function checkLanguages({ encode }: Loaded): Finding[] {
  const costs = languages
    .map(({ name, text }) => ({ name, tokens: encode(text).length }))
    .sort((a, b) => b.tokens - a.tokens);
  const least = costs.at(-1)!;
  const costly = costs.filter(({ tokens }) => tokens >= costlyRatio * least.tokens);
  if (costly.length === 0) return [];
  return [
    finding(
      "costly-languages",
      "note",
      `of ${costs.length} languages, ${costly.length} need at least ${costlyRatio} times the tokens of ${least.name}`,
      {
        evidence: costly
          .slice(0, shownLanguages)
          .map(
            ({ name, tokens }) =>
              `${name}: ${(tokens / least.tokens).toFixed(1)} times, ${tokens} tokens for one sentence`,
          ),
        count: costly.length,
      },
    ),
  ];
}

/** A note is given if at least this share of all tokens have two or more bytes, but are not valid UTF-8. */
const partsShare = 0.05;

function checkCharacters({ parts, isText }: Loaded): Finding[] {
  const { tokens } = parts;
  const { starts } = tokens;
  const broken: number[] = [];
  for (let id = 0; id < tokens.idLimit; id++)
    if (starts[id + 1]! - starts[id]! > 1 && isText[id] === 0) broken.push(id);
  if (broken.length < partsShare * tokens.tokenCount) return [];
  return [
    finding(
      "parts-of-characters",
      "note",
      `the vocabulary has ${countNoun(broken.length, "token")}, ${percent(broken.length, tokens.tokenCount)}, with parts of characters`,
      { ...tokensOf(parts, broken), fix: "train with whole characters", command: wholeCharactersCommand },
    ),
  ];
}

function checkRecord(path: string): Finding[] {
  const facts = recordFiles.readTokenCountFacts(path);
  if (facts === null || facts.neverReachedCount === 0) return [];
  return [
    finding(
      "rare-tokens",
      "note",
      `according to training.json, ${facts.neverReachedCount} tokens never occurred in the training corpus`,
      { count: facts.neverReachedCount },
    ),
  ];
}

/** A text can show which tokens are rare if it has at least this many tokens for each token of the vocabulary. */
const tokensPerToken = 20;

function checkCounts({ parts }: Loaded, { counts, idCount }: Counted): Finding[] {
  const { tokens } = parts;
  const added = new Set(tokenizers.allAddedTokens(parts).map(({ id }) => id));
  const never = Array.from(counts.keys()).filter(
    (id) => counts[id] === 0 && !added.has(id) && tokenTables.bytesOf(tokens, id).length > 1,
  );
  if (never.length === 0) return [];
  const isLarge = idCount >= tokensPerToken * tokens.tokenCount;
  return [
    finding(
      "rare-tokens",
      isLarge && never.length > tokens.tokenCount / 4 ? "warning" : "note",
      `the text lacks ${countNoun(never.length, "token")}, ${percent(never.length, tokens.tokenCount)} of the vocabulary`,
      {
        ...tokensOf(parts, never),
        evidence: isLarge
          ? []
          : [`the text has only ${groupDigits(idCount)} tokens: too few to judge the vocabulary`],
        fix: isLarge ? "remove them, if the model is not trained yet and the text is typical" : null,
      },
    ),
  ];
}
