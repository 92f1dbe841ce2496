import {
  arrayArgument,
  checkArgument,
  checkOptions,
  describeValue,
  flagArgument,
  numberArgument,
  readText,
  textArgument,
  typedArrayClass,
  unchangingBytes,
  wordOf,
} from "#bytes";
import { UserError, usageError } from "#runtime";
import {
  allAddedTokens,
  behaviorFingerprint,
  bytesOf,
  firstDifference,
  idsByKey,
  idsGiven,
  keysById,
  NoCut,
  nameObstacle,
  positionOf,
  type RecodedSpan,
  recodedSpans,
  StreamDecoder,
  TextCuts,
  type TextEncoding,
  TextNotes,
  type TokenizerParts,
  textPieces,
  tokenBytesOf,
  unknownId,
} from "#tokenizer";
import { type FetchOptions, fetchTokenizer, partsInMemory } from "./fetch-tokenizer.ts";
import { explainOtherNames } from "./other-names.ts";
import {
  batchWithIdsAround,
  type EncodedBatch,
  idsAround,
  offsetMax,
  specialIdsOf,
  withIdsAround,
} from "./special-ids.ts";
import {
  type EncodedWithOffsets,
  findOffsets,
  refuseWithoutOffsets,
  withOffsetsAround,
} from "./text-offsets.ts";
import { TokenizerMemory } from "./tokenizer-memory.ts";

/** How a text is encoded. */
export type EncodeOptions = {
  /** Special tokens in the text are encoded as the text that they are. Default: false. */
  readonly specialTokensAsText?: boolean;
};

/** How a text becomes the ids that a model reads. */
export type EncodeModelOptions = EncodeOptions & {
  /** Adds the ids that `tokenizer.json` puts around a text, such as bos and eos. Default: false. */
  readonly addSpecialTokens?: boolean;
};

export type DecodeOptions = {
  /** Leaves special tokens out of the text. Default: false. */
  readonly skipSpecialTokens?: boolean;
};

export type StreamOptions = DecodeOptions & {
  /** An id without a token has no text, instead of being an error. Default: false. */
  readonly skipUnknownIds?: boolean;
  /** The ids before, such as a prompt's: their text is not returned, but a character that they begin is. */
  readonly ids?: GivenIds;
};

type GivenIds = Uint32Array | Uint16Array | readonly number[];

/** What {@link TextTokenizer.recode} returns. */
export type Recoded = {
  readonly ids: Uint32Array<ArrayBuffer>;
  /** In order: ids [start, end) of those given became ids [canonicalStart, canonicalEnd). */
  readonly spans: readonly RecodedSpan[];
};

export type CountOptions = EncodeOptions & {
  /** Counting stops where it is certain that there are more ids. Default: none. */
  readonly limit?: number;
};

export type TruncateOptions = EncodeOptions & {
  /** Which part of the text is kept. Default: its start. */
  readonly keep?: "start" | "end";
};

export type ChunkOptions = EncodeOptions & {
  /** How many tokens a piece shares with the one before; fewer than its size. Default: 0. */
  readonly overlap?: number;
};

type TextOrBytes = string | Uint8Array<ArrayBuffer>;

/** @internal */
export const encodeOptionKinds = { specialTokensAsText: flagArgument };
/** @internal */
export const encodeModelOptionKinds = { ...encodeOptionKinds, addSpecialTokens: flagArgument };
const decodeOptionKinds = { skipSpecialTokens: flagArgument };
const truncateOptionKinds = { ...encodeOptionKinds, keep: wordOf(["start", "end"]) };
const countOptionKinds = { ...encodeOptionKinds, limit: numberArgument };
const chunkOptionKinds = { ...encodeOptionKinds, overlap: numberArgument };
/** The decoder checks it. */
const anyArgument = { name: "an array of ids", accepts: () => true };
const streamOptionKinds = { ...decodeOptionKinds, skipUnknownIds: flagArgument, ids: anyArgument };

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * A byte-level BPE tokenizer: text to ids and back. It needs no files.
 */
export class TextTokenizer {
  /** @internal */
  protected readonly memory: TokenizerMemory;
  private keysMade: readonly string[] | undefined;
  private ids: ReadonlyMap<string, number> | undefined;
  private specialIdsMade: ReadonlySet<number> | undefined;

  /**
   * A digest of the ids of a fixed text: two tokenizers that have the same one encode alike, whatever program runs them.
   * `bpe help docs/doctor.md` says how other programs compute it.
   */
  get fingerprint(): string {
    return behaviorFingerprint(this.parts);
  }

  /** @internal */
  constructor(
    /** @internal */
    readonly parts: TokenizerParts,
  ) {
    if (typeof parts?.model === "object") {
      this.memory = new TokenizerMemory(parts);
      return;
    }
    throw usageError(
      "a Tokenizer cannot be made with new",
      "Tokenizer.from reads a tokenizer.json, Tokenizer.load reads files, and trainTokenizer trains one",
    );
  }

  /**
   * Makes a tokenizer of the content of a `tokenizer.json` (HF's format, which training writes, too): as text, as bytes, or
   * as what `JSON.parse` makes of it. What cannot be reproduced exactly is refused with a {@link UserError} that names it.
   */
  static from(json: string | Uint8Array | object): TextTokenizer {
    return new TextTokenizer(partsOfJson(json));
  }

  /** Fetches a `tokenizer.json`. */
  static async load(url: string | URL, options: FetchOptions = {}): Promise<TextTokenizer> {
    return new TextTokenizer(await fetchTokenizer("Tokenizer.load", url, options));
  }

  /** One more than the largest id. */
  get idLimit(): number {
    return this.parts.tokens.idLimit;
  }

  /** Tokens, special ones too. */
  get size(): number {
    return this.parts.tokens.tokenCount;
  }

  /** The same, as HF's packages call it. */
  get vocabSize(): number {
    return this.size;
  }

  /** Ids of the special tokens, by their text. */
  get specialTokens(): ReadonlyMap<string, number> {
    return new Map(allAddedTokens(this.parts).map(({ content, id }) => [content, id]));
  }

  /** What is in the files and is not applied, a sentence each. */
  get notes(): readonly string[] {
    return [...this.parts.notes];
  }

  /** The ids of a text, special tokens in it included. Bytes need not be valid UTF-8. */
  encode(text: string | Uint8Array, options: EncodeModelOptions = {}): Uint32Array<ArrayBuffer> {
    const { addSpecialTokens, ...asked } = checkOptions("encode", options, encodeModelOptionKinds);
    if (!addSpecialTokens) return this.encodeGiven("encode", text, asked);
    return withIdsAround(this.encodeGiven("encode", text, asked), idsAround(this.parts));
  }

  private encodeGiven(call: string, text: string | Uint8Array, options: EncodeOptions) {
    const asked = checkOptions(call, options, encodeOptionKinds);
    const given = readText(`${call}: text`, text);
    return this.useEncoding(asked, (encoding) => {
      const bytes = bytesOf(given, 0, given.length);
      encoding.pushText(bytes, 0, bytes.length);
      return new Uint32Array(encoding.out.flush());
    });
  }

  /**
   * The ids of a text, and where the token of each is in it: `text.slice(starts[i], ends[i])`. In a string as HF has it: a token
   * that has a part of a character has that character, what `tokenizer.json` trims is left out, and ids around the text are at 0.
   * In bytes the tokens follow each other without gaps. A tokenizer that normalizes text is an error.
   */
  encodeWithOffsets(text: string | Uint8Array, options: EncodeModelOptions = {}): EncodedWithOffsets {
    const call = "encodeWithOffsets";
    const { addSpecialTokens, ...asked } = checkOptions(call, options, encodeModelOptionKinds);
    const given = readText(`${call}: text`, text);
    const around = addSpecialTokens ? idsAround(this.parts) : undefined;
    refuseWithoutOffsets(this.parts, typeof given === "string");
    const asText = this.readsSpecialTokensAsText(asked);
    const encoded = this.useEncoding(asked, (encoding) => {
      const bytes = bytesOf(given, 0, given.length);
      const notes = new TextNotes();
      encoding.noteIn(notes, asText);
      encoding.pushText(bytes, 0, bytes.length);
      encoding.noteIn(undefined, asText);
      const ids = new Uint32Array(encoding.out.flush());
      return { ids, ...findOffsets(given, bytes, ids, notes, this.memory.decoder) };
    });
    return around === undefined ? encoded : withOffsetsAround(encoded, around);
  }

  /** The tokens of a text, as their files spell them: `Ġthe` for ` the`. */
  tokenize(text: string | Uint8Array, options: EncodeOptions = {}): string[] {
    const { keys } = this;
    return Array.from(this.encodeGiven("tokenize", text, options), (id) => keys[id]!);
  }

  /**
   * How a text is cut before tokens are merged. Added tokens are pieces, too, with the white space that they take. Joined, the
   * pieces are the text: the normalized one if the tokenizer normalizes, and with the space that some put before a text.
   */
  preTokenize(text: string | Uint8Array): string[] {
    const given = readText("preTokenize: text", text);
    const pieces = textPieces(this.parts, bytesOf(given, 0, given.length));
    return pieces.map((piece) => utf8.decode(piece));
  }

  /** The id of a token, spelled as by `tokenize`; undefined if there is none. */
  tokenToId(token: string): number | undefined {
    checkArgument("tokenToId: token", token, textArgument);
    if (this.ids === undefined) {
      this.checkNames();
      this.ids = idsByKey(this.parts);
    }
    return this.ids.get(token);
  }

  /** The token with this id, spelled as by `tokenize`; undefined if there is none. */
  idToToken(id: number): string | undefined {
    checkArgument("idToToken: id", id, numberArgument);
    return this.keys[id] || undefined;
  }

  private get keys(): readonly string[] {
    if (this.keysMade === undefined) {
      this.checkNames();
      this.keysMade = keysById(this.parts);
    }
    return this.keysMade;
  }

  private checkNames(): void {
    const obstacle = nameObstacle(this.parts.tokens);
    if (obstacle !== undefined) throw new UserError(obstacle);
  }

  /** The ids of several texts, each encoded on its own, in one array, as Arrow has lists. */
  encodeBatch(texts: readonly (string | Uint8Array)[], options: EncodeModelOptions = {}): EncodedBatch {
    const asked = checkOptions("encodeBatch", options, encodeModelOptionKinds);
    const around = asked.addSpecialTokens ? idsAround(this.parts) : undefined;
    // All are checked first: an error within the encoding would cost its memory.
    const given = readTexts("encodeBatch", texts);
    const batch = this.useEncoding(asked, (encoding) => {
      const offsets = new Int32Array(given.length + 1);
      given.forEach((text, i) => {
        const bytes = bytesOf(text, 0, text.length);
        encoding.pushText(bytes, 0, bytes.length);
        offsets[i + 1] = encoding.out.count;
      });
      if (encoding.out.count > offsetMax)
        throw new UserError("encodeBatch: the texts have more than 2^31 - 1 ids");
      return { ids: new Uint32Array(encoding.out.flush()), offsets };
    });
    return around === undefined ? batch : batchWithIdsAround(batch, around);
  }

  /**
   * How many ids `encode` gives. With a `limit`, no more of the text is read than it takes to know that there are more; then
   * the answer is `limit + 1`. So `count(text, { limit: n }) <= n` says whether a text has at most n ids.
   */
  count(text: string | Uint8Array, options: CountOptions = {}): number {
    const asked = checkOptions("count", options, countOptionKinds);
    const given = readText("count: text", text);
    const { limit = Number.POSITIVE_INFINITY } = asked;
    if (limit !== Number.POSITIVE_INFINITY) checkWhole("count: limit", limit, 0);
    return this.useEncoding(asked, (encoding) => encoding.countIds(given, limit));
  }

  /**
   * The beginning of a text that has at most `limit` ids, or its end (`keep`). A text that has no more is returned as it is;
   * of bytes the result is always a copy.
   *
   * A beginning ends where the `limit`-th token of the text ends, moved back to a whole character. It is encoded on its own to
   * count its ids. Should they be more than `limit`, which is rare, it ends a token earlier, or as many as it takes; if not
   * even the first token fits, it has as many of its characters as do, or none. So `count(truncate(text, n)) <= n`, and for most texts
   * the ids of the result are the first n of the text. An end of the text begins by the same rule, from the other side.
   *
   * An added token is whole or not there, with the white space that it takes along. Where a normal form changes a character
   * together with the marks behind it, they are parted only if nothing else fits; the result is part of the text as it was
   * given. For a beginning no more of the text is read than that takes. A text that is not in its tokens, because the
   * vocabulary lacks some bytes, is an error.
   */
  truncate(text: string, limit: number, options?: TruncateOptions): string;
  truncate(text: Uint8Array, limit: number, options?: TruncateOptions): Uint8Array<ArrayBuffer>;
  truncate(
    text: string | Uint8Array,
    limit: number,
    options?: TruncateOptions,
  ): string | Uint8Array<ArrayBuffer>;
  truncate(text: string | Uint8Array, limit: number, options: TruncateOptions = {}): TextOrBytes {
    const asked = checkOptions("truncate", options, truncateOptionKinds);
    const given = readText("truncate: text", text);
    checkWhole("truncate: limit", limit, 0);
    return this.useEncoding(asked, (encoding) => {
      const keepsEnd = asked.keep === "end";
      const cuts = this.cutsOf(encoding, given, limit, keepsEnd ? Number.POSITIVE_INFINITY : limit, asked);
      if (cuts === null) return given.slice();
      const part = keepsEnd ? cuts.lastPart(limit) : cuts.firstPart(limit);
      return cuts.slices(given, [part])[0] as TextOrBytes;
    });
  }

  /**
   * The text in pieces of at most `size` ids each, in order. Without `overlap` the pieces, joined, are the text.
   *
   * Tokens are those of the whole text. A piece has `size` of them, counted from the one that it begins in or with, and ends by
   * the rule of {@link truncate}. With `overlap`, the next piece begins where the last so many tokens that are whole in this one
   * begin, moved on to a whole character; with fewer of them where it would begin or end no further than this one, as it may
   * beside a character of many tokens. A character that has more than `size` ids is an error that names it. An empty text has
   * no pieces.
   */
  chunks(text: string, size: number, options?: ChunkOptions): string[];
  chunks(text: Uint8Array, size: number, options?: ChunkOptions): Uint8Array<ArrayBuffer>[];
  chunks(
    text: string | Uint8Array,
    size: number,
    options?: ChunkOptions,
  ): string[] | Uint8Array<ArrayBuffer>[];
  chunks(text: string | Uint8Array, size: number, options: ChunkOptions = {}): TextOrBytes[] {
    const asked = checkOptions("chunks", options, chunkOptionKinds);
    const given = readText("chunks: text", text);
    checkWhole("chunks: size", size, 1);
    const { overlap = 0 } = asked;
    checkWhole("chunks: overlap", overlap, 0, size - 1);
    if (given.length === 0) return [];
    return this.useEncoding(asked, (encoding) => {
      const cuts = this.cutsOf(encoding, given, size, Number.POSITIVE_INFINITY, asked);
      if (cuts === null) return [given.slice()];
      return cuts.slices(given, cuts.parts(size, overlap)) as TextOrBytes[];
    });
  }

  /**
   * The text of ids; bytes that are not UTF-8 become replacement characters. An id without a token is an error that names its
   * position.
   */
  decode(ids: GivenIds, options: DecodeOptions = {}): string {
    return utf8.decode(this.decodeGiven("decode", ids, options));
  }

  /** The bytes of ids. */
  decodeBytes(ids: GivenIds, options: DecodeOptions = {}): Uint8Array<ArrayBuffer> {
    return this.decodeGiven("decodeBytes", ids, options);
  }

  private decodeGiven(call: string, ids: GivenIds, options: DecodeOptions): Uint8Array<ArrayBuffer> {
    const asked = checkOptions(call, options, decodeOptionKinds);
    const given = idsGiven(call, ids);
    const special = asked.skipSpecialTokens ? this.specialIds : undefined;
    const kept = special === undefined ? given : given.filter((id) => !special.has(id));
    const { bytes, unknownIndex } = this.memory.decoder.decode(kept);
    if (unknownIndex < 0) return bytes;
    // Special tokens are known, so the first unknown id is the same without them.
    throw unknownId(kept[unknownIndex]!, positionOf(given, kept[unknownIndex]!), this.idLimit);
  }

  private get specialIds(): ReadonlySet<number> {
    this.specialIdsMade ??= specialIdsOf(this.parts);
    return this.specialIdsMade;
  }

  /** Decodes ids as they come, to text that never ends within a character. */
  stream(options: StreamOptions = {}): StreamDecoder {
    const asked = checkOptions("stream", options, streamOptionKinds);
    const special = asked.skipSpecialTokens ? this.specialIds : undefined;
    const hasToken = (id: number) => tokenBytesOf(this.parts.tokens, id).length > 0;
    const isKept =
      special === undefined && !asked.skipUnknownIds
        ? undefined
        : (id: number) => !special?.has(id) && (!asked.skipUnknownIds || hasToken(id));
    const decoder = new StreamDecoder(this.memory.decoder, this.idLimit, isKept);
    if (asked.ids !== undefined) decoder.push(asked.ids);
    return decoder;
  }

  /** Whether encoding the text of ids gives them again. A model can sample others. */
  isCanonical(ids: GivenIds, options: EncodeOptions = {}): boolean {
    return this.recodeGiven("isCanonical", ids, options).index < 0;
  }

  /** The index of the first id that encoding the text of ids does not give; -1 if they are canonical. */
  firstNoncanonical(ids: GivenIds, options: EncodeOptions = {}): number {
    return this.recodeGiven("firstNoncanonical", ids, options).index;
  }

  /** The ids that encoding the text of ids gives, and the spans of both that differ. */
  recode(ids: GivenIds, options: EncodeOptions = {}): Recoded {
    const { given, bytes, canonical } = this.recodeGiven("recode", ids, options);
    const isSameText = firstDifference(bytes, this.decodeBytes(canonical)) < 0;
    return { ids: canonical, spans: recodedSpans(this.parts.tokens, given, canonical, isSameText) };
  }

  private recodeGiven(call: string, ids: GivenIds, options: EncodeOptions) {
    const given = idsGiven(call, ids);
    const bytes = this.decodeGiven(call, ids, {});
    const canonical = this.encodeGiven(call, bytes, options);
    return { given, bytes, canonical, index: firstDifference(given, canonical) };
  }

  /** The bytes of one token; none where the id has no token. */
  tokenBytes(id: number): Uint8Array<ArrayBuffer> {
    checkArgument("tokenBytes: id", id, numberArgument);
    return new Uint8Array(tokenBytesOf(this.parts.tokens, id));
  }

  /**
   * Releases the memory that it holds. Later calls that encode or decode are errors; decoders of `stream` work on. The collector
   * does the same for a tokenizer that nobody has.
   */
  dispose(): void {
    this.memory.dispose();
  }

  /** What it is, in short: consoles show this. Its content is in its files. */
  toJSON(): {
    readonly kind: string;
    readonly vocabSize: number;
    readonly specialTokenCount: number;
    readonly pattern: string;
  } {
    const { kind, patternName, patternSources } = this.parts.description;
    const pattern = patternName ?? patternSources.join(" ");
    return {
      kind,
      vocabSize: this.size,
      specialTokenCount: this.specialTokens.size,
      pattern: pattern.length > shownPatternMax ? `${pattern.slice(0, shownPatternMax)}…` : pattern,
    };
  }

  private useEncoding<T>(options: EncodeOptions, work: (encoding: TextEncoding) => T): T {
    const encoding = this.memory.encodingFor(this.readsSpecialTokensAsText(options));
    try {
      return work(encoding);
    } catch (error) {
      // What it holds of this text must not begin the next one.
      if (!(error instanceof NoCut)) this.memory.dropEncoding();
      throw error;
    } finally {
      encoding.out.shrink();
      this.memory.dropLargeDecoder();
    }
  }

  /** @internal */
  protected readsSpecialTokensAsText({ specialTokensAsText }: EncodeOptions): boolean {
    return specialTokensAsText ?? this.parts.specialTokensAsText ?? false;
  }

  /** The text to be cut, or its beginning of more than `readIdsMax` ids; null if it has no more than `idsMax`. */
  private cutsOf(
    encoding: TextEncoding,
    text: string | Uint8Array,
    idsMax: number,
    readIdsMax: number,
    options: EncodeOptions,
  ): TextCuts | null {
    const asText = this.readsSpecialTokensAsText(options);
    const notes = new TextNotes();
    encoding.noteIn(notes, asText);
    const end = encoding.pushUntil(text, readIdsMax, true);
    encoding.noteIn(undefined, asText);
    const ids = encoding.out.flush();
    if (end === text.length && ids.length <= idsMax) return null;
    return new TextCuts(bytesOf(text, 0, end), ids, notes, this.parts, this.memory.decoder, encoding);
  }
}

const shownPatternMax = 100;

// Where Node and Bun, and where Deno look for what their consoles print.
for (const name of ["nodejs.util.inspect.custom", "Deno.customInspect"]) {
  Object.defineProperty(TextTokenizer.prototype, Symbol.for(name), {
    configurable: true,
    value(this: TextTokenizer) {
      return this.parts === undefined ? "Tokenizer" : `Tokenizer ${JSON.stringify(this)}`;
    },
  });
}

explainOtherNames(TextTokenizer.prototype);

function checkWhole(name: string, value: number, least: number, most = Number.POSITIVE_INFINITY): void {
  if (Number.isSafeInteger(value) && value >= least && value <= most) return;
  const range = most === Number.POSITIVE_INFINITY ? `of ${least} or more` : `from ${least} to ${most}`;
  throw usageError(`${name} is ${describeValue(value)}: it must be a whole number ${range}`);
}

/** @internal */
export function readTexts(call: string, texts: readonly (string | Uint8Array)[]) {
  checkArgument(`${call}: texts`, texts, arrayArgument);
  return Array.from(texts, (text, i) =>
    typeof text === "string" ? text : readText(`${call}: texts[${i}]`, text),
  );
}

/** @internal The parts of a tokenizer.json that is in memory. */
export function partsOfJson(json: unknown): TokenizerParts {
  const bytes =
    typedArrayClass(json) === "Uint8Array"
      ? unchangingBytes("from: json", json as Uint8Array)
      : new TextEncoder().encode(typeof json === "string" ? json : asJson(json));
  if (bytes.length === 0) throw new UserError("the tokenizer.json is empty");
  return partsInMemory(bytes, "tokenizer.json");
}

function asJson(json: unknown): string {
  if (typeof json === "object" && json !== null && "model" in json) return JSON.stringify(json);
  throw usageError(
    `from: json is ${describeValue(json)}: it must be the content of a tokenizer.json`,
    "its text, its bytes, or what JSON.parse makes of it; Tokenizer.load takes a path",
  );
}
