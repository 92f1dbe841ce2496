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
    const { head, whole } = await peek(bytes);
    return decompressed(whole, input, compressionOf(head));
  } catch (error) {
    bytes.close();
    throw error;
  }
}

function decompressed(bytes: ByteStream, input: Input, compression: Compression): ByteStream {
  const { path, format } = input;
  const sizeBytes = input.isStream ? undefined : input.sizeBytes;
  const text = compression === "none" ? bytes : new DecompressedStream(bytes, path, compression, sizeBytes);
  return format === "json" ? new JsonLinesStream(text, path) : text;
}

/** So many bytes show how a stream is compressed. */
const magicBytesMax = 4;

/** The first bytes of a stream, and a stream that gives all of its bytes. */
async function peek(from: ByteStream): Promise<{ head: Uint8Array; whole: ByteStream }> {
  const buffer = new Uint8Array(magicBytesMax);
  let end = 0;
  for (let readBytes = -1; end < buffer.length && readBytes !== 0; end += readBytes) {
    readBytes = await from.read(buffer, end);
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
  return { head, whole };
}
