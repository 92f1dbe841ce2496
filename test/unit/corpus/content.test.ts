import { describe, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { type Content, contentOf, headBytesMax } from "../../../src/corpus/content.ts";
import { findCorpus, findInputs } from "../../../src/corpus/find-inputs.ts";
import { spellInLibrary } from "../../../src/library/library.ts";
import type { Message } from "../../../src/runtime/message.ts";
import * as messages from "../../../src/runtime/message.ts";
import { put, scratch } from "../../binary.ts";
import { errorOf } from "../../thrown.ts";
import { bzipped, heads } from "./heads.ts";

const directory = scratch();

const bytes = (latin1: string) => Buffer.from(latin1, "latin1");
const whatIs = (content: Content) => (typeof content === "object" ? content.what : content);
const whatIn = (head: Uint8Array) => whatIs(contentOf(head, "x"));

describe("content other than text is recognized by its first bytes", () => {
  for (const [what, head] of heads) test(what, () => expect(whatIn(bytes(head))).toBe(what));

  test("including compressed content", () => {
    for (const [what, head] of heads) {
      for (const pack of [gzipSync, zstdCompressSync]) {
        const path = put(directory, "packed", pack(bytes(`${head}${"\0\x01\x02".repeat(10_000)}`)));
        // A Parquet file that was compressed as a whole has an error of its own, because Parquet cannot be read as a
        // stream.
        const message =
          what === "parquet" ? "is a Parquet file that was compressed as a whole with " : `is ${what}`;
        expect(() => findInputs([path])).toThrow(message);
      }
    }
    const twice = put(directory, "twice.gz", gzipSync(gzipSync("text")));
    expect(() => findInputs([twice])).toThrow("is compressed twice with gzip");
  });

  test("how a file is compressed, whatever its name", () => {
    const compressionOf = (name: string, content: string | Uint8Array) =>
      findInputs([put(directory, name, content)])[0]!.compression;
    expect(compressionOf("named.gz", "plain text")).toBe("none");
    expect(compressionOf("plain.txt", gzipSync("x"))).toBe("gzip");
    expect(compressionOf("plain", zstdCompressSync("x"))).toBe("zstd");
  });

  test("a tar archive by its checksum, whatever program made it", () => {
    put(directory, "member.txt", "text in an archive");
    for (const format of ["ustar", "gnu", "v7", "posix"]) {
      const made = spawnSync("tar", [`--format=${format}`, "-cf", "a.tar", "member.txt"], { cwd: directory });
      expect(made.status).toBe(0);
      expect(whatIn(readFileSync(join(directory, "a.tar")))).toBe("a tar archive, not text");
    }
  });

  test("UTF-16 and UTF-32, with or without a byte-order mark", () => {
    const text = "Some text.\r\nÄ 2nd line.";
    const wide = Buffer.from([...text].flatMap((character) => [character.charCodeAt(0), 0, 0, 0]));
    expect(whatIn(Buffer.from(`\ufeff${text}`, "utf16le"))).toBe("UTF-16, not UTF-8");
    expect(whatIn(Buffer.from(text, "utf16le"))).toBe("UTF-16LE, not UTF-8");
    expect(whatIn(Buffer.from(text, "utf16le").swap16())).toBe("UTF-16BE, not UTF-8");
    expect(whatIn(Buffer.from("Много слов. И ещё.", "utf16le"))).toBe("UTF-16LE, not UTF-8");
    expect(whatIn(Buffer.concat([bytes("\xff\xfe\0\0"), wide]))).toBe("UTF-32, not UTF-8");
    expect(whatIn(wide)).toBe("UTF-32LE, not UTF-8");
    expect(whatIn(Buffer.from(wide).swap32())).toBe("UTF-32BE, not UTF-8");
  });

  test("anything else by a zero byte, up to the end of the head and no further", () => {
    const text = Buffer.alloc(headBytesMax + 10, "some text ");
    expect(headBytesMax).toBe(8192);
    for (const [at, what] of [
      [0, "not text: it has a zero byte at offset 0"],
      [headBytesMax - 1, `not text: it has a zero byte at offset ${headBytesMax - 1}`],
    ] as const) {
      const path = put(directory, "zero", Buffer.from(text).fill(0, at, at + 1));
      expect(() => findInputs([path])).toThrow(what);
    }
    for (const pack of [(some: Uint8Array) => some, gzipSync, zstdCompressSync]) {
      const path = put(directory, "far", pack(Buffer.from(text).fill(0, headBytesMax, headBytesMax + 1)));
      expect(findInputs([path])[0]!.format).toBe("text");
    }
  });
});

/** Returns the header of a tar archive with a valid checksum, and these characters in its other fields. */
function headOfTar(between: string): string {
  const head = Buffer.alloc(512, between);
  head.write("name", 0);
  const sum =
    head.reduce((all, byte) => all + byte, 0) - head.subarray(148, 156).reduce((all, b) => all + b, 0);
  head.write(`${(sum + 8 * 0x20).toString(8).padStart(6, "0")}  `, 148);
  return head.toString("latin1");
}

test("texts that begin as other files do are texts", () => {
  expect(whatIn(bytes(headOfTar("\0")))).toBe("a tar archive, not text");
  const texts = [
    "PK is the mark of a zip archive.",
    "PK\n",
    "BZh91AY&SY is how bzip2 begins.",
    "%PDF-1.4 is the first line of a PDF file.\nThe second one is a comment.",
    "%PDF is a comment in TeX: préambule",
    "GIF89a is an image format; le préféré",
    "RIFF....WEBP",
    "MZ are the initials of Mark Zbikowski.",
    "BM is a bitmap, ID3 a tag, OggS a page, fLaC a stream, GGUF a model",
    "ID3 is an algorithm. OTTO is a name.",
    "PAR1 is Parquet",
    "ORC is a format, and a being of Middle-earth",
    "FEA1 and Rar! and 7z and wOFF and !<arch>",
    "!<arch>\nis an archive",
    "ustar".padStart(262, "."),
    "SIMPLE  =                    T",
    "<?xml version='1.0'?><svg/>",
    "%!PS-Adobe-3.0",
    "{\\rtf1\\ansi text}",
    "#!/bin/sh\nls\n",
    "\ufeffA text with a byte-order mark",
    "\x1b[31mred\x1b[0m \x0c \x07 \x7f",
    "\x7fELF is how programs of Linux begin.",
    headOfTar(" "),
    "]",
    "",
  ];
  for (const text of texts) {
    expect([text, whatIn(Buffer.from(text))]).toEqual([text, "text"]);
    if (text !== "") expect(findInputs([put(directory, "text", gzipSync(text))]).length).toBe(1);
  }
  // Text that is not UTF-8, and text whose last character is cut off.
  for (const text of [
    "\xc4rger mit \xdcbung",
    "GIF89a: le format pr\xe9f\xe9r\xe9",
    "BZh \xfcber",
    "\xffy\xfe",
    "\x80 a day (in Windows-1252)",
  ]) {
    expect([text, whatIn(bytes(text))]).toEqual([text, "text"]);
  }
  const cut = Buffer.concat([Buffer.from("BZh91AY&SY "), Buffer.from("é").subarray(0, 1)]);
  expect(whatIn(cut)).toBe("text");
  expect(whatIn(bzipped)).toBe("compressed with bzip2, which bpe cannot read");
});

test("files that the Python module encodes itself are text: no control characters, and nothing that may be records", () => {
  // _OTHER of python/bpe_trainer/_files.py, without its last alternative: control characters, which `plain` lacks.
  const other = /^((\xef\xbb\xbf)?\s*[{[]|>|%PDF-|#bpe-counts)/;
  for (const [what, head] of heads) {
    const plain = `${head.replaceAll(/[\0-\x08\x0b\x0e-\x1f\x80-\xff]/g, "")} text`;
    if (!other.test(plain)) expect([what, whatIn(bytes(plain))]).toEqual([what, "text"]);
  }
});

test("a long beginning is decompressed only as far as needed to determine its content", () => {
  for (const pack of [gzipSync, zstdCompressSync]) {
    const noisy = Array.from({ length: 4 }, () =>
      Buffer.from(crypto.getRandomValues(new Uint8Array(60_000))).toString("base64"),
    ).join("");
    const content = JSON.stringify({ noise: noisy, text: "x" });
    const [input] = findInputs([put(directory, "long.json", pack(content))]);
    expect(input).toMatchObject({ format: "jsonl", formatFrom: "content" });
    const [other] = findInputs([put(directory, "long.json", pack(JSON.stringify({ noise: noisy })))]);
    expect(other).toMatchObject({ format: "text", formatFrom: "content" });
  }
});

test("a hint offers a remedy, and --binary text overrides the check", () => {
  const hintOf = (head: string, path: string, compression?: "gzip") =>
    messages.spell((contentOf(bytes(head), path, compression) as { hint: Message }).hint);
  expect(hintOf("PK\x03\x04", "a.zip")).toContain("unzip -p a.zip | bpe … -");
  expect(hintOf("\x93NUMPY", "a.npy")).toContain("bpe decode --tokenizer PATH a.npy");
  expect(hintOf("PK\x03\x04", "my $& a.zip")).toContain("unzip -p 'my $& a.zip' | bpe … -");
  expect(hintOf("\xfd7zXZ\0", "my a.xz")).toBe("unpack it: xz -dc 'my a.xz' | bpe … -");
  expect(hintOf("\xfd7zXZ\0", "a.xz")).toBe("unpack it: xz -dc a.xz | bpe … -");
  expect(hintOf("\xff\xfea\0", "-")).toBe("convert it: … | iconv -f UTF-16 -t UTF-8 | bpe … -");
  expect(hintOf("\xff\xfea\0", "my a")).toBe("convert it: iconv -f UTF-16 -t UTF-8 'my a' > text.txt");
  const unpacked = "convert it: gzip -dc a.gz | iconv -f UTF-16 -t UTF-8 > text.txt";
  expect(hintOf("\xff\xfea\0", "a.gz", "gzip")).toBe(unpacked);
  expect(hintOf("PK\x03\x04", "-")).toBe(
    "write it to FILE, and extract its text: `unzip -p FILE | bpe … -`; to read the file itself as text, use --binary text",
  );
  expect(hintOf("bpecount\0", "a.gz", "gzip")).toBe("unpack it first, and name the unpacked file");
  expect(hintOf("bpecount\0", "a")).toStartWith("to use these counts, pass them with --counts a; ");
  expect(hintOf(headOfTar("\0"), "a.tgz", "gzip")).toContain("tar -xOf a.tgz | bpe … -");
  const { hint } = contentOf(bytes("\xfd7zXZ\0"), "a.xz") as { hint: Message };
  expect(messages.spell(hint, spellInLibrary)).toBe("unpack it: xz -dc a.xz > text.txt");
  for (const [, head] of heads) {
    const path = put(directory, "insisted", bytes(head));
    expect(findInputs([path], { binary: "text" })[0]!.format).toBe("text");
  }
});

test("a directory skips files that are not text, and reports their kinds", () => {
  const root = scratch();
  put(root, "a.txt", "text");
  put(root, "b.png", bytes("\x89PNG\r\n\x1a\n\0\0"));
  put(root, "c.gz", gzipSync(bytes("\x7fELF\0")));
  const { inputs, skipped } = findCorpus([root]);
  expect(inputs.map(({ path }) => path)).toEqual([`${root}/a.txt`]);
  expect(skipped).toEqual([
    { path: `${root}/b.png`, reason: "a PNG image, not text" },
    { path: `${root}/c.gz`, reason: "an ELF executable or library, not text" },
  ]);
  expect(findCorpus([root], { binary: "text" }).inputs.length).toBe(3);
  expect(() => findCorpus([`${root}/*`])).toThrow(`"${root}/b.png" is a PNG image`);
  rmSync(join(root, "a.txt"));
  expect(() => findCorpus([root])).toThrow(
    `no text found in "${root}": "${root}/b.png" is a PNG image, not text, and 1 more file was skipped`,
  );
  put(root, "a.txt", bytes("\xff\xfea\0"));
  const { hint } = errorOf(() => findCorpus([root]));
  expect(hint).toBe(`convert it: iconv -f UTF-16 -t UTF-8 ${root}/a.txt > text.txt`);
});
