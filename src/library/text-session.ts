import { argument, utf8 } from "#bytes";
import type { TextSegment } from "#text";
import type { TextEncoding, TokenizerParts } from "#tokenizer";
import { checkWhole, flagArgument, textArgument } from "./check-arguments.ts";
import { joinSegments } from "./segments.ts";
import { SessionIds } from "./session-ids.ts";

/** Options for text that is put into a session. */
export type EditOptions = {
  /**
   * Whether special tokens within the text become their ids, as in a trusted segment of `encodeSegments`. If not, they
   * are text. Default: true.
   */
  readonly trusted?: boolean;
};

const editOptionKinds = { trusted: flagArgument };

/** Calls `work` with the encoding memory of the session's tokenizer, and returns its result. */
type UseEncoding = <T>(work: (encoding: TextEncoding) => T) => T;

/**
 * A text that grows and is edited, with its ids, which are always those of the whole text.
 *
 * Adjacent texts that are all trusted, or all not, are one segment of `encodeSegments`. So if all text is trusted, the
 * ids are those of `encode`. Positions and lengths are in UTF-16 code units, like those of JavaScript's strings. For
 * the leading ids that an edit has not changed, the KV cache of a model remains valid. A call that throws changes
 * nothing. When its tokenizer has been disposed, a session can only be read.
 */
export class Session {
  /** @internal */
  private constructor(
    private readonly useEncoding: UseEncoding,
    private readonly encoded: SessionIds,
    private content: string,
  ) {}

  /** @internal */
  static of(parts: TokenizerParts, useEncoding: UseEncoding): Session {
    return new Session(useEncoding, new SessionIds(parts.isNarrow), "");
  }

  /** Appends a text. Returns how many leading ids have not changed. */
  append(text: string, options: EditOptions = {}): number {
    const trusted = checkEdit("append", text, options);
    return this.edit(this.content.length, this.content.length, text, trusted);
  }

  /** Replaces `text.slice(start, end)` by a text. Returns how many leading ids have not changed. */
  replace(start: number, end: number, text: string, options: EditOptions = {}): number {
    const trusted = checkEdit("replace", text, options);
    checkWhole("replace: start", start, 0, this.content.length);
    checkWhole("replace: end", end, start, this.content.length);
    return this.edit(start, end, text, trusted);
  }

  /** Keeps the first `length` code units of the text. Returns how many leading ids have not changed. */
  truncate(length: number): number {
    checkWhole("truncate: length", length, 0, this.content.length);
    return this.edit(length, this.content.length, "", true);
  }

  /** Returns a copy, for another branch of the text. */
  fork(): Session {
    return new Session(this.useEncoding, this.encoded.copy(), this.content);
  }

  /** The ids of the text, in a new array. */
  get ids(): Uint32Array<ArrayBuffer> {
    return this.encoded.list();
  }

  /** The number of ids: `session.ids.length` without a copy. */
  get count(): number {
    return this.encoded.idCount;
  }

  /** The text. Reading its length (`session.text.length`) copies nothing. */
  get text(): string {
    return this.content;
  }

  /** How many leading ids no appended text can change. */
  get stable(): number {
    return this.encoded.stableCount;
  }

  /** How many bytes of UTF-8 this session has encoded so far. */
  get encodedBytes(): number {
    return this.encoded.encodedBytes;
  }

  private edit(start: number, end: number, text: string, isTrusted: boolean): number {
    const { content, encoded } = this;
    let [byteStart, byteEnd] = [this.bytesBefore(start), this.bytesBefore(end)];
    const parts = [{ text, isTrusted }];
    // The edit also replaces half a surrogate pair that is next to it. That is necessary, because the edit may separate
    // this half from its other half, or join it to one.
    if (this.isHighSurrogateBefore(start)) {
      byteStart = this.bytesBefore(start - 1);
      parts.unshift({ text: content[start - 1]!, isTrusted: encoded.isTrustedAt(byteStart) });
    }
    if (end < content.length && isLowSurrogate(content.charCodeAt(end))) {
      byteEnd = this.bytesBefore(end + 1);
      parts.push({ text: content[end]!, isTrusted: encoded.isTrustedAt(byteEnd - 1) });
    }
    const segments = joinParts(parts);
    const kept = this.useEncoding((encoding) =>
      encoded.edit(encoding, byteStart, byteEnd, joinSegments(segments), segments),
    );
    this.content =
      start === content.length ? content + text : content.slice(0, start) + text + content.slice(end);
    return kept;
  }

  private isHighSurrogateBefore(position: number): boolean {
    const { content, encoded } = this;
    // Half a pair at the end of the text is encoded as U+FFFD, which ends with the byte 0xbd. If the last byte differs,
    // the string is not read, because reading it after a concatenation makes the engine copy all of it.
    if (position === 0 || (position === content.length && encoded.lastByte !== 0xbd)) return false;
    return isHighSurrogate(content.charCodeAt(position - 1));
  }

  /**
   * Returns the number of bytes of the first `length` code units. If they end inside a surrogate pair, the whole
   * character is counted.
   */
  private bytesBefore(length: number): number {
    const { content, encoded } = this;
    if (length === content.length) return encoded.byteCount;
    // A text of ASCII has as many bytes as code units.
    return content.length === encoded.byteCount ? length : encoded.positionOf(length);
  }
}

const isHighSurrogate = (unit: number) => (unit & 0xfc00) === 0xd800;
const isLowSurrogate = (unit: number) => (unit & 0xfc00) === 0xdc00;

function checkEdit(call: string, text: string, options: EditOptions): boolean {
  argument.check(`${call}: text`, text, textArgument);
  return argument.checkOptions(call, options, editOptionKinds).trusted ?? true;
}

type Part = { readonly text: string; readonly isTrusted: boolean };

/** Joins adjacent parts that are equally trusted into segments, in UTF-8. Empty parts are dropped. */
function joinParts(parts: readonly Part[]): TextSegment[] {
  const joined: Part[] = [];
  for (const { text, isTrusted } of parts) {
    if (text === "") continue;
    const before = joined.at(-1)?.isTrusted === isTrusted ? joined.pop()!.text : "";
    joined.push({ text: before + text, isTrusted });
  }
  return joined.map(({ text, isTrusted }) => ({ bytes: utf8.encodeRange(text, 0, text.length), isTrusted }));
}
