import type { ByteStream } from "./byte-stream.ts";
import { openByteStream } from "./byte-stream.ts";
import { compressionOf } from "./content.ts";
import { DecompressedStream } from "./decompressed-stream.ts";
import type { Compression, Input } from "./input.ts";
import { JsonLinesStream } from "./json-lines-stream.ts";

/** How to open inputs that are no files. */
const openers = new WeakMap<Input, () => ByteStream>();

/** From now on the input is opened by `open`, in this thread. */
export function openBy(input: Input, open: () => ByteStream): void {
  openers.set(input, open);
}

/** The text of an input that is read once and in order. The first bytes of a stream show how it is compressed. */
export async function openTextStream(input: Input): Promise<ByteStream> {
  const open = openers.get(input);
  if (open !== undefined) return open();
  const bytes = await openByteStream(input);
  try {
    if (!input.isStream) return decompressed(bytes, input, input.compression);
    const { head, whole } = await peek(bytes, magicBytesMax, () => false);
    return decompressed(whole, input, compressionOf(head));
  } catch (error) {
    bytes.close();
    throw error;
  }
}

function decompressed(bytes: ByteStream, input: Input, compression: Compression): ByteStream {
  const { path } = input;
  const sizeBytes = input.isStream ? undefined : input.sizeBytes;
  const text = compression === "none" ? bytes : new DecompressedStream(bytes, path, compression, sizeBytes);
  return inLines(text, input);
}

/** Records of JSON as lines. */
export const inLines = (text: ByteStream, { format, path }: Input): ByteStream =>
  format === "json" ? new JsonLinesStream(text, path) : text;

/** So many bytes show how a stream is compressed. */
const magicBytesMax = 4;

/** The first bytes of a stream, until they are enough, and a stream that gives all of its bytes. */
export async function peek(from: ByteStream, bytesMax: number, isEnough: (head: Uint8Array) => boolean) {
  let buffer = new Uint8Array(Math.min(bytesMax, 1 << 13));
  let end = 0;
  let isWhole = false;
  while (!isWhole && end < bytesMax && !isEnough(buffer.subarray(0, end))) {
    if (end === buffer.length) {
      const longer = new Uint8Array(Math.min(bytesMax, 4 * end));
      longer.set(buffer);
      buffer = longer;
    }
    const readBytes = await from.read(buffer, end);
    isWhole = readBytes === 0;
    end += readBytes;
  }
  const head = buffer.subarray(0, end);
  let pos = 0;
  const whole: ByteStream = {
    get inputBytes() {
      return from.inputBytes;
    },
    close: () => from.close(),
    read: async (into, at) => {
      if (pos === end) return from.read(into, at);
      const part = head.subarray(pos, pos + into.length - at);
      into.set(part, at);
      pos += part.length;
      return part.length;
    },
  };
  return { head, isWhole, whole };
}
