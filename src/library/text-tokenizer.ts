import { argument, schema, typedArrayClass, utf8 } from "#bytes";
import { UserError, usageError } from "#runtime";
import { textPieces } from "#text";
import {
  decoding,
  firstDifference,
  type RecodedSpan,
  type TextEncoding,
  TextNotes,
  type TokenizerParts,
  tokenizers,
  tokenKeys,
  tokenTables,
} from "#tokenizer";
import {
  arrayArgument,
  checkWhole,
  flagArgument,
  numberArgument,
  readText,
  textArgument,
  unchangingBytes,
  wordOf,
} from "./check-arguments.ts";
import { copyGivenIds, positionOf } from "./copy-given-ids.ts";
import { type FetchOptions, fetchTokenizer, partsInMemory } from "./fetch-tokenizer.ts";
import {
  joinEncoded,
  joinSegments,
  readSegments,
  type Segment,
  type SegmentsOptions,
  segmentsOptionKinds,
} from "./segments.ts";
import {
  batchWithIdsAround,
  type EncodedBatch,
  idsAround,
  offsetMax,
  specialIdsOf,
  withIdsAround,
} from "./special-ids.ts";
import { StreamDecoder } from "./stream-decoder.ts";
import { NoCut, TextCuts } from "./text-cuts.ts";
import {
  type EncodedWithOffsets,
  findOffsets,
  refuseWithoutOffsets,
  withOffsetsAround,
} from "./text-offsets.ts";
import { Session } from "./text-session.ts";
import { TokenizerMemory } from "./tokenizer-memory.ts";

/** Options for encoding a text. */
export type EncodeOptions = {
  /** Encode special tokens in the text as plain text. Default: false. */
  readonly specialTokensAsText?: boolean;
};

/** Options for encoding a text into the ids for a model. */
export type EncodeModelOptions = EncodeOptions & {
  /** Add the ids that `tokenizer.json` puts around a text, such as bos and eos. Default: false. */
  readonly addSpecialTokens?: boolean;
};

export type DecodeOptions = {
  /** Leave out special tokens. Default: false. */
  readonly skipSpecialTokens?: boolean;
};

export type StreamOptions = DecodeOptions & {
  /** Leave out ids that have no token, instead of throwing an error. Default: false. */
  readonly skipUnknownIds?: boolean;
  /**
   * The ids before the first one to decode, such as those of a prompt. Their text is not returned. If this text ends
   * within a character, that character is returned when it is complete.
   */
  readonly ids?: GivenIds;
};

type GivenIds = Uint32Array | Uint16Array | readonly number[];

/** The result of {@link TextTokenizer.recode}. */
export type Recoded = {
  readonly ids: Uint32Array<ArrayBuffer>;
  /** The spans that differ, in order: given ids [start, end) became ids [canonicalStart, canonicalEnd). */
  readonly spans: readonly RecodedSpan[];
};

export type CountOptions = EncodeOptions & {
  /** Stop counting when there are certainly more ids than this. Default: no limit. */
  readonly limit?: number;
};

export type TruncateOptions = EncodeOptions & {
  /** Which end of the text to keep. Default: its start. */
  readonly keep?: "start" | "end";
};

export type ChunkOptions = EncodeOptions & {
  /** The maximum number of tokens that a piece shares with the previous one. Must be less than the size. Default: 0. */
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
/** Accepts any value, because the decoder checks ids. */
const anyArgument = { name: "an array of ids", accepts: () => true };
const streamOptionKinds = { ...decodeOptionKinds, skipUnknownIds: flagArgument, ids: anyArgument };

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * A byte-level BPE tokenizer: text to ids and back. It needs no file system, so it also runs in browsers.
 */
export class TextTokenizer {
  /** @internal */
  protected readonly memory: TokenizerMemory;
  private keysMade: readonly string[] | undefined;
  private ids: ReadonlyMap<string, number> | undefined;
  private specialIdsMade: ReadonlySet<number> | undefined;

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
      "use Tokenizer.from for the content of a tokenizer.json, Tokenizer.load for files, or trainTokenizer",
    );
  }

  /**
   * Makes a tokenizer from the content of a `tokenizer.json` (HF's format, which training also writes): text,
   * bytes, or the result of `JSON.parse`. Anything that cannot be reproduced exactly is refused with a
   * {@link UserError} that names it.
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

  /** The number of tokens, including special ones. */
  get size(): number {
    return this.parts.tokens.tokenCount;
  }

  /** The same as `size`, by its name in HF's packages. */
  get vocabSize(): number {
    return this.size;
  }

  /** The ids of all added tokens, special or not, by their text. */
  get specialTokens(): ReadonlyMap<string, number> {
    return new Map(tokenizers.allAddedTokens(this.parts).map(({ content, id }) => [content, id]));
  }

  /** Sentences about what is unusual in the files, such as settings that encoding does not apply. */
  get notes(): readonly string[] {
    return [...this.parts.notes];
  }

  /**
   * Returns the ids of a text, in which special tokens are recognized unless `specialTokensAsText` is true. Bytes need
   * not be valid UTF-8.
   */
  encode(text: string | Uint8Array, options: EncodeModelOptions = {}): Uint32Array<ArrayBuffer> {
    const { addSpecialTokens, ...asked } = argument.checkOptions("encode", options, encodeModelOptionKinds);
    if (!addSpecialTokens) return this.encodeGiven("encode", text, asked);
    return withIdsAround(this.encodeGiven("encode", text, asked), idsAround(this.parts));
  }

  private encodeGiven(call: string, text: string | Uint8Array, options: EncodeOptions) {
    const asked = argument.checkOptions(call, options, encodeOptionKinds);
    const given = readText(`${call}: text`, text);
    return this.useEncoding(asked, (encoding) => {
      const bytes = utf8.encodeRange(given, 0, given.length);
      encoding.pushText(bytes, 0, bytes.length);
      return new Uint32Array(encoding.out.flush());
    });
  }

  /**
   * Returns the ids of a text and the position of each token in it: `text.slice(starts[i], ends[i])`. In a string,
   * positions are those of HF: a token with a part of a character has the position of the whole character, spaces that
   * `tokenizer.json` trims are left out, and ids around the text are at 0. In bytes, the tokens follow each other
   * without gaps. Throws an error if the tokenizer has no offsets, e.g. because it normalizes text or lacks some bytes.
   */
  encodeWithOffsets(text: string | Uint8Array, options: EncodeModelOptions = {}): EncodedWithOffsets {
    const call = "encodeWithOffsets";
    const { addSpecialTokens, ...asked } = argument.checkOptions(call, options, encodeModelOptionKinds);
    const given = readText(`${call}: text`, text);
    const around = addSpecialTokens ? idsAround(this.parts) : undefined;
    refuseWithoutOffsets(this.parts, typeof given === "string");
    const bytes = utf8.encodeRange(given, 0, given.length);
    const encoded = this.placeTokens(given, bytes, asked, (encoding) =>
      encoding.pushText(bytes, 0, bytes.length),
    );
    return around === undefined ? encoded : withOffsetsAround(encoded, around);
  }

  /** Encodes a text, and finds its tokens in it. `bytes` is the text in UTF-8. */
  private placeTokens(
    text: string | Uint8Array,
    bytes: Uint8Array,
    options: EncodeOptions,
    push: (encoding: TextEncoding) => void,
  ): EncodedWithOffsets {
    const asText = this.readsSpecialTokensAsText(options);
    return this.useEncoding(options, (encoding) => {
      const notes = new TextNotes();
      encoding.noteIn(notes, asText);
      push(encoding);
      encoding.noteIn(undefined, asText);
      const ids = new Uint32Array(encoding.out.flush());
      return { ids, ...findOffsets(text, bytes, ids, notes, this.memory.decoder) };
    });
  }

  /**
   * Returns the ids of a text that comes from several sources. An added token is found only if it lies within one
   * segment, and a special token only within a trusted segment: in other people's text it is text. Apart from that, the
   * segments are one text, and tokens may cross their edges. With `isolate`, each segment is encoded by itself.
   */
  encodeSegments(segments: readonly Segment[], options: SegmentsOptions = {}): Uint32Array<ArrayBuffer> {
    const { isolate } = argument.checkOptions("encodeSegments", options, segmentsOptionKinds);
    const read = readSegments("encodeSegments", segments);
    return this.useEncoding({}, (encoding) => {
      if (!isolate) encoding.pushSegments(read, false);
      else {
        for (const { bytes, isTrusted } of read) {
          encoding.open(!isTrusted);
          encoding.pushText(bytes, 0, bytes.length);
        }
      }
      return new Uint32Array(encoding.out.flush());
    });
  }

  /**
   * Like {@link encodeSegments}. Also returns the position of each token in the whole text, like {@link
   * encodeWithOffsets}.
   */
  encodeSegmentsWithOffsets(segments: readonly Segment[], options: SegmentsOptions = {}): EncodedWithOffsets {
    const call = "encodeSegmentsWithOffsets";
    const { isolate } = argument.checkOptions(call, options, segmentsOptionKinds);
    const read = readSegments(call, segments);
    const areStrings = segments.every(({ text }) => typeof text === "string");
    refuseWithoutOffsets(this.parts, areStrings);
    const given = read.map(({ bytes }) => (areStrings ? decoder.decode(bytes) : bytes));
    if (isolate) {
      const parts = read.map(({ bytes, isTrusted }, i) =>
        this.placeTokens(given[i]!, bytes, { specialTokensAsText: !isTrusted }, (encoding) =>
          encoding.pushText(bytes, 0, bytes.length),
        ),
      );
      return joinEncoded(
        parts,
        given.map(({ length }) => length),
      );
    }
    const bytes = joinSegments(read);
    const whole = areStrings ? (given as string[]).join("") : bytes;
    return this.placeTokens(whole, bytes, {}, (encoding) => encoding.pushSegments(read, true));
  }

  /**
   * Opens a session: a text that grows and is edited, with its ids. An edit encodes only what has changed and what
   * is near it.
   */
  session(text = ""): Session {
    argument.check("session: text", text, textArgument);
    const session = Session.of(this.parts, (work) => this.useEncoding({}, work));
    session.append(text);
    return session;
  }

  /** Returns the tokens of a text as the tokenizer's files spell them: `Ġthe` for ` the`. */
  tokenize(text: string | Uint8Array, options: EncodeOptions = {}): string[] {
    const { keys } = this;
    return Array.from(this.encodeGiven("tokenize", text, options), (id) => keys[id]!);
  }

  /**
   * Splits a text into pretokens: pieces whose edges no merge crosses. Added tokens are pieces, too, with the
   * whitespace that they strip. Joined, the pieces are the text, after normalization if the tokenizer normalizes, and
   * with the spaces that some tokenizers insert.
   */
  preTokenize(text: string | Uint8Array): string[] {
    const given = readText("preTokenize: text", text);
    const pieces = textPieces.of(this.parts, utf8.encodeRange(given, 0, given.length));
    return pieces.map((piece) => decoder.decode(piece));
  }

  /**
   * Returns the id of a token, spelled as by `tokenize`; undefined if there is no such token. Throws an error if the
   * tokens of this tokenizer cannot be looked up by name.
   */
  tokenToId(token: string): number | undefined {
    argument.check("tokenToId: token", token, textArgument);
    if (this.ids === undefined) {
      this.checkNames();
      this.ids = tokenKeys.idsOf(this.parts);
    }
    return this.ids.get(token);
  }

  /**
   * Returns the token with this id, spelled as by `tokenize`; undefined if there is no such token. Throws an error if
   * the tokens of this tokenizer cannot be looked up by name.
   */
  idToToken(id: number): string | undefined {
    argument.check("idToToken: id", id, numberArgument);
    return this.keys[id] || undefined;
  }

  private get keys(): readonly string[] {
    if (this.keysMade === undefined) {
      this.checkNames();
      this.keysMade = tokenKeys.byId(this.parts);
    }
    return this.keysMade;
  }

  private checkNames(): void {
    const obstacle = tokenTables.nameObstacle(this.parts.tokens);
    if (obstacle !== undefined) throw new UserError(obstacle);
  }

  /**
   * Returns the ids of several texts, each encoded separately, in one array with offsets, like a list array
   * in Arrow.
   */
  encodeBatch(texts: readonly (string | Uint8Array)[], options: EncodeModelOptions = {}): EncodedBatch {
    const asked = argument.checkOptions("encodeBatch", options, encodeModelOptionKinds);
    const around = asked.addSpecialTokens ? idsAround(this.parts) : undefined;
    // All texts are checked first, because an error during encoding would discard the encoder's memory.
    const given = readTexts("encodeBatch", texts);
    const batch = this.useEncoding(asked, (encoding) => {
      const offsets = new Int32Array(given.length + 1);
      given.forEach((text, i) => {
        const bytes = utf8.encodeRange(text, 0, text.length);
        encoding.pushText(bytes, 0, bytes.length);
        offsets[i + 1] = encoding.out.count;
      });
      if (encoding.out.count > offsetMax)
        throw new UserError(
          "encodeBatch: the texts have more than 2^31 - 1 ids, the most that fit into a batch",
          {
            hint: "encode fewer texts at a time",
          },
        );
      return { ids: new Uint32Array(encoding.out.flush()), offsets };
    });
    return around === undefined ? batch : batchWithIdsAround(batch, around);
  }

  /**
   * Returns how many ids `encode` would return. With a `limit`, stops reading when there are certainly more,
   * and returns `limit + 1`. So `count(text, { limit: n }) <= n` tells whether a text has at most n ids.
   */
  count(text: string | Uint8Array, options: CountOptions = {}): number {
    const asked = argument.checkOptions("count", options, countOptionKinds);
    const given = readText("count: text", text);
    const { limit = Number.POSITIVE_INFINITY } = asked;
    if (limit !== Number.POSITIVE_INFINITY) checkWhole("count: limit", limit, 0);
    return this.useEncoding(asked, (encoding) => encoding.countIds(given, limit));
  }

  /**
   * Shortens a text to at most `limit` ids: keeps its beginning or, with `keep: "end"`, its end. A text within the
   * limit is returned unchanged; for bytes, the result is always a copy.
   *
   * The beginning that is kept ends where the `limit`-th token of the text ends, moved back to the end of a character.
   * It is encoded separately to count its ids. In the rare case that these are more than `limit`, it ends one or more
   * tokens earlier. If not even the first token fits, it has as many characters of that token as fit, possibly none. So
   * `count(truncate(text, n)) <= n`, and for most texts the ids of the result are the first n of the text. With `keep:
   * "end"`, the same rule applies from the other side.
   *
   * An added token is kept completely or not at all, together with whitespace that it strips. A character and following
   * marks that a normal form changes together are separated only if nothing else fits. The result is always a part of
   * the original text. For a text above the limit, throws an error in two cases: the vocabulary lacks tokens for some
   * bytes, or two tokens share an id, so that the tokens of the text do not spell it.
   */
  truncate(text: string, limit: number, options?: TruncateOptions): string;
  truncate(text: Uint8Array, limit: number, options?: TruncateOptions): Uint8Array<ArrayBuffer>;
  truncate(
    text: string | Uint8Array,
    limit: number,
    options?: TruncateOptions,
  ): string | Uint8Array<ArrayBuffer>;
  truncate(text: string | Uint8Array, limit: number, options: TruncateOptions = {}): TextOrBytes {
    const asked = argument.checkOptions("truncate", options, truncateOptionKinds);
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
   * Splits the text into pieces of at most `size` ids each, in order. Without `overlap`, the joined pieces are the
   * text.
   *
   * Pieces consist of tokens of the whole text. A piece starts at or inside a token, takes `size` tokens from this
   * token on, and ends by the rule of {@link truncate}. With `overlap`, the next piece starts with the last `overlap`
   * tokens that are complete in this piece, moved forward to the start of a character. It may share fewer, for example
   * next to a character of many tokens, so that it starts and ends later than this piece. Throws the errors of {@link
   * truncate}, and an error that names a character with more than `size` ids. An empty text has no pieces.
   */
  chunks(text: string, size: number, options?: ChunkOptions): string[];
  chunks(text: Uint8Array, size: number, options?: ChunkOptions): Uint8Array<ArrayBuffer>[];
  chunks(
    text: string | Uint8Array,
    size: number,
    options?: ChunkOptions,
  ): string[] | Uint8Array<ArrayBuffer>[];
  chunks(text: string | Uint8Array, size: number, options: ChunkOptions = {}): TextOrBytes[] {
    const asked = argument.checkOptions("chunks", options, chunkOptionKinds);
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
   * Decodes ids to text. Bytes that are not UTF-8 become replacement characters. Throws an error for an id
   * without a token, with its position.
   */
  decode(ids: GivenIds, options: DecodeOptions = {}): string {
    return decoder.decode(this.decodeGiven("decode", ids, options));
  }

  /** Decodes ids to bytes. */
  decodeBytes(ids: GivenIds, options: DecodeOptions = {}): Uint8Array<ArrayBuffer> {
    return this.decodeGiven("decodeBytes", ids, options);
  }

  private decodeGiven(call: string, ids: GivenIds, options: DecodeOptions): Uint8Array<ArrayBuffer> {
    const asked = argument.checkOptions(call, options, decodeOptionKinds);
    const given = copyGivenIds(call, ids);
    const special = asked.skipSpecialTokens ? this.specialIds : undefined;
    const kept = special === undefined ? given : given.filter((id) => !special.has(id));
    const { bytes, unknownIndex } = this.memory.decoder.decode(kept);
    if (unknownIndex < 0) return bytes.subarray(decoding.leadingBytes(this.parts, kept[0], bytes));
    // Special tokens are not unknown ids, so the first unknown id in `kept` is also the first one in `given`.
    throw decoding.unknownId(kept[unknownIndex]!, positionOf(given, kept[unknownIndex]!), this.idLimit);
  }

  private get specialIds(): ReadonlySet<number> {
    this.specialIdsMade ??= specialIdsOf(this.parts);
    return this.specialIdsMade;
  }

  /** Decodes ids as they arrive, into text that never ends within a character. */
  stream(options: StreamOptions = {}): StreamDecoder {
    const asked = argument.checkOptions("stream", options, streamOptionKinds);
    const special = asked.skipSpecialTokens ? this.specialIds : undefined;
    const hasToken = (id: number) => tokenTables.bytesOf(this.parts.tokens, id).length > 0;
    const isKept =
      special === undefined && !asked.skipUnknownIds
        ? undefined
        : (id: number) => !special?.has(id) && (!asked.skipUnknownIds || hasToken(id));
    const decoder = new StreamDecoder(this.memory.decoder, this.parts, isKept);
    if (asked.ids !== undefined) decoder.push(asked.ids);
    return decoder;
  }

  /** Whether decoding these ids and encoding the text gives the same ids. Ids sampled from a model may differ. */
  isCanonical(ids: GivenIds, options: EncodeOptions = {}): boolean {
    return this.recodeGiven("isCanonical", ids, options).index < 0;
  }

  /** Decodes the ids and encodes the text again. Returns the index of the first id that differs; -1 if none does. */
  firstNoncanonical(ids: GivenIds, options: EncodeOptions = {}): number {
    return this.recodeGiven("firstNoncanonical", ids, options).index;
  }

  /** Decodes the ids and encodes the text again. Returns the new ids, and the spans that differ from the given ids. */
  recode(ids: GivenIds, options: EncodeOptions = {}): Recoded {
    const { given, bytes, canonical } = this.recodeGiven("recode", ids, options);
    const isSameText = firstDifference(bytes, this.decodeBytes(canonical)) < 0;
    const spans = this.memory.decoder.recodedSpans(given, canonical, isSameText);
    this.memory.dropLargeDecoder();
    return { ids: canonical, spans };
  }

  private recodeGiven(call: string, ids: GivenIds, options: EncodeOptions) {
    const given = copyGivenIds(call, ids);
    const bytes = this.decodeGiven(call, ids, {});
    const canonical = this.encodeGiven(call, bytes, options);
    return { given, bytes, canonical, index: firstDifference(given, canonical) };
  }

  /** Returns the bytes of a token; empty if no token has this id. */
  tokenBytes(id: number): Uint8Array<ArrayBuffer> {
    argument.check("tokenBytes: id", id, numberArgument);
    return new Uint8Array(tokenTables.bytesOf(this.parts.tokens, id));
  }

  /**
   * Releases the memory of the tokenizer. Later calls that encode or decode throw an error; decoders that
   * `stream` made keep working. An unreachable tokenizer is released by the garbage collector.
   */
  dispose(): void {
    this.memory.dispose();
  }

  /** Returns a summary, which consoles show. It does not contain the tokens. */
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
      // After an error, the encoder may be in the middle of a text, so it is dropped. NoCut is thrown only between
      // texts.
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

  /**
   * Reads a text until it certainly has more than `readIdsMax` ids. Returns the `TextCuts` of what was read; null if
   * the whole text has at most `idsMax` ids.
   */
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
    return new TextCuts(
      utf8.encodeRange(text, 0, end),
      ids,
      notes,
      this.parts,
      this.memory.decoder,
      encoding,
    );
  }
}

const shownPatternMax = 100;

// The symbols with which Node, Bun and Deno format objects on the console.
for (const name of ["nodejs.util.inspect.custom", "Deno.customInspect"]) {
  Object.defineProperty(TextTokenizer.prototype, Symbol.for(name), {
    configurable: true,
    value(this: TextTokenizer) {
      return this.parts === undefined ? "Tokenizer" : `Tokenizer ${JSON.stringify(this)}`;
    },
  });
}

/** @internal */
export function readTexts(call: string, texts: readonly (string | Uint8Array)[]) {
  argument.check(`${call}: texts`, texts, arrayArgument);
  return Array.from(texts, (text, i) =>
    typeof text === "string" ? text : readText(`${call}: texts[${i}]`, text),
  );
}

/** @internal Reads the parts of a tokenizer.json in memory. Errors call it `name`. */
export function partsOfJson(json: unknown, name = "tokenizer.json"): TokenizerParts {
  const bytes =
    typedArrayClass(json) === "Uint8Array"
      ? unchangingBytes("from: json", json as Uint8Array)
      : new TextEncoder().encode(json === "" ? json : asJson(json));
  if (bytes.length === 0) throw new UserError("the tokenizer.json is empty");
  return partsInMemory(bytes, name);
}

function asJson(json: unknown): string {
  if (typeof json === "string" && !/^[\w./\\:-]*$/.test(json)) return json;
  if (typeof json === "object" && json !== null && "model" in json) return JSON.stringify(json);
  throw usageError(
    `from: json ${schema.describeMismatch(json, "the content of a tokenizer.json")}`,
    "pass its text, its bytes as a Uint8Array, or what JSON.parse makes of it; for a path or a URL, use Tokenizer.load",
  );
}
