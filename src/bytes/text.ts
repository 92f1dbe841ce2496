import { releaseMemory } from "../runtime/host.ts";

/**
 * Text: bytes in memory, with two views of one buffer. Hot loops load several bytes at a time and may read past the end
 * of the text, so the buffer is longer than the text by `paddingBytes`. The bytes there are not text.
 *
 *   VIEW     TYPE         MEANING
 *   bytes    Uint8Array   the whole buffer
 *   view     DataView     the same, for unaligned four-byte loads
 *
 * Positions are offsets into `bytes`. Whoever fills a text says how much of it is valid (`limit`).
 */
export type Text = { readonly bytes: Uint8Array; readonly view: DataView };

/** How far past `limit` a loop may read. */
export const paddingBytes = 64;

/** A text of `capacityBytes` zero bytes, and padding. */
export function allocateText(capacityBytes: number): Text {
  const buffer = new ArrayBuffer(capacityBytes + paddingBytes);
  return { bytes: new Uint8Array(buffer), view: new DataView(buffer) };
}

/** Makes a text of so many bytes, and padding. Only the last text of a maker is in use: it may reuse the memory. */
export type TextMaker = (capacityBytes: number) => Text;

/**
 * Gives back the memory of a text that is not used any more, because the next garbage collection may be far away. Shared
 * and small memory is left to the collector.
 */
export function releaseText({ buffer, length }: Uint8Array): void {
  if (length > releasedBytesLeast && buffer instanceof ArrayBuffer) releaseMemory(buffer);
}

const releasedBytesLeast = 1 << 23;

/** A padded copy of some bytes: for tests, examples and small inputs. */
export function textOf(content: string | Uint8Array): Text {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  const text = allocateText(bytes.length);
  text.bytes.set(bytes);
  return text;
}
