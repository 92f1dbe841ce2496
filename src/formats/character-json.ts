import { schema, showValue } from "#bytes";
import { assert } from "#runtime";
import type { AddedToken, cuttings } from "#text";
import { type EncodingModel, encodingModels, type TokenTable, tokenizers, tokenTables } from "#tokenizer";
import type { ScannedModel, TokenIds } from "./scan-tokenizer-json.ts";

// These functions read a `tokenizer.json` whose merging begins with characters, as in files made from SentencePiece
// models. HF usually replaces each space of a text by the mark U+2581, so the tokens of the file contain marks. In the
// loaded tokenizer, such tokens contain spaces instead, and a mark in a text counts as a space.

/** The character by which HF replaces spaces. */
export const mark = "\u2581";
const space = 0x20;

/** How text is changed and cut before merging. */
export type CharacterSteps = {
  /** Whether HF replaces spaces by marks. */
  readonly hasMarks: boolean;
  readonly prefix: cuttings.PrefixRule | null;
  /** Whether HF cuts before every mark. */
  readonly splitsAtMarks: boolean;
};

/** Whether merging begins with characters: the pre-tokenizer has only Split and Metaspace steps, if any. */
export const beginsWithCharacters = (preTokenizer: unknown): boolean =>
  preTokenizer === null ||
  preTokenizer === undefined ||
  stepsIn(preTokenizer, "pretokenizers").every(({ type }) => type === "Split" || type === "Metaspace");

type Step = Record<string, unknown>;

function stepsIn(value: unknown, within: string): Step[] {
  if (typeof value !== "object" || value === null) return [];
  const step = value as Step;
  const inner = step[within];
  return step.type === "Sequence" && Array.isArray(inner)
    ? inner.flatMap((one) => stepsIn(one, within))
    : [step];
}

/** Parses the normalizer and the pre-tokenizer. */
export function readCharacterSteps(root: Step, path: string): CharacterSteps {
  let hasMarks = false;
  let prefix: cuttings.PrefixRule | null = null;
  for (const step of stepsIn(root.normalizer, "normalizers")) {
    if (step.type === "Prepend" && step.prepend === mark && prefix === null) prefix = "every section";
    else if (isReplace(step, " ", mark)) hasMarks = true;
    else
      tokenizers.refuse(
        path,
        `its normalizer has the step ${describeStep(step)}`,
        `for models whose merges start from characters, the supported steps are Prepend("${mark}") and Replace(" ", "${mark}")`,
      );
  }
  let splitsAtMarks = false;
  const cuts = stepsIn(root.pre_tokenizer, "pretokenizers");
  for (const step of cuts) {
    if (step.type === "Split") {
      // The normalizer has replaced every space, so this step never splits.
      if (hasMarks && isString(step.pattern, " ") && step.invert !== true) continue;
      tokenizers.refuse(
        path,
        `its pre-tokenizer has the step ${describeStep(step)}, which is not supported for models whose merges start from characters`,
      );
    }
    if (cuts.length > 1 || (prefix !== null && prefixOfMetaspace(step, path) !== null))
      tokenizers.refuse(path, "its Metaspace is not the only step that adds '\u2581' or splits text");
    hasMarks = true;
    prefix ??= prefixOfMetaspace(step, path);
    splitsAtMarks = step.split !== false;
  }
  if (prefix !== null && !hasMarks)
    tokenizers.refuse(path, 'its normalizer prepends "\u2581", but does not replace spaces with it');
  return { hasMarks, prefix, splitsAtMarks };
}

const describeStep = (step: Step) => {
  const { type, ...fields } = step;
  return `${showValue(type)} ${JSON.stringify(fields)}`;
};

const isString = (pattern: unknown, wanted: string) => (pattern as Step | undefined)?.String === wanted;

const isReplace = (step: Step, from: string, to: string) =>
  step.type === "Replace" && isString(step.pattern, from) && step.content === to;

const metaspaceFields = schema.object({
  replacement: schema.text,
  prepend_scheme: schema.optional(schema.text),
  add_prefix_space: schema.optional(schema.orNull(schema.flag)),
  split: schema.optional(schema.flag),
});

/** Returns the rule by which a Metaspace step puts a mark before text; null if it never does. */
function prefixOfMetaspace(step: Step, path: string): cuttings.PrefixRule | null {
  const fields = schema.checkOr(metaspaceFields, step, (what) =>
    tokenizers.refuse(path, `its Metaspace cannot be read: ${what}`),
  );
  if (fields.replacement !== mark)
    tokenizers.refuse(path, `its Metaspace replaces spaces by ${showValue(fields.replacement)}`);
  if (fields.add_prefix_space === false) return null;
  switch (fields.prepend_scheme ?? "always") {
    case "always":
      return "sections without mark";
    case "first":
      return "start without mark";
    case "never":
      return null;
    default:
      return tokenizers.refuse(
        path,
        `its Metaspace has the prepend_scheme ${showValue(fields.prepend_scheme)}`,
      );
  }
}

/** Checks that decoding joins the bytes of the tokens. Returns which spaces it removes from the start of a text. */
export function readCharacterDecoder(
  root: Step,
  hasMarks: boolean,
  hasBytes: boolean,
  path: string,
): Leading {
  const steps = stepsIn(root.decoder, "decoders");
  const wrong = (): never =>
    tokenizers.refuse(
      path,
      `its decoder is ${JSON.stringify(root.decoder ?? null)}`,
      `for models whose merges start from characters, the supported decoders are Metaspace, or Replace("${mark}", " "), ByteFallback, Fuse and Strip`,
    );
  let leading: Leading = "kept";
  const kinds = steps.map((step, i) => {
    if (isReplace(step, mark, " ") && i === 0) return "spaces";
    if (step.type === "ByteFallback" || step.type === "Fuse") return step.type;
    if (step.type === "Metaspace" && i === 0) {
      if (prefixOfMetaspace(step, path) !== null) leading = "first token";
      return "spaces";
    }
    if (step.type !== "Strip" || step.content !== " " || step.stop !== 0 || i !== steps.length - 1)
      return wrong();
    if (step.start === 1 && steps[i - 1]?.type === "Fuse") leading = "one";
    else if (step.start !== 0) wrong();
    return "Strip";
  });
  if (kinds.filter((kind) => kind === "spaces").length !== Number(hasMarks)) wrong();
  if (hasBytes && !kinds.includes("ByteFallback")) wrong();
  return leading;
}

/** Which spaces decoding removes from the start of a text: none, one, or all that the first token begins with. */
export type Leading = "kept" | "one" | "first token";

/**
 * If `leading` is "first token", decoding here removes spaces only from the first token. Refuses tokens that HF's
 * Metaspace decoder changes in another way at the start of a text: tokens with a space, tokens in which a mark follows
 * some other character, and added tokens with a mark.
 */
export function checkLeading(
  leading: Leading,
  vocab: TokenIds,
  added: readonly AddedToken[],
  path: string,
): void {
  if (leading !== "first token") return;
  const isOdd = (token: string) => token.includes(" ") || token.lastIndexOf(mark) > token.search(notMark);
  const odd = [...vocab].find(([token]) => notMark.test(token) && isOdd(token));
  const oddAdded = added.find(({ content }) => content.includes(mark));
  if (odd !== undefined || oddAdded !== undefined)
    tokenizers.refuse(
      path,
      `its decoder Metaspace changes the token ${showValue(odd?.[0] ?? oddAdded!.content)} only at the start of a text`,
      "the decoders Replace, ByteFallback, Fuse and Strip are supported instead",
    );
}

const notMark = /[^\u2581]/;

type CharacterSettings = {
  readonly unknownToken: string | null;
  readonly byteFallback: boolean;
  readonly fusesUnknown: boolean;
  readonly hasMarks: boolean;
};

export function assembleCharacterModel(
  { vocab, merges }: ScannedModel,
  settings: CharacterSettings,
  path: string,
): EncodingModel {
  const { unknownToken, byteFallback, fusesUnknown, hasMarks } = settings;
  const unknownId = unknownToken === null ? undefined : vocab.get(unknownToken);
  if (unknownToken !== null && unknownId === undefined)
    tokenizers.refuse(path, `its vocabulary lacks its unk_token ${showValue(unknownToken)}`);
  const fallback = byteFallback
    ? byteTokens(vocab)
    : new Int32Array(256).fill(unknownId ?? encodingModels.droppedByte);
  const byteIds = fallback.map((id, byte) => {
    if (byte >= 0x80) return id;
    const own = vocab.get(hasMarks && byte === space ? mark : String.fromCharCode(byte));
    if (own === undefined && byte === space && hasMarks)
      tokenizers.refuse(path, `its vocabulary has no token "${mark}"`);
    return own ?? id;
  });
  const lacking = byteIds.findIndex((id, byte) => id === encodingModels.droppedByte && isInUtf8(byte));
  if (byteFallback && lacking >= 0)
    tokenizers.refuse(path, `byte_fallback is true, but its vocabulary has no token "${spellByte(lacking)}"`);
  checkMerges(merges, vocab, { fallback: byteFallback ? fallback : null, unknownId }, path);
  return encodingModels.build({
    byteIds,
    merges,
    idMax: vocab.idMax,
    beginning: {
      characters: charactersIn(vocab),
      // If unknown characters are dropped, their neighbours become adjacent, so a cut next to such a character may
      // change ids. The kernel makes no such cut if `isFused` is set, so it is set in this case, too.
      unknown: byteFallback
        ? null
        : { id: unknownId ?? encodingModels.droppedByte, isFused: fusesUnknown || unknownId === undefined },
      hasMarks,
    },
  });
}

const spellByte = (byte: number) => `<0x${byte.toString(16).toUpperCase().padStart(2, "0")}>`;

/** Whether a token is named like a byte token: `<0x0A>`. */
export const isByteToken = (text: string) => /^<0x[0-9A-F]{2}>$/.test(text);

const byteTokens = (vocab: TokenIds) =>
  Int32Array.from({ length: 256 }, (_, byte) => vocab.get(spellByte(byte)) ?? encodingModels.droppedByte);

const isInUtf8 = (byte: number) => byte < 0xc0 || (byte >= 0xc2 && byte <= 0xf4);

/** With byte fallback, refuses merges that use or make a byte token; without it, those that use the unknown token. */
function checkMerges(
  { left, right, merged }: encodingModels.RankedMerges,
  vocab: TokenIds,
  { fallback, unknownId }: { fallback: Int32Array | null; unknownId: number | undefined },
  path: string,
): void {
  const isByte = new Set(fallback?.filter((id) => id !== encodingModels.droppedByte));
  const isHalf = new Set(isByte);
  if (fallback === null && unknownId !== undefined) isHalf.add(unknownId);
  for (let rank = 0; rank < left.length; rank++) {
    const id = [left[rank]!, right[rank]!].find((half) => isHalf.has(half));
    const wrong = id ?? (isByte.has(merged[rank]!) ? merged[rank]! : undefined);
    if (wrong === undefined) continue;
    const [[token] = [""]] = [...vocab.withIds(new Set([wrong]))];
    tokenizers.refuse(
      path,
      `merge ${rank + 1} uses or makes ${showValue(token)}, which only replaces characters that have no token`,
    );
  }
}

/** Returns the tokens that are a single character beyond ASCII. */
function charactersIn(vocab: TokenIds): encodingModels.PackedTokens {
  const { bytes, starts, ids } = vocab.spelled;
  const found: (readonly [number, Uint8Array])[] = [];
  for (let t = 0; t < ids.length; t++) {
    const start = starts[t]!;
    const lead = bytes[start]!;
    if (lead < 0x80 || starts[t + 1]! - start !== (lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4)) continue;
    found.push([ids[t]!, bytes.subarray(start, starts[t + 1]!)]);
  }
  return tokenTables.pack(found);
}

/**
 * Returns a pattern that cuts a text where HF does. If HF does not cut texts at all, the pattern cuts only where no
 * merge crosses, so that no id changes. `longestRun` may be more than 1 only if each run of 2 to `longestRun` marks is
 * a token that merges into nothing but longer runs; the pattern then makes each such run a pretoken.
 */
export function cuttingSource(
  { vocab, merges }: ScannedModel,
  { hasMarks, splitsAtMarks }: CharacterSteps,
  dropsUnknown: boolean,
  longestRun = 1,
): string {
  const marks = hasMarks ? ` \\x{2581}` : " ";
  if (splitsAtMarks) return `[${marks}][^${marks}]*|[^${marks}]+`;
  if (dropsUnknown || (!hasMarks && vocab.get(" ") === undefined)) return "[\\s\\S]+";
  const before = [...crossedAt(vocab, merges, hasMarks ? [0xe2, 0x96, 0x81] : [space])];
  if (longestRun > 1) return cuttingAtRuns(marks, before, longestRun);
  if (before.length === 0) return `[${marks}]+[^${marks}]*|[^${marks}]+`;
  const crossed = spellSet(before);
  const rest = `(?:[${crossed}][${marks}]*|[^${crossed}${marks}])`;
  return `[${marks}]+${rest}*|${rest}+`;
}

function cuttingAtRuns(marks: string, before: readonly number[], longestRun: number): string {
  const crossed = spellSet(before);
  const rest =
    before.length === 0
      ? `[^${marks}]`
      : `(?:[${crossed}](?:[${marks}](?![${marks}]))?|[^${crossed}${marks}])`;
  return `[${marks}]{2,${longestRun}}|[${marks}]?${rest}+|[${marks}]`;
}

const spellSet = (codePoints: readonly number[]) =>
  codePoints.map((codePoint) => `\\x{${codePoint.toString(16)}}`).join("");

/**
 * Returns the characters after which a merge may join the character C with the UTF-8 `beginning`: the last character
 * of the left token of each merge whose right token begins with C. Leaves out C itself.
 */
function crossedAt(
  vocab: TokenIds,
  { left, right }: encodingModels.RankedMerges,
  beginning: readonly number[],
): Set<number> {
  const { bytes, starts, ids } = vocab.spelled;
  const begins = new Uint8Array(vocab.idMax + 1);
  const places = new Int32Array(vocab.idMax + 1);
  for (let t = 0; t < ids.length; t++) {
    places[ids[t]!] = t;
    begins[ids[t]!] = Number(beginning.every((byte, i) => bytes[starts[t]! + i] === byte));
  }
  const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
  const found = new Set<number>();
  const [own] = utf8.decode(Uint8Array.from(beginning));
  for (let rank = 0; rank < right.length; rank++) {
    if (begins[right[rank]!] === 0) continue;
    const t = places[left[rank]!]!;
    const token = utf8.decode(bytes.subarray(starts[t]!, starts[t + 1]!));
    const last = [...token].at(-1);
    assert(last !== undefined, "a half of a merge is not empty");
    if (last !== own) found.add(last.codePointAt(0)!);
  }
  return found;
}

/**
 * Returns the bytes of ids. An id in `replaced` has the bytes given there; with `byteFallback`, a byte token such as
 * `<0x0A>` has its byte; any other token has its text in UTF-8, with spaces instead of marks if `hasMarks`.
 */
export function assembleCharacterTokens(
  vocab: TokenIds,
  addedTokens: readonly AddedToken[],
  { byteFallback, hasMarks }: Pick<CharacterSettings, "byteFallback" | "hasMarks">,
  replaced: readonly (readonly [id: number, bytes: Uint8Array])[] = [],
): TokenTable {
  return tokenTables.lazy(() => {
    const withSpaces = (content: string) => (hasMarks ? content.replaceAll(mark, " ") : content);
    const addedOnly = addedTokens.filter(({ content }) => vocab.get(content) === undefined);
    const encoder = new TextEncoder();
    const added = addedOnly.map(({ id, content }) => [id, encoder.encode(withSpaces(content))] as const);
    const bytes = byteFallback ? byteTokens(vocab) : [];
    const single = [...bytes].flatMap((id, byte) =>
      id === encodingModels.droppedByte ? [] : [[id, Uint8Array.of(byte)] as const],
    );
    const tokens = hasMarks ? unmarked(vocab.spelled) : vocab.spelled;
    const table = tokenTables.fromPacked(tokenTables.append(tokens, [...single, ...added, ...replaced]));
    return { ...table, nameCount: vocab.size + addedOnly.length, areCharacters: true };
  });
}

/** Returns the tokens with spaces instead of marks. */
function unmarked({
  bytes: from,
  starts: fromStarts,
  ids,
}: encodingModels.PackedTokens): encodingModels.PackedTokens {
  const bytes = new Uint8Array(fromStarts[ids.length]!);
  const starts = new Int32Array(ids.length + 1);
  let end = 0;
  for (let t = 0; t < ids.length; t++) {
    const stop = fromStarts[t + 1]!;
    for (let pos = fromStarts[t]!; pos < stop; pos++) {
      const isMark =
        from[pos] === 0xe2 && from[pos + 1] === 0x96 && from[pos + 2] === 0x81 && pos + 3 <= stop;
      bytes[end++] = isMark ? space : from[pos]!;
      if (isMark) pos += 2;
    }
    starts[t + 1] = end;
  }
  return { bytes, starts, ids };
}

/** Refuses added tokens that HF searches for after spaces have become marks, if the marks change what is found. */
export function checkLateTokens(
  tokens: readonly AddedToken[],
  { hasMarks, prefix }: CharacterSteps,
  isInNormalizer: boolean,
  path: string,
): void {
  if (!hasMarks || !isInNormalizer) return;
  for (const { content, normalized, lstrip, rstrip } of tokens) {
    if (!normalized) continue;
    const why =
      prefix !== null
        ? "HF searches for it with a '\u2581' before it"
        : lstrip || rstrip
          ? "it strips white space after spaces have become '\u2581'"
          : content.includes(" ") || content.includes(mark)
            ? "it contains a space or a '\u2581'"
            : undefined;
    if (why !== undefined)
      tokenizers.refuse(
        path,
        `the added token ${showValue(content)} is normalized, and ${why}`,
        'use a newer file of this tokenizer, in which the token has "normalized": false',
      );
  }
}
