import { byteCharacters, countNoun, escapeBytes } from "#bytes";
import { type CompiledPattern, cutText } from "#pattern";
import { asOption, phrase, UserError } from "#runtime";
import { type AddedToken, cuttings } from "#text";
import {
  type Compat,
  type changes,
  type EncodingModel,
  encodingModels,
  type Merges,
  modelsOfRanks,
  type TokenizerParts,
  tokenizers,
  tokenTables,
  vocabularies,
  WordMerger,
} from "#tokenizer";
import type { wordTables } from "#words";
import type { KnownToken, StartTokens, TokenPair } from "./merge-options.ts";
import { seedMerges } from "./seed-merges.ts";
import { segmentWords } from "./segment-words.ts";

/** A tokenizer to extend: its tokens keep their ids, and new tokens get the ids after them. */
export type Base = Seeds & {
  readonly parts: TokenizerParts;
  /** The tie rule: that of a trainer, or the one for extensions (docs/extend.md). */
  readonly rule: Compat | "extension";
  /** Special tokens to add after the seed tokens and the learned tokens. */
  readonly newSpecials: readonly string[];
};

/** The seed tokens of an extension. */
export type Seeds = {
  /**
   * The merges that make the seed tokens. The number of a token is its id in the base; merge k makes the token with the
   * number `idLimit` (of the base) + k.
   */
  readonly seedMerges: readonly TokenPair[];
  /** Seed tokens that the base already encodes as one token. */
  readonly knownSeeds: readonly string[];
  /** Seed tokens that no text produces after a space, because the base merges the space with their beginning. */
  readonly spacelessSeeds: readonly string[];
  /** The number of new tokens that the seed tokens need. */
  readonly seedTokenCount: number;
};

/**
 * Gives each added token the bytes that the characters of its text represent in HF's byte-to-character map, if each of
 * them represents one. In HF's files, added tokens are keys of the vocabulary like all others. So an added token "Ġlo"
 * is also the merged token " lo".
 */
export function withKeyBytes(base: TokenizerParts): TokenizerParts {
  const { tokens } = base;
  const others = tokenizers.allAddedTokens(base).flatMap(({ id, content }): [number, Uint8Array][] => {
    const bytes = byteCharacters.decode(content);
    return bytes === null || byteCharacters.encode(tokenTables.bytesOf(tokens, id)) === content
      ? []
      : [[id, bytes]];
  });
  if (others.length === 0) return base;
  const entries = Array.from(
    { length: tokens.idLimit },
    (_, id) => [id, tokenTables.bytesOf(tokens, id)] as const,
  );
  const table = tokenTables.build([...entries.filter(([, { length }]) => length > 0), ...others]);
  return { ...base, tokens: { ...table, rawIds: tokens.rawIds ?? new Set() } };
}

/** Returns the base's tokens as start tokens of the merge engine, which numbers them by id. */
export function* startTokensOf(base: TokenizerParts): Generator<undefined, StartTokens> {
  const { idLimit, bytes, starts } = base.tokens;
  return { count: idLimit, spelling: { bytes, starts }, known: yield* findTokensWithoutMerge(base) };
}

/**
 * Returns the tokens that the base's merges do not produce from the tokens' own bytes. Leaves out tokens whose key in
 * HF's files has characters that represent no byte, because no merge can spell such a key.
 */
function* findTokensWithoutMerge(base: TokenizerParts): Generator<undefined, KnownToken[]> {
  const { tokens, model } = base;
  const contents = new Map(tokenizers.allAddedTokens(base).map(({ id, content }) => [id, content]));
  const ids: number[] = [];
  for (let id = 0; id < tokens.idLimit; id++) if (tokenTables.bytesOf(tokens, id).length > 0) ids.push(id);
  // A token without bytes takes no space in the table, so the other tokens are adjacent words in it.
  const starts = Uint32Array.from([...ids.map((id) => tokens.starts[id]!), tokens.bytes.length]);
  const table = { wordCount: ids.length, bytes: tokens.bytes, starts, counts: new Float64Array(ids.length) };
  const made = yield* segmentWords(table, { ...model, wholeTokens: null }, tokens);
  const known: KnownToken[] = [];
  ids.forEach((id, w) => {
    if (isAlone(made, w, id) || tokens.rawIds?.has(id)) return;
    const bytes = tokenTables.bytesOf(tokens, id);
    if (contents.get(id) === undefined || contents.get(id) === byteCharacters.encode(bytes))
      known.push({ bytes, rank: id });
  });
  return known;
}

const isAlone = ({ tokens, starts }: wordTables.TokenWords, word: number, id: number) =>
  starts[word + 1]! - starts[word]! === 1 && tokens[starts[word]!] === id;

/** Returns the key of a token in HF's files. */
const keyOf = byteCharacters.encode;

/** Upper bound of the bytes of all new tokens: they are kept in memory and written as text. */
const newBytesMax = 2 ** 28;

/**
 * Assigns ids to the learned merges. `known` are the base's tokens without a merge. A merge that produces one of them
 * gets that token's id.
 */
export function numberExtension(
  base: TokenizerParts,
  merges: Merges,
  known: readonly KnownToken[],
): changes.Extension {
  const { mergeCount, startCount } = merges;
  const knownIds = new Map(known.map(({ bytes, rank }) => [keyOf(bytes), rank]));
  const madeIds = new Int32Array(mergeCount);
  const madeBytes: Uint8Array[] = [];
  const idOf = (token: number) => (token < startCount ? token : madeIds[token - startCount]!);
  const bytesOf = (token: number) =>
    token < startCount ? tokenTables.bytesOf(base.tokens, token) : madeBytes[token - startCount]!;
  const tokens: { id: number; bytes: Uint8Array }[] = [];
  let byteCount = 0;
  for (let k = 0; k < mergeCount; k++) {
    const [left, right] = [bytesOf(merges.left[k]!), bytesOf(merges.right[k]!)];
    byteCount += left.length + right.length;
    if (byteCount > newBytesMax) throw tooLong();
    const bytes = Buffer.concat([left, right]);
    madeBytes.push(bytes);
    const knownId = knownIds.get(keyOf(bytes));
    madeIds[k] = knownId ?? startCount + tokens.length;
    if (knownId !== undefined) continue;
    tokens.push({ id: madeIds[k]!, bytes });
  }
  return {
    idLimit: startCount + tokens.length,
    tokens,
    merges: {
      left: Int32Array.from(merges.left, idOf),
      right: Int32Array.from(merges.right, idOf),
      merged: madeIds,
    },
    specialTokens: [],
    reservedTokens: [],
  };
}

/** Returns the extension cut to its first `count` new tokens. All merges of the seed tokens stay. */
export function truncateExtension(
  extension: changes.Extension,
  count: number,
  seedMergeCount: number,
): changes.Extension {
  const { tokens, merges } = extension;
  if (tokens.length <= count) return extension;
  const { id } = tokens[count]!;
  const madeCount = count === 0 ? 0 : merges.merged.indexOf(id - 1) + 1;
  const mergeCount = Math.max(madeCount, seedMergeCount);
  const first = (ids: Int32Array) => ids.subarray(0, mergeCount);
  return {
    ...extension,
    idLimit: id,
    tokens: tokens.slice(0, count),
    merges: { left: first(merges.left), right: first(merges.right), merged: first(merges.merged) },
  };
}

/** Assigns ids to new special tokens. Throws a UserError if one is the key of a newly learned token. */
export function addSpecials(extension: changes.Extension, texts: readonly string[]): changes.Extension {
  const { idLimit } = extension;
  const learned = new Set(texts.length === 0 ? [] : extension.tokens.map(({ bytes }) => keyOf(bytes)));
  const equal = texts.find((text) => learned.has(text));
  if (equal !== undefined)
    throw new UserError(`special token "${equal}" equals a learned token`, {
      hint: "choose another special token",
    });
  return {
    ...extension,
    idLimit: idLimit + texts.length,
    specialTokens: texts.map((content, i) => ({ id: idLimit + i, content, ...cuttings.plainSpecial })),
  };
}

/**
 * Returns the merges that produce the seeds from the base's tokens, and facts about the seeds. `keys` maps the key of
 * each token of the base to its id.
 */
export function findSeedMerges(
  base: TokenizerParts,
  keys: ReadonlyMap<string, number>,
  seeds: readonly string[],
): Seeds {
  if (seeds.length === 0) return { seedMerges: [], knownSeeds: [], spacelessSeeds: [], seedTokenCount: 0 };
  const { tokens, model } = base;
  const merger = new WordMerger({ ...model, wholeTokens: null });
  const tokensOf = (bytes: Uint8Array) => [...merger.merge(bytes)];
  const isKnown = (seed: string) => {
    const bytes = Buffer.from(seed);
    return tokensOf(bytes).length === 1 || (model.wholeTokens !== null && keys.has(keyOf(bytes)));
  };
  const knownSeeds = seeds.filter(isKnown);
  const count = tokens.idLimit;
  const sizeOf = (token: number) => tokenTables.bytesOf(tokens, token).length;
  const unknown = knownSeeds.length === 0 ? seeds : seeds.filter((seed) => !knownSeeds.includes(seed));
  const merges = seedMerges(unknown, { count, sizeOf, tokensOf });
  const made: Uint8Array[] = [];
  const bytesOf = (token: number) =>
    token < count ? tokenTables.bytesOf(tokens, token) : made[token - count]!;
  for (const [left, right] of merges) made.push(Buffer.concat([bytesOf(left), bytesOf(right)]));
  return {
    seedMerges: merges,
    knownSeeds,
    spacelessSeeds: spacelessSeeds(base.pattern, seeds, (text) => tokensOf(Buffer.from(text)).join(" ")),
    seedTokenCount: made.filter((bytes) => !keys.has(keyOf(bytes))).length,
  };
}

/**
 * Returns seeds that never become a token after a space, because the base merges the space with their beginning. Leaves
 * out seeds that do not start with a letter, that the pattern does not join with a space, or that are also given with a
 * space.
 */
function spacelessSeeds(
  pattern: CompiledPattern,
  seeds: readonly string[],
  tokensOf: (text: string) => string,
): string[] {
  const all = new Set(seeds);
  const isJoined = (seed: string) => !cutText(pattern, Buffer.from(`a ${seed}`)).includes("a ".length);
  return seeds.filter(
    (seed) =>
      /^\p{L}/u.test(seed) &&
      !all.has(` ${seed}`) &&
      isJoined(seed) &&
      tokensOf(` ${seed}`) !== `${tokensOf(" ")} ${tokensOf(seed)}`,
  );
}

/** Renames special tokens of the base. */
export function renameSpecialTokens(
  base: TokenizerParts,
  names: ReadonlyMap<string, string>,
): TokenizerParts {
  const { tokens, addedTokens, controlTokens } = base;
  const renamed = (added: readonly AddedToken[]) =>
    added.map((token) => ({ ...token, content: names.get(token.content) ?? token.content }));
  const changed = tokenizers.allAddedTokens(base).filter(({ content }) => names.has(content));
  const bytes = new Map(changed.map(({ id, content }) => [id, Buffer.from(names.get(content)!)]));
  const entries = Array.from(
    { length: tokens.idLimit },
    (_, id) => [id, bytes.get(id) ?? tokenTables.bytesOf(tokens, id)] as const,
  );
  const table = tokenTables.build(entries.filter(([, { length }]) => length > 0));
  return {
    ...base,
    addedTokens: renamed(addedTokens),
    ...(controlTokens && { controlTokens: renamed(controlTokens) }),
    tokens: { ...table, rawIds: tokens.rawIds ?? new Set() },
  };
}

/** Adds reserved tokens until the size is a multiple of `padTo`. */
export function padExtension(
  base: TokenizerParts,
  extension: changes.Extension,
  padTo: number,
): changes.Extension {
  const taken = [...tokenizers.allAddedTokens(base), ...extension.specialTokens].map(
    ({ content }) => content,
  );
  // A learned token may be spelled like a reserved one, whose name is then not used.
  const addLearned = (bytes: Uint8Array) => {
    if (bytes[0] === 0x3c && bytes[1] === 0x7c) taken.push(byteCharacters.encode(bytes));
  };
  for (let id = 0; id < base.tokens.idLimit; id++) addLearned(tokenTables.bytesOf(base.tokens, id));
  for (const { bytes } of extension.tokens) addLearned(bytes);
  const { idLimit } = extension;
  const names = vocabularies.reservedTokens(idLimit, padTo, taken);
  return {
    ...extension,
    idLimit: idLimit + names.length,
    reservedTokens: names.map((content, i) => ({ id: idLimit + i, content, ...cuttings.plainSpecial })),
  };
}

const tooLong = () =>
  new UserError(`together, the new tokens have more than ${newBytesMax >> 20} MB`, {
    hint: phrase`limit the length of each, e.g. ${asOption("max-token-length", 100)}`,
  });

/** Returns the model of the extended tokenizer: all merges of the base, then the new ones. */
function extendModel({ model }: TokenizerParts, { idLimit, merges }: changes.Extension): EncodingModel {
  const { byteIds, merges: before, wholeTokens } = model;
  const joined = (name: "left" | "right" | "merged") => concat(before[name], merges[name]);
  const all = { left: joined("left"), right: joined("right"), merged: joined("merged") };
  return { ...encodingModels.build({ byteIds, merges: all, idMax: idLimit - 1 }), wholeTokens };
}

function concat(a: Int32Array, b: Int32Array): Int32Array {
  const both = new Int32Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

/** Throws a UserError if there is a new token whose bytes are not encoded to that token alone. */
export function* checkReachable(
  base: TokenizerParts,
  extension: changes.Extension,
  seedTokenCount: number,
): Generator<undefined, void> {
  const merger = new WordMerger({ ...extendModel(base, extension), wholeTokens: null });
  yield;
  let byteCount = 0;
  for (const { id, bytes } of extension.tokens) {
    const ids = merger.merge(bytes);
    // All merges of the base rank before all new ones. A merge of the base may need a half that only a new merge
    // produces. It now applies for the first time, and may join the bytes of the new token into other tokens.
    if (ids.length !== 1 || ids[0] !== id) throw unreachable(base, extension, { id, bytes }, seedTokenCount);
    byteCount += bytes.length + 64;
    if (byteCount < 1 << 19) continue;
    byteCount = 0;
    yield;
  }
}

function unreachable(
  base: TokenizerParts,
  { specialTokens }: changes.Extension,
  { id, bytes }: { readonly id: number; readonly bytes: Uint8Array },
  seedTokenCount: number,
) {
  const fewer = id - base.tokens.idLimit;
  const shown = `"${escapeBytes(bytes)}"`;
  const why = "could never be used: the base's merges are applied first, and join its bytes differently";
  if (fewer < seedTokenCount) {
    return new UserError(`the token ${shown}, with which a seed token begins, ${why}`, {
      hint: `leave out the seed tokens that begin with ${shown}`,
    });
  }
  return new UserError(`new token ${fewer + 1}, ${shown}, ${why}`, {
    hint:
      fewer > 0
        ? phrase`give ${asOption("vocab-size", `+${fewer + specialTokens.length}`, "n")}, to learn only the ${countNoun(fewer, "token")} before it`
        : "train on another text",
  });
}

/** Returns the reason why a rank file cannot hold the extended tokenizer, or null. */
export function* ranksObstacle(
  base: TokenizerParts,
  extension: changes.Extension,
): Generator<undefined, string | null> {
  const specialIds = new Set(tokenizers.allAddedTokens(base).map(({ id }) => id));
  if (extension.merges.merged.some((id) => specialIds.has(id)))
    return "a new merge produces the text of a special token";
  const { wholeTokens } = base.model;
  if (wholeTokens === null) return null;
  const merger = new WordMerger({ ...extendModel(base, extension), wholeTokens: null });
  yield;
  const { bytes, starts, ids } = wholeTokens;
  const isMerged = ids.some((_, t) => merger.merge(bytes.subarray(starts[t]!, starts[t + 1]!)).length < 3);
  if (!isMerged) return null;
  yield;
  const model = yield* modelsOfRanks.make(rankedTokens(base, extension), "");
  yield;
  const ranks = new WordMerger({ ...model, wholeTokens: null });
  yield;
  // tiktoken merges any two neighbours that form a token of the file. So it may join the bytes of a new token in
  // another order than our merges do, and never reach the token.
  const lost = extension.tokens.find((token) => ranks.merge(token.bytes)[0] !== token.id);
  return lost === undefined
    ? null
    : `with a rank file, tiktoken would never produce the new token "${escapeBytes(lost.bytes)}"`;
}

function rankedTokens(base: TokenizerParts, { tokens }: changes.Extension): encodingModels.PackedTokens {
  const added = new Set(tokenizers.allAddedTokens(base).map(({ id }) => id));
  const ids = Array.from({ length: base.tokens.idLimit }, (_, id) => id).filter((id) => !added.has(id));
  const before = ids.map((id) => [id, tokenTables.bytesOf(base.tokens, id)] as const);
  const after = tokens.map(({ id, bytes }) => [id, bytes] as const);
  return tokenTables.pack([...before, ...after].filter(([, { length }]) => length > 0));
}
