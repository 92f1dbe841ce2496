import { basename, join } from "node:path";
import { encodeBytes } from "../bytes/byte-characters.ts";
import { objectAt, shown } from "../bytes/schema.ts";
import type { RankedMerges } from "../tokenizer/encoding-model.ts";
import { gone, type Numbering, newIdOf } from "../tokenizer/prune-vocabulary.ts";
import { type TokenTable, tokenBytesOf } from "../tokenizer/token-table.ts";
import { allAddedTokens, refuse, type TokenizerParts } from "../tokenizer/tokenizer-parts.ts";
import { idsOfTokens, type TokenIds } from "./assemble-model.ts";
import {
  applyEdits,
  changedValues,
  idTexts,
  membersOf,
  mergesKeys,
  mergeTexts,
  replaceElements,
  spanOf,
  valueEnd,
  vocabKeys,
} from "./extended-files.ts";
import { Chunk, type OutputFile } from "./output-file.ts";
import { scanTokenizerJson } from "./scan-tokenizer-json.ts";
import {
  namesBeside,
  partnerOf,
  readBytes,
  readJson,
  readText,
  type TokenizerFile,
} from "./tokenizer-files.ts";

/** The files of one tokenizer with the tokens that stay. */
export function prunedFiles(
  { kind, path }: TokenizerFile,
  parts: TokenizerParts,
  numbering: Numbering,
): OutputFile[] {
  switch (kind) {
    case "json":
      return [prunedTokenizerJson(path, parts, numbering)];
    case "gpt2":
      return prunedGpt2(path, parts, numbering);
    case "ranks":
      return [prunedRanks(path, parts, numbering)];
    case "tekken":
      return [prunedTekken(path, parts, numbering)];
  }
}

/** What `transformers` reads beside a `tokenizer.json` of a directory, with the new ids. */
export function filesBeside(directory: string, numbering: Numbering): OutputFile[] {
  return namesBeside(directory)
    .sort()
    .flatMap((name) => {
      const path = join(directory, name);
      if (name === "tokenizer_config.json") return [jsonFile(path, renumberedConfig(path, numbering))];
      if (name === "added_tokens.json") return [jsonFile(path, renumberedTokens(path, numbering))];
      return [{ name, chunks: () => [readBytes(path)] }];
    });
}

const jsonFile = (path: string, value: object): OutputFile => ({
  name: basename(path),
  chunks: () => [new TextEncoder().encode(`${JSON.stringify(value, null, 2)}\n`)],
});

function renumberedConfig(path: string, numbering: Numbering): object {
  const config = objectAt(readJson(path), path, "the configuration");
  if (!("added_tokens_decoder" in config)) return config;
  const decoder = objectAt(config.added_tokens_decoder, path, "added_tokens_decoder");
  const renumbered = Object.entries(decoder).map(([id, token]) => [
    newIdOf(numbering, Number(id), path, "added_tokens_decoder"),
    token,
  ]);
  return { ...config, added_tokens_decoder: Object.fromEntries(renumbered) };
}

function renumberedTokens(path: string, numbering: Numbering): object {
  const tokens = objectAt(readJson(path), path, "the list of added tokens");
  return Object.fromEntries(
    Object.entries(tokens).map(([text, id]) => [text, newIdOf(numbering, id, path, JSON.stringify(text))]),
  );
}

/** GPT-2's pair of files with the tokens that stay. Special tokens that the user named are entries of the vocabulary. */
function prunedGpt2(path: string, parts: TokenizerParts, numbering: Numbering): OutputFile[] {
  const { vocabPath, mergesPath } = partnerOf(path);
  const vocab = idsOfTokens(objectAt(readJson(vocabPath), vocabPath, "the vocabulary"), vocabPath);
  const { tokens, merges } = keptRows(vocab, parts.model.merges, numbering, vocabPath);
  const known = new Set(tokens.map(([text]) => text));
  const named = parts.addedTokens
    .filter(({ content }) => !known.has(content))
    .map(({ content, id }) => [content, numbering.newIds[id]!] as const);
  const entries = [...tokens, ...named].sort(([, a], [, b]) => a - b);
  const head = /^#version.*\n/.exec(readText(mergesPath).slice(0, 100))?.[0] ?? "";
  return [
    {
      name: basename(vocabPath),
      chunks: () =>
        textChunks(
          "{",
          entries,
          ([text, id], i) => `${i === 0 ? "" : ","}${JSON.stringify(text)}:${id}`,
          "}",
        ),
    },
    {
      name: basename(mergesPath),
      chunks: () => textChunks(head, merges(), ([left, right]) => `${left} ${right}\n`, ""),
    },
  ];
}

function* textChunks<T>(
  head: string,
  rows: Iterable<T>,
  textOf: (row: T, index: number) => string,
  end: string,
): Generator<Uint8Array> {
  const chunk = new Chunk();
  let index = 0;
  chunk.text(head);
  for (const row of rows) {
    chunk.text(textOf(row, index++));
    if (chunk.isFull) yield chunk.take();
  }
  chunk.text(end);
  yield chunk.take();
}

/** A file of ranks with the tokens that stay. A token's rank is its id, so the order of the ranks stays. */
function prunedRanks(path: string, parts: TokenizerParts, numbering: Numbering): OutputFile {
  return { name: basename(path), chunks: () => rankChunks(parts, numbering) };
}

function* rankChunks(parts: TokenizerParts, { newIds }: Numbering): Generator<Uint8Array> {
  const chunk = new Chunk();
  const addedIds = new Set(allAddedTokens(parts).map(({ id }) => id));
  for (let id = 0; id < newIds.length; id++) {
    if (newIds[id] === gone || addedIds.has(id)) continue;
    chunk.text(`${Buffer.from(tokenBytesOf(parts.tokens, id)).toString("base64")} ${newIds[id]}\n`);
    if (chunk.isFull) yield chunk.take();
  }
  yield chunk.take();
}

/** Mistral's `tekken.json` with the tokens that stay. It lists no others, so it holds just what its size says. */
function prunedTekken(path: string, parts: TokenizerParts, { size, newIds }: Numbering): OutputFile {
  const json = readText(path);
  // Special tokens have the first ids, and all of them stay.
  const specialCount = allAddedTokens(parts).length;
  const entryOf = (start: number, rank: number) => {
    const entry = json.slice(start, valueEnd(json, start));
    const { start: from, end } = spanOf(entry, ["rank"])!;
    return `${entry.slice(0, from)}${rank}${entry.slice(end)}`;
  };
  return {
    name: basename(path),
    *chunks() {
      const vocab = spanOf(json, ["vocab"])!;
      const entries: string[] = [];
      for (const [rank, start] of membersOf(json, vocab.start)) {
        const newId = newIds[specialCount + (rank as number)] ?? gone;
        if (newId !== gone) entries.push(entryOf(start, newId - specialCount));
      }
      const sizeSpan = spanOf(json, ["config", "default_vocab_size"])!;
      yield* applyEdits(json, [{ ...sizeSpan, text: String(size) }, replaceElements(json, vocab, entries)]);
    },
  };
}

/**
 * HF's `tokenizer.json` with the tokens that stay. Vocabulary and merges are made anew; all else is as it was, with new
 * ids where there are ids. The file keeps its layout.
 */
function prunedTokenizerJson(path: string, parts: TokenizerParts, numbering: Numbering): OutputFile {
  const file = readBytes(path);
  const scanned = scanTokenizerJson(file);
  const root = objectAt(scanned === null ? readJson(path) : scanned.root, path, "the tokenizer");
  const model = objectAt(root.model, path, "the model");
  const vocab = scanned?.vocab ?? idsOfTokens(objectAt(model.vocab, path, "the model's vocab"), path);
  const { tokens, merges } = keptRows(vocab, parts.model.merges, numbering, path);
  const value = {
    ...root,
    ...("padding" in root && { padding: renumberPadding(root.padding, numbering, path) }),
    ...("added_tokens" in root && { added_tokens: renumberAdded(root.added_tokens, parts, numbering) }),
    ...("post_processor" in root && { post_processor: renumberStep(root.post_processor, numbering, path) }),
  };
  const json = file.toString("utf8");
  return {
    name: basename(path),
    *chunks() {
      const vocabSpan = spanOf(json, vocabKeys)!;
      const mergesSpan = spanOf(json, mergesKeys)!;
      yield* applyEdits(json, [
        ...changedValues(json, json.indexOf("{"), root, value),
        replaceElements(json, vocabSpan, idTexts(json, vocabSpan, tokens)),
        replaceElements(json, mergesSpan, mergeTexts(json, mergesSpan, [...merges()])),
      ]);
    },
  };
}

/** HF gives ids to added tokens itself; those in the file are only stated. */
function renumberAdded(value: unknown, { addedTokens }: TokenizerParts, { newIds }: Numbering): unknown {
  if (!Array.isArray(value)) return value;
  const idsByContent = new Map(addedTokens.map(({ content, id }) => [content, id]));
  return value.map((token) => {
    const id = idsByContent.get(token.content);
    return id === undefined ? token : { ...token, id: newIds[id] };
  });
}

function renumberPadding(value: unknown, numbering: Numbering, path: string): unknown {
  if (typeof value !== "object" || value === null || !("pad_id" in value)) return value;
  return { ...value, pad_id: newIdOf(numbering, value.pad_id, path, "padding") };
}

type Step = Record<string, unknown>;

/** The steps of post-processors that have ids, with the new ones. A step that is not known may have ids: a UserError. */
function renumberStep(value: unknown, numbering: Numbering, path: string): unknown {
  if (value === null || value === undefined) return value;
  const step = objectAt(value, path, "the post-processor") as Step;
  const newId = (id: unknown) => newIdOf(numbering, id, path, `the post-processor ${String(step.type)}`);
  switch (step.type) {
    case "ByteLevel":
      return step;
    case "Sequence": {
      const { processors } = step;
      if (!Array.isArray(processors)) refuse(path, "the post-processor Sequence has no list of steps");
      return { ...step, processors: processors.map((each) => renumberStep(each, numbering, path)) };
    }
    case "TemplateProcessing": {
      const specials = objectAt(step.special_tokens ?? {}, path, "special_tokens of the post-processor");
      const renumbered = Object.entries(specials).map(([name, special]) => {
        const token = objectAt(special, path, `the special token ${name} of the post-processor`);
        if (!Array.isArray(token.ids))
          refuse(path, `the special token ${name} of the post-processor has no ids`);
        return [name, { ...token, ids: token.ids.map(newId) }];
      });
      return { ...step, special_tokens: Object.fromEntries(renumbered) };
    }
    case "BertProcessing":
    case "RobertaProcessing": {
      const renumberPair = (pair: unknown) => {
        if (!Array.isArray(pair) || pair.length !== 2)
          refuse(path, "the post-processor has no pair of token and id");
        return [pair[0], newId(pair[1])];
      };
      return { ...step, sep: renumberPair(step.sep), cls: renumberPair(step.cls) };
    }
    default:
      refuse(path, `the post-processor ${String(step.type)} is not known, and may hold ids`);
  }
}

/** What stays of a vocabulary and its merges, spelled as in their file. */
type KeptRows = {
  /** By new ids, ascending. */
  readonly tokens: readonly (readonly [text: string, id: number])[];
  /** In the order of ranks. */
  readonly merges: () => Generator<readonly [left: string, right: string]>;
};

/** A merge stays if its halves and what it makes stay. */
function keptRows(vocab: TokenIds, merges: RankedMerges, { newIds }: Numbering, path: string): KeptRows {
  const textOf: string[] = [];
  const tokens: [string, number][] = [];
  for (const [text, id] of vocab) {
    const other = textOf[id];
    if (other !== undefined) refuse(path, `the tokens ${shown(other)} and ${shown(text)} have one id, ${id}`);
    textOf[id] = text;
    const newId = newIds[id] ?? gone;
    if (newId !== gone) tokens.push([text, newId]);
  }
  tokens.sort(([, a], [, b]) => a - b);
  const stays = (id: number) => newIds[id] !== gone;
  return {
    tokens,
    *merges() {
      const { left, right, merged } = merges;
      for (let rank = 0; rank < merged.length; rank++) {
        const [l, r] = [left[rank]!, right[rank]!];
        if (stays(l) && stays(r) && stays(merged[rank]!)) yield [textOf[l]!, textOf[r]!];
      }
    },
  };
}

const idsName = "ids.tsv";

/**
 * `ids.tsv`: for whoever owns embeddings. A row for each old id, ascending: `old`, `new` (empty if the token is gone),
 * and `token` in byte-to-character form.
 */
export const idsTsv = (tokens: TokenTable, numbering: Numbering): OutputFile => ({
  name: idsName,
  chunks: () => rows(tokens, numbering),
});

function* rows(tokens: TokenTable, { newIds }: Numbering): Generator<Uint8Array> {
  const chunk = new Chunk();
  chunk.ascii("old\tnew\ttoken\n");
  for (let id = 0; id < tokens.idLimit; id++) {
    const bytes = tokenBytesOf(tokens, id);
    if (bytes.length === 0) continue;
    chunk.text(`${id}\t${newIds[id] === gone ? "" : newIds[id]}\t${encodeBytes(bytes)}\n`);
    if (chunk.isFull) yield chunk.take();
  }
  yield chunk.take();
}
