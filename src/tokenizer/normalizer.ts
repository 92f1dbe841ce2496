import { characterLengthAt } from "../bytes/text.ts";
import { PendingBytes, type TextSink } from "./text-sink.ts";
import type { NormalizationForm } from "./tokenizer-parts.ts";

/**
 * Brings text into a Unicode normalization form. No normalization reaches across the start of an ASCII character, so text up
 * to the last one is normalized and the rest waits. Bytes that are not valid UTF-8 stay as they are; the text before and
 * behind them is normalized separately.
 */
export class Normalizer implements TextSink {
  private readonly pending = new PendingBytes();
  /** Text that has only bytes below this one is in the form already. */
  private readonly firstChangingByte: number;
  private readonly encoder = new TextEncoder();
  private readonly decoder = new TextDecoder("utf-8", { ignoreBOM: true });

  constructor(
    private readonly form: NormalizationForm,
    private readonly next: TextSink,
  ) {
    // NFC changes nothing below U+0300, which is CC 80; the other forms change some Latin-1 letters.
    this.firstChangingByte = form === "NFC" ? 0xcc : 0x80;
  }

  push(bytes: Uint8Array, start: number, end: number): void {
    const { pending } = this;
    const waitingLength = pending.length;
    pending.append(bytes, start, end);
    let stop = pending.length;
    while (stop > waitingLength && pending.bytes[stop - 1]! >= 0x80) stop--;
    if (stop === waitingLength) return;
    this.normalizeTo(stop - 1);
  }

  end(): void {
    this.normalizeTo(this.pending.length);
    this.next.end();
  }

  token(id: number): void {
    this.next.token(id);
  }

  settle(): void {
    this.normalizeTo(this.pending.length);
    this.next.settle();
  }

  private normalizeTo(stop: number): void {
    const { bytes } = this.pending;
    if (!this.changes(stop)) {
      if (stop > 0) this.next.push(bytes, 0, stop);
    } else {
      for (let pos = 0; pos < stop; ) {
        let end = pos;
        for (let length = 1; end < stop; end += length) {
          length = characterLengthAt(bytes, end, stop);
          if (length === 0) break;
        }
        if (end > pos) this.normalizeValid(pos, end);
        if (end < stop) this.next.push(bytes, end, end + 1);
        pos = end + 1;
      }
    }
    this.pending.drop(stop);
  }

  private changes(stop: number): boolean {
    const { bytes } = this.pending;
    for (let pos = 0; pos < stop; pos++) if (bytes[pos]! >= this.firstChangingByte) return true;
    return false;
  }

  private normalizeValid(start: number, end: number): void {
    const { bytes } = this.pending;
    const text = this.decoder.decode(bytes.subarray(start, end));
    const normalized = normalize(text, this.form);
    const result = normalized === text ? bytes.subarray(start, end) : this.encoder.encode(normalized);
    this.next.push(result, 0, result.length);
  }
}

/**
 * Characters that are newer than Unicode 9.0 and that later versions decompose, compose or reorder. The normalizers of HF
 * `tokenizers` use the tables of 9.0, where these characters have no properties.
 */
const newerCharacters = [
  String.raw`\u07fd\u0897-\u089f\u08ca-\u08d3\u09fe\u0c3c\u0d3b\u0d3c\u0eba\u1715\u1abf-\u1add\u1ae0-\u1aeb`,
  String.raw`\u1df6-\u1dfa\u32ff\ua7f1-\ua7f4\ua82c\uab69\u{105c9}\u{105d2}\u{105da}\u{105e4}\u{10781}-\u{10785}`,
  String.raw`\u{10787}-\u{107b0}\u{107b2}-\u{107ba}\u{10d24}-\u{10d27}\u{10d69}-\u{10d6d}\u{10eab}\u{10eac}\u{10efa}`,
  String.raw`\u{10efb}\u{10efd}-\u{10eff}\u{10f46}-\u{10f50}\u{10f82}-\u{10f85}\u{11070}\u{1133b}\u{11382}-\u{11385}`,
  String.raw`\u{1138b}\u{1138e}\u{11390}\u{11391}\u{113b8}\u{113bb}\u{113c2}\u{113c5}\u{113c7}-\u{113c9}`,
  String.raw`\u{113ce}-\u{113d0}\u{1145e}\u{11839}\u{1183a}\u{11930}\u{11935}\u{11938}\u{1193d}\u{1193e}\u{11943}`,
  String.raw`\u{119e0}\u{11a34}\u{11a47}\u{11a99}\u{11d42}\u{11d44}\u{11d45}\u{11d97}\u{11f41}\u{11f42}`,
  String.raw`\u{1611e}-\u{16129}\u{1612f}\u{16d63}\u{16d67}-\u{16d6a}\u{16ff0}\u{16ff1}\u{1ccd6}-\u{1ccf9}`,
  String.raw`\u{1e030}-\u{1e06d}\u{1e08f}\u{1e130}-\u{1e136}\u{1e2ae}\u{1e2ec}-\u{1e2ef}\u{1e4ec}-\u{1e4ef}\u{1e5ee}`,
  String.raw`\u{1e5ef}\u{1e6e3}\u{1e6e6}\u{1e6ee}\u{1e6ef}\u{1e6f5}\u{1f16c}\u{1fbf0}-\u{1fbf9}`,
].join("");
const newer = new RegExp(`[${newerCharacters}]`, "u");
/** With a capture group, so that `split` keeps them. */
const newerRuns = new RegExp(`([${newerCharacters}]+)`, "u");

/**
 * The text in a normalization form, as HF computes it. Nothing is composed with a character without properties, and no mark
 * moves across it, so the text before and behind it is normalized separately. If the engine's newer tables change nothing,
 * neither do the older ones, because each part of a normalized text is normalized.
 */
export function normalize(text: string, form: NormalizationForm): string {
  const normalized = text.normalize(form);
  if (normalized === text || !newer.test(text)) return normalized;
  const parts = text.split(newerRuns);
  return parts.map((part, i) => (i % 2 === 1 ? part : part.normalize(form))).join("");
}
