import { ascii, escapeBytes, showValue } from "#bytes";
import { type compiledPatterns, namedPatterns, patterns } from "#pattern";
import { asOption, assert, exitCode, host, phrase, UserError } from "#runtime";
import { type AddedToken, cuttings, type Normalization } from "#text";
import {
  changes,
  encodingModels,
  modelSettings,
  modelsOfRanks,
  type TokenizerParts,
  type TokenTable,
  tokenizers,
  tokenTables,
  type Vocabulary,
  vocabularies,
} from "#tokenizer";
import { checkId, checkOwnIds } from "./assemble-model.ts";
import type { FinishedTokenizer } from "./finished-tokenizer.ts";
import { Chunk, type OutputFile, type SourceFiles, type TokenizerFormat } from "./output-file.ts";
import { postProcessingOfRecord } from "./post-processor.ts";
import { checkTakesAll, compileSplits } from "./pre-tokenizer.ts";
import { rankSums } from "./rank-sums.ts";
import * as recordFiles from "./read-training-record.ts";
import { lineEnd, rows, tableOffsets } from "./rows.ts";

/**
 * Returns the rank file. It has no merges, because tiktoken merges in the order of the ids. So `obstacle` refuses
 * tokenizers whose merges have another order.
 */
function filesOf({ vocabulary }: FinishedTokenizer): OutputFile[] {
  return [{ name: "tokenizer.tiktoken", chunks: () => rankRows(vocabulary) }];
}

/** Yields lines of `base64(token bytes) id`, by ascending id, without the special tokens. */
export function rankRows(vocabulary: Vocabulary): Generator<Uint8Array> {
  const { size, entries, tokenBytes } = vocabulary;
  return rows(vocabulary, size, {
    base64Digits,
    write: (kernel, first, to, limit) => kernel.writeRanks(first, size, tableOffsets.digits, to, limit),
    append: (chunk, id) => {
      const token = entries[id]!;
      const bytes = vocabularies.isSpecialEntry(token)
        ? vocabularies.otherOfEntry(vocabulary, token)?.bytes
        : tokenBytes.copy(token);
      if (bytes === undefined) return;
      chunk.ascii(host.toBase64(bytes));
      chunk.ascii(" ");
      chunk.decimal(id);
      chunk.ascii("\n");
    },
  });
}

const base64Digits = new TextEncoder().encode(
  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
);

/** Returns the reason why a tokenizer cannot be written in this format, or null. */
export function obstacle(tokenizer: FinishedTokenizer): string | null {
  const { vocabulary, exportForm, characters } = tokenizer;
  if (characters) return modelSettings.settingOnlyInTokenizerJson(tokenizer);
  if (exportForm.kind === "splits" && exportForm.regexes.length > 1) {
    return "tiktoken takes one regular expression, and this pattern is a sequence of several";
  }
  if (exportForm.kind === "splits" && exportForm.mayLeaveGaps) {
    return "the pattern may leave text unmatched, which tiktoken drops; add |[\\s\\S] to its end, so that it matches every character";
  }
  if (vocabulary.tokenIds.some((id) => vocabularies.isSpecialEntry(vocabulary.entries[id]!))) {
    return "a special token has the id of another token, but tiktoken merges in the order of ids";
  }
  if (vocabulary.tokenIds.some((id, token, ids) => token > 256 && id < ids[token - 1]!)) {
    return "tiktoken merges in the order of ids, but these merges have a different order";
  }
  if (vocabulary.others?.areWhole === false && vocabulary.others.tokens.length > 0)
    return `no text is encoded to the token "${escapeBytes(vocabulary.others.tokens[0]!.bytes)}", but with a rank file, a pretoken of the same text would be`;
  return modelSettings.settingOnlyInTokenizerJson(tokenizer);
}

/**
 * Loads tiktoken's rank file, which states neither a pattern nor special tokens. These come from the options, from a
 * record next to the file, or from the known facts about a published file with this checksum.
 */
const read = ([{ path, bytes }]: SourceFiles, options: tokenizers.LoadOptions): TokenizerParts =>
  partsOf(
    bytes,
    path,
    options,
    findKnownBySum(host.createSha256().update(bytes).digest("hex")),
    recordFiles.read(path),
  );

/**
 * Builds a tokenizer from a rank file. `known` is what is known about the file if it is a published one, `recorded` the
 * training record.
 */
export function partsOf(
  bytes: Uint8Array,
  path: string,
  options: tokenizers.LoadOptions,
  known: KnownRanks | undefined = undefined,
  recorded: recordFiles.RecordedTraining | null = null,
): TokenizerParts {
  const tokens = scan(bytes) ?? refuseRanks(bytes, path);
  const sources = recorded?.patternSources ?? (known && patterns[known.pattern].sources);
  const pattern = options.pattern ?? patternOf(sources, path, options.use);
  if (pattern.name === null) checkTakesAll(pattern.sources, path);
  const normalization = recorded?.normalization ?? known?.normalization ?? null;
  const idMax = tokens.ids.length === 0 ? -1 : encodingModels.maxOf(tokens.ids);
  const specialIds =
    recorded === null
      ? specialsOfKnown(known, options.specialTokens, idMax)
      : giveIds([...recordedSpecials(recorded), ...(options.specialTokens ?? [])], idMax);
  const addedTokens = Array.from(
    specialIds,
    ([content, id]): AddedToken => ({
      ...cuttings.plainSpecial,
      id,
      content,
      normalized: normalization !== null,
    }),
  );
  const taken = new Set(specialIds.values());
  const sharing: number[] = [];
  tokens.ids.forEach((id, t) => {
    if (taken.has(id)) sharing.push(t);
  });
  const tokenAt = (t: number) => tokens.bytes.subarray(tokens.starts[t]!, tokens.starts[t + 1]!);
  checkOwnIds(
    addedTokens,
    sharing.map((t) => [tokenAt(t), tokens.ids[t]!]),
    path,
  );
  return {
    model: modelsOfRanks.of(tokens, path),
    pattern: pattern.compiled,
    normalization,
    addsPrefixSpace: false,
    addedTokens,
    isNarrow: tokenizers.fitNarrowIds(idMax, addedTokens),
    tokens: tableOf(tokens, addedTokens, path),
    ...postProcessingOfRecord(recorded, addedTokens),
    description: { path, kind: kindOf(known), patternName: pattern.name, patternSources: pattern.sources },
    notes: [],
  };
}

function kindOf(known: KnownRanks | undefined): string {
  if (known === undefined) return "rank file";
  const others = known.sameRanks === undefined ? "" : `; with other special tokens, of ${known.sameRanks}`;
  const form = known.normalization === undefined ? "" : `; text is normalized (${known.normalization})`;
  return `rank file of ${known.name}${others}${form}`;
}

/**
 * Parses lines of a base64 token, a space and a rank; skips empty lines. Returns null if a line is faulty;
 * `refuseRanks` then finds that line.
 */
export function scan(file: Uint8Array): encodingModels.PackedTokens | null {
  const bytes = new Uint8Array(Math.ceil((file.length * 3) / 4));
  const lineCountMax = Math.ceil(file.length / smallestLineBytes);
  const starts = new Int32Array(lineCountMax + 1);
  const ids = new Int32Array(lineCountMax);
  const values = base64Values();
  let count = 0;
  let at = 0;
  for (let pos = 0; pos < file.length; ) {
    const nextLine = skipLineEnd(file, pos);
    if (nextLine > pos) {
      pos = nextLine;
      continue;
    }
    // Whisper's rank files have an empty token, `=`.
    const isEmpty = file[pos] === equalsSign && file[pos + 1] === ascii.space;
    if (isEmpty) pos++;
    while (!isEmpty) {
      if (pos + 4 > file.length) return null;
      const a = values[file[pos]!]!;
      const b = values[file[pos + 1]!]!;
      const c = values[file[pos + 2]!]!;
      const d = values[file[pos + 3]!]!;
      // "=" has the value 64. Any other character that is not a base64 digit has 128. Only the last two positions may
      // be "=".
      if (a > 63 || b > 63 || c > 64 || d > 64 || (c === 64 && d !== 64)) return null;
      bytes[at] = (a << 2) | (b >> 4);
      bytes[at + 1] = (b << 4) | (c >> 2);
      bytes[at + 2] = (c << 6) | d;
      at += c === 64 ? 1 : d === 64 ? 2 : 3;
      pos += 4;
      if (d === 64 || file[pos] === ascii.space) break;
    }
    if (file[pos] !== ascii.space) return null;
    const rankStart = ++pos;
    let rank = 0;
    for (let digit = file[pos]! - ascii.zero; digit >= 0 && digit <= 9; digit = file[++pos]! - ascii.zero) {
      rank = 10 * rank + digit;
      if (rank >= tokenTables.idLimitMax) return null;
    }
    const lineEnd = skipLineEnd(file, pos);
    if (pos === rankStart || (lineEnd === pos && pos < file.length)) return null;
    pos = lineEnd;
    ids[count++] = rank;
    starts[count] = at;
  }
  return { bytes, starts: starts.subarray(0, count + 1), ids: ids.subarray(0, count) };
}

/** The shortest line: `= 0` and a line feed. */
const smallestLineBytes = 4;

const equalsSign = "=".charCodeAt(0);

/** Returns the position after a line end at `pos`; `pos` if there is none. */
function skipLineEnd(file: Uint8Array, pos: number): number {
  if (file[pos] === ascii.lineFeed) return pos + 1;
  if (file[pos] !== ascii.carriageReturn) return pos;
  return file[pos + 1] === ascii.lineFeed ? pos + 2 : pos + 1 === file.length ? pos + 1 : pos;
}

/** Returns the value of each base64 digit; 64 for "=", 128 for anything else. */
function base64Values(): Uint8Array {
  const values = new Uint8Array(256).fill(128);
  base64Digits.forEach((digit, value) => {
    values[digit] = value;
  });
  values[equalsSign] = 64;
  return values;
}

/** Reports the first faulty line of a file that `scan` rejected. */
export function refuseRanks(file: Uint8Array, path: string): never {
  const text = Buffer.from(file).toString("latin1").replace(/\r$/, "");
  for (const [i, line] of text.split(/\r?\n/).entries()) {
    const match = rankLine.exec(line);
    if (match === null)
      throw new UserError(
        `line ${i + 1} of "${path}" is ${showValue(line)}, but must be a token in base64, a space and its rank`,
        { hint: "correct this line, or copy the file again" },
      );
    if (match[1] !== undefined) checkId(Number(match[2]), match[1], path);
  }
  assert(false, "only a rank file without a wrong line is scanned");
}

const rankLine =
  /^(?:((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)|=) (\d+))?$/;

function patternOf(
  sources: readonly string[] | undefined,
  path: string,
  use?: tokenizers.LoadOptions["use"],
): compiledPatterns.ResolvedPattern {
  if (sources === undefined) {
    const pattern = asOption("pattern", "cl100k");
    throw new UserError(
      `"${path}" is a rank file of an unknown tokenizer, and rank files do not contain the pattern`,
      {
        hint:
          use === "like"
            ? "name the directory that bpe convert makes from this file, its pattern and its special tokens"
            : use === "base"
              ? phrase`give the pattern, e.g. ${pattern}; if the tokenizer has special tokens, extend the tokenizer.json that bpe convert makes from this file`
              : phrase`give the pattern, e.g. ${pattern}, and each special token, e.g. ${asOption("special-token", "'<|endoftext|>=100257'")}`,
        exitCode: exitCode.usage,
      },
    );
  }
  return { name: namedPatterns.nameOf(sources), sources, compiled: compileSplits(sources, path) };
}

/**
 * Returns the special and reserved tokens of a training. The special tokens have the ids that the record states. If it
 * states none, they have the first ids if the record says that they come first, or if `compat` is huggingface. A token
 * whose id is undefined gets the id of an earlier token with the same text or, if there is none, the next free id.
 */
function recordedSpecials(recorded: recordFiles.RecordedTraining): tokenizers.SpecialTokenOption[] {
  const { specialTokens, specialIds, specialTokensFirst, reservedTokens, compat } = recorded;
  const firstIds = specialTokensFirst || compat === "huggingface" ? [...specialTokens.keys()] : [];
  const given = specialTokens.map((text, i) => ({ text, id: (specialIds ?? firstIds)[i] }));
  return [...given, ...reservedTokens.map((text) => ({ text, id: undefined }))];
}

/**
 * Returns the special tokens of a published file and those of the user. If the user gives the id of a published token
 * to a different text, the published token is dropped.
 */
function specialsOfKnown(
  known: KnownRanks | undefined,
  asked: readonly tokenizers.SpecialTokenOption[] = [],
  idMax: number,
): Map<string, number> {
  const others = (known?.specialTokens ?? []).map(([text, id]) => ({ text, id }));
  const isFree = ({ text, id }: { text: string; id: number }) =>
    asked.every((token) => token.text === text || token.id !== id);
  return giveIds([...others.filter(isFree), ...asked], idMax);
}

/** Assigns an id to each text: the given id, or the id that the same text got before, or the next free id. */
function giveIds(specials: readonly tokenizers.SpecialTokenOption[], idMax: number): Map<string, number> {
  const ids = new Map<string, number>();
  let nextId = idMax + 1;
  for (const { text, id } of specials) {
    const given = id ?? ids.get(text) ?? nextId;
    ids.set(text, given);
    nextId = Math.max(nextId, given + 1);
  }
  return ids;
}

function tableOf(
  tokens: encodingModels.PackedTokens,
  addedTokens: readonly AddedToken[],
  path: string,
): TokenTable {
  const encoder = new TextEncoder();
  const added = addedTokens.map(
    ({ id, content }) => [checkId(id, content, path), encoder.encode(content)] as const,
  );
  return tokenTables.fromPacked(tokenTables.append(tokens, added));
}

function extend(
  [{ name, bytes }]: SourceFiles,
  _base: TokenizerParts,
  { tokens }: changes.Extension,
): OutputFile[] {
  const lines = () => tokens.map(({ id, bytes }) => `${host.toBase64(bytes)} ${id}\n`).join("");
  return [{ name, chunks: () => [bytes, new TextEncoder().encode(`${lineEnd(bytes)}${lines()}`)] }];
}

/** Writes the kept tokens, except added ones, in the order of their new ids. The new id of a token is its new rank. */
function prune([{ name }]: SourceFiles, parts: TokenizerParts, { newIds }: changes.Numbering): OutputFile[] {
  const addedIds = new Set(tokenizers.allAddedTokens(parts).map(({ id }) => id));
  function* chunks(): Generator<Uint8Array> {
    const chunk = new Chunk();
    for (let id = 0; id < newIds.length; id++) {
      const bytes = tokenTables.bytesOf(parts.tokens, id);
      // An id without bytes has no token in this file: it may be a special token that only another file of the
      // tokenizer lists.
      if (newIds[id] === changes.removed || addedIds.has(id) || bytes.length === 0) continue;
      chunk.ascii(`${host.toBase64(bytes)} ${newIds[id]}\n`);
      if (chunk.isFull) yield chunk.take();
    }
    yield chunk.take();
  }
  return [{ name, chunks }];
}

export const tiktoken: TokenizerFormat = {
  writing: { files: filesOf, obstacle },
  ...{ read, extend, rename: (files) => files, prune },
};

/** What is known about a published rank file, although the file does not contain it. */
type KnownRanks = {
  /** The publisher's name for the encoding. */
  readonly name: string;
  /** The names of other encodings with the same ranks. Their special tokens are not used. */
  readonly sameRanks?: string;
  readonly pattern: namedPatterns.PatternName;
  readonly specialTokens: readonly (readonly [text: string, id: number])[];
  /** Added tokens that are not special. */
  readonly laterTokens?: readonly string[];
  /** The normal form into which text is brought before special tokens are searched for. */
  readonly normalization?: Normalization;
};

/** Returns the encoding of this name, which must be a known one. */
export const findKnown = (wanted: string): KnownRanks =>
  [...Object.values(knownRankFiles), qwen3].map((read) => read()).find(({ name }) => name === wanted)!;

/** Returns the known file with this SHA-256, or undefined. */
export const findKnownBySum = (sum: string): KnownRanks | undefined => knownRankFiles[sum]?.();

const endOfText = "<|endoftext|>";
const fillInTheMiddle = ["<|fim_prefix|>", "<|fim_middle|>", "<|fim_suffix|>"];

const numbered = (texts: readonly string[], firstId: number) =>
  texts.map((text, i) => [text, firstId + i] as const);
/** Returns the texts `<|name_0|>`, …, numbered from `first`. */
const reserved = (name: string, count: number, first = 0) =>
  Array.from({ length: count }, (_, i) => `<|${name}_${first + i}|>`);

/** The known rank files, by SHA-256. The facts about the first four are from tiktoken's source (openai_public.py). */
const knownRankFiles: Readonly<Record<string, () => KnownRanks>> = {
  [rankSums.r50k_base]: () => ({
    name: "r50k_base",
    pattern: "r50k",
    specialTokens: [[endOfText, 50256]],
  }),
  "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069": () => ({
    name: "p50k_base",
    sameRanks: "p50k_edit",
    pattern: "p50k",
    specialTokens: [[endOfText, 50256]],
  }),
  [rankSums.cl100k_base]: () => ({
    name: "cl100k_base",
    pattern: "cl100k",
    specialTokens: [...numbered([endOfText, ...fillInTheMiddle], 100257), ["<|endofprompt|>", 100276]],
  }),
  [rankSums.o200k_base]: () => ({
    name: "o200k_base",
    sameRanks: "o200k_harmony",
    pattern: "o200k",
    specialTokens: [
      [endOfText, 199999],
      ["<|endofprompt|>", 200018],
    ],
  }),
  // Meta's tokenizer.model, with the special tokens of its package llama-models.
  "82e9d31979e92ab929cd544440f129d9ecd797b69e327f80f17e1c50d5551b55": () => ({
    name: "Llama 3",
    pattern: "llama3",
    specialTokens: numbered(llama3Tokens(), 128_000),
  }),
  d0bdbaf59b0762c8c807617e2d8ea51420eb1b1de266df2495be755c8e0ed6ed: () => ({
    name: "Llama 4",
    pattern: "o200k",
    specialTokens: numbered(llama4Tokens(), 200_000),
  }),
  // qwen.tiktoken, with the special tokens of Qwen's own code for it.
  b2b1b8dfb5cc5f024bafc373121c6aba3f66f9a5a0269e243470a1de16a33186: () => ({
    name: "Qwen",
    sameRanks: "Qwen 2, 2.5 and 3",
    pattern: "qwen2",
    specialTokens: numbered([endOfText, "<|im_start|>", "<|im_end|>", ...reserved("extra", 205)], 151_643),
    normalization: "NFC",
  }),
};

/** Qwen's ranks with the special tokens of Qwen 3, as in its tokenizer.json. */
const qwen3 = (): KnownRanks => ({
  name: "Qwen 3",
  pattern: "qwen2",
  specialTokens: numbered(
    [
      ...[endOfText, "<|im_start|>", "<|im_end|>"],
      ...["object_ref", "box", "quad", "vision"].flatMap((part) => [`<|${part}_start|>`, `<|${part}_end|>`]),
      ...["<|vision_pad|>", "<|image_pad|>", "<|video_pad|>"],
    ],
    151_643,
  ),
  laterTokens: [
    ...["<tool_call>", "</tool_call>", ...fillInTheMiddle, "<|fim_pad|>", "<|repo_name|>", "<|file_sep|>"],
    ...["<tool_response>", "</tool_response>", "<think>", "</think>"],
  ],
  normalization: "NFC",
});

function llama3Tokens(): string[] {
  return [
    "<|begin_of_text|>",
    "<|end_of_text|>",
    ...reserved("reserved_special_token", 2),
    "<|finetune_right_pad_id|>",
    "<|step_id|>",
    "<|start_header_id|>",
    "<|end_header_id|>",
    "<|eom_id|>",
    "<|eot_id|>",
    "<|python_tag|>",
    "<|image|>",
    ...reserved("reserved_special_token", 244, 2),
  ];
}

function llama4Tokens(): string[] {
  const text = "text_post_train_reserved_special_token";
  const vision = "vision_reserved_special_token";
  const reasoning = "reasoning_reserved_special_token";
  const tokens = [
    "<|begin_of_text|>",
    "<|end_of_text|>",
    ...fillInTheMiddle,
    "<|header_start|>",
    "<|header_end|>",
    "<|eom|>",
    "<|eot|>",
    "<|step|>",
    ...reserved(text, 6),
    "<|python_start|>",
    "<|python_end|>",
    "<|finetune_right_pad|>",
    ...reserved(text, 61, 8),
    "<|image_start|>",
    "<|image_end|>",
    ...reserved(vision, 2),
    "<|tile_x_separator|>",
    "<|tile_y_separator|>",
    ...reserved(vision, 4, 2),
    "<|image|>",
    ...reserved(vision, 1, 6),
    "<|patch|>",
    ...reserved(vision, 1041, 7),
    ...reserved(reasoning, 8),
    "<|reasoning_thinking_start|>",
    "<|reasoning_thinking_end|>",
  ];
  return [...tokens, ...reserved("reserved_special_token", 2048 - tokens.length)];
}
