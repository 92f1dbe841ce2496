import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { parquetWriteBuffer } from "hyparquet-writer";
import { randomSource } from "../../bench/random.ts";

// Small corpora for the golden tests, generated from seeds.

type Random = ReturnType<typeof randomSource>;

const pick = <T>(random: Random, of: readonly T[]): T => of[random.below(of.length)]!;
const times = (count: number, make: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => make(i));
/** Returns a random index below `count`; small ones are likely. */
const rank = (random: Random, count: number) => Math.floor(count ** random.unit()) - 1;

const syllables =
  "the in er re on at en or ti es is st ar al ing ed nt to it ou ha io le ve co me de hi".split(" ");

function wordList(random: Random, count: number, parts: readonly string[]): string[] {
  return times(count, () => times(1 + random.below(4), () => pick(random, parts)).join(""));
}

const eot = "<|endoftext|>";

/** Returns sentences in documents that a special token separates. */
function english(seed: number, sizeBytes: number, lineEnd = "\n"): string {
  const random = randomSource(seed);
  const words = wordList(random, 3000, syllables);
  const endings = ["'s", "'t", "'re", "'ve", "'m", "'ll", "'d", "'S", "’s", "s", ",", ";", ":", " --", "-"];
  let text = "";
  while (text.length < sizeBytes) {
    const parts = times(3 + random.below(12), (i) => {
      const word = words[rank(random, words.length)]!;
      const kind = random.below(40);
      if (kind === 0) return String(random.below(10 ** (1 + random.below(7))));
      if (kind === 1) return `"${word}"`;
      if (kind === 2) return `(${word.toUpperCase()})`;
      if (kind < 6) return word + pick(random, endings);
      return i === 0 ? word[0]!.toUpperCase() + word.slice(1) : word;
    });
    text += parts.join(" ") + pick(random, [".", ".", ".", "!", "?", "...", "?!"]);
    const gap = random.below(20);
    text += gap === 0 ? eot : gap < 4 ? lineEnd + lineEnd : gap < 8 ? lineEnd : gap === 8 ? "  " : " ";
  }
  return text;
}

/** For each script, the first and the last character that are used, and the gap between words. */
const scripts: readonly (readonly [first: number, last: number, gap: string])[] = [
  [0x61, 0x7a, " "],
  [0xe0, 0xff, " "],
  [0x3b1, 0x3c9, " "],
  [0x430, 0x44f, " "],
  [0x5d0, 0x5ea, " "],
  [0x627, 0x652, " "], // Arabic, with vowel marks.
  [0x905, 0x94d, " "], // Devanagari, with vowel signs.
  [0xe01, 0xe3a, ""], // Thai
  [0x3041, 0x3096, ""],
  [0x30a1, 0x30ff, ""],
  [0x4e00, 0x4f00, ""],
  [0xac00, 0xad00, " "],
  [0x1f600, 0x1f64f, ""],
];
const oddParts = [
  "e\u0301",
  "a\u0308\u0323",
  "\u1112\u1161\u11ab",
  "👩‍👩‍👧",
  "🇩🇪",
  "ﬁ",
  "Å",
  "①",
  "½",
  "\u00a0",
];

function manyScripts(seed: number, sizeCharacters: number): string {
  const random = randomSource(seed);
  let text = "";
  while (text.length < sizeCharacters) {
    const [first, last, gap] = pick(random, scripts);
    const letters = times(1 + random.below(3), () =>
      String.fromCodePoint(first + random.below(last - first + 1)),
    );
    const words = wordList(random, 30, [...letters, String.fromCodePoint(first)]);
    text += times(4 + random.below(20), () => words[rank(random, words.length)]!).join(gap);
    text += pick(random, [". ", "。", "، ", "\n", "\u3000", "\u2028", `${random.below(3000)} `, ...oddParts]);
  }
  return text;
}

function code(seed: number, sizeBytes: number): string {
  const random = randomSource(seed);
  const names = wordList(random, 300, syllables);
  const name = () => names[rank(random, names.length)]!;
  const variable = () =>
    pick(random, [name(), `${name()}_${name()}`, name() + name()[0]!.toUpperCase() + name().slice(1)]);
  const lines = [
    () => `if (${variable()} ${pick(random, ["==", "!=", "<=", "&&", "->"])} ${random.below(300)}) {`,
    () => `${variable()}(${variable()}, "${name()} %d\\n", 0x${random.below(1 << 20).toString(16)});`,
    () => `/* ${name()} ${name()} */`,
    () => `#define ${name().toUpperCase()}_${random.below(20)} (1 << ${random.below(32)})`,
    () => `for (i = 0; i < ${variable()}; i++)`,
    () => "}",
    () => "",
  ];
  let text = "";
  while (text.length < sizeBytes) {
    const indent = pick(random, ["\t", "    ", "  "]).repeat(random.below(5));
    text += `${indent}${pick(random, lines)()}${random.below(12) === 0 ? "   " : ""}\n`;
  }
  return text;
}

/** Returns random bytes, valid text, and incomplete or invalid characters. */
function invalid(seed: number, sizeBytes: number): Uint8Array {
  const random = randomSource(seed);
  const pieces = [
    [0xc0, 0x80],
    [0xed, 0xa0, 0x80],
    [0xf4, 0x90, 0x80, 0x80],
    [0xe2, 0x82],
    [0xff],
    [0x80],
    [0xf0, 0x9f],
  ];
  const bytes: number[] = [...Buffer.from("not all is UTF-8: ")];
  while (bytes.length < sizeBytes) {
    const kind = random.below(4);
    if (kind === 0) bytes.push(...pick(random, pieces));
    else if (kind === 1) bytes.push(1 + random.below(255));
    else bytes.push(...Buffer.from(pick(random, [" the", " é漢", "\n", " 12", "'s", " of"])));
  }
  return Uint8Array.from(bytes);
}

/** Returns text with many pairs of equal counts, and runs of equal letters. */
function ties(seed: number, sizeBytes: number): string {
  const random = randomSource(seed);
  const words = wordList(random, 60, ["ab", "ba", "aa", "bb", "c", "é"]);
  return `${times(Math.ceil(sizeBytes / 200), () => words.join(" ")).join("\n")}\n${"a".repeat(99)} ${"ab".repeat(50)}`;
}

function repetitive(): string {
  return [
    "a".repeat(5000),
    "ab".repeat(3000),
    " ".repeat(999),
    "\n".repeat(777),
    "=".repeat(2000),
    "é".repeat(501),
  ]
    .flatMap((run) => [run, " end ", run, "\r\n"])
    .join("");
}

const documentsOf = (text: string) => text.split(eot).map((part) => part.trim());

function parquet(texts: readonly string[], codec: "SNAPPY" | "ZSTD"): Uint8Array {
  const column = { type: "STRING", codec } as const;
  const buffer = parquetWriteBuffer({
    columnData: [
      { name: "text", data: [...texts], ...column },
      { name: "body", data: texts.map((text) => text.toUpperCase()), ...column },
      { name: "id", data: texts.map((_, i) => i), type: "INT32" },
    ],
    rowGroupSize: 50,
    pageSize: 4096,
    compressors: { ZSTD: zstdCompressSync },
  });
  return new Uint8Array(buffer);
}

function fasta(seed: number): string {
  const random = randomSource(seed);
  return times(40, (i) => {
    const lines = times(1 + random.below(6), () =>
      times(60, () => pick(random, [..."ACGTACGTACGTN"])).join(""),
    );
    return `>sequence ${i}\n${lines.join("\n")}\n`;
  }).join("");
}

/** Lines of ids with repeating phrases. */
function idLines(seed: number, below: number): string {
  const random = randomSource(seed);
  const phrases = times(40, () => times(2 + random.below(6), () => String(random.below(below))).join(" "));
  return times(200, () => times(1 + random.below(12), () => phrases[rank(random, 40)]!).join(" ")).join("\n");
}

function npy(ids: ArrayLike<number>): Uint8Array {
  const header = `{'descr': '<u2', 'fortran_order': False, 'shape': (${ids.length},), }`.padEnd(117);
  const head = Buffer.concat([
    Buffer.from("\x93NUMPY\x01\x00", "latin1"),
    Buffer.from([118, 0]),
    Buffer.from(`${header}\n`),
  ]);
  return Buffer.concat([head, Buffer.from(Uint16Array.from(ids).buffer)]);
}

/** Returns every file of the small corpora, by name. */
function files(): Record<string, string | Uint8Array> {
  const text = english(1, 120_000);
  const mixed = manyScripts(2, 30_000);
  const texts = [...documentsOf(english(3, 60_000)), "", ...documentsOf(mixed)];
  const lines = texts.map((text, id) =>
    JSON.stringify({ id, text, body: `${id} ${[...text].slice(0, 40).join("")}` }),
  );
  const ids = idLines(9, 300).split(/\s+/).map(Number);
  return {
    "english.txt": text,
    "scripts.txt": mixed,
    "code.txt": code(4, 60_000),
    "crlf.txt": english(5, 40_000, "\r\n"),
    "big.txt": english(6, 1_600_000) + manyScripts(7, 300_000) + code(8, 300_000),
    "invalid.txt": invalid(10, 20_000),
    "ties.txt": ties(11, 6000),
    "repetitive.txt": repetitive(),
    "empty.txt": "",
    "one.txt": "a",
    "unended.txt": `${text.slice(0, 5000)}<|endof`,
    "bom.txt": `\ufeff${text.slice(0, 3000)}`,
    "utf16.txt": Buffer.from(`\ufeff${text.slice(0, 300)}`, "utf16le"),
    "image.png": Buffer.from("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00", "latin1"),
    "english.txt.gz": gzipSync(text),
    "english.txt.zst": zstdCompressSync(text),
    "lines.jsonl": `${lines.join("\n")}\n`,
    "lines.jsonl.gz": gzipSync(`${lines.join("\n")}\n`),
    "array.json": `[\n${lines.join(",\n")}\n]\n`,
    "bad.jsonl": `${lines.slice(0, 3).join("\n")}\n{"text": 7}\n`,
    "broken.jsonl": `${lines.slice(0, 3).join("\n")}\n{"text": "a\n`,
    "snappy.parquet": parquet(texts, "SNAPPY"),
    "zstd.parquet": parquet(texts, "ZSTD"),
    "cut.parquet": parquet(texts, "ZSTD").slice(0, 5000),
    "genome.fa": fasta(12),
    "tracks.txt": idLines(9, 300),
    "more-tracks.txt": idLines(13, 300),
    "tracks.npy": npy(ids),
    "tracks.bin": new Uint8Array(Uint16Array.from(ids).buffer),
    "large-ids.txt": idLines(14, 200_000),
    "dir/a.txt": text.slice(0, 9000),
    "dir/b/c.txt": [...mixed].slice(0, 4000).join(""),
    "dir/b/d.jsonl": `${lines.slice(0, 20).join("\n")}\n`,
    "dir/picture.png": Buffer.from("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00", "latin1"),
    "dir/.hidden": "hidden",
    "dir/e.md": "# Title\n\nSome text.\n",
  };
}

/** Writes the small corpora. The files have a fixed modification time, because plans contain it. */
export function writeCorpora(directory: string): void {
  for (const [name, content] of Object.entries(files())) {
    const path = join(directory, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    utimesSync(path, 1_700_000_000, 1_700_000_000);
  }
}
