import { UserError } from "../errors.ts";
import { shellQuoted } from "../runtime/hints.ts";
import { nameOf } from "../runtime/named-files.ts";
import type { Compression } from "./input.ts";
import { findSignature, hasBytes, type Signature } from "./signatures.ts";

/** What an input holds, by its first bytes; if it is compressed, by the first decompressed bytes. */
export type Content = "text" | "parquet" | NotText;

export type NotText = {
  /** Follows "is" in a message. */
  readonly what: string;
  readonly hint: string;
};

/** How many bytes decide. A zero byte among them means that the input is no text; a later one is part of a text. */
export const headBytesMax = 1 << 13;

/** How an input that begins with `head` is compressed, if it is a compression that we read. */
export function compressionOf(head: Uint8Array): Compression {
  if (hasBytes(head, 0, "\x1f\x8b\x08")) return "gzip";
  if (hasBytes(head, 0, "\x28\xb5\x2f\xfd")) return "zstd";
  // A skippable frame: some compressors begin with one.
  const isSkipped = head.length >= 4 && head[0]! >> 4 === 5 && hasBytes(head, 1, "\x2a\x4d\x18");
  return isSkipped ? "zstd" : "none";
}

/** What an input holds whose first decompressed bytes are `head`. */
export function contentOf(head: Uint8Array, path: string): Content {
  const nulByte = head.indexOf(0);
  const hasNul = nulByte >= 0;
  if (hasNul && hasBytes(head, 0, "PAR1")) return "parquet";
  const marked = markedEncodingOf(head);
  if (marked !== undefined) return encodedAs(marked, path);
  const packed = compressionOf(head);
  if (packed !== "none") {
    return {
      what: `packed by ${packed} twice`,
      hint: `unpack it once: ${packed} -dc ${shellQuoted(path)} | bpe … -`,
    };
  }
  const signature = findSignature(head, hasNul);
  if (signature !== undefined) return { what: predicateOf(signature), hint: hintOf(signature, path) };
  if (!hasNul) return "text";
  const encoding = unmarkedEncodingOf(head);
  if (encoding !== undefined) return encodedAs(encoding, path);
  return { what: `no text: it has a zero byte at offset ${nulByte}`, hint: insist };
}

function encodedAs(encoding: string, path: string): NotText {
  const from = path === "-" ? "" : `${path} `;
  return {
    what: `${encoding}, not UTF-8`,
    hint: `convert it: iconv -f ${encoding} -t UTF-8 ${from}> text.txt`,
  };
}

const predicateOf = (signature: Signature) =>
  "what" in signature
    ? `${signature.what}, not text`
    : `packed by ${signature.packer}, which is not read here`;

function hintOf(signature: Signature, path: string): string {
  if (signature.remedy !== undefined) return `${signature.remedy(path)}; ${insist}`;
  return "packer" in signature ? `unpack it: ${signature.packer} -dc ${shellQuoted(path)} | bpe … -` : insist;
}

const insist = "--binary text reads its bytes as they are";

/** The error of an input that was named explicitly and is no text. */
export function notText(path: string, { what, hint }: NotText): UserError {
  return new UserError(`${nameOf(path)} is ${what}`, { hint });
}

/** The encoding that a byte-order mark stands for. */
function markedEncodingOf(head: Uint8Array): string | undefined {
  if (hasBytes(head, 0, "\xff\xfe\0\0") || hasBytes(head, 0, "\0\0\xfe\xff")) return "UTF-32";
  return hasBytes(head, 0, "\xff\xfe") || hasBytes(head, 0, "\xfe\xff") ? "UTF-16" : undefined;
}

/** The encoding in which the zero bytes of the head would all be those of Latin letters, digits and spaces. */
function unmarkedEncodingOf(head: Uint8Array): string | undefined {
  const units = head.length >> 2;
  if (units < 2) return undefined;
  // How many of the bytes at positions 0, 1, 2 and 3 of four are zero.
  const zeros: [number, number, number, number] = [0, 0, 0, 0];
  for (let pos = 0; pos < 4 * units; pos++) if (head[pos] === 0) zeros[pos & 3]!++;
  const [first, second, third, fourth] = zeros;
  if (third + fourth === 2 * units && first === 0) return "UTF-32LE";
  if (first + second === 2 * units && fourth === 0) return "UTF-32BE";
  const least = 2 * units * zeroShareLeast;
  if (second + fourth >= least && first + third === 0) return "UTF-16LE";
  if (first + third >= least && second + fourth === 0) return "UTF-16BE";
  return undefined;
}

/** Least share of characters with a zero byte: spaces and line ends alone are about that many. */
const zeroShareLeast = 0.1;
