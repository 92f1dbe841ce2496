import { basename, dirname } from "node:path";
import { byteCharacters, json, showValue, utf8 } from "#bytes";
import { type compiledPatterns, namedPatterns, patterns } from "#pattern";
import { UserError } from "#runtime";
import { type AddedToken, cuttings } from "#text";
import { type changes, modelSettings, type TokenizerParts, tokenizers, type Vocabulary } from "#tokenizer";
import {
  assembleModel,
  assembleTokens,
  checkId,
  checkIds,
  checkOwnIds,
  findSharedTokens,
  notesOfSharedTokens,
  scanParsed,
} from "./assemble-model.ts";
import type { FinishedTokenizer } from "./finished-tokenizer.ts";
import { mergeLines } from "./merge-lines.ts";
import {
  Chunk,
  type OutputFile,
  type SourceFile,
  type SourceFiles,
  type TokenizerFormat,
} from "./output-file.ts";
import { postProcessingOfRecord } from "./post-processor.ts";
import { compileSplits } from "./pre-tokenizer.ts";
import * as recordFiles from "./read-training-record.ts";
import { renameVocab } from "./rename-tokens.ts";
import { addNewIds, type IdRow, JsonRewriter, selectKeptRows, spellMerges } from "./rewrite-json.ts";
import { idRows, lineEnd, withoutFirstByte } from "./rows.ts";
import { type ScannedModel, scanGpt2, type TokenIds } from "./scan-tokenizer-json.ts";

/** Returns GPT-2's two files: `vocab.json` has the ids, `merges.txt` the order of merges. */
function filesOf({ vocabulary }: FinishedTokenizer): OutputFile[] {
  return [
    { name: "vocab.json", chunks: () => vocabJson(vocabulary) },
    { name: "merges.txt", chunks: () => mergesTxt(vocabulary) },
  ];
}

/**
 * Yields `{"!":0,…}`, ascending by id, with HF's spacing. Special tokens are written as they are, bytes and learned
 * tokens in byte-to-character form (byte-characters.ts).
 */
function* vocabJson(vocabulary: Vocabulary): Generator<Uint8Array> {
  yield encoder.encode("{");
  yield* withoutFirstByte(idRows(vocabulary, [',"', '":', ""]));
  yield encoder.encode("}");
}

function* mergesTxt(vocabulary: Vocabulary): Generator<Uint8Array> {
  yield encoder.encode("#version: 0.2\n");
  yield* mergeLines(vocabulary);
}

const encoder = new TextEncoder();

/**
 * Reads the files. The pattern comes from the options or, if they give none, from the record next to the files; without
 * a record, it is GPT-2's. The special tokens of the options are added to those of the record or, without a record, to
 * guessed ones.
 */
function read([vocabFile, mergesFile]: SourceFiles, options: tokenizers.LoadOptions): TokenizerParts {
  const { path: vocabPath } = vocabFile;
  const scanned = scanFiles(vocabFile, mergesFile!);
  const { vocab } = scanned;
  const model = assembleModel(scanned, { ignoresMerges: false, unknownToken: null });
  const recorded = recordFiles.read(vocabPath);
  const special =
    recorded === null
      ? guessSpecialEntries(vocab.tokensWithoutMerge())
      : recordedEntries(vocab, recorded, vocabPath);
  const addedTokens = addedTokensOf(vocab, special, options.specialTokens ?? [], vocabPath);
  const addedIds = new Set(addedTokens.map(({ id }) => id));
  checkOwnIds(addedTokens, vocab.withIds(addedIds), vocabPath);
  if (mergesFile!.bytes.length === 0) refuseLearnedTokens(vocab, addedIds, mergesFile!.path);
  const shared = findSharedTokens(model, vocab, addedTokens);
  const tokens = assembleTokens(vocab, addedTokens, shared);
  const { name, sources, compiled } = options.pattern ?? patternFor(vocabPath, recorded);
  return {
    model,
    pattern: compiled,
    normalization: recorded?.normalization ?? null,
    addsPrefixSpace: false,
    addedTokens,
    isNarrow: tokenizers.fitNarrowIds(vocab.idMax, addedTokens),
    tokens,
    ...postProcessingOfRecord(recorded, addedTokens),
    description: {
      path: dirname(vocabPath),
      kind: `${basename(vocabPath)} and ${basename(mergesFile!.path)}`,
      patternName: name,
      patternSources: sources,
    },
    notes: [
      ...notesOfSharedTokens(shared),
      ...(model.dropsBytes ? ["the vocabulary lacks some bytes; encoding drops them, as HF does"] : []),
    ],
  };
}

/** Refuses an empty merges.txt, which a failed copy may have left, if the vocabulary has merged tokens. */
function refuseLearnedTokens(
  vocab: ScannedModel["vocab"],
  addedIds: ReadonlySet<number>,
  path: string,
): void {
  for (const [token, id] of vocab) {
    if (token.length === 1 || addedIds.has(id)) continue;
    throw new UserError(
      `"${path}" is empty, but the vocabulary has the token ${showValue(token)}, which only a merge can make`,
      {
        hint: "copy this file again; the merges.txt of a tokenizer without merges has the line #version: 0.2",
      },
    );
  }
}

function scanFiles(vocab: SourceFile, merges: SourceFile): ScannedModel {
  const scanned = scanGpt2(vocab.bytes, merges.bytes);
  if (scanned !== null) return scanned;
  const entries = json.objectAt(
    json.parse(utf8.decode(vocab.bytes), vocab.path),
    vocab.path,
    "the vocabulary",
  );
  return scanParsed(checkIds(entries, vocab.path), readMergeLines(merges), merges.path);
}

function patternFor(
  path: string,
  recorded: recordFiles.RecordedTraining | null,
): compiledPatterns.ResolvedPattern {
  const sources = recorded?.patternSources ?? patterns.gpt2.sources;
  return {
    name: recorded === null ? "gpt2" : namedPatterns.nameOf(sources),
    sources,
    compiled: compileSplits(sources, path),
  };
}

/** Parses lines of `left right`, after an optional header. */
function readMergeLines({ path, bytes }: SourceFile): [string, string][] {
  const lines = utf8.decode(bytes).split("\n");
  const merges: [string, string][] = [];
  lines.forEach((line, i) => {
    if (line === "" || line === "\r" || (i === 0 && line.startsWith("#version"))) return;
    const parts = line.replace(/\r$/, "").split(" ");
    if (parts.length !== 2)
      throw new UserError(
        `line ${i + 1} of "${path}" is ${showValue(line)}, but must be two tokens separated by a space`,
        { hint: "correct this line, or copy the file again" },
      );
    merges.push([parts[0]!, parts[1]!]);
  });
  return merges;
}

/**
 * Guesses which of the entries without a merge are special tokens: those that are neither empty nor a single byte. But
 * an entry is taken for an ordinary token if it is in byte-to-character form and has a character from U+0100 to U+0143,
 * such as `Ġ` for a space.
 */
function guessSpecialEntries(entries: Iterable<[string, number]>): Map<string, number> {
  const found = new Map<string, number>();
  for (const [text, id] of entries) {
    if (text === "" || byteCharacters.decode(text)?.length === 1) continue;
    if (byteCharacters.decode(text) !== null && /[\u0100-\u0143]/.test(text)) continue;
    found.set(text, id);
  }
  return found;
}

function recordedEntries(
  vocab: TokenIds,
  recorded: recordFiles.RecordedTraining,
  path: string,
): Map<string, number> {
  const { specialTokens, specialIds, reservedTokens } = recorded;
  return new Map(
    [...new Set([...specialTokens, ...reservedTokens])].map((text, s) => {
      const id = vocab.get(text) ?? specialIds?.[s];
      if (id !== undefined) return [text, id];
      throw new UserError(
        `"${path}" lacks ${showValue(text)}, a special token in the training.json next to it`,
        {
          hint: "the files are from different trainings: train again, or move training.json away",
        },
      );
    }),
  );
}

/** Combines the special tokens of the files with those that the user gives. */
function addedTokensOf(
  vocab: TokenIds,
  found: Map<string, number>,
  asked: readonly tokenizers.SpecialTokenOption[],
  path: string,
): AddedToken[] {
  let nextId = Math.max(vocab.size === 0 ? 0 : vocab.idMax + 1, ...[...found.values()].map((id) => id + 1));
  for (const { text, id } of asked) {
    const given = checkId(id ?? found.get(text) ?? vocab.get(text) ?? nextId, text, path);
    found.set(text, given);
    nextId = Math.max(nextId, given + 1);
  }
  return Array.from(found, ([content, id]) => ({ id, content, ...cuttings.plainSpecial }));
}

function extend(
  [vocab, merges]: SourceFiles,
  base: TokenizerParts,
  extension: changes.Extension,
): OutputFile[] {
  return [
    { name: vocab.name, chunks: () => extendVocab(vocab.bytes, base, extension) },
    { name: merges!.name, chunks: () => [merges!.bytes, extendLines(merges!.bytes, base, extension)] },
  ];
}

function* extendVocab(
  bytes: Uint8Array,
  base: TokenizerParts,
  extension: changes.Extension,
): Generator<Uint8Array> {
  const rewriter = new JsonRewriter(bytes);
  yield noBytes;
  addNewIds(rewriter, rewriter.placeOf([])!, base, extension);
  yield noBytes;
  yield* rewriter.chunks();
}

const noBytes = new Uint8Array(0);

const extendLines = (bytes: Uint8Array, base: TokenizerParts, extension: changes.Extension) =>
  encoder.encode(`${lineEnd(bytes)}${newMergeLines(base, extension)}`);

/**
 * Rewrites both files without the removed tokens. Special tokens that the user gave become entries of the vocabulary.
 */
function prune(
  [vocabFile, mergesFile]: SourceFiles,
  parts: TokenizerParts,
  numbering: changes.Numbering,
): OutputFile[] {
  const { tokens, merges } = selectKeptRows(
    scanFiles(vocabFile, mergesFile!).vocab,
    parts.model.merges,
    numbering,
    vocabFile.path,
  );
  const known = new Set(tokens.map(([text]) => text));
  const named = parts.addedTokens
    .filter(({ content }) => !known.has(content))
    .map(({ content, id }): IdRow => [content, numbering.newIds[id]!]);
  const rewriter = new JsonRewriter(vocabFile.bytes);
  const place = rewriter.placeOf([])!;
  rewriter.replaceElements(
    place,
    rewriter.idTexts(
      place,
      [...tokens, ...named].sort(([, a], [, b]) => a - b),
    ),
  );
  const head = /^#version.*\n/.exec(utf8.decode(mergesFile!.bytes, 0, 100))?.[0] ?? "";
  return [
    { name: vocabFile.name, chunks: () => rewriter.chunks() },
    {
      name: mergesFile!.name,
      *chunks() {
        const chunk = new Chunk();
        chunk.text(head);
        for (const [left, right] of merges()) {
          chunk.text(`${left} ${right}\n`);
          if (chunk.isFull) yield chunk.take();
        }
        yield chunk.take();
      },
    },
  ];
}

export const gpt2: TokenizerFormat = {
  writing: {
    files: filesOf,
    obstacle: (tokenizer) =>
      tokenizer.vocabulary.others?.areWhole === true
        ? "vocab.json and merges.txt cannot store that a pretoken becomes a token that no merge produces (ignore_merges)"
        : modelSettings.settingOnlyInTokenizerJson(tokenizer),
  },
  read,
  extend,
  rename: renameVocab,
  prune,
};

/** Formats the new merges as lines of merges.txt. */
export const newMergeLines = (base: TokenizerParts, extension: changes.Extension): string =>
  spellMerges(base, extension)
    .map(([left, right]) => `${left} ${right}\n`)
    .join("");
