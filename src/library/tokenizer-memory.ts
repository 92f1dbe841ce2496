import { scaled, usageError } from "#runtime";
import { decoding, TextEncoding, type TokenizerParts, tokenizers } from "#tokenizer";
import { withEngineErrors } from "./engine-errors.ts";

/**
 * The WebAssembly memories with which a tokenizer encodes and decodes, allocated on first use. JavaScript engines limit
 * the number of memories, so at most `holdersMax` tokenizers have some. If one more needs them, the least recently used
 * tokenizer releases its memories.
 */
export class TokenizerMemory {
  private readonly self = new WeakRef(this);
  private encoding: TextEncoding | undefined;
  private madeDecoder: decoding.TokenDecoder | undefined;
  private isDisposed = false;

  constructor(private readonly parts: TokenizerParts) {}

  encodingFor(specialTokensAsText: boolean): TextEncoding {
    this.use();
    return withEngineErrors(() => {
      this.encoding ??= makeEncoding({ ...this.parts, specialTokensAsText });
      this.encoding.open(specialTokensAsText);
      return this.encoding;
    });
  }

  get decoder(): decoding.TokenDecoder {
    this.use();
    return withEngineErrors(() => {
      this.madeDecoder ??= makeDecoder(this.parts);
      return this.madeDecoder;
    });
  }

  /** Drops the encoder, so that its state after an error does not affect the next text. */
  dropEncoding(): void {
    this.encoding = undefined;
  }

  /** Drops the decoder if it has grown for a long text. */
  dropLargeDecoder(): void {
    if (this.madeDecoder?.isLarge) this.madeDecoder = undefined;
  }

  /** Releases the memory. From now on, `encodingFor`, `decoder` and `refuseDisposed` throw a UserError. */
  dispose(): void {
    this.isDisposed = true;
    holders.delete(this.self);
    this.release();
  }

  refuseDisposed(): void {
    if (this.isDisposed) throw usageError("the tokenizer was disposed", "call dispose() after its last use");
  }

  private use(): void {
    this.refuseDisposed();
    if (latest === this.self) return;
    latest = this.self;
    // A Set iterates in the order of insertion, so this makes `self` the most recently used.
    holders.delete(this.self);
    holders.add(this.self);
    if (holders.size > holdersMax) evict();
  }

  /**
   * Makes the memory of the encoder available for the next tokenizer, unless it is large. Everything else is left to
   * the garbage collector.
   */
  release(): void {
    const memory = this.encoding?.taker.kernel.memory;
    if (memory !== undefined && memory.buffer.byteLength <= spareBytesMax) spare = memory;
    this.encoding = this.madeDecoder = undefined;
    if (latest === this.self) latest = undefined;
  }
}

const holdersMax = scaled(32, 2);
/**
 * Tokenizers that have memory, the least recently used first. References are weak, so that unreachable
 * tokenizers can be collected.
 */
const holders = new Set<WeakRef<TokenizerMemory>>();
let latest: WeakRef<TokenizerMemory> | undefined;

/** A released memory of at most `spareBytesMax` bytes, which the next tokenizer uses. */
let spare: WebAssembly.Memory | undefined;
const spareBytesMax = scaled(2 ** 26, 2 ** 22);

function evict(): void {
  for (const holder of holders) if (holder.deref() === undefined) holders.delete(holder);
  for (const holder of holders) {
    if (holders.size <= holdersMax) return;
    holders.delete(holder);
    holder.deref()?.release();
  }
}

function makeDecoder(parts: TokenizerParts): decoding.TokenDecoder {
  const { trims = [] } = parts.postProcessing ?? {};
  const trimming = { trims, addedIds: tokenizers.allAddedTokens(parts).map(({ id }) => id) };
  const { hasMarks = false } = parts.model.beginning ?? {};
  return new decoding.TokenDecoder(parts.tokens, trims.length > 0 ? trimming : undefined, hasMarks);
}

function makeEncoding(parts: TokenizerParts): TextEncoding {
  const memory = spare;
  if (memory === undefined) return new TextEncoding(parts);
  spare = undefined;
  new Uint8Array(memory.buffer).fill(0);
  return new TextEncoding(parts, undefined, { memory });
}
