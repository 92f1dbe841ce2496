import { UserError } from "#runtime";
import {
  type decoding,
  type TextEncoding,
  type TextNotes,
  type TokenizerParts,
  tokenTables,
} from "#tokenizer";

/** Bytes [start, end) of a text. */
export type TextPart = { readonly start: number; readonly end: number };

/**
 * Cuts a text into parts that have limited numbers of ids, usually at edges of its tokens: the JavaScript side of
 * src/kernel/text/cuts.ts.
 */
export class TextCuts {
  /** Throws NoCut if the vocabulary lacks tokens for some bytes, or if the ids do not spell the text. */
  constructor(
    readonly text: Uint8Array,
    ids: Uint16Array | Uint32Array,
    notes: TextNotes,
    { model, tokens }: TokenizerParts,
    private readonly decoder: decoding.TokenDecoder,
    encoding: TextEncoding,
  ) {
    if (!tokenTables.haveAllBytes(model.byteIds, tokens) || !decoder.place(text, ids, notes))
      throw new NoCut("this text cannot be split at its tokens: they do not contain all bytes of the text", {
        hint: "use another tokenizer: this vocabulary lacks tokens for some bytes, or two tokens have the same id",
      });
    decoder.countIds = (start, end, limit) =>
      encoding.countIds(text.subarray(start >>> 0, end >>> 0), limit >>> 0);
  }

  private get exports() {
    return this.decoder.exports;
  }

  /** Returns a part at the beginning of the text, with at most `idsMax` ids, possibly empty. */
  firstPart(idsMax: number): TextPart {
    return { start: 0, end: this.exports.endOfPart(0, idsMax) >>> 0 };
  }

  /**
   * Returns a part at the end of the text, with at most `idsMax` ids. The whole text must have more than `idsMax` ids.
   */
  lastPart(idsMax: number): TextPart {
    return { start: this.exports.startOfLastPart(idsMax) >>> 0, end: this.text.length };
  }

  /**
   * Returns the parts of the text in order, each with at most `idsMax` ids. A part begins with the last `overlap`
   * tokens of the previous one, or with fewer. Throws NoCut if a single character has more than `idsMax` ids.
   */
  parts(idsMax: number, overlap: number): TextPart[] {
    const { exports } = this;
    const parts: TextPart[] = [];
    exports.beginParts();
    for (let end = 0; end < this.text.length; ) {
      const isPart = exports.nextPart(idsMax, overlap) === 1;
      const start = exports.startOfPart() >>> 0;
      end = exports.endOfNextPart() >>> 0;
      if (!isPart) throw this.tooSmall(start, end, idsMax);
      parts.push({ start, end });
    }
    return parts;
  }

  /** Returns the given parts of the original text. Both starts and ends must ascend. */
  slices(given: string | Uint8Array, parts: readonly TextPart[]): (string | Uint8Array)[] {
    if (typeof given !== "string") return parts.map(({ start, end }) => given.slice(start, end));
    const [starts, ends] = [new CharacterCounter(this.text), new CharacterCounter(this.text)];
    return parts.map(({ start, end }) => given.slice(starts.countBefore(start), ends.countBefore(end)));
  }

  private tooSmall(start: number, end: number, idsMax: number): NoCut {
    const idCount = this.decoder.countIds(start, end, 2 ** 32 - 1);
    const character = utf8.decode(this.text.subarray(start, end));
    return new NoCut(
      `chunks: "${character}" at byte ${start} has ${idCount} tokens: more than size, which is ${idsMax}`,
    );
  }
}

/** Thrown if a text cannot be cut, with the reason. */
export class NoCut extends UserError {}

/** Converts ascending positions in the UTF-8 bytes of a string to positions in the string. */
class CharacterCounter {
  private position = 0;
  private count = 0;

  constructor(private readonly bytes: Uint8Array) {}

  /** Returns the number of UTF-16 code units before byte `end`. A character of four bytes has two code units. */
  countBefore(end: number): number {
    const { bytes } = this;
    for (; this.position < end; this.position++) {
      const byte = bytes[this.position]!;
      if ((byte & 0xc0) !== 0x80) this.count += byte < 0xf0 ? 1 : 2;
    }
    return this.count;
  }
}

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true });
