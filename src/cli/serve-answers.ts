// What `bpe serve` answers to requests (serve-worker.ts). Encoders are kept from one request to the next.
import { outOfMemory, UserError } from "../errors.ts";
import { collectGarbage } from "../runtime/host.ts";
import { OffsetFinder, type OffsetUnit } from "../tokenizer/offsets.ts";
import { type FoundAdded, TextEncoding } from "../tokenizer/text-encoding.ts";
import { textPieces } from "../tokenizer/text-pieces.ts";
import { decodeIds, unknownId } from "../tokenizer/token-table.ts";
import type { EncodingParts, TokenizerParts } from "../tokenizer/tokenizer-parts.ts";

/** Kinds of requests; serve-worker.ts says what each is. */
export const kinds = { encode: 0, encodeAsText: 1, decode: 2, save: 3, cut: 4 };
const units: Readonly<Record<number, OffsetUnit>> = { 16: "bytes", 32: "characters" };

const answerBytesMax = 2 ** 31;

export type Request = { readonly kind: number; readonly sizes: Uint32Array; readonly items: Uint8Array };
/** Items end to end, and the size of each. */
export type Items = { readonly sizes: Uint32Array; readonly items: Uint8Array };

/** What encodes for one kind of request. */
type Encoder = {
  readonly encoding: TextEncoding;
  readonly finding: Finding | null;
  /** Whether it holds nothing of a text. */
  isBetween: boolean;
};
/** What finds offsets, and the added tokens that it has to know of. */
type Finding = { readonly finder: OffsetFinder; readonly found: FoundAdded[]; readonly unit: OffsetUnit };

type MakeEncoding = (parts: EncodingParts, found?: FoundAdded[]) => TextEncoding;

/** Answers requests, all but those that save. Throws why it refuses one. */
export class Answers {
  /** By the kind of request. To make one may take longer than to encode a thousand texts. */
  private readonly encoders = new Map<number, Encoder>();

  constructor(
    private readonly parts: TokenizerParts,
    private readonly makeEncoding: MakeEncoding = (...given) => new TextEncoding(...given),
  ) {}

  answerTo(request: Request): Items {
    const { kind } = request;
    if (kind === kinds.decode) return decoded(request, this.parts);
    if (kind === kinds.cut) return cut(request, this.parts);
    const encoder = this.encoderOf(kind);
    const { finding } = encoder;
    return finding === null ? encoded(request, encoder) : encodedWithOffsets(request, encoder, finding);
  }

  private encoderOf(kind: number): Encoder {
    const known = this.encoders.get(kind);
    if (known !== undefined) return known;
    const unit = units[kind & ~kinds.encodeAsText];
    if (kind !== kinds.encode && kind !== kinds.encodeAsText && unit === undefined)
      throw new UserError(`${kind} is not a kind of request`);
    const { parts } = this;
    const finding = unit === undefined ? null : { finder: new OffsetFinder(parts), found: [], unit };
    const specialTokensAsText = (kind & kinds.encodeAsText) !== 0;
    const encoding = this.makeEncoding({ ...parts, specialTokensAsText }, finding?.found);
    const encoder = { encoding, finding, isBetween: true };
    this.encoders.set(kind, encoder);
    return encoder;
  }

  /** Drops what may not be kept once a request is answered or, for an error, refused. */
  tidy({ kind, sizes }: Request, error?: unknown): void {
    // Memory that is refused is perhaps what all of them have.
    if (outOfMemory(error) !== undefined) this.encoders.clear();
    // What it holds of a text that failed must not begin the next one.
    if (this.encoders.get(kind)?.isBetween === false) this.encoders.delete(kind);
    if (!sizes.some((size) => size > keptTextBytesMax)) return;
    this.encoders.delete(kind);
    collectGarbage();
  }
}

const bytesOf = ({ buffer, byteOffset, byteLength }: Uint32Array) =>
  new Uint8Array(buffer, byteOffset, byteLength);

/** A longer text may have filled gigabytes of the kernel's memory, if its pattern cuts it nowhere. */
const keptTextBytesMax = 1 << 22;

function encoded({ sizes: textSizes, items }: Items, encoder: Encoder): Items {
  const { encoding } = encoder;
  const { out } = encoding;
  const sizes = new Uint32Array(textSizes.length);
  let pos = 0;
  encoder.isBetween = false;
  for (let i = 0; i < sizes.length; i++) {
    const countBefore = out.count;
    encoding.pushText(items, pos, (pos += textSizes[i]!));
    checkAnswer(idBytes * out.count);
    sizes[i] = idBytes * (out.count - countBefore);
  }
  const ids = Uint32Array.from(out.flush());
  encoder.isBetween = true;
  out.shrink();
  return { sizes, items: new Uint8Array(ids.buffer) };
}

/** Of each text its ids, where each begins, and where each ends. */
function encodedWithOffsets(
  { sizes: textSizes, items }: Items,
  encoder: Encoder,
  { finder, found, unit }: Finding,
): Items {
  const { encoding } = encoder;
  const sizes = new Uint32Array(textSizes.length);
  const answers: Uint8Array[] = [];
  let pos = 0;
  let byteCount = 0;
  for (let i = 0; i < sizes.length; i++) {
    const text = items.subarray(pos, (pos += textSizes[i]!));
    found.length = 0;
    encoder.isBetween = false;
    encoding.pushText(text, 0, text.length);
    const ids = Uint32Array.from(encoding.out.flush());
    encoder.isBetween = true;
    const { starts, ends } = finder.find(text, ids, found, unit);
    sizes[i] = 3 * idBytes * ids.length;
    byteCount += sizes[i]!;
    checkAnswer(byteCount);
    answers.push(...[ids, starts, ends].map(bytesOf));
  }
  encoding.out.shrink();
  return { sizes, items: Buffer.concat(answers) };
}

function decoded({ sizes: idSizes, items }: Items, { tokens }: TokenizerParts): Items {
  const { idLimit, starts } = tokens;
  const sizes = new Uint32Array(idSizes.length);
  const odd = idSizes.find((size) => size % idBytes !== 0);
  if (odd !== undefined) throw new UserError(`${odd} bytes are not a whole number of ids`);
  // A copy begins at a multiple of 4.
  const ids = new Uint32Array(items.slice().buffer);
  let first = 0;
  let byteCount = 0;
  for (let i = 0; i < sizes.length; i++) {
    const end = first + idSizes[i]! / idBytes;
    const bytesBefore = byteCount;
    for (let pos = first; pos < end; pos++) {
      const id = ids[pos]!;
      const length = id < idLimit ? starts[id + 1]! - starts[id]! : 0;
      if (length === 0) throw unknownId(id, pos - first, idLimit);
      byteCount += length;
    }
    checkAnswer(byteCount);
    sizes[i] = byteCount - bytesBefore;
    first = end;
  }
  return { sizes, items: decodeIds(tokens, ids).bytes };
}

function cut({ sizes: textSizes, items }: Items, parts: TokenizerParts): Items {
  if (textSizes.length !== 1) throw new UserError("a request for the pieces of a text has one text");
  const pieces = textPieces(parts, items);
  checkAnswer(pieces.reduce((sum, { length }) => sum + length, 0));
  return { sizes: Uint32Array.from(pieces, ({ length }) => length), items: Buffer.concat(pieces) };
}

const idBytes = 4;

function checkAnswer(byteCount: number): void {
  if (byteCount <= answerBytesMax) return;
  throw new UserError(`the answer has more than ${answerBytesMax} bytes: ask for it in several requests`);
}
