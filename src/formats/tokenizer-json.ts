import { byteCharacters, json, schema, showValue, utf8 } from "#bytes";
import { type patternForms, unicode } from "#pattern";
import { assert, UserError } from "#runtime";
import { type AddedToken, cuttings, type Normalization, normalForms } from "#text";
import {
  changes,
  encodingModels,
  modelSettings,
  type TokenizerParts,
  tokenizers,
  type Vocabulary,
  vocabularies,
} from "#tokenizer";
import {
  assembleModel,
  assembleTokens,
  checkId,
  checkIds,
  findSharedTokens,
  notesOfSharedTokens,
  refuseOptions,
  scanParsed,
} from "./assemble-model.ts";
import {
  assembleCharacterModel,
  assembleCharacterTokens,
  beginsWithCharacters,
  checkLateTokens,
  checkLeading,
  cuttingSource,
  isByteToken,
  readCharacterDecoder,
  readCharacterSteps,
} from "./character-json.ts";
import type { CharacterMerges, FinishedTokenizer, PieceKind } from "./finished-tokenizer.ts";
import {
  Chunk,
  type OutputFile,
  type SourceFile,
  type SourceFiles,
  type SpelledTokens,
  type TokenizerFormat,
} from "./output-file.ts";
import { readPostProcessor } from "./post-processor.ts";
import { compileSplits, readPreTokenizer } from "./pre-tokenizer.ts";
import { renameTokenizerJson } from "./rename-tokens.ts";
import { addNewIds, JsonRewriter, type Place, selectKeptRows, spellMerges } from "./rewrite-json.ts";
import { idRows, jsonSpelling, mergeRows, withoutFirstByte } from "./rows.ts";
import { type ScannedModel, scanFrame, scanTokenizerJson, type TokenIds } from "./scan-tokenizer-json.ts";

/**
 * Returns `tokenizer.json` as HF `tokenizers` writes it, and the two small files that `transformers` reads next to it.
 */
function filesOf(tokenizer: FinishedTokenizer): OutputFile[] {
  return [
    { name: "tokenizer.json", chunks: () => tokenizerJson(tokenizer) },
    { name: "tokenizer_config.json", chunks: () => [tokenizerConfigJson(tokenizer)] },
    { name: "special_tokens_map.json", chunks: () => [jsonFile(roleFields(tokenizer, undefined))] },
  ];
}

/**
 * Yields `tokenizer.json`. JSON.stringify writes everything but the vocabulary and the merges, which come row by row.
 */
function* tokenizerJson(tokenizer: FinishedTokenizer): Generator<Uint8Array> {
  const { vocabulary, normalization, exportForm, model, like, characters } = tokenizer;
  const head = {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: addedTokensOf(tokenizer).map(jsonOfToken),
    normalizer: normalizerOf(normalization),
    pre_tokenizer: characters === undefined ? preTokenizer(exportForm) : null,
    post_processor: model.addsBos ? bosInFront(vocabulary, model.roles.bos!) : null,
    decoder: byteLevel({ addPrefixSpace: true, useRegex: true }),
    ...frameOf(tokenizer),
    model: {
      type: "BPE",
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: vocabulary.others?.areWhole === true,
      ...(like?.root?.model as json.JsonObject | undefined),
    },
  };
  const text = new TextEncoder();
  // The text of `head` ends with the closing braces of the model and of the file. They are cut off, because the model
  // continues.
  yield text.encode(`${JSON.stringify(head, null, 2).slice(0, -"\n  }\n}".length)},\n    "vocab": {`);
  // With --like, the reserved tokens have the last ids. As in HF, they are added tokens that the vocabulary does not
  // list.
  const rowCount = vocabulary.size - (like ? vocabulary.reservedCount : 0);
  yield* withoutFirstByte(idRows(vocabulary, [',\n      "', '": ', ""], rowCount));
  yield text.encode('\n    },\n    "merges": [');
  const separators = [',\n      [\n        "', '",\n        "', '"\n      ]'] as const;
  const rows = characters
    ? spelledMergeRows(vocabulary, characters.merges, separators)
    : mergeRows(vocabulary, separators, jsonSpelling);
  yield* withoutFirstByte(rows);
  const mergeCount = characters?.merges.left.length ?? vocabulary.mergeCount;
  yield text.encode(`${mergeCount === 0 ? "" : "\n    "}]\n  }\n}`);
}

/** Yields merges whose tokens are spelled as in the files that they were read from. */
function* spelledMergeRows(
  vocabulary: Vocabulary,
  { left, right }: CharacterMerges["merges"],
  [before, between, after]: readonly [string, string, string],
): Generator<Uint8Array> {
  const { entries, specialTokens } = vocabulary;
  const keyOf = (id: number) => {
    const entry = entries[id]!;
    const key =
      specialTokens[vocabularies.specialOfEntry(entry)] ?? vocabularies.otherOfEntry(vocabulary, entry)!.key;
    return JSON.stringify(key).slice(1, -1);
  };
  const chunk = new Chunk();
  for (let rank = 0; rank < left.length; rank++) {
    chunk.text(`${before}${keyOf(left[rank]!)}${between}${keyOf(right[rank]!)}${after}`);
    if (chunk.isFull) yield chunk.take();
  }
  yield chunk.take();
}

const stepTypes: Readonly<Record<normalForms.Step, string>> = {
  NFC: "NFC",
  NFD: "NFD",
  NFKC: "NFKC",
  NFKD: "NFKD",
  lowercase: "Lowercase",
};

function normalizerOf(normalization: Normalization | null): object | null {
  const steps = normalization === null ? [] : normalForms.stepsOf(normalization);
  const normalizers = steps.map((step) => ({ type: stepTypes[step] }));
  return normalizers.length > 1 ? { type: "Sequence", normalizers } : (normalizers[0] ?? null);
}

/**
 * Returns HF's pre-tokenizer. Its step ByteLevel itself can cut by the gpt2 pattern. Any other pattern becomes Split
 * steps before ByteLevel; only `none`, which cuts nothing, needs no such step.
 */
function preTokenizer(form: patternForms.PatternExport): object {
  if (form.kind === "byte-level") return byteLevel({ addPrefixSpace: false, useRegex: true });
  assert(form.kind === "splits", "only a tokenizer whose pattern is regular expressions is written here");
  const splits = form.regexes.map((regex) => ({
    type: "Split",
    pattern: { Regex: regex },
    behavior: "Isolated",
    invert: false,
  }));
  return {
    type: "Sequence",
    pretokenizers: [...splits, byteLevel({ addPrefixSpace: false, useRegex: false })],
  };
}

function byteLevel(options: { addPrefixSpace: boolean; useRegex: boolean }): object {
  return {
    type: "ByteLevel",
    add_prefix_space: options.addPrefixSpace,
    trim_offsets: true,
    use_regex: options.useRegex,
  };
}

/** Returns HF's step that puts bos before a text, and before each text of a pair. */
function bosInFront({ specialTokens, specialIds }: Vocabulary, bos: string): object {
  const special = { SpecialToken: { id: bos, type_id: 0 } };
  const pairSpecial = { SpecialToken: { id: bos, type_id: 1 } };
  const text = (id: string, type: number) => ({ Sequence: { id, type_id: type } });
  return {
    type: "TemplateProcessing",
    single: [special, text("A", 0)],
    pair: [special, text("A", 0), pairSpecial, text("B", 1)],
    special_tokens: { [bos]: { id: bos, ids: [specialIds[specialTokens.indexOf(bos)]], tokens: [bos] } },
  };
}

function tokenizerConfigJson(tokenizer: FinishedTokenizer): Uint8Array {
  const { model, like } = tokenizer;
  const decoders = addedTokensOf(tokenizer).map((token) => {
    const { id, ...fields } = jsonOfToken(token);
    return [id, fields];
  });
  const { model_max_length: _, ...config } = like?.config ?? {};
  const own = {
    added_tokens_decoder: Object.fromEntries(decoders),
    ...roleFields(tokenizer, null),
    ...(model.chatTemplate !== null && { chat_template: model.chatTemplate }),
    ...addsBosField(tokenizer),
    clean_up_tokenization_spaces: config.clean_up_tokenization_spaces ?? false,
    ...(model.modelMaxLength !== null && { model_max_length: model.modelMaxLength }),
    tokenizer_class: model.tokenizerClass,
  };
  return jsonFile({ ...own, ...config, ...own });
}

/**
 * Returns the field that says whether bos is put before texts. If it is missing, llama.cpp puts bos before texts of a
 * llama3 or tekken model. Unless bos was requested, the field is copied from the configuration of --like. If that lacks
 * the field, the post-processor of --like decides: if it adds tokens to a text, the result is empty; otherwise, the
 * field is false.
 */
function addsBosField({ model, like }: FinishedTokenizer): { add_bos_token?: unknown } {
  const { add_bos_token: stated } = like?.config ?? {};
  if (model.addsBos) return { add_bos_token: true };
  if (stated !== undefined) return { add_bos_token: stated };
  return modelSettings.postProcessorSteps(like?.root?.post_processor).length > 0
    ? {}
    : { add_bos_token: false };
}

/**
 * Returns `bos_token` and the other roles, and all special tokens as `additional_special_tokens`. If the tokenizer of
 * --like has a configuration, there are no additional tokens, and a token that keeps its role is copied from there.
 */
function roleFields({ vocabulary, model, like }: FinishedTokenizer, none: null | undefined): object {
  const config = like?.config ?? null;
  const given = modelSettings.roleNames.filter(
    (role) => model.roles[role] !== undefined || `${role}_token` in (config ?? {}),
  );
  const roles = given.map((role) => {
    const [key, text] = [`${role}_token`, model.roles[role] ?? none];
    return [key, text && modelSettings.contentOf(config?.[key]) === text ? config![key] : text];
  });
  const additional = config === null ? { additional_special_tokens: vocabulary.specialTokens } : {};
  return { ...Object.fromEntries(roles), ...additional };
}

/** Returns the added tokens, special or not, in the order of their ids, as in HF's files. */
function addedTokensOf({ vocabulary, like }: FinishedTokenizer): AddedToken[] {
  const { specialTokens, specialIds } = vocabulary;
  const known = new Map(
    [...(like?.specialTokens ?? []), ...(like?.laterTokens ?? [])].map((t) => [t.content, t]),
  );
  return specialTokens
    .map((content, s) => ({ content, ...(known.get(content) ?? cuttings.plainSpecial), id: specialIds[s]! }))
    .sort((a, b) => a.id - b.id);
}

const jsonOfToken = ({ id, content, singleWord, lstrip, rstrip, normalized, special }: AddedToken) => ({
  ...{ id, content, single_word: singleWord, lstrip, rstrip, normalized, special },
});

/**
 * Returns the top-level fields that are taken from --like (`TokenizerFormat.frame`), except the model, with the new
 * ids; empty if there are none. If bos was requested, but the post-processor of --like adds no tokens, a post-processor
 * that adds bos takes its place.
 */
function frameOf({ vocabulary, model, like }: FinishedTokenizer): json.JsonObject {
  if (!like?.root) return {};
  const { model: _, ...root } = like.root;
  const { specialTokens, specialIds } = vocabulary;
  const frame = frameWithIds(root, (token) => specialIds[specialTokens.indexOf(token as string)]!, like.path);
  const putsBos = model.addsBos && modelSettings.postProcessorSteps(root.post_processor).length === 0;
  return putsBos ? { ...frame, post_processor: bosInFront(vocabulary, model.roles.bos!) } : frame;
}

/**
 * Returns `root`, the content of a tokenizer.json, with new ids in the padding and the post-processor. `idOf` returns
 * the new id of a token by its text.
 */
export function frameWithIds(
  root: json.JsonObject,
  idOf: (token: unknown) => number,
  path: string,
): json.JsonObject {
  const padding = root.padding as json.JsonObject | null | undefined;
  return {
    ...root,
    ...(padding && { padding: { ...padding, pad_id: idOf(padding.pad_token) } }),
    post_processor: renumberStep(root.post_processor, (_, token) => idOf(token), path),
  };
}

function jsonFile(value: object): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify(value, null, 2)}\n`);
}

/**
 * Reads HF's `tokenizer.json` of a BPE that is byte-level, or whose merging begins with characters. Refuses settings
 * that cannot be reproduced exactly. Truncation, padding and the post-processor are not applied, as `notes` of the
 * result say.
 *
 * @param path the path of the file, for messages
 *
 * @param asksForBos whether bos was requested in the training; then no note says that encoding does not add it
 */
export function tokenizerOfJson(
  bytes: Uint8Array,
  path: string,
  asksForBos = () => false,
  scannedJson = scanTokenizerJson(bytes),
): TokenizerParts {
  const { root, modelJson, scan } = readRoot(bytes, path, scannedJson);
  if ("version" in root && root.version !== "1.0") {
    tokenizers.refuse(
      path,
      `its version is ${showValue(root.version)}, not "1.0"`,
      "tokenizers 1.0 saves version 2.0; use the tokenizer.json from which it was loaded",
    );
  }
  checkModel(modelJson, path);
  const fields = schema.checkOr(modelFields, modelJson, (what) => {
    throw new UserError(`"${path}": the model cannot be read: ${what}`, { hint: json.correctHint });
  });
  const { ignore_merges, unk_token } = fields;
  const scanned = scan();
  if (beginsWithCharacters(root.pre_tokenizer))
    return charactersOfJson(root, scanned, fields, { path, asksForBos });
  const { vocab } = scanned;
  const kind = { ignoresMerges: ignore_merges === true, unknownToken: unk_token ?? null };
  const model = assembleModel(scanned, kind);
  if (byteCharacters.characters.some((character) => vocab.get(character) === undefined))
    checkUnknown(modelJson, path);
  const normalization = readNormalizer(root.normalizer, path);
  const { tokens: addedTokens, notes } = readAddedTokens(root.added_tokens, vocab, normalization, path);
  const { sources, name, addsPrefixSpace } = readPreTokenizer(root.pre_tokenizer, path);
  const shared = findSharedTokens(model, vocab, addedTokens);
  const tokens = assembleTokens(vocab, addedTokens, shared);
  return {
    model,
    pattern: compileSplits(sources, path),
    normalization,
    addsPrefixSpace,
    addedTokens,
    isNarrow: tokenizers.fitNarrowIds(vocab.idMax, addedTokens),
    tokens,
    postProcessing: readPostProcessor(root.post_processor),
    description: {
      ...{ path, kind: "tokenizer.json", patternName: name, patternSources: sources },
      decoder: typesIn(root.decoder, "decoders"),
      postProcessor: typesIn(root.post_processor, "processors"),
    },
    notes: [...notes, ...notesOfSharedTokens(shared), ...notesOn(root, model.dropsBytes, asksForBos)],
  };
}

/** Reads a `tokenizer.json` whose merging begins with characters. */
function charactersOfJson(
  root: json.JsonObject,
  scanned: ScannedModel,
  { ignore_merges, unk_token, byte_fallback, fuse_unk }: schema.Checked<typeof modelFields>,
  { path, asksForBos }: { path: string; asksForBos: () => boolean },
): TokenizerParts {
  const { vocab } = scanned;
  const decoder = typesIn(root.decoder, "decoders");
  // Without a decoder HF puts spaces between tokens.
  if (decoder === "none" || decoder.includes("ByteLevel"))
    tokenizers.refuse(
      path,
      `its pre-tokenizer (${typesIn(root.pre_tokenizer, "pretokenizers")}) is not byte-level, ${decoder === "none" ? "and it has no decoder" : `but its decoder (${decoder}) is`}`,
    );
  if (ignore_merges === true)
    tokenizers.refuse(
      path,
      "ignore_merges is true, which is not supported for models whose merges start from characters",
    );
  const steps = readCharacterSteps(root, path);
  const { hasMarks, prefix } = steps;
  const byteFallback = byte_fallback === true;
  const settings = {
    unknownToken: unk_token ?? null,
    byteFallback,
    fusesUnknown: fuse_unk === true,
    hasMarks,
  };
  const leadingSpaces = readCharacterDecoder(root, hasMarks, byteFallback, path);
  const { tokens: addedTokens, notes } = readAddedTokens(root.added_tokens, vocab, null, path);
  checkLateTokens(addedTokens, steps, root.normalizer != null, path);
  checkLeading(leadingSpaces, vocab, addedTokens, path);
  const model = assembleCharacterModel(scanned, settings, path);
  const source = cuttingSource(scanned, steps, model.beginning?.unknown?.id === encodingModels.droppedByte);
  return {
    model,
    pattern: compileSplits([source], path),
    normalization: null,
    addsPrefixSpace: prefix !== null,
    ...(prefix !== null && { prefixRule: prefix }),
    ...(leadingSpaces !== "kept" && { leadingSpaces }),
    addedTokens,
    isNarrow: tokenizers.fitNarrowIds(vocab.idMax, addedTokens),
    tokens: assembleCharacterTokens(vocab, addedTokens, settings),
    postProcessing: readPostProcessor(root.post_processor),
    description: {
      ...{ path, kind: "tokenizer.json", patternName: null, patternSources: [source] },
      decoder,
      postProcessor: typesIn(root.post_processor, "processors"),
    },
    notes: [...notes, ...notesOn(root, model.dropsBytes, asksForBos)],
  };
}

/** Returns the tokens of a tokenizer whose merging begins with characters. */
function spell(
  [{ path, bytes, scanned }]: SourceFiles,
  { addedTokens, model }: TokenizerParts,
): SpelledTokens {
  const { root, modelJson, scan } = readRoot(bytes, path, scanned);
  const texts: string[] = [];
  const kinds: PieceKind[] = [];
  const put = (id: number, text: string, kind: PieceKind) => {
    if (texts[id] !== undefined && texts[id] !== text)
      tokenizers.refuse(
        path,
        `the tokens ${showValue(texts[id])} and ${showValue(text)} have the same id, ${id}`,
      );
    texts[id] = text;
    kinds[id] = kind;
  };
  for (const [text, id] of scan().vocab)
    put(id, text, model.beginning?.unknown === null && isByteToken(text) ? "byte" : "normal");
  for (const { content, id, special } of addedTokens) put(id, content, special ? "control" : "user-defined");
  const unknown = texts.indexOf(String(modelJson.unk_token));
  if (unknown >= 0) kinds[unknown] = "unknown";
  const filled = Array.from(texts, (_, id): PieceKind => kinds[id] ?? "unused");
  return { texts, kinds: filled, scores: null, splitsAtMarks: readCharacterSteps(root, path).splitsAtMarks };
}

/**
 * Parses the file. Returns its content as JSON, the model in it, and a function `scan`, which returns the vocabulary
 * and the merges.
 */
function readRoot(bytes: Uint8Array, path: string, scanned = scanTokenizerJson(bytes)) {
  const content = scanned === null ? json.parse(decoder.decode(bytes), path) : scanned.root;
  const root = json.objectAt(content, path);
  const modelJson = json.objectAt(root.model, path, "the model");
  const checkedIds = () => checkIds(json.objectAt(modelJson.vocab, path, "the model's vocab"), path);
  const scan = () => scanned ?? scanParsed(checkedIds(), readMerges(modelJson.merges, path), path);
  return { root, modelJson, scan };
}

/** Decodes text and keeps a byte order mark, which JSON does not allow. */
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Fields of the model with the types that HF accepts. A flag must be true, false or null, and not the string "true".
 */
const modelFields = schema.object({
  ignore_merges: schema.optional(schema.orNull(schema.flag)),
  byte_fallback: schema.optional(schema.orNull(schema.flag)),
  fuse_unk: schema.optional(schema.orNull(schema.flag)),
  unk_token: schema.optional(schema.orNull(schema.text)),
});

function checkModel(model: Record<string, unknown>, path: string): void {
  // Old files do not state the type.
  const type = model.type ?? ("merges" in model ? "BPE" : undefined);
  if (type !== "BPE") tokenizers.refuse(path, `its model is ${showValue(type)}, not BPE`);
  for (const name of ["continuing_subword_prefix", "end_of_word_suffix"]) {
    if (model[name]) tokenizers.refuse(path, `${name} is ${showValue(model[name])}`);
  }
  if (model.dropout)
    tokenizers.refuse(path, `dropout is ${showValue(model.dropout)}, so it merges at random`);
}

function readMerges(merges: unknown, path: string): [string, string][] {
  if (!Array.isArray(merges))
    throw new UserError(`"${path}": model.merges ${schema.describeMismatch(merges, "a list")}`, {
      hint: json.correctHint,
    });
  return merges.map((merge, rank) => {
    if (typeof merge === "string") {
      const parts = merge.split(" ");
      if (parts.length === 2) return [parts[0]!, parts[1]!];
    } else if (
      Array.isArray(merge) &&
      merge.length === 2 &&
      merge.every((part) => typeof part === "string")
    ) {
      return merge as [string, string];
    }
    throw new UserError(
      `"${path}": merge ${rank + 1} is ${showValue(merge)}, but must be two tokens: "a b" or ["a", "b"]`,
      { hint: json.correctHint },
    );
  });
}

/** Refuses settings that affect bytes for which the vocabulary has no token. */
function checkUnknown(model: Record<string, unknown>, path: string): void {
  if (model.byte_fallback === true)
    tokenizers.refuse(path, "byte_fallback is true, but its vocabulary lacks tokens for some bytes");
  if (model.unk_token && model.fuse_unk === true)
    tokenizers.refuse(path, "fuse_unk is true, and its vocabulary lacks tokens for some bytes");
}

function readNormalizer(value: unknown, path: string): Normalization | null {
  const steps = value === null || value === undefined ? [] : normalizersIn(value, path);
  return steps.length === 0 ? null : steps.join(",");
}

function normalizersIn(value: unknown, path: string): normalForms.Step[] {
  const { type, normalizers } = json.objectAt(value, path, "the normalizer");
  if (type === "Sequence" && Array.isArray(normalizers))
    return normalizers.flatMap((inner) => normalizersIn(inner, path));
  const step = normalForms.stepNames.find((known) => type === stepTypes[known]);
  if (step !== undefined) return [step];
  tokenizers.refuse(
    path,
    `its normalizer is ${showValue(type)}`,
    `use it with HF's tokenizers: bpe knows only the normalizers ${Object.values(stepTypes).join(", ")}`,
  );
}

/**
 * Returns the type of a decoder, pre-tokenizer or post-processor; "none" if there is none. For a sequence, returns the
 * types of its parts, separated by commas. `within` is the key of the parts.
 */
function typesIn(value: unknown, within: string): string {
  const part = value as json.JsonObject | null | undefined;
  const inner = part?.[within];
  if (Array.isArray(inner)) return inner.map((one) => typesIn(one, within)).join(", ");
  return part == null ? "none" : String(part.type);
}

function notesOn(root: Record<string, unknown>, dropsBytes: boolean, asksForBos: () => boolean): string[] {
  const notes: string[] = [];
  const adding = modelSettings.postProcessorSteps(root.post_processor);
  if (adding.length > 0 && !asksForBos()) {
    const types = adding.map((step) => step.type).join(", ");
    notes.push(`the post-processor (${types}) is not applied: ids are as with add_special_tokens=False`);
  }
  if (root.truncation) notes.push("the tokenizer's truncation is not applied");
  if (root.padding) notes.push("the tokenizer's padding is not applied");
  if (dropsBytes) notes.push("the vocabulary lacks some bytes; encoding drops them, as HF does");
  return notes;
}

type AddedTokens = { readonly tokens: AddedToken[]; readonly notes: string[] };

/**
 * Reads `added_tokens` as HF does, which ignores their ids. A token whose content is in the vocabulary has its id from
 * there. Any other gets the next number, starting at the vocabulary's size, even if that id is taken. Of several
 * entries with the same content the last one counts, but the token is special if any of them is.
 */
function readAddedTokens(
  value: unknown,
  vocab: TokenIds,
  normalization: Normalization | null,
  path: string,
): AddedTokens {
  if (value === undefined || value === null) return { tokens: [], notes: [] };
  if (!Array.isArray(value))
    throw new UserError(`"${path}": added_tokens ${schema.describeMismatch(value, "a list")}`, {
      hint: json.correctHint,
    });
  const byContent = new Map<string, AddedToken>();
  const changes: string[] = [];
  let nextId = vocab.size;
  for (const [i, entry] of value.entries()) {
    const { id: statedId, ...token } = readEntry(entry, `added token ${i + 1}`, path);
    const { content } = token;
    if (content === "") continue;
    const known = byContent.get(content);
    const id = known?.id ?? vocab.get(content) ?? checkId(nextId++, content, path);
    if (id !== statedId) changes.push(`${showValue(content)} is ${id}, not ${statedId}`);
    byContent.set(content, { id, ...token, special: token.special || known?.special === true });
  }
  const tokens = [...byContent.values()];
  refuseUnsupportedTokens(tokens, normalization, path);
  const more = changes.length > 1 ? `, and ${changes.length - 1} more differ` : "";
  const notes =
    changes.length === 0
      ? []
      : [`added tokens get the ids that HF gives them, not those of the file: ${changes[0]}${more}`];
  return { tokens, notes };
}

/** Reads an entry of `added_tokens`; `name` is its name in messages. */
function readEntry(entry: unknown, name: string, path: string): AddedToken {
  const hint =
    "give each added token id, content, single_word, lstrip, rstrip, normalized and special, as HF's tokenizers requires";
  const token = json.objectAt(entry, path, name);
  const { content } = token;
  if (typeof content !== "string")
    throw new UserError(`"${path}": the content of ${name} ${schema.describeMismatch(content, "text")}`, {
      hint,
    });
  const flag = (name: string): boolean => {
    const set = token[name];
    if (typeof set === "boolean") return set;
    throw new UserError(
      `"${path}": "${name}" of the added token ${showValue(content)} ${schema.describeMismatch(set, "true or false")}`,
      { hint },
    );
  };
  return {
    id: checkId(token.id, content, path),
    content,
    special: flag("special"),
    normalized: flag("normalized"),
    lstrip: flag("lstrip"),
    rstrip: flag("rstrip"),
    singleWord: flag("single_word"),
  };
}

/** Refuses tokens that HF does not load, loads only in part, or crashes on when it encodes a text. */
function refuseUnsupportedTokens(
  tokens: readonly AddedToken[],
  normalization: Normalization | null,
  path: string,
) {
  const quoted = ({ content }: AddedToken) => showValue(content);
  const byId = new Map<number, AddedToken>();
  for (const token of tokens) {
    const other = byId.get(token.id);
    if (other !== undefined)
      tokenizers.refuse(
        path,
        `the added tokens ${quoted(other)} and ${quoted(token)} have the same id, ${token.id}`,
      );
    byId.set(token.id, token);
  }
  for (const stage of [
    tokens.filter((token) => token.normalized),
    tokens.filter((token) => !token.normalized),
  ]) {
    const stripping = stage.find((token) => token.rstrip);
    const byPattern = new Map<string, AddedToken>();
    for (const token of stage) {
      const isChanged = token.normalized && normalization !== null;
      const pattern = isChanged ? normalForms.normalize(token.content, normalization) : token.content;
      const other = byPattern.get(pattern);
      if (other !== undefined)
        tokenizers.refuse(
          path,
          `its normalizer turns the added tokens ${quoted(other)} and ${quoted(token)} into the same text`,
        );
      byPattern.set(pattern, token);
      if (stripping !== undefined && unicode.contains(unicode.whiteSpace, pattern.codePointAt(0)!)) {
        tokenizers.refuse(
          path,
          `the added token ${quoted(token)} begins with white space, which ${quoted(stripping)} strips (rstrip)`,
        );
      }
    }
  }
}

function extend(
  [{ name, bytes }]: SourceFiles,
  base: TokenizerParts,
  extension: changes.Extension,
): OutputFile[] {
  return [{ name, chunks: () => extendedJson(bytes, base, extension) }];
}

function* extendedJson(
  bytes: Uint8Array,
  base: TokenizerParts,
  extension: changes.Extension,
): Generator<Uint8Array> {
  const rewriter = new JsonRewriter(bytes);
  yield noBytes;
  const vocab = rewriter.placeOf(vocabKeys)!;
  yield noBytes;
  const merges = rewriter.placeOf(mergesKeys)!;
  yield noBytes;
  addNewIds(rewriter, vocab, base, extension);
  yield noBytes;
  addSpecials(rewriter, vocab, changes.newSpecials(extension));
  const before = merges.isEmpty ? vocab.before : merges.before;
  rewriter.addElements(merges, rewriter.mergeTexts(merges, spellMerges(base, extension), before), {
    before,
    atEnd: lessIndented(before),
  });
  yield* rewriter.chunks();
}

const noBytes = new Uint8Array(0);
const vocabKeys = ["model", "vocab"];
const mergesKeys = ["model", "merges"];

/** Removes one level of HF's indentation. */
const lessIndented = (white: string) => white.slice(0, Math.max(0, white.length - 2));

/**
 * Adds special tokens after the last added token, in the layout of the first one. An empty list gets the layout of the
 * vocabulary, and a missing list is added without white space.
 */
function addSpecials(rewriter: JsonRewriter, vocab: Place, tokens: readonly AddedToken[]): void {
  if (tokens.length === 0) return;
  const rows = (inner: string, colon: string, atEnd: string) =>
    tokens.map((token) => {
      const texts = Object.entries(jsonOfToken(token)).map(
        ([key, value]) => `${inner}"${key}":${colon}${JSON.stringify(value)}`,
      );
      return `{${texts.join(",")}${atEnd}}`;
    });
  const place = rewriter.placeOf(["added_tokens"]);
  if (place === undefined) {
    const start = rewriter.placeOf([])!.start + 1;
    rewriter.replace({ start, end: start }, `"added_tokens":[${rows("", "", "").join(",")}],`);
    return;
  }
  const outer = lessIndented(vocab.before);
  const ofEmpty = { before: outer, atEnd: lessIndented(outer) };
  if (place.isEmpty) {
    rewriter.addElements(place, rows(vocab.before, rewriter.afterColon(vocab), outer), ofEmpty);
    return;
  }
  const first = rewriter.placeAt(place.start + 1 + place.before.length);
  rewriter.addElements(place, rows(first.before, rewriter.afterColon(first), first.atEnd));
}

/** Rebuilds the vocabulary and the merges. Everything else keeps its text, except for ids. */
function prune(
  [{ name, path, bytes }]: SourceFiles,
  parts: TokenizerParts,
  numbering: changes.Numbering,
): OutputFile[] {
  const { root, scan } = readRoot(bytes, path);
  const { tokens, merges } = selectKeptRows(scan().vocab, parts.model.merges, numbering, path);
  const value = {
    ...root,
    ...("padding" in root && { padding: renumberPadding(root.padding, numbering, path) }),
    ...("added_tokens" in root && { added_tokens: renumberAdded(root.added_tokens, parts, numbering) }),
    ...("post_processor" in root && {
      post_processor: renumberStep(
        root.post_processor,
        (id, _, place) => changes.newIdOf(numbering, id, path, place),
        path,
      ),
    }),
  };
  const rewriter = new JsonRewriter(bytes);
  rewriter.changeValues(json.skipSpace(bytes, 0), root, value);
  const vocabPlace = rewriter.placeOf(vocabKeys)!;
  rewriter.replaceElements(vocabPlace, rewriter.idTexts(vocabPlace, tokens));
  const mergesPlace = rewriter.placeOf(mergesKeys)!;
  rewriter.replaceElements(mergesPlace, rewriter.mergeTexts(mergesPlace, [...merges()]));
  return [{ name, chunks: () => rewriter.chunks() }];
}

/** Returns `added_tokens` with new ids. HF ignores these ids and assigns its own. */
function renumberAdded(
  value: unknown,
  { addedTokens }: TokenizerParts,
  { newIds }: changes.Numbering,
): unknown {
  if (!Array.isArray(value)) return value;
  const idsByContent = new Map(addedTokens.map(({ content, id }) => [content, id]));
  return value.map((token) => {
    const id = idsByContent.get(token.content);
    return id === undefined ? token : { ...token, id: newIds[id] };
  });
}

function renumberPadding(value: unknown, numbering: changes.Numbering, path: string): unknown {
  if (typeof value !== "object" || value === null || !("pad_id" in value)) return value;
  return { ...value, pad_id: changes.newIdOf(numbering, value.pad_id, path, "padding") };
}

type Step = Record<string, unknown>;

/** Returns the new id of a token in a post-processor step, by its old id or its text. */
type NewId = (id: unknown, text: unknown, place: string) => number;

/** Renumbers the ids in a step of a post-processor. Refuses an unknown step, because it may contain ids. */
function renumberStep(value: unknown, newIdOf: NewId, path: string): unknown {
  if (value === null || value === undefined) return value;
  const step = json.objectAt(value, path, "the post-processor") as Step;
  const newId = (id: unknown, text: unknown) => newIdOf(id, text, `the post-processor ${String(step.type)}`);
  switch (step.type) {
    case "ByteLevel":
      return step;
    case "Sequence": {
      const { processors } = step;
      if (!Array.isArray(processors))
        tokenizers.refuse(path, "the post-processor Sequence has no list of steps");
      return { ...step, processors: processors.map((each) => renumberStep(each, newIdOf, path)) };
    }
    case "TemplateProcessing": {
      const specials = json.objectAt(step.special_tokens ?? {}, path, "special_tokens of the post-processor");
      const renumbered = Object.entries(specials).map(([name, special]) => {
        const token = json.objectAt(special, path, `the special token ${name} of the post-processor`);
        if (!Array.isArray(token.ids))
          tokenizers.refuse(path, `the special token ${name} of the post-processor has no ids`);
        const texts = token.tokens as unknown[] | undefined;
        return [name, { ...token, ids: token.ids.map((id, i) => newId(id, texts?.[i])) }];
      });
      return { ...step, special_tokens: Object.fromEntries(renumbered) };
    }
    case "BertProcessing":
    case "RobertaProcessing": {
      const renumberPair = (pair: unknown) => {
        if (!Array.isArray(pair) || pair.length !== 2)
          tokenizers.refuse(path, "the post-processor does not contain a pair of token and id");
        return [pair[0], newId(pair[1], pair[0])];
      };
      return { ...step, sep: renumberPair(step.sep), cls: renumberPair(step.cls) };
    }
    default:
      tokenizers.refuse(path, `the post-processor ${String(step.type)} is unknown, and may contain ids`);
  }
}

/** Renumbers the ids in files that `transformers` reads next to a `tokenizer.json`. */
export const pruneCompanionFiles = (
  files: readonly SourceFile[],
  numbering: changes.Numbering,
): OutputFile[] =>
  files.map((file) => {
    const { name, bytes } = file;
    if (name === "tokenizer_config.json")
      return { name, chunks: () => [jsonFile(renumberedConfig(file, numbering))] };
    if (name === "added_tokens.json")
      return { name, chunks: () => [jsonFile(renumberedTokens(file, numbering))] };
    return { name, chunks: () => [bytes] };
  });

function renumberedConfig({ path, bytes }: SourceFile, numbering: changes.Numbering): object {
  const config = json.objectAt(json.parse(utf8.decode(bytes), path), path);
  if (!("added_tokens_decoder" in config)) return config;
  const decoder = json.objectAt(config.added_tokens_decoder, path, "added_tokens_decoder");
  const renumbered = Object.entries(decoder).map(([id, token]) => [
    changes.newIdOf(numbering, Number(id), path, "added_tokens_decoder"),
    token,
  ]);
  return { ...config, added_tokens_decoder: Object.fromEntries(renumbered) };
}

function renumberedTokens({ path, bytes }: SourceFile, numbering: changes.Numbering): object {
  const tokens = json.objectAt(json.parse(utf8.decode(bytes), path), path);
  return Object.fromEntries(
    Object.entries(tokens).map(([text, id]) => [
      text,
      changes.newIdOf(numbering, id, path, JSON.stringify(text)),
    ]),
  );
}

export const huggingface: TokenizerFormat = {
  writing: { files: filesOf, obstacle: ({ characters }) => characters?.jsonObstacle ?? null },
  read([{ bytes, path, scanned }], options) {
    refuseOptions(path, options);
    return tokenizerOfJson(bytes, path, options.asksForBos, scanned);
  },
  scan: ({ bytes }) => scanTokenizerJson(bytes),
  frame({ bytes, path }) {
    const content = scanFrame(bytes) ?? json.parse(decoder.decode(bytes), path);
    const { added_tokens: _, ...root } = json.objectAt(content, path);
    const { vocab, merges, ...model } = root.model as json.JsonObject;
    return { ...root, model };
  },
  spell,
  extend,
  rename: renameTokenizerJson,
  prune,
};
