import { setUpTokens } from "../bytes/kernel-token-search.ts";
import type { Text } from "../bytes/text.ts";
import type { PatternTables } from "../pattern/compiled-pattern.ts";
import { KernelScan } from "../pattern/kernel-scan.ts";
import type { EncodingKernel } from "./encoding-kernel.ts";
import type { IdBuffer } from "./id-buffer.ts";
import type { PretokenEncoder, TextPart } from "./pretoken-encoder.ts";

/** Added tokens, and the pretokens of one automaton, that the kernel finds itself (src/kernel/encode/encode-texts.ts). */
export class KernelPretokens implements PretokenEncoder {
  private constructor(
    private readonly kernel: EncodingKernel,
    private readonly scan: KernelScan,
    readonly tokenBytesMax: number,
  ) {}

  /** Undefined where the kernel's memory has no room for the tables of such a pattern or such tokens. */
  static create(
    kernel: EncodingKernel,
    tables: PatternTables,
    addedTokens: readonly Uint8Array[],
  ): KernelPretokens | undefined {
    const scan = KernelScan.create(kernel.kernel, tables);
    if (scan === undefined || !setUpTokens(kernel.kernel, addedTokens)) return undefined;
    const tokenBytesMax = addedTokens.reduce((max, token) => Math.max(max, token.length), 0);
    return new KernelPretokens(kernel, scan, tokenBytesMax);
  }

  get text(): Text {
    return this.kernel.text;
  }

  get keepPos(): number {
    return this.exports.keepPosition();
  }

  get invalidByteCount(): number {
    return this.exports.invalidBytes();
  }

  reserveText(capacityBytes: number): void {
    this.kernel.reserveText(capacityBytes);
  }

  restart(): void {
    this.exports.startEncoding();
  }

  textChanged(limit: number): void {
    this.exports.searchText(limit);
  }

  encode({ end, sureEnd, stop, limit, endsText }: TextPart, out: IdBuffer): void {
    const { kernel, exports } = this;
    this.scan.prepare();
    const posBefore = exports.scanPosition();
    do {
      out.append(kernel.idsOf(exports.encodeText(end, sureEnd, stop, limit, Number(endsText))));
    } while (exports.isTextDone() === 0);
    this.scan.noteScanned(exports.scanPosition() - posBefore);
  }

  lookAhead(end: number, limit: number, out: IdBuffer): void {
    out.append(this.kernel.idsOf(this.exports.encodeLookahead(end, limit)));
  }

  shift(deltaBytes: number): void {
    this.exports.moveText(deltaBytes);
  }

  private get exports() {
    return this.kernel.kernel.exports;
  }
}
