/** A bzip2 file with the text "hello hello". */
export const bzipped = Buffer.from(
  "425a683931415926535904080d8e000001910040000244a00021200668351ca60e2ee48a70a12008101b1c",
  "hex",
);

const nothing = "\0".repeat(8);

/** A file in a zip archive: a local header, the name and the content. */
const zipped = (name: string, content = "") =>
  `PK\x03\x04\x14\0${"\0".repeat(20)}${String.fromCharCode(name.length)}\0\0\0${name}${content}`;

/** The first bytes of files (in Latin-1), and what `bpe` takes the files for. */
export const heads: readonly (readonly [what: string, head: string])[] = [
  ["a zip archive, not text", zipped("a.txt")],
  // A Python wheel with a package named xl. Neither this name nor the content makes the wheel another kind of file.
  ["a zip archive, not text", zipped("xl/__init__.py", "from word/a.xml import application/epub, x.npy")],
  ["an empty zip archive, not text", `PK\x05\x06${nothing}`],
  ["a Word document, not text", zipped("word/document.xml")],
  ["an Excel workbook, not text", zipped("[Content_Types].xml") + zipped("xl/workbook.xml")],
  ["an EPUB book, not text", zipped("mimetype", "application/epub+zip")],
  ["an OpenDocument file, not text", zipped("mimetype", "application/vnd.oasis.opendocument.text")],
  ["a PyTorch file, not text", zipped("archive/data.pkl")],
  ["a NumPy archive, not text", zipped("x.npy")],
  ["a 7z archive, not text", "7z\xbc\xaf\x27\x1c\0\x04"],
  ["a RAR archive, not text", "Rar!\x1a\x07\x01\0"],
  ["compressed with xz, which bpe cannot read", "\xfd7zXZ\0\0\x04"],
  ["compressed with bzip2, which bpe cannot read", bzipped.toString("latin1")],
  ["compressed with lz4, which bpe cannot read", "\x04\x22\x4d\x18\x64\x40"],
  ["compressed with lzma, which bpe cannot read", "\x5d\0\0\x80\0\xff\xff\xff\xff\xff\xff\xff\xff\0\x34"],
  ["compressed with lzip, which bpe cannot read", "LZIP\x01\x0c"],
  ["compressed with compress, which bpe cannot read", "\x1f\x9d\x90"],
  ["an Arrow (Feather) file, not text", "ARROW1\0\0\xff\xff\xff\xff\xa8\0\0\0"],
  ["an Arrow stream, not text", "\xff\xff\xff\xff\xa8\0\0\0\x10\0\0\0"],
  ["a Feather file, not text", `FEA1${nothing}`],
  ["an ORC file, not text", `ORC\x0a\x02${nothing}`],
  ["an Avro file, not text", "Obj\x01\x04\x16avro.schema"],
  ["an HDF5 file, not text", "\x89HDF\r\n\x1a\n\0"],
  ["an SQLite database, not text", "SQLite format 3\0\x10\0"],
  ["a NumPy array, not text", "\x93NUMPY\x01\0v\0{'descr': '<u2'"],
  ["a Python pickle, not text", "\x80\x04\x95\x0a\0\0\0\0\0\0\0}"],
  ["a Python pickle, not text", "\x80\x02}q\x01."],
  ["a safetensors file, not text", '\x58\x10\0\0\0\0\0\0{"weight"'],
  ["a GGUF model, not text", "GGUF\x03\0\0\0"],
  ["a file of word counts, not text", "bpecount\x02\0\0\0"],
  ["a file of word counts, not text", '#bpe-counts\t{"version":1,"patterns":[]}\n'],
  ["a PDF document, not text", "%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj\n"],
  ["a PDF document, not text", "%PDF-1.4\r1 0 obj\r<< /Type /Catalog >>"],
  ["an old Office document, not text", "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"],
  ["a PNG image, not text", "\x89PNG\r\n\x1a\n\0\0\0\rIHDR"],
  ["a JPEG image, not text", "\xff\xd8\xff\xe0\0\x10JFIF"],
  ["a GIF image, not text", "GIF89a\x01\0\x01\0\x80\0\0"],
  ["a WebP image, not text", "RIFF\x24\0\0\0WEBPVP8 "],
  ["a WAVE sound, not text", "RIFF\x24\0\0\0WAVEfmt "],
  ["a TIFF image, not text", "II*\0\x08\0\0\0"],
  ["an MP4, HEIC or AVIF file, not text", "\0\0\0\x20ftypisom"],
  ["an MP3 sound, not text", "ID3\x03\0\0\0"],
  ["a font, not text", "wOF2\0\x01\0\0"],
  ["an ELF executable or library, not text", "\x7fELF\x02\x01\x01\0"],
  ["a Windows executable or library, not text", "MZ\x90\0\x03\0\0\0"],
  ["a Mach-O executable or library, not text", "\xcf\xfa\xed\xfe\x07\0\0\x01"],
  ["a Java class or Mach-O executable, not text", "\xca\xfe\xba\xbe\0\0\0\x34"],
  ["a WebAssembly module, not text", "\0asm\x01\0\0\0"],
  ["parquet", "PAR1\x15\0\x15\x1e"],
];
