import { UserError } from "../errors.ts";

/** What the bytes of an input are packed in, as its first bytes tell. */
export type Compression = "none" | "gzip" | "zstd";

/** As many bytes of the beginning are looked at. */
export const headBytesMax = 64;

/** What an input that begins with `head` is packed in. Others than gzip and zstd are errors. */
export function compressionOf(head: Uint8Array, path: string): Compression {
  if (startsWith(head, [0x1f, 0x8b, 0x08])) return "gzip";
  if (startsWith(head, [0x28, 0xb5, 0x2f, 0xfd])) return "zstd";
  // A frame that decoders skip: some compressors begin with one.
  if (head.length >= 4 && head[0]! >> 4 === 5 && startsWith(head.subarray(1), [0x2a, 0x4d, 0x18]))
    return "zstd";
  for (const { name, magic } of otherPackers) {
    if (!startsWith(head, magic)) continue;
    throw new UserError(`"${path}" is packed by ${name}, which is not read here`, {
      hint: `${name} -dc unpacks it: ${name} -dc ${path} | bpe … -`,
    });
  }
  return "none";
}

const otherPackers = [
  { name: "xz", magic: [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00] },
  { name: "bzip2", magic: [0x42, 0x5a, 0x68, undefined, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59] },
  { name: "lz4", magic: [0x04, 0x22, 0x4d, 0x18] },
];

/** An error if a text that begins with `head` is UTF-16 or UTF-32: all patterns and formats here are of UTF-8. */
export function checkIsNotUtf16(head: Uint8Array, path: string): void {
  const encoding = wideEncodingOf(head);
  if (encoding === undefined) return;
  throw new UserError(`"${path}" is ${encoding}, not UTF-8`, {
    hint: `convert it: iconv -f ${encoding} -t UTF-8 ${path === "-" ? "" : `${path} `}> text.txt`,
  });
}

function wideEncodingOf(head: Uint8Array): "UTF-16" | "UTF-16LE" | "UTF-16BE" | "UTF-32" | undefined {
  if (startsWith(head, [0xff, 0xfe, 0, 0]) || startsWith(head, [0, 0, 0xfe, 0xff])) return "UTF-32";
  if (startsWith(head, [0xff, 0xfe]) || startsWith(head, [0xfe, 0xff])) return "UTF-16";
  // Without a mark: characters of which every one has a zero byte on the same side.
  const pairs = head.length >> 1;
  if (pairs < leastPairs) return undefined;
  const zerosAt = (side: number) => {
    let count = 0;
    for (let pair = 0; pair < pairs; pair++) if (head[2 * pair + side] === 0) count++;
    return count;
  };
  if (zerosAt(1) === pairs && zerosAt(0) === 0) return "UTF-16LE";
  if (zerosAt(0) === pairs && zerosAt(1) === 0) return "UTF-16BE";
  return undefined;
}

const leastPairs = 4;

function startsWith(bytes: Uint8Array, start: readonly (number | undefined)[]): boolean {
  return bytes.length >= start.length && start.every((byte, i) => byte === undefined || byte === bytes[i]);
}
