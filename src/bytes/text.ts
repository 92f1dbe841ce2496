/**
 * Text: bytes in memory, with two views of one buffer. Hot loops may read past the end of the text, so the buffer is
 * longer by `paddingBytes`.
 *
 *   VIEW     TYPE         MEANING
 *   bytes    Uint8Array   the whole buffer
 *   view     DataView     the whole buffer, for unaligned four-byte loads
 *
 * A `Text` does not record how much of it is filled: functions receive where the valid bytes end (`limit`).
 */
export type Text = { readonly bytes: Uint8Array; readonly view: DataView };

/** The number of bytes that a loop may read past `limit`. */
export const paddingBytes = 64;

/** Allocates a text with a capacity of `capacityBytes` bytes plus padding, all zero. */
export function allocate(capacityBytes: number): Text {
  const buffer = new ArrayBuffer(capacityBytes + paddingBytes);
  return { bytes: new Uint8Array(buffer), view: new DataView(buffer) };
}

/**
 * Returns the text if its capacity is at least `byteCount` bytes; otherwise a copy with a capacity of twice
 * `byteCount`.
 */
export function grow(text: Text, byteCount: number): Text {
  if (byteCount + paddingBytes <= text.bytes.length) return text;
  const longer = allocate(byteCount * 2);
  longer.bytes.set(text.bytes);
  return longer;
}

/** Copies bytes, or the UTF-8 of a string, into a padded text. */
export function of(content: string | Uint8Array): Text {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  const text = allocate(bytes.length);
  text.bytes.set(bytes);
  return text;
}
