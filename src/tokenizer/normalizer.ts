import { characterLengthAt } from "../bytes/utf8.ts";
import { normalize } from "./normal-form.ts";
import { PendingBytes, type TextSink } from "./text-sink.ts";
import type { NormalizationForm } from "./tokenizer-parts.ts";

/**
 * Brings text into a Unicode normalization form. An ASCII character begins a new sequence whatever stands before it, so
 * text is taken up to the last one; the rest waits. Bytes that are not valid UTF-8 stay, and part the text around them.
 */
export class Normalizer implements TextSink {
  private readonly pending = new PendingBytes();
  /** Bytes below this one do not begin anything that the form changes, as long as only they occur. */
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
