/**
 * Text: bytes in memory, seen three ways over one buffer. Hot loops load many bytes at a time and may read past the
 * end of what they were given, so the buffer is longer than the text by `paddingBytes`; what stands there is not text.
 *
 *   VIEW     TYPE         MEANING
 *   bytes    Uint8Array   the whole buffer, a byte an element
 *   view     DataView     the same, for unaligned four-byte loads
 *
 * Positions are offsets into `bytes`. Who fills a text says how much of it is valid (`limit`).
 */
export type Text = { readonly bytes: Uint8Array; readonly view: DataView };

/** How far past `limit` a loop may read. */
export const paddingBytes = 64;

/** A text of `capacityBytes` zero bytes, padding added. */
export function allocateText(capacityBytes: number): Text {
  const buffer = new ArrayBuffer(capacityBytes + paddingBytes);
  return { bytes: new Uint8Array(buffer), view: new DataView(buffer) };
}

/** Makes a text of so many bytes and their padding; of two that one maker makes, only the last is in use. */
export type TextMaker = (capacityBytes: number) => Text;

/**
 * Gives back the memory of a text that is not used any more, unless it is shared or little: the next collection of garbage
 * may be far.
 */
export function releaseText({ buffer, length }: Uint8Array): void {
  if (length > releasedBytesLeast && buffer instanceof ArrayBuffer) buffer.transfer(0);
}

const releasedBytesLeast = 1 << 23;

/** A padded copy of the bytes given: for tests, examples and small inputs. */
export function textOf(content: string | Uint8Array): Text {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  const text = allocateText(bytes.length);
  text.bytes.set(bytes);
  return text;
}
