import { isUtf8 } from "node:buffer";
import { json, schema, showValue, utf8 } from "#bytes";
import { namedPatterns, type patternForms, patterns } from "#pattern";
import { asOption, host, type Message, messages, phrase, UserError } from "#runtime";
import { type AddedToken, cuttings } from "#text";
import {
  changes,
  type encodingModels,
  modelsOfRanks,
  type TokenizerParts,
  tokenizers,
  tokenTables,
  type Vocabulary,
  vocabularies,
} from "#tokenizer";
import { refuseOptions } from "./assemble-model.ts";
import type { FinishedTokenizer } from "./finished-tokenizer.ts";
import { Chunk, type OutputFile, type SourceFiles, type TokenizerFormat } from "./output-file.ts";
import { checkTakesAll, compileSplits } from "./pre-tokenizer.ts";
import { JsonRewriter } from "./rewrite-json.ts";
import { obstacle as obstacleOfRanks } from "./tiktoken.ts";

/**
 * Loads Mistral's `tekken.json` as the package mistral-common does. Special tokens have the first ids. The id of any
 * other token is its rank plus the number of special tokens. The file may list more tokens than its vocabulary size
 * allows; the last ones are ignored.
 */
function read([{ path, bytes }]: SourceFiles, options: tokenizers.LoadOptions): TokenizerParts {
  refuseOptions(path, options);
  const root = json.objectAt(json.parse(utf8.decode(bytes), path), path);
  const config = json.objectAt(root.config, path, "config");
  const size = numberAt(config, "default_vocab_size", { max: tokenTables.idLimitMax, path });
  const specialCount = numberAt(config, "default_num_special_tokens", {
    max: Math.min(size, specialCountMax),
    path,
  });
  const controlTokens = readSpecials(root.special_tokens, { specialCount, version: config.version, path });
  const tokens = readVocab(root.vocab, { count: size - specialCount, firstId: specialCount, path });
  if (typeof config.pattern !== "string")
    throw damaged(path, `config.pattern ${schema.describeMismatch(config.pattern, "text")}`);
  const sources = [config.pattern];
  checkTakesAll(sources, path);
  const encoder = new TextEncoder();
  return {
    model: modelsOfRanks.of(tokens, path),
    pattern: compileSplits(sources, path),
    normalization: null,
    addsPrefixSpace: false,
    // mistral-common adds the ids of special tokens itself, so no special token is found in a text.
    addedTokens: [],
    controlTokens,
    isNarrow: tokenizers.fitNarrowIds(size - 1, controlTokens),
    tokens: tokenTables.fromPacked(
      tokenTables.append(
        tokens,
        controlTokens.map(({ id, content }) => [id, encoder.encode(content)] as const),
      ),
    ),
    description: {
      path,
      kind: `tekken.json ${String(config.version)}`,
      patternName: namedPatterns.nameOf(sources),
      patternSources: sources,
    },
    notes: [],
  };
}

/**
 * The most special tokens that a file may have; Mistral's have 1,000. Each becomes an object, so the limit keeps a
 * damaged number from exhausting the memory.
 */
const specialCountMax = 2 ** 16;

function numberAt(
  config: Record<string, unknown>,
  name: string,
  { max, path }: { max: number; path: string },
): number {
  const value = config[name];
  if (typeof value !== "number" || !Number.isInteger(value) || value < 0 || value > max) {
    throw damaged(
      path,
      `config.${name} ${schema.describeMismatch(value, `a whole number from 0 to ${max}`)}`,
    );
  }
  return value;
}

const damaged = (path: string, what: string) =>
  new UserError(`"${path}": ${what}`, { hint: json.correctHint });

/** Reads the first `count` tokens of the list, in the order of ranks. */
function readVocab(
  value: unknown,
  { count, firstId, path }: { count: number; firstId: number; path: string },
): encodingModels.PackedTokens {
  if (!Array.isArray(value)) throw damaged(path, `vocab ${schema.describeMismatch(value, "a list")}`);
  if (value.length < count)
    throw damaged(path, `vocab has ${value.length} tokens, but by its config it must have at least ${count}`);
  const texts = value.slice(0, count).map((entry, rank) => {
    const { rank: written, token_bytes } = json.objectAt(entry, path, `vocab[${rank}]`);
    if (written !== rank || typeof token_bytes !== "string" || !isBase64(token_bytes)) {
      throw damaged(
        path,
        `vocab[${rank}] is ${showValue(entry)}, but must have the rank ${rank}, and token_bytes in base64`,
      );
    }
    return token_bytes;
  });
  const bytes = new Uint8Array(texts.reduce((sum, { length }) => sum + length, 0));
  const starts = new Int32Array(count + 1);
  for (let rank = 0; rank < count; rank++) {
    const token = Buffer.from(texts[rank]!, "base64");
    bytes.set(token, starts[rank]!);
    starts[rank + 1] = starts[rank]! + token.length;
  }
  return { bytes, starts, ids: Int32Array.from(texts, (_, rank) => firstId + rank) };
}

const isBase64 = (text: string) => /^[A-Za-z0-9+/]+={0,2}$/.test(text);

/** The special tokens of a file of version 7 or lower that does not list its own. */
const specialsUntilVersion7 = `
  <unk> <s> </s> [INST] [/INST] [AVAILABLE_TOOLS] [/AVAILABLE_TOOLS] [TOOL_RESULTS] [/TOOL_RESULTS]
  [TOOL_CALLS] [IMG] <pad> [IMG_BREAK] [IMG_END] [PREFIX] [MIDDLE] [SUFFIX] [SYSTEM_PROMPT]
  [/SYSTEM_PROMPT] [TOOL_CONTENT]
`
  .trim()
  .split(/\s+/);
const lastVersionWithoutSpecials = 7;

function readSpecials(
  value: unknown,
  { specialCount, version, path }: { specialCount: number; version: unknown; path: string },
): AddedToken[] {
  const texts =
    value === undefined || value === null ? formerSpecialsFor(version, path) : listSpecialTexts(value, path);
  if (texts.length > specialCount) {
    tokenizers.refuse(
      path,
      `it has ${texts.length} special tokens, but its default_num_special_tokens is ${specialCount}`,
    );
  }
  const twice = texts.find((text, i) => texts.indexOf(text) < i);
  if (twice !== undefined) tokenizers.refuse(path, `it lists the special token ${showValue(twice)} twice`);
  return Array.from({ length: specialCount }, (_, id) => ({
    id,
    content: texts[id] ?? `<SPECIAL_${id}>`,
    ...cuttings.plainSpecial,
  }));
}

function formerSpecialsFor(version: unknown, path: string): readonly string[] {
  const [, number] = /^v(\d+)$/.exec(String(version)) ?? [];
  if (number === undefined || Number(number) > lastVersionWithoutSpecials) {
    tokenizers.refuse(path, `its version is ${showValue(version)}, and it lists no special tokens`);
  }
  return specialsUntilVersion7;
}

function listSpecialTexts(value: unknown, path: string): string[] {
  if (!Array.isArray(value))
    throw damaged(path, `special_tokens ${schema.describeMismatch(value, "a list")}`);
  return value.map((entry, rank) => {
    const token = json.objectAt(entry, path, `special_tokens[${rank}]`);
    if (token.rank !== rank || typeof token.token_str !== "string") {
      throw damaged(
        path,
        `special_tokens[${rank}] is ${showValue(entry)}, but must have the rank ${rank}, and text as token_str`,
      );
    }
    return token.token_str;
  });
}

/** Rewrites the file with only the kept tokens, and with the size of the new vocabulary. */
function prune(
  [{ name, bytes }]: SourceFiles,
  parts: TokenizerParts,
  { size, newIds }: changes.Numbering,
): OutputFile[] {
  const json = new JsonRewriter(bytes);
  const vocab = json.placeOf(["vocab"])!;
  // Special tokens have the first ids, and all of them are kept.
  const specialCount = tokenizers.allAddedTokens(parts).length;
  const entries: string[] = [];
  for (const [rank, start] of json.membersOf(vocab.start)) {
    const newId = newIds[specialCount + (rank as number)] ?? changes.removed;
    if (newId === changes.removed) continue;
    const { end } = json.placeAt(start);
    const place = json.placeOf(["rank"], start)!;
    const text = (from: number, to: number) => json.textAt({ start: from, end: to });
    entries.push(`${text(start, place.start)}${newId - specialCount}${text(place.end, end)}`);
  }
  json.replace(json.placeOf(["config", "default_vocab_size"])!, String(size));
  json.replaceElements(vocab, entries);
  return [{ name, chunks: () => json.chunks() }];
}

/**
 * Returns advice for a tokenizer that cannot be written because its bytes or special tokens have other ids than in this
 * format.
 */
function wayOut(vocabulary: Vocabulary): Message {
  const { tokenIds, specialIds } = vocabulary;
  const bytesAreInOrder = tokenIds.subarray(0, 256).every((id, byte) => id === tokenIds[0]! + byte);
  const first = asOption("special-tokens-first");
  const missing = bytesAreInOrder
    ? specialIds[0] === 0
      ? []
      : [phrase`with ${first}`]
    : [phrase`with ${asOption("compat", "cs336")} ${first}`];
  const isPadded = vocabularies.reservedOf(vocabulary).length > 0;
  const changes = [...missing, ...(isPadded ? [phrase`without ${asOption("pad-to")}`] : [])];
  const training = changes.length === 0 ? "" : phrase`, or train ${messages.joined(changes, " and ")}`;
  return phrase`use tokenizer.json instead${training}`;
}

/**
 * Returns the reason why a tokenizer cannot be written in this format, or null. mistral-common uses tiktoken, so
 * merging must give the same ids as tiktoken.
 */
function obstacle(tokenizer: FinishedTokenizer): Message | null {
  const { specialIds, entries, tokenIds } = tokenizer.vocabulary;
  if (tokenizer.characters) return obstacleOfRanks(tokenizer);
  const patternCount = sourcesOf(tokenizer.exportForm).length;
  if (patternCount !== 1)
    return `tekken.json stores one regular expression, but this pattern has ${patternCount}`;
  const specialCount = specialIds.length;
  if (specialIds.some((id) => id >= specialCount))
    return phrase`in tekken.json special tokens have the first ids, but in this tokenizer they do not; ${wayOut(tokenizer.vocabulary)}`;
  if (tokenIds.subarray(0, 256).some((id, byte) => id !== specialCount + byte))
    return phrase`in tekken.json the 256 bytes come next after the special tokens, in order, but in this tokenizer they do not; ${wayOut(tokenizer.vocabulary)}`;
  if (
    entries.some(
      (entry) =>
        vocabularies.isSpecialEntry(entry) && bytesOfEntry(tokenizer.vocabulary, entry) === undefined,
    )
  )
    return "in tekken.json each id has a token, but in this tokenizer some ids have none";
  if (specialCount > specialCountMax) return `tekken.json stores at most ${specialCountMax} special tokens`;
  return obstacleOfRanks(tokenizer);
}

const sourcesOf = (form: patternForms.PatternExport) =>
  (form.kind === "splits" ? form : patterns.gpt2).sources;

/** Returns the bytes of an entry; undefined if it has no token. */
function bytesOfEntry(vocabulary: Vocabulary, entry: number): Uint8Array | undefined {
  if (!vocabularies.isSpecialEntry(entry)) return vocabulary.tokenBytes.copy(entry);
  const text = vocabulary.specialTokens[vocabularies.specialOfEntry(entry)];
  return text === undefined
    ? vocabularies.otherOfEntry(vocabulary, entry)?.bytes
    : new TextEncoder().encode(text);
}

function* tekkenFile({ vocabulary, exportForm }: FinishedTokenizer): Generator<Uint8Array> {
  const { size, specialTokens, entries } = vocabulary;
  const specialCount = specialTokens.length;
  const config = {
    pattern: sourcesOf(exportForm)[0],
    num_vocab_tokens: size - specialCount,
    default_vocab_size: size,
    default_num_special_tokens: specialCount,
    version: "v3",
  };
  const chunk = new Chunk();
  const list = (name: string, rows: readonly object[]) =>
    `,\n"${name}": [${rows.map((row) => `\n${JSON.stringify(row)}`).join(",")}\n]`;
  chunk.text(`{"config": ${JSON.stringify(config)}`);
  const special = Array.from(entries.subarray(0, specialCount), (entry, rank) => ({
    rank,
    token_str: specialTokens[vocabularies.specialOfEntry(entry)]!,
    is_control: true,
  }));
  chunk.text(`${list("special_tokens", special)},\n"vocab": [`);
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  for (let rank = 0; rank < size - specialCount; rank++) {
    const bytes = bytesOfEntry(vocabulary, entries[specialCount + rank]!)!;
    const token_str = isUtf8(bytes) ? decoder.decode(bytes) : null;
    chunk.text(
      `${rank === 0 ? "" : ","}\n${JSON.stringify({ rank, token_bytes: host.toBase64(bytes), token_str })}`,
    );
    if (chunk.isFull) yield chunk.take();
  }
  chunk.text("\n]}\n");
  yield chunk.take();
}

export const tekken: TokenizerFormat = {
  writing: {
    obstacle,
    files: (tokenizer) => [{ name: "tekken.json", chunks: () => tekkenFile(tokenizer) }],
    hidesSpecialTokens: true,
  },
  read,
  prune,
};
