import { basename, dirname, join } from "node:path";
import { decodeCharacters } from "../../bytes/byte-characters.ts";
import { shown } from "../../bytes/schema.ts";
import { UserError } from "../../errors.ts";
import { patterns, type ResolvedPattern } from "../../pattern/pattern.ts";
import {
  type AddedToken,
  type LoadOptions,
  plainSpecial,
  type SpecialTokenOption,
  type TokenizerParts,
} from "../tokenizer-parts.ts";
import { areNarrow, assembleModel, assembleTokens, idsOfTokens, type TokenIds } from "./assemble-model.ts";
import { objectAt } from "./checked-json.ts";
import { compileSplits, nameOf } from "./pre-tokenizer.ts";
import { readJson, readText } from "./read-file.ts";
import { recordedTraining } from "./read-training-record.ts";

/** Loads GPT-2's pair of files. The pattern is the user's, else the recorded one, else GPT-2's. */
export function loadGpt2Files(vocabPath: string, mergesPath: string, options: LoadOptions): TokenizerParts {
  const vocab = idsOfTokens(objectAt(readJson(vocabPath), vocabPath, "the vocabulary"), vocabPath);
  const merges = readMergeLines(mergesPath);
  const model = assembleModel({ path: mergesPath, vocab, merges, ignoresMerges: false, unknownToken: null });
  const addedTokens = addedTokensOf(vocab, merges, options.specialTokens ?? []);
  const tokens = assembleTokens(vocab, addedTokens);
  const { name, sources, compiled } = patternFor(vocabPath, options.pattern);
  return {
    model,
    pattern: compiled,
    normalization: null,
    addsPrefixSpace: false,
    addedTokens,
    isNarrow: areNarrow(vocab.idMax, addedTokens),
    tokens,
    description: {
      path: dirname(vocabPath),
      kind: `${basename(vocabPath)} and ${basename(mergesPath)}`,
      patternName: name,
      patternSources: sources,
    },
    notes: model.dropsBytes
      ? ["the vocabulary lacks some bytes; they are left out of the ids, as in HF"]
      : [],
  };
}

function patternFor(path: string, asked: ResolvedPattern | undefined): ResolvedPattern {
  if (asked !== undefined) return asked;
  const recorded = recordedTraining(path, basename(path));
  const sources = recorded?.patternSources ?? patterns.gpt2.sources;
  return {
    name: recorded === null ? "gpt2" : nameOf(sources),
    sources,
    compiled: compileSplits(sources, path),
  };
}

/** Reads lines of `left right`, with or without the header. */
function readMergeLines(path: string): [string, string][] {
  const lines = readText(path).split("\n");
  const merges: [string, string][] = [];
  lines.forEach((line, i) => {
    if (line === "" || line === "\r" || (i === 0 && line.startsWith("#version"))) return;
    const parts = line.replace(/\r$/, "").split(" ");
    if (parts.length !== 2) throw new UserError(`"${path}": line ${i + 1} is ${shown(line)}, not two tokens`);
    merges.push([parts[0]!, parts[1]!]);
  });
  return merges;
}

/**
 * The special tokens: those the user names, and every entry that is neither a byte nor made by a merge, such as GPT-2's
 * `<|endoftext|>` and those of our own training. An entry with a character that stands for white space or a control byte
 * (`Ġ`) is not special: it is a token that merges do not make.
 */
function addedTokensOf(
  vocab: TokenIds,
  merges: readonly (readonly [string, string])[],
  asked: readonly SpecialTokenOption[],
): AddedToken[] {
  const made = new Set(merges.map(([left, right]) => left + right));
  const found = new Map<string, number>();
  for (const [text, id] of vocab) {
    if (made.has(text) || text === "" || decodeCharacters(text)?.length === 1) continue;
    if (decodeCharacters(text) !== null && /[\u0100-\u0143]/.test(text)) continue;
    found.set(text, id);
  }
  let nextId = vocab.size === 0 ? 0 : vocab.idMax + 1;
  for (const { text, id } of asked) {
    const given = id ?? found.get(text) ?? vocab.get(text) ?? nextId;
    found.set(text, given);
    nextId = Math.max(nextId, given + 1);
  }
  return Array.from(found, ([content, id]) => ({ id, content, ...plainSpecial }));
}

/** Both files, when the path of one is known. */
export function partnerOf(path: string): { vocabPath: string; mergesPath: string } {
  const name = basename(path);
  const beside = (other: string) => join(dirname(path), other);
  if (name.endsWith("vocab.json")) {
    return { vocabPath: path, mergesPath: beside(name.replace(/vocab\.json$/, "merges.txt")) };
  }
  return { vocabPath: beside(name.replace(/merges\.txt$/, "vocab.json")), mergesPath: path };
}
