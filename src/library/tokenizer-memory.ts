import { scaled, usageError, withEngineErrors } from "#runtime";
import { allAddedTokens, TextEncoding, TokenDecoder, type TokenizerParts } from "#tokenizer";

/**
 * The WebAssembly memory of a tokenizer, for encoding and decoding, allocated on first use. An engine
 * reserves gigabytes of addresses for each memory, and allows some hundred. So at most `holdersMax`
 * tokenizers hold one; the next one takes the memory of the least recently used tokenizer, which allocates
 * again when it is used.
 */
export class TokenizerMemory {
  private readonly self = new WeakRef(this);
  private encoding: TextEncoding | undefined;
  private madeDecoder: TokenDecoder | undefined;
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

  get decoder(): TokenDecoder {
    this.use();
    return withEngineErrors(() => {
      this.madeDecoder ??= makeDecoder(this.parts);
      return this.madeDecoder;
    });
  }

  /** Drops an encoder that failed within a text: its state must not affect the next text. */
  dropEncoding(): void {
    this.encoding = undefined;
  }

  /** Drops the decoder if it has grown for a long text. */
  dropLargeDecoder(): void {
    if (this.madeDecoder?.isLarge) this.madeDecoder = undefined;
  }

  /** Releases the memory; every later use is a UserError. */
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
    // A Set iterates in insertion order.
    holders.delete(this.self);
    holders.add(this.self);
    if (holders.size > holdersMax) evict();
  }

  /** Hands the memory of the encoder to the next tokenizer; everything else is left to the garbage collector. */
  release(): void {
    const memory = this.encoding?.taker.kernel.memory;
    if (memory !== undefined && memory.buffer.byteLength <= spareBytesMax) spare = memory;
    this.encoding = this.madeDecoder = undefined;
    if (latest === this.self) latest = undefined;
  }
}

const holdersMax = scaled(32, 2);
/** Least recently used first. References are weak, so that unreachable tokenizers can be collected. */
const holders = new Set<WeakRef<TokenizerMemory>>();
let latest: WeakRef<TokenizerMemory> | undefined;

/** A released memory, for reuse. A larger one is left to the garbage collector. */
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

function makeDecoder(parts: TokenizerParts): TokenDecoder {
  const { trims = [] } = parts.postProcessing ?? {};
  const trimming = { trims, addedIds: allAddedTokens(parts).map(({ id }) => id) };
  return new TokenDecoder(parts.tokens, trims.length > 0 ? trimming : undefined);
}

function makeEncoding(parts: TokenizerParts): TextEncoding {
  const memory = spare;
  if (memory === undefined) return new TextEncoding(parts);
  spare = undefined;
  new Uint8Array(memory.buffer).fill(0);
  return new TextEncoding(parts, undefined, { memory });
}
