import { scaled, usageError, withEngineErrors } from "#runtime";
import { allAddedTokens, TextEncoding, TokenDecoder, type TokenizerParts } from "#tokenizer";

/**
 * The WebAssembly memory of a tokenizer: what encodes and decodes, from its first use on. An engine reserves gigabytes of
 * addresses for each memory, and has room for some hundred. So at most `holdersMax` tokenizers hold one; the next one takes the
 * memory of the tokenizer whose last use is longest ago, which is set up again when it is used.
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

  /** Gives up what has failed within a text: what it holds of it must not begin the next one. */
  dropEncoding(): void {
    this.encoding = undefined;
  }

  /** Gives up the decoder if it has grown for a long text that was cut. */
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
    // A Set is in the order of additions.
    holders.delete(this.self);
    holders.add(this.self);
    if (holders.size > holdersMax) evict();
  }

  /** Hands the memory of the encoding to the next tokenizer; the rest is left to the collector. */
  release(): void {
    const memory = this.encoding?.taker.kernel.memory;
    if (memory !== undefined && memory.buffer.byteLength <= spareBytesMax) spare = memory;
    this.encoding = this.madeDecoder = undefined;
    if (latest === this.self) latest = undefined;
  }
}

const holdersMax = scaled(32, 2);
/** In the order of their last use. References are weak: the collector takes tokenizers that nobody has. */
const holders = new Set<WeakRef<TokenizerMemory>>();
let latest: WeakRef<TokenizerMemory> | undefined;

/** A memory that was released. A longer one is left to the collector. */
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
