// `npm run suite trainers`: other programs read the ids that `bpe encode --ids-format` writes, and must get those of
// the documents, encoded one by one.

import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet";
import { parquetWriteBuffer } from "hyparquet-writer";
import { paragraphsOf } from "../../../bench/languages/texts.ts";
import { Tokenizer } from "../../../src/library/tokenizer.ts";
import { bpe, put, scratch } from "../../binary.ts";
import { randomNumbers } from "../../random.ts";
import { madeText } from "../../unit/tokenizer/made-merges.ts";

const root = resolve(import.meta.dir, "../../..");
const end = "<|endoftext|>";
const home = scratch();
const made = (...args: string[]) => {
  const { code, stderr } = bpe([...args, "-q"], { cwd: home });
  expect([args, stderr, code]).toEqual([args, "", 0]);
};

/** Returns words of random letters, which have enough pairs for the largest vocabulary here. */
function randomWords(count: number): string {
  const random = randomNumbers(7);
  const letter = () => String.fromCharCode(97 + random(26));
  const word = () => Array.from({ length: 4 + random(6) }, letter).join("");
  return Array.from({ length: count }, word).join(" ");
}

const languages = ["eng", "deu_1996", "rus", "hin", "cmn_hans", "arb", "jpn", "kor", "vie", "tha"];
const english = madeText(1, 4000);
const documents = {
  /** The longest document has more ids than a shard, and some documents are empty. */
  "english.txt": [english, "", madeText(2, 50), "low", "", madeText(3, 700)],
  "multilingual.txt": languages.map((code) => paragraphsOf(code, 1, 30)),
  "lines.jsonl": ["", "low lower", paragraphsOf("jpn", 1, 9), "", english.slice(0, 9000), ""],
  "rows.parquet": [english.slice(0, 3000), "", paragraphsOf("rus", 3, 9), "é\u0301 漢字\n"],
};
put(home, "english.txt", `${documents["english.txt"].join(end)}${end}`);
put(home, "multilingual.txt", documents["multilingual.txt"].join(end));
const records = documents["lines.jsonl"].map((text, i) => ({
  text,
  id: 2 ** 40 + i,
  url: i % 2 ? null : `https://é/${i}`,
}));
put(home, "lines.jsonl", records.map((record) => `${JSON.stringify(record)}\n`).join(""));
const rows = documents["rows.parquet"];
const columnData = [
  { name: "text", data: rows, type: "STRING" as const },
  { name: "id", data: rows.map((_, i) => BigInt(i)), type: "INT64" as const },
  { name: "url", data: rows.map((_, i) => `row ${i}`), type: "STRING" as const },
];
put(home, "rows.parquet", new Uint8Array(parquetWriteBuffer({ columnData, pageSize: 500 })));
put(home, "learned.txt", `${randomWords(60_000)}${english}${documents["multilingual.txt"].join("")}`);
// 65,537 tokens need 32 bits. Megatron uses 16 bits only below 65,500 tokens.
made("train", "learned.txt", "-n", "700,65499,65536,65537", "-s", end, "-o", "made");

type Documents = number[][];

/** Encodes each document separately. The id of `end` belongs to the document before it. */
async function encoded(directory: string, file: keyof typeof documents): Promise<Documents> {
  const tokenizer = await Tokenizer.load(directory);
  const all = documents[file].map((text) => [...tokenizer.encode(text)]);
  const endId = tokenizer.encode(end)[0]!;
  return all.map((ids, d) =>
    file === "english.txt" || (file === "multilingual.txt" && d < all.length - 1) ? [...ids, endId] : ids,
  );
}

const described = (all: Documents, type: string) => ({
  type,
  count: all.flat().length,
  sha256: createHash("sha256")
    .update(new Uint8Array(Uint32Array.from(all.flat()).buffer))
    .digest("hex"),
  ends: all.map((_, d) => all.slice(0, d + 1).flat().length),
});

const python = Bun.spawn([join(root, "dist/trainers/bin/python"), join(import.meta.dir, "read.py")], {
  cwd: home,
  stdin: "pipe",
  stdout: "pipe",
  stderr: "inherit",
  env: { ...process.env, HF_HUB_OFFLINE: "1", TOKENIZERS_PARALLELISM: "false" },
});
const answers = (async function* () {
  let rest = "";
  for await (const chunk of python.stdout) {
    const lines = (rest + new TextDecoder().decode(chunk)).split("\n");
    rest = lines.pop()!;
    for (const line of lines) yield JSON.parse(line);
  }
})();

type Found = ReturnType<typeof described> & { readonly kept?: object };

async function read(format: string, base: string, width: number): Promise<Found> {
  python.stdin.write(`${JSON.stringify({ format, base, width })}\n`);
  await python.stdin.flush();
  const { value } = await answers.next();
  if (value === undefined) throw new Error(`${format} ${base}: the program ended`);
  return value;
}

const types = {
  megatron: (size: number) => (size < 65_500 ? "uint16" : "int32"),
  olmo: (size: number) => (size <= 65_536 ? "uint16" : "uint32"),
  datatrove: (size: number) => (size <= 65_536 ? "uint16" : "uint32"),
  llmc: (size: number) => (size <= 65_536 ? "uint16" : "uint32"),
  parquet: () => "int32",
};

/**
 * Checks that the shards together have all documents in order, and that each shard but the last ends with the document
 * that reaches 500 ids.
 */
function checkShards(parts: readonly Found[], wanted: Documents, isBare: boolean): void {
  let d = 0;
  for (const [n, part] of parts.entries()) {
    const first = d;
    for (
      let count = 0;
      d < wanted.length && (isBare ? count < part.count : d - first < part.ends.length);
      d++
    )
      count += wanted[d]!.length;
    const own = wanted.slice(first, d);
    const { kept: _, ...found } = part;
    const all = described(own, part.type);
    expect([n, found]).toEqual([n, isBare ? { ...all, ends: [all.count] } : all]);
    if (n === parts.length - 1) continue;
    expect(all.count).toBeGreaterThanOrEqual(500);
    expect(all.count - own.at(-1)!.length).toBeLessThan(500);
  }
  expect(wanted.slice(d).flat()).toEqual([]);
}

for (const size of [700, 65_499, 65_536, 65_537]) {
  for (const file of Object.keys(documents) as (keyof typeof documents)[]) {
    test(`${file}, a vocabulary of ${size}`, async () => {
      const tokenizer = join(home, "made", `${size}`);
      const all = await encoded(tokenizer, file);
      for (const [format, typeOf] of Object.entries(types)) {
        // OLMo and datatrove cannot represent empty documents.
        const wanted = ["olmo", "datatrove"].includes(format) ? all.filter(({ length }) => length > 0) : all;
        const base = `${format}-${size}-${file}`.replaceAll(".", "-");
        const type = typeOf(size);
        const width = type === "uint16" ? 2 : 4;
        const isKept = format === "parquet" && !file.endsWith(".txt");
        const keep = isKept ? ["--keep-field", "id,url"] : [];
        const options = ["--tokenizer", tokenizer, "--ids-format", format, ...keep];
        made("encode", file, ...options, "-o", base);
        const { kept, ...found } = await read(format, base, width);
        const whole = described(wanted, type);
        expect([format, found]).toEqual([
          format,
          format === "llmc" ? { ...whole, ends: [whole.count] } : whole,
        ]);
        if (isKept) expect(Object.keys(kept!)).toEqual(["id", "url"]);

        // A shard ends with the document that reaches 500 ids.
        made("encode", file, ...options, "-o", base, "--shard-size", "500", "-w", "2");
        const shards = readdirSync(home).filter((name) =>
          new RegExp(`^${base}_\\d+\\.(bin|npy|ds|parquet)$`).test(name),
        );
        const parts = [];
        for (const name of shards.sort()) parts.push(await read(format, name.replace(/\.\w+$/, ""), width));
        checkShards(parts, wanted, format === "llmc");
      }
    }, 600_000);
  }
}

test("hyparquet reads the rows, and the fields of records", async () => {
  const tokenizer = join(home, "made", "65537");
  made("encode", "lines.jsonl", "--tokenizer", tokenizer, "--keep-field", "url,id", "-o", "fields.parquet");
  const found = await parquetReadObjects({ file: await asyncBufferFromFile(join(home, "fields.parquet")) });
  const wanted = await encoded(tokenizer, "lines.jsonl");
  expect(found).toEqual(records.map(({ id, url }, i) => ({ input_ids: wanted[i], id: BigInt(id), url })));
});

test("the ids are those of .npy and .bin", async () => {
  const tokenizer = join(home, "made", "700");
  for (const file of Object.keys(documents) as (keyof typeof documents)[]) {
    made("encode", file, "--tokenizer", tokenizer, "-o", "plain.npy");
    made("encode", file, "--tokenizer", tokenizer, "-o", "plain.bin");
    const ids = (await encoded(tokenizer, file)).flat();
    const bytes = readFileSync(join(home, "plain.bin"));
    expect([...new Uint16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2)]).toEqual(ids);
    expect(readFileSync(join(home, "plain.npy")).subarray(128).equals(bytes)).toBe(true);
  }
});
