import { asOption, files, type Message, messages, phrase, shell, UserError } from "#runtime";
import type { Compression } from "./input.ts";
import { faultOf } from "./malformed-data.ts";

/** What an input contains, judged by the first bytes of its decompressed content. */
export type Content = "text" | "parquet" | NotText;

export type NotText = {
  /** Completes the message "PATH is …", e.g. "a PDF document, not text". */
  readonly what: string;
  readonly hint: Message;
  /**
   * Set if the content is only compressed or in another encoding. The hint then helps whatever the caller expects in the
   * input, not only if that is text.
   */
  readonly isWrapped?: true;
};

/**
 * The number of leading bytes that decide what the content is. Unless `--binary text` is used, a zero byte among them
 * means that the input is not text. A zero byte after them is accepted as part of a text.
 */
export const headBytesMax = 1 << 13;

/**
 * Returns the compression of an input that begins with `head`. It is "none" also for compressions that `bpe` does not
 * read.
 */
export function compressionOf(head: Uint8Array): Compression {
  if (hasBytes(head, 0, "\x1f\x8b\x08")) return "gzip";
  if (hasBytes(head, 0, "\x28\xb5\x2f\xfd")) return "zstd";
  // A skippable frame; some zstd compressors write one first.
  const isSkipped = head.length >= 4 && head[0]! >> 4 === 5 && hasBytes(head, 1, "\x2a\x4d\x18");
  return isSkipped ? "zstd" : "none";
}

export function contentOf(head: Uint8Array, path: string, compression: Compression = "none"): Content {
  const nulByte = head.indexOf(0);
  const hasNul = nulByte >= 0;
  if (hasNul && hasBytes(head, 0, "PAR1")) return "parquet";
  const marked = markedEncodingOf(head);
  if (marked !== undefined) return encodedAs(marked, path, compression);
  const packed = compressionOf(head);
  if (packed !== "none") return packedTwice(packed, path, compression);
  const signature = findSignature(head, hasNul);
  if (signature !== undefined)
    return {
      what: predicateOf(signature),
      hint: hintOf(signature, path, compression),
      ...("packer" in signature && { isWrapped: true }),
    };
  if (!hasNul) return "text";
  const encoding = unmarkedEncodingOf(head);
  if (encoding !== undefined) return encodedAs(encoding, path, compression);
  return { what: `not text: it has a zero byte at offset ${nulByte}`, hint: insist };
}

function packedTwice(inner: Codec, path: string, outer: Compression): NotText {
  // For a stream, the caller does not pass the outer compression, so the message cannot name it.
  if (outer === "none")
    return { what: "compressed twice", hint: "unpack it once, and give bpe the result", isWrapped: true };
  return {
    what:
      outer === inner ? `compressed twice with ${inner}` : `compressed with ${inner}, and then with ${outer}`,
    hint: phrase`unpack it once: ${unpacking(outer, path)}`,
    isWrapped: true,
  };
}

function encodedAs(encoding: string, path: string, compression: Compression): NotText {
  const file = shell.quoted(path);
  const convert = `iconv -f ${encoding} -t UTF-8`;
  const command =
    path === "-"
      ? phrase`… | ${convert}${toText}`
      : compression === "none"
        ? `${convert} ${file} > text.txt`
        : `${compression} -dc ${file} | ${convert} > text.txt`;
  return { what: `${encoding}, not UTF-8`, hint: phrase`convert it: ${command}`, isWrapped: true };
}

const predicateOf = (signature: Signature) =>
  "what" in signature
    ? `${signature.what}, not text`
    : `compressed with ${signature.packer}, which bpe cannot read`;

function hintOf(signature: Signature, path: string, compression: Compression): Message {
  const { remedy } = signature;
  if (remedy === undefined && !("packer" in signature)) return insist;
  // Unless `unpacksItself` is set, the program that the remedy names cannot read a compressed file, and often cannot
  // read a pipe, either. So the hint only says to unpack the file.
  if (compression !== "none" && !signature.unpacksItself)
    return "unpack it first, and name the unpacked file";
  if (remedy === undefined)
    return phrase`unpack it: ${unpacking("packer" in signature ? signature.packer : "", path)}`;
  const asText = phrase`; to read the file itself as text, use ${asOption("binary", "text")}`;
  return phrase`${remedy(path)}${messages.ifHas("binary text", asText)}`;
}

/** The end of a shell command that extracts text: it passes the text to `bpe`, or writes it to a file. */
const toText = messages.ifHas(messages.standardInput, " | bpe … -", " > text.txt");

/** A shell command that unpacks an input. */
const unpacking = (program: string, path: string, flags = "-dc"): Message =>
  path === "-"
    ? phrase`… | ${program} ${flags}${toText}`
    : phrase`${program} ${flags} ${shell.quoted(path)}${toText}`;

const insist = phrase`give text instead${messages.ifHas("binary text", phrase`; to read this as text anyway, use ${asOption("binary", "text")}`)}`;

export function notText(path: string, { what, hint }: NotText): UserError {
  return new UserError(`${files.nameOf(path)} is ${what}`, { hint });
}

function markedEncodingOf(head: Uint8Array): string | undefined {
  if (hasBytes(head, 0, "\xff\xfe\0\0") || hasBytes(head, 0, "\0\0\xfe\xff")) return "UTF-32";
  return hasBytes(head, 0, "\xff\xfe") || hasBytes(head, 0, "\xfe\xff") ? "UTF-16" : undefined;
}

/**
 * Returns the UTF-16 or UTF-32 encoding that the positions of zero bytes suggest; undefined if they suggest neither, or
 * if there are fewer than eight bytes.
 */
function unmarkedEncodingOf(head: Uint8Array): string | undefined {
  const units = head.length >> 2;
  if (units < 2) return undefined;
  // How many zero bytes are at positions 0, 1, 2 and 3 of each group of four bytes.
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

/**
 * The minimum share of code units with a zero byte from which the beginning of a file is taken for UTF-16. It is low,
 * because in scripts other than Latin, few code units except those of spaces and line ends have a zero byte.
 */
const zeroShareLeast = 0.1;

/** A format that is not text, and how to recognize it. Bytes are written as Latin-1 strings. */
type Signature = {
  /** The bytes at offset `from`, which is 0 by default. */
  readonly begins: string;
  readonly from?: number;
  readonly next?: readonly [offset: number, bytes: string];
  readonly also?: (head: Uint8Array) => boolean;
  /** Says for the hint what to do with the file. */
  readonly remedy?: (path: string) => Message;
  /** Whether the program of the remedy also reads the file if it is compressed. */
  readonly unpacksItself?: boolean;
} & ({ readonly what: string } | { readonly packer: string });

/**
 * Returns the first signature whose bytes are in the head of a file. If the signature has `also`, that function must
 * accept the head, too. Without `also`, a signature of plain ASCII, such as `GIF8`, matches only if the head has a zero
 * byte (`hasNul`), because a text could begin like that.
 */
function findSignature(head: Uint8Array, hasNul: boolean): Signature | undefined {
  return signatures.find((signature) => {
    const { begins, from = 0, next, also } = signature;
    if (!hasBytes(head, from, begins) || (next !== undefined && !hasBytes(head, ...next))) return false;
    return also === undefined ? hasNul || !isPlain(begins + (next?.[1] ?? "")) : also(head);
  });
}

function hasBytes(head: Uint8Array, offset: number, bytes: string): boolean {
  if (offset + bytes.length > head.length) return false;
  for (let i = 0; i < bytes.length; i++) if (head[offset + i] !== bytes.charCodeAt(i)) return false;
  return true;
}

const isPlain = (bytes: string) => /^[\t\n\r\x20-\x7f]*$/.test(bytes);

/** Most of the programs that extract text cannot read a pipe, so standard input has to be written to a file first. */
const piped = (command: string) => (path: string) =>
  phrase`${path === "-" ? "write it to FILE, and " : ""}extract its text: \`${command.replace("FILE", () => fileAt(path))}${toText}\``;
const fileAt = (path: string) => (path === "-" ? "FILE" : shell.quoted(path));
const asRecords = () => "convert it to Parquet or JSON lines, e.g. with pyarrow or pandas";
const addedUp = (path: string) =>
  messages.ifHas(
    "counts",
    phrase`to use these counts, ${path === "-" ? "write them to FILE, and " : ""}pass them with ${asOption("counts", fileAt(path))}`,
    "give the text that was counted",
  );
/** `bpe decode` recognizes a NumPy array by the ending .npy, so a file with another name has to be copied. */
const decoded = (path: string) =>
  `if it contains token ids, decode them: \`bpe decode --tokenizer PATH ${path.endsWith(".npy") ? shell.quoted(path) : "COPY.npy"}\``;

const zip = "PK\x03\x04";
/** Whether the head of a zip archive lists a file whose name matches. */
const inZip = (name: RegExp) => (head: Uint8Array) => zipEntries(head).some((entry) => name.test(entry.name));
/** Whether the type in a zip archive's file `mimetype`, which is stored uncompressed, begins with `type`. */
const hasTypeInZip = (type: string) => (head: Uint8Array) =>
  zipEntries(head).some(({ name, content }) => name === "mimetype" && content.startsWith(type));

/**
 * Returns the files that the head of a zip archive lists. An entry has the lengths of its name and of its extra fields
 * at bytes 26 and 28, and its name at byte 30. The offsets below are 4 less, because `split` removes the signature at
 * bytes 0 to 3.
 */
const zipEntries = (head: Uint8Array) =>
  latin1(head)
    .split(zip)
    .slice(1)
    .map((entry) => {
      const lengthAt = (at: number) => entry.charCodeAt(at) + 256 * entry.charCodeAt(at + 1);
      const nameEnd = 26 + lengthAt(22);
      return { name: entry.slice(26, nameEnd), content: entry.slice(nameEnd + lengthAt(24)) };
    });
const latin1 = (bytes: Uint8Array) =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");

const signatures: readonly Signature[] = [
  // Archives, and documents that are archives.
  {
    what: "a Word document",
    remedy: piped("pandoc -t plain FILE"),
    begins: zip,
    also: inZip(/^word\/.+\.(xml|rels)$/),
  },
  { what: "an Excel workbook", remedy: asRecords, begins: zip, also: inZip(/^xl\/.+\.(xml|rels|bin)$/) },
  {
    what: "an EPUB book",
    remedy: piped("pandoc -t plain FILE"),
    begins: zip,
    also: hasTypeInZip("application/epub"),
  },
  {
    what: "an OpenDocument file",
    remedy: piped("pandoc -t plain FILE"),
    begins: zip,
    also: hasTypeInZip("application/vnd.oasis"),
  },
  { what: "a PyTorch file", begins: zip, also: inZip(/\/data\.pkl$/) },
  { what: "a NumPy archive", begins: zip, also: inZip(/\.npy$/) },
  { what: "a zip archive", remedy: piped("unzip -p FILE"), begins: zip },
  { what: "an empty zip archive", begins: "PK\x05\x06" },
  { what: "a 7z archive", remedy: piped("7z x -so FILE"), begins: "7z\xbc\xaf\x27\x1c" },
  { what: "a RAR archive", remedy: piped("unrar p -inul FILE"), begins: "Rar!\x1a\x07" },
  {
    what: "a tar archive",
    remedy: piped("tar -xOf FILE"),
    unpacksItself: true,
    begins: "",
    also: isTar,
  },

  // Texts in compressions that `bpe` does not read.
  { packer: "xz", begins: "\xfd7zXZ\0" },
  { packer: "bzip2", begins: "BZh", next: [4, "1AY&SY"], also: hasInvalidByte },
  { packer: "bzip2", begins: "BZh", next: [4, "\x17\x72\x45\x38\x50\x90"] },
  { packer: "lz4", begins: "\x04\x22\x4d\x18" },
  { packer: "lzip", begins: "LZIP\x01" },
  { packer: "lzop", begins: "\x89LZO\0" },
  { packer: "lzma", begins: "\x5d\0\0", also: isLzma },
  { packer: "compress", remedy: piped("gzip -dc FILE"), begins: "\x1f\x9d" },
  { packer: "snappy", remedy: piped("snzip -dc FILE"), begins: "\xff\x06\0\0sNaPpY" },

  // Tables and arrays.
  { what: "an Arrow (Feather) file", remedy: asRecords, begins: "ARROW1\0\0" },
  { what: "an Arrow stream", remedy: asRecords, begins: "\xff\xff\xff\xff", next: [6, "\0\0"] },
  { what: "a Feather file", remedy: asRecords, begins: "FEA1" },
  { what: "an ORC file", remedy: asRecords, begins: "ORC" },
  { what: "an Avro file", remedy: asRecords, begins: "Obj\x01" },
  { what: "an HDF5 file", remedy: asRecords, begins: "\x89HDF\r\n\x1a\n" },
  { what: "a NetCDF file", begins: "CDF\x01" },
  { what: "a NetCDF file", begins: "CDF\x02" },
  { what: "a MATLAB file", remedy: asRecords, begins: "MATLAB 5.0 MAT-file" },
  { what: "an SQLite database", remedy: piped("sqlite3 FILE 'SELECT …'"), begins: "SQLite format 3\0" },
  { what: "a NumPy array", remedy: decoded, begins: "\x93NUMPY" },
  { what: "a Python pickle", remedy: asRecords, begins: "\x80", also: isPickle },
  { what: "a safetensors file", from: 5, begins: '\0\0\0{"' },
  { what: "a GGUF model", begins: "GGUF" },
  { what: "a Megatron index", begins: "MMIDIDX\0\0" },
  { what: "a file of word counts", remedy: addedUp, begins: '#bpe-counts\t{"version"', also: () => true },
  { what: "a file of word counts", remedy: addedUp, begins: "bpecount" },

  // Documents.
  { what: "a PDF document", remedy: piped("pdftotext FILE -"), begins: "%PDF-", also: isPdf },
  { what: "a DjVu document", remedy: piped("djvutxt FILE"), begins: "AT&TFORM" },
  { what: "an old Office document", begins: "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" },

  // Images, sound, film, fonts.
  { what: "a PNG image", begins: "\x89PNG\r\n\x1a\n" },
  { what: "a JPEG image", begins: "\xff\xd8\xff" },
  { what: "a GIF image", begins: "GIF8" },
  { what: "a WebP image", begins: "RIFF", next: [8, "WEBP"] },
  { what: "a WAVE sound", begins: "RIFF", next: [8, "WAVE"] },
  { what: "an AVI film", begins: "RIFF", next: [8, "AVI "] },
  { what: "a BMP image", begins: "BM", next: [6, "\0\0\0\0"] },
  { what: "a TIFF image", begins: "II*\0" },
  { what: "a TIFF image", begins: "MM\0*" },
  { what: "a Photoshop image", begins: "8BPS\0" },
  { what: "an MP4, HEIC or AVIF file", from: 4, begins: "ftyp" },
  { what: "a Matroska or WebM video", begins: "\x1a\x45\xdf\xa3" },
  { what: "an Ogg file", begins: "OggS" },
  { what: "a FLAC sound", begins: "fLaC" },
  { what: "an MP3 sound", begins: "ID3" },
  { what: "a font", begins: "\0\x01\0\0\0" },
  { what: "a font", begins: "OTTO" },
  { what: "a font", begins: "wOF" },

  // Programs.
  { what: "an ELF executable or library", begins: "\x7fELF" },
  { what: "a Windows executable or library", begins: "MZ" },
  { what: "a Mach-O executable or library", begins: "\xfe\xed\xfa\xce" },
  { what: "a Mach-O executable or library", begins: "\xfe\xed\xfa\xcf" },
  { what: "a Mach-O executable or library", begins: "\xce\xfa\xed\xfe" },
  { what: "a Mach-O executable or library", begins: "\xcf\xfa\xed\xfe" },
  { what: "a Java class or Mach-O executable", begins: "\xca\xfe\xba\xbe\0" },
  { what: "a WebAssembly module", begins: "\0asm" },
  { what: "compiled Python", from: 2, begins: "\r\n\0\0" },
  { what: "an object-file archive, or a Debian package", begins: "!<arch>\n" },
];

/**
 * Whether the head begins with a tar header. The header is recognized by its checksum, because older archives lack the
 * magic `ustar`.
 */
function isTar(head: Uint8Array): boolean {
  const [sumAt, sumEnd, headerBytes] = [148, 156, 512];
  // Without a zero byte the header is text, even if its digits match the sum.
  if (head.length < headerBytes || !head.subarray(0, headerBytes).includes(0)) return false;
  const written = /^[ 0]*([0-7]+)[ \0]/.exec(latin1(head.subarray(sumAt, sumEnd)))?.[1];
  if (written === undefined) return false;
  let sum = 0;
  for (let i = 0; i < headerBytes; i++) sum += i >= sumAt && i < sumEnd ? 0x20 : head[i]!;
  return sum === Number.parseInt(written, 8);
}

/**
 * Whether the head is that of an LZMA file: the size of the content, at bytes 5 to 12, must be below 2^40, or 2^64 - 1
 * if unknown.
 */
function isLzma(head: Uint8Array): boolean {
  if (head.length < 13) return false;
  const unknown = head.subarray(5, 13).every((byte) => byte === 0xff);
  return unknown || head.subarray(10, 13).every((byte) => byte === 0);
}

/** Whether the head is that of a pickle of protocol 2 to 5: 0x80, the protocol, then a byte that may be an opcode. */
function isPickle(head: Uint8Array): boolean {
  if (head.length < 3 || head[1]! < 2 || head[1]! > 5) return false;
  return /[\x80\x95a-zA-Z\]})(.]/.test(latin1(head.subarray(2, 3)));
}

/**
 * Whether the head is that of a PDF: near its beginning it must have an object, or the line of high bytes that marks a
 * binary file. A text that only begins with `%PDF-1.4` has neither.
 */
function isPdf(head: Uint8Array): boolean {
  const beginning = latin1(head.subarray(0, 1 << 10));
  return (
    /^%PDF-\d\.\d\s/.test(beginning) &&
    /\n\d+ \d+ obj\b|\s%[\x80-\xff]{4}/.test(beginning.replace(/\r/g, "\n"))
  );
}

/** Whether the head has invalid UTF-8. A character that the end of the head truncates is valid. */
function hasInvalidByte(head: Uint8Array): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: true });
    return false;
  } catch {
    return true;
  }
}

export type Codec = Exclude<Compression, "none">;

/** Returns the UserError for an error that `node:zlib` threw. */
export function decompressionError(path: string, compression: Codec, error: unknown): UserError {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "Z_BUF_ERROR") return truncatedError(path, compression);
  if (code === "ZSTD_error_frameParameter_windowTooLarge") {
    return new UserError(
      `${files.nameOf(path)} was compressed by zstd with a window of more than 128 MB (as by zstd --long=28), but bpe reads windows of at most 128 MB`,
      { hint: phrase`unpack it first: ${unpacking("zstd", path, "-dc --long=31")}` },
    );
  }
  if (code === "ZSTD_error_dictionary_wrong") {
    return new UserError(
      `${files.nameOf(path)} was compressed by zstd with a dictionary, which bpe cannot use`,
      { hint: phrase`unpack it with that dictionary: ${unpacking("zstd", path, "-dc -D DICTIONARY")}` },
    );
  }
  return damaged(path, compression, faultOf(error));
}

export const truncatedError = (path: string, compression: Codec) =>
  new UserError(`${files.nameOf(path)} ends in the middle of its ${compression} data`, {
    hint: "it was cut short: copy, download or compress it again",
  });

/**
 * Returns the error for a zstd file with several frames in Node, which reads only the first frame. Bun reads all of
 * them.
 */
export const multipleFramesError = (path: string) =>
  new UserError(`"${path}" has several zstd frames, and Node reads only the first`, {
    hint: `run this with Bun or with the command bpe, or unpack the file first: zstd -d ${shell.quoted(path)}`,
  });

export const damaged = (path: string, compression: Codec, what: string) =>
  new UserError(`${files.nameOf(path)} has damaged ${compression} data: ${what}`, {
    hint: `copy, download or compress it again${path === "-" ? "" : `; ${compression} -t ${shell.quoted(path)} shows details`}`,
  });

type Zlib = typeof import("node:zlib");

/** Loads `node:zlib`. This takes 1.6 ms, so it is done on demand. */
export const zlib = (): Zlib => require("node:zlib") as Zlib;

/**
 * Loads the decompressors, including zstd's. Throws a UserError in a Node without zstd, such as any before version
 * 22.15. `remedy` says what to do with the data instead.
 */
export function zlibWithZstd(remedy: string): Zlib {
  const loaded = zlib();
  if (typeof loaded.zstdDecompressSync === "function") return loaded;
  throw new UserError(`Node ${process.versions.node} cannot read data that zstd compressed`, {
    hint: `use Bun or a newer Node (from 22.15 on; in the 23 series, from 23.8 on); or ${remedy}`,
  });
}

/** What to do with a file that zstd compressed. */
export const zstdUnpacked = (path: string) => `unpack it first: zstd -d ${shell.quoted(path)}`;
