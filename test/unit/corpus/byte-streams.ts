import type { ByteStream } from "../../../src/corpus/byte-stream.ts";

/** Returns a stream of these bytes, which returns at most `stepBytes` at a time. */
export function streamOf(bytes: Uint8Array, stepBytes = bytes.length): ByteStream {
  let pos = 0;
  return {
    get inputBytes() {
      return pos;
    },
    read: async (into, from) => {
      const part = bytes.subarray(pos, pos + Math.min(stepBytes, into.length - from));
      into.set(part, from);
      pos += part.length;
      return part.length;
    },
    close() {},
  };
}

export async function readAll(stream: ByteStream, roomBytes = 1 << 16): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for (;;) {
    const room = new Uint8Array(roomBytes);
    const readBytes = await stream.read(room, 0);
    if (readBytes === 0) return Buffer.concat(parts);
    parts.push(room.subarray(0, readBytes));
  }
}
