import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import * as fc from "fast-check";
import { parquetWriteBuffer } from "hyparquet-writer";
import { findInputs } from "../../../src/corpus/find-inputs.ts";
import { encodeIntoFiles, pathsToLock } from "../../../src/encode/id-files.ts";
import { type Manifest, manifestText } from "../../../src/encode/shard-manifest.ts";
import * as tokenizerFiles from "../../../src/formats/load-tokenizer.ts";
import * as idFormats from "../../../src/ids/id-formats.ts";
import * as idWriters from "../../../src/ids/id-writers.ts";
import { readParquetIds } from "../../../src/ids/read-parquet-ids.ts";
import { Tokenizer } from "../../../src/library/tokenizer.ts";
import { specialTokenId, type TokenizerParts } from "../../../src/tokenizer/tokenizer-parts.ts";
import { put, scratch } from "../../binary.ts";
import { canPlayOthers, giveAway, makePipe } from "../../other-user.ts";
import { isThorough, rounds } from "../../rounds.ts";
import { errorOf, refusalOf } from "../../thrown.ts";
import { readIdFiles } from "../formats/read-id-files.ts";
import { writeTokenizer } from "../tokenizer/made-tokenizer.ts";

const directory = writeTokenizer("gpt2");
const parts = await tokenizerFiles.load(directory);
const tokenizer = await Tokenizer.load(directory);
const separator = "<|endoftext|>";
const separatorId = specialTokenId(parts, separator);

/** Writes a manifest with a valid checksum. */
function putManifest(path: string, { format: _, checksum: __, ...manifest }: Record<string, unknown>): void {
  writeFileSync(path, manifestText(manifest as Manifest));
}

type Format = (typeof idFormats.entries)[number]["name"];
type Asked = {
  ifChanged?: boolean;
  shardSize?: number;
  append?: boolean;
  rangeSizeBytes?: number;
  stopAt?: number;
  /** The call of `finish` that throws, counted from 0. */
  failAt?: number;
  of?: TokenizerParts;
};

const stopped = new Error("stopped");

/** Encodes files. Write number `stopAt`, counted from 0, throws, so the run fails there. */
function encode(paths: readonly string[], base: string, name: Format, asked: Asked = {}) {
  const { ifChanged, shardSize, append, rangeSizeBytes = 512, stopAt, failAt, of = parts } = asked;
  const known = idFormats.of(name, base)!;
  let writes = 0;
  let ends = 0;
  const format: idFormats.IdFormat = {
    ...known,
    open(files, type) {
      const writer = known.open(files, type);
      const write: typeof writer.write = (...ids) => {
        if (writes++ === stopAt) throw stopped;
        writer.write(...ids);
      };
      const finish = () => {
        if (ends++ === failAt) throw stopped;
        writer.finish();
      };
      return Object.assign(Object.create(writer), { write, finish });
    },
  };
  const encoding = {
    inputs: findInputs(paths),
    parts: of,
    workerCount: 1,
    rangeSizeBytes,
    type: format.typeFor?.(of.tokens.idLimit) ?? idWriters.typeFor(of),
    appendId: append ? separatorId : undefined,
    report() {},
  };
  const files = { base, format, shardSize, documentEnd: undefined, ifChanged };
  return encodeIntoFiles(encoding, of, files, () => () => {});
}

/**
 * Returns the documents that a reader finds in a file of the format if `documents` were written to it. npy, bin and
 * llmc files do not mark where documents end, and OLMo and datatrove files leave out empty documents.
 */
function keptBy(name: Format, documents: number[][]): number[][] {
  if (["npy", "bin", "llmc"].includes(name)) return [documents.flat()];
  return ["olmo", "datatrove"].includes(name) ? documents.filter(({ length }) => length > 0) : documents;
}

/** Returns the documents of a file, each encoded separately. */
function documentsOf(path: string, append: boolean): number[][] {
  const text = readFileSync(path, "utf8");
  const end = append ? [separatorId] : [];
  const ids = (text: string) => [...tokenizer.encode(text)];
  if (path.endsWith(".jsonl")) {
    const records = text.split("\n").slice(0, -1);
    return records.map((line) => [...ids(JSON.parse(line).text), ...end]);
  }
  const all = text
    .split(separator)
    .map((document, d, { length }) =>
      d < length - 1 ? [...ids(document), separatorId] : [...ids(document), ...end],
    );
  // If nothing follows the last separator, no document begins there, unless `append` adds an id. A file without a
  // separator is one document, even if it is empty.
  return all.at(-1)!.length === 0 && all.length > 1 ? all.slice(0, -1) : all;
}

const text = fc
  .array(fc.constantFrom("low ", "lower", " 漢字", "\n", separator, "é", "newest widest ".repeat(30), ""), {
    maxLength: 40,
  })
  // Two consecutive separators would be another special token of the tokenizer.
  .map((words) => words.join("").replaceAll(new RegExp(`(${RegExp.escape(separator)})+`, "g"), separator));
const corpus = fc
  .array(
    fc.oneof(
      text.map((text) => ({ ending: "txt", text })),
      fc.array(text, { maxLength: 8 }).map((texts) => ({
        ending: "jsonl",
        text: texts.map((text) => `${JSON.stringify({ text })}\n`).join(""),
      })),
    ),
    { minLength: 1, maxLength: 4 },
  )
  // `findInputs` refuses a corpus without any text.
  .filter((files) => files.some(({ text }) => text !== ""));

const putAll = (home: string, files: readonly { ending: string; text: string }[]) =>
  files.map(({ ending, text }, i) => put(home, `${i}.${ending}`, text));

const filesIn = (path: string) =>
  readdirSync(path)
    .sort()
    .map((name) => [name, readFileSync(join(path, name), "base64")]);

describe("files of ids", () => {
  test("have the ids and the documents that encoding each document gives, in every format", async () => {
    await fc.assert(
      fc.asyncProperty(corpus, fc.boolean(), async (files, append) => {
        const home = scratch();
        const paths = putAll(home, files);
        const documents = paths.flatMap((path) => documentsOf(path, append));
        for (const { name } of idFormats.entries) {
          const base = join(home, name);
          const found = await encode(paths, base, name, { append });
          expect(found).toMatchObject({ documentCount: documents.length, fileCount: 1, formerFileCount: 0 });
          const read = await readIdFiles[name](base, 2);
          expect(read).toEqual(keptBy(name, documents));
        }
      }),
      { numRuns: rounds(25) },
    );
  });

  /** Files with empty documents, long documents, and with and without a separator at the end. */
  const awkward = [
    {
      ending: "jsonl",
      text: ["", "low", "", "lower"].map((text) => `${JSON.stringify({ text })}\n`).join(""),
    },
    { ending: "txt", text: "" },
    { ending: "txt", text: "low lower newest ".repeat(60) },
    { ending: "txt", text: `low${separator}${"newest widest ".repeat(60)}` },
    { ending: "txt", text: `low lower${separator}` },
    { ending: "txt", text: `${"low lower ".repeat(40)}${separator}${"é漢 ".repeat(40)}${separator}low` },
  ];

  test("keep documents that are empty, or longer than a range, wherever a run was stopped", async () => {
    const home = scratch();
    const paths = putAll(home, awkward);
    const documents = paths.flatMap((path) => documentsOf(path, false));
    for (const name of ["parquet", "megatron"] as const) {
      const [quiet, broken] = [scratch(), scratch()];
      const asked = { shardSize: 30, rangeSizeBytes: 100 };
      const { fileCount } = await encode(paths, join(quiet, "c"), name, asked);
      const shards: number[][][] = [];
      for (let n = 0; n < fileCount; n++) shards.push(await readIdFiles[name](join(quiet, `c_0000${n}`), 2));
      expect(shards.flat()).toEqual(documents);
      for (const shard of shards.slice(0, -1)) {
        const idCount = shard.flat().length;
        expect([idCount >= 30, idCount - shard.at(-1)!.length < 30]).toEqual([true, true]);
      }
      for (let stopAt = 0, isStopped = true; isStopped; stopAt++) {
        for (const name of readdirSync(broken)) rmSync(join(broken, name));
        isStopped = false;
        await encode(paths, join(broken, "c"), name, { ...asked, stopAt }).catch((error) => {
          isStopped = error === stopped;
        });
        await encode(paths, join(broken, "c"), name, { ...asked, rangeSizeBytes: 70 });
        expect(filesIn(broken)).toEqual(filesIn(quiet));
        if (!isStopped) expect(stopAt).toBeGreaterThan(20);
      }
    }
  });

  test("after a shard that cannot be written are not written, but are when the run resumes", async () => {
    const [quiet, broken] = [scratch(), scratch()];
    const path = put(scratch(), "a.txt", `low lower${separator}`.repeat(90));
    const { fileCount } = await encode([path], join(quiet, "c"), "megatron", { shardSize: 10 });
    for (let failAt = 0; failAt < fileCount; failAt += 3) {
      const failed = encode([path], join(broken, "c"), "megatron", { shardSize: 10, failAt });
      expect(await failed.catch((error) => error)).toBe(stopped);
      expect(readdirSync(broken).filter((name) => name.endsWith(".bin"))).toHaveLength(failAt);
      // A run that is killed may leave this file: one of a shard, renamed before the manifest listed the shard.
      put(broken, `c_${String(failAt).padStart(5, "0")}.bin`, "");
      await encode([path], join(broken, "c"), "megatron", { shardSize: 10 });
      expect(filesIn(broken)).toEqual(filesIn(quiet));
      for (const name of readdirSync(broken)) rmSync(join(broken, name));
    }
  });

  test("end with the document that fills them", async () => {
    const home = scratch();
    const path = put(home, "a.jsonl", '{"text":"a"}\n'.repeat(5));
    await encode([path], join(home, "c"), "olmo", { shardSize: 2 });
    const counts = [0, 1, 2].map((n) => readIdFiles.olmo(join(home, `c_0000${n}`), 2).length);
    expect(counts).toEqual([2, 2, 1]);
  });

  test("are shards with the same bytes, wherever a run was stopped, and however the inputs were cut", async () => {
    await fc.assert(
      fc.asyncProperty(
        corpus,
        fc.boolean(),
        fc.integer({ min: 1, max: 300 }),
        fc.array(fc.tuple(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 40, max: 900 })), {
          maxLength: 8,
        }),
        fc.constantFrom<Format>("megatron", "olmo", "parquet", "llmc"),
        async (files, append, shardSize, stops, name) => {
          const [home, quiet, broken] = [scratch(), scratch(), scratch()];
          const paths = putAll(home, files);
          const whole = await encode(paths, join(quiet, "c"), name, { append, shardSize });
          for (const [stopAt, rangeSizeBytes] of stops) {
            const asked = { append, shardSize, rangeSizeBytes, stopAt };
            await encode(paths, join(broken, "c"), name, asked).catch((error) => expect(error).toBe(stopped));
            expect(readdirSync(broken).filter((name) => name.startsWith("."))).toEqual([]);
          }
          const last = await encode(paths, join(broken, "c"), name, { append, shardSize });
          expect(last).toMatchObject({ idCount: whole.idCount, documentCount: whole.documentCount });
          expect(filesIn(broken)).toEqual(filesIn(quiet));
          // All shards exist, so nothing is read again.
          const again = await encode(paths, join(broken, "c"), name, { append, shardSize, stopAt: 0 });
          expect(again).toMatchObject({ textBytes: 0, formerFileCount: whole.fileCount });
          const documents = paths.flatMap((path) => documentsOf(path, append));
          const shards: number[][][] = [];
          for (let n = 0; n < whole.fileCount; n++)
            shards.push(await readIdFiles[name](join(broken, `c_${String(n).padStart(5, "0")}`), 2));
          expect(name === "llmc" ? [shards.flat(2)] : shards.flat()).toEqual(keptBy(name, documents));
          // Each shard but the last ends with the document that reaches `shardSize` ids.
          for (const shard of name === "llmc" ? [] : shards.slice(0, -1)) {
            const ids = shard.flat().length;
            expect(ids).toBeGreaterThanOrEqual(shardSize);
            expect(ids - shard.at(-1)!.length).toBeLessThan(shardSize);
          }
        },
      ),
      { numRuns: rounds(60) },
    );
  });

  /** Returns four records. The second is longer than a window, and has a special token inside. */
  const longRecords = () => {
    const half = "low lower newest ".repeat(40_000);
    return [`low${separator}lower`, `${half}${separator}${half}`, "", `low${separator}`].map((text, id) => ({
      ...{ text, id },
    }));
  };

  /** Writes the same records in each input format for records. */
  function recordInputs(home: string, records: readonly { text: string; id: number }[]): string[] {
    const lines = records.map((record) => `${JSON.stringify(record)}\n`).join("");
    const columnData = [
      { name: "text", data: records.map(({ text }) => text), type: "STRING" as const },
      { name: "id", data: records.map(({ id }) => id), type: "INT32" as const },
    ];
    return [
      put(home, "r.jsonl", lines),
      put(home, "r.jsonl.gz", gzipSync(lines)),
      put(home, "r.json", JSON.stringify(records)),
      put(home, "r.parquet", new Uint8Array(parquetWriteBuffer({ columnData }))),
    ];
  }

  test("have each record as one document, however long, with special tokens in it", async () => {
    const records = longRecords();
    const home = scratch();
    for (const path of recordInputs(home, records)) {
      for (const append of [false, true]) {
        const end = append ? [separatorId] : [];
        const documents = records.map(({ text }) => [...tokenizer.encode(text), ...end]);
        for (const { name } of idFormats.entries.filter(({ hasDocuments }) => hasDocuments)) {
          const base = join(home, name);
          const found = await encode([path], base, name, { append });
          expect(found).toMatchObject({ documentCount: 4, fileCount: 1 });
          const read = await readIdFiles[name](base, 2);
          expect(Bun.deepEquals(read, keptBy(name, documents))).toBe(true);
        }
        // A shard ends at the end of a record, never inside one.
        const asked = { append, shardSize: 100 };
        const base = join(home, `${append}${path.split(".").length}shards${path.length}`);
        await encode([path], base, "megatron", { ...asked, stopAt: 3 }).catch((error) =>
          expect(error).toBe(stopped),
        );
        expect(await encode([path], base, "megatron", asked)).toMatchObject({
          documentCount: 4,
          fileCount: 2,
        });
        const shards = [0, 1].flatMap((n) => readIdFiles.megatron(`${base}_0000${n}`, 2));
        expect(Bun.deepEquals(await Promise.all(shards), documents)).toBe(true);
      }
    }
  });

  test("keep the fields of a long record once", async () => {
    const home = scratch();
    const records = longRecords();
    for (const path of recordInputs(home, records)) {
      const base = join(home, `kept${path.length}`);
      const encoding = {
        ...{ inputs: findInputs([path]), parts, workerCount: 1, type: "uint32" as const, report() {} },
      };
      const files = {
        base,
        format: idFormats.of("parquet", "")!,
        shardSize: undefined,
        documentEnd: undefined,
      };
      const keptFields = [{ name: "id" }];
      await encodeIntoFiles(encoding, parts, { ...files, keptFields }, () => () => {});
      const kept = [...readParquetIds(`${base}.parquet`)].flatMap(({ kept }) => kept);
      expect(kept.map(Number)).toEqual([0, 1, 2, 3]);
    }
  });

  test("have the type that their readers expect for the size of the vocabulary", () => {
    const typeOf = (name: Format, idLimit: number) =>
      idFormats.of(name, "")!.typeFor?.(idLimit) ?? idWriters.typeFor({ isNarrow: idLimit <= 65_536 });
    const types = (idLimit: number) =>
      idFormats.entries.map(({ name }) => typeOf(name, idLimit) === "uint16").map(Number);
    // The formats are npy, bin, parquet, part, megatron, olmo, datatrove, llmc.
    expect(types(65_499)).toEqual([1, 1, 0, 0, 1, 1, 1, 1]);
    expect(types(65_500)).toEqual([1, 1, 0, 0, 0, 1, 1, 1]);
    expect(types(65_536)).toEqual([1, 1, 0, 0, 0, 1, 1, 1]);
    expect(types(65_537)).toEqual([0, 0, 0, 0, 0, 0, 0, 0]);
  });

  test("of 32 bits are read by the same programs", async () => {
    const home = scratch();
    const path = put(home, "a.txt", `low lower${separator}newest ${separator}`);
    const documents = documentsOf(path, false);
    const wide = { ...parts, isNarrow: false, tokens: { ...parts.tokens, idLimit: 70_000 } };
    for (const { name } of idFormats.entries) {
      await encode([path], join(home, name), name, { of: wide });
      const read = await readIdFiles[name](join(home, name), 4);
      expect(read).toEqual(keptBy(name, documents));
    }
  });
});

/** Flips a bit of a file in place. */
function flipBit(path: string, byte: number, bit: number): void {
  const bytes = readFileSync(path);
  bytes[byte]! ^= 1 << bit;
  writeFileSync(path, bytes);
}

describe("shards that exist", () => {
  const made = async () => {
    const home = scratch();
    const path = put(home, "a.txt", `low lower newest${separator}`.repeat(50));
    const base = join(home, "c");
    await encode([path], base, "megatron", { shardSize: 100 });
    return {
      home,
      path,
      base,
      again: (asked: Asked = {}) => encode([path], base, "megatron", { shardSize: 100, ...asked }),
    };
  };

  test("of another run, or incomplete, are refused, and stay", async () => {
    const { home, path, base, again } = await made();
    const before = filesIn(home);
    const refusal = async (asked: Asked = {}) => (await refusalOf(again(asked))).message;
    expect(await refusal({ append: true })).toMatch(
      /c\.json" belongs to a run whose options or inputs differ from those of this run: the id of --append-token is none in ".*c\.json", but \d+ in this run$/,
    );
    // Omitting an option counts as changing it.
    const plain = JSON.parse(readFileSync(`${base}.json`, "utf8"));
    putManifest(`${base}.json`, { ...plain, request: { ...plain.request, appendId: 5 } });
    expect(await refusal()).toMatch(/the id of --append-token is 5 in ".*c\.json", but none in this run$/);
    putManifest(`${base}.json`, plain);
    expect(await refusal({ shardSize: 99 })).toEndWith("but 99 in this run");
    const other = encode([path], base, "olmo", { shardSize: 100 });
    expect((await refusalOf(other)).message).toMatch(
      /: --ids-format is megatron in ".*c\.json", but olmo in this run$/,
    );
    expect(filesIn(home)).toEqual(before);
    writeFileSync(path, "low lower newest");
    expect(await refusal()).toEndWith(": the list of inputs, or the size or time of an input, differs");
    expect(filesIn(home).slice(1)).toEqual(before.slice(1));
  });

  test("of another run are replaced on request, and left alone if nothing changed", async () => {
    const { home, path, again } = await made();
    const before = filesIn(home);
    const ifChanged = true;
    expect(await again({ ifChanged, stopAt: 0 })).toMatchObject({ isUnchanged: true, textBytes: 0 });
    expect(filesIn(home)).toEqual(before);
    writeFileSync(path, `low${separator}`.repeat(60));
    // Empties a file of the last shard. The empty file must not remain.
    put(home, `c_0000${(before.length - 3) >> 1}.idx`, "");
    // The shards are also replaced if an earlier run was killed while it replaced them.
    await again({ ifChanged, stopAt: 1 }).catch((error) => expect(error).toBe(stopped));
    expect(await again({ ifChanged })).toMatchObject({ documentCount: 60, isUnchanged: false });
    const elsewhere = scratch();
    await encode([path], join(elsewhere, "c"), "megatron", { shardSize: 100 });
    expect(filesIn(home).filter(([name]) => name !== "a.txt")).toEqual(filesIn(elsewhere));
    expect(await again()).toMatchObject({ isUnchanged: true });
  });

  test("that are missing or shorter are named", async () => {
    const { base, again } = await made();
    truncateSync(`${base}_00001.idx`, 10);
    expect((await refusalOf(again())).message).toMatch(
      /c_00001\.idx" does not have the size that ".*c\.json" states$/,
    );
    rmSync(`${base}_00000.bin`);
    expect((await refusalOf(again())).message).toMatch(/c_00000\.bin" is missing, but/);
    rmSync(`${base}.json`);
    writeFileSync(`${base}_00000.bin`, "");
    expect((await refusalOf(again())).message).toMatch(
      /c_00000\.bin" exists already, and there is no ".*c\.json" that says how it was made, so it is not overwritten/,
    );
  });

  test("that are damaged anywhere are refused by name, and replaced on request", async () => {
    const { home, again } = await made();
    const before = filesIn(home);
    const shards = readdirSync(home).filter((name) => name.startsWith("c_"));
    expect(shards.length).toBeGreaterThan(4);
    for (const [i, name] of shards.entries()) {
      const path = join(home, name);
      const { length } = readFileSync(path);
      for (const byte of [0, i * 7, length - 1]) {
        flipBit(path, byte, (byte + i) % 8);
        const { message } = await refusalOf(again());
        expect(message).toMatch(/c_\d+\.\w+" is damaged: its checksum is not the one in ".*c\.json"$/);
        expect(message).toStartWith(`"${path}"`);
        if (byte === 0)
          expect(await again({ ifChanged: true })).toMatchObject({ isUnchanged: false, formerFileCount: 0 });
        else flipBit(path, byte, (byte + i) % 8);
        expect(filesIn(home)).toEqual(before);
      }
    }
    rmSync(join(home, "c_00001.bin"));
    expect(await again({ ifChanged: true })).toMatchObject({ isUnchanged: false });
    expect(filesIn(home)).toEqual(before);
    expect(await again({ ifChanged: true })).toMatchObject({ isUnchanged: true });
  });

  test("whose manifest is damaged anywhere, or of an earlier build, are refused, and replaced on request", async () => {
    const { home, base, again } = await made();
    const before = filesIn(home);
    const path = `${base}.json`;
    const manifest = readFileSync(path);
    const { length } = manifest;
    for (let byte = 0; byte < length; byte += isThorough ? 1 : 23) {
      flipBit(path, byte, byte % 8);
      expect((await refusalOf(again())).message).toInclude(`"${path}" is `);
      writeFileSync(path, manifest);
    }
    for (let n = 0; n < rounds(20); n++) {
      flipBit(path, (n * 7919) % length, n % 8);
      // Also empties a file of the last shard. The manifest is damaged, so it lists no shard, and all must be replaced.
      put(home, `c_0000${(before.length - 3) >> 1}.idx`, "");
      expect(await again({ ifChanged: true })).toMatchObject({ isUnchanged: false, formerFileCount: 0 });
      expect(filesIn(home)).toEqual(before);
    }
    const { checksum: _, ...content } = JSON.parse(`${manifest}`);
    writeFileSync(path, JSON.stringify({ ...content, format: 1 }));
    expect((await refusalOf(again())).message).toEndWith(
      "was written by an earlier version of bpe, without checksums",
    );
    expect(await again({ ifChanged: true })).toMatchObject({ isUnchanged: false });
    expect(filesIn(home)).toEqual(before);
    // Without shards next to it, the file at the manifest's path may be anything, so it is not replaced.
    for (const name of readdirSync(home)) if (name.startsWith("c_")) rmSync(join(home, name));
    writeFileSync(path, '{"my": "own"}');
    expect((await refusalOf(again({ ifChanged: true }))).message).toInclude("is not a manifest of shards");
    expect(readFileSync(path, "utf8")).toBe('{"my": "own"}');
  });

  test("are not removed if the run reads them", async () => {
    const home = scratch();
    const path = put(home, "a.txt", `low lower newest${separator}`.repeat(50));
    const base = join(home, "c");
    await encode([path], base, "llmc", { shardSize: 100 });
    const shard = put(home, "c_00001.bin", "low lower newest");
    const before = filesIn(home);
    const again = encode([shard], base, "llmc", { shardSize: 100, ifChanged: true });
    expect((await refusalOf(again)).message).toInclude("which this run reads");
    expect(filesIn(home)).toEqual(before);
  });

  test("of another user are not used if everybody may write there, and stay", async () => {
    if (!canPlayOthers()) return;
    const { home, again } = await made();
    chmodSync(home, 0o1777);
    giveAway(join(home, "c.json"), ...readdirSync(home).map((name) => join(home, name)));
    const before = filesIn(home);
    for (const asked of [{}, { ifChanged: true }, { ifChanged: true, append: true }]) {
      const { message } = await refusalOf(again(asked));
      expect(message).toEndWith(
        'c.json" is not used: it belongs to another user (uid 65534), and everybody may write to its directory',
      );
    }
    // The manifest is ours, but a shard is not.
    chownSync(join(home, "c.json"), 0, 0);
    for (const asked of [{}, { ifChanged: true }, { ifChanged: true, append: true }])
      expect((await refusalOf(again(asked))).message).toMatch(
        /c_\d+\.\w+" is not used: it belongs to another user/,
      );
    expect(filesIn(home)).toEqual(before);
    // A run neither waits for a pipe nor follows a link of another user.
    rmSync(join(home, "c.json"));
    makePipe(join(home, "c.json"));
    expect((await refusalOf(again())).message).toEndWith("it is not a regular file");
    rmSync(join(home, "c.json"));
    symlinkSync(put(home, "other.json", "{}"), join(home, "c.json"));
    giveAway(join(home, "c.json"));
    expect((await refusalOf(again())).message).toInclude("symbolic link");
    // Files of another user are used if only the owner and the group of their directory may write in it.
    rmSync(join(home, "c.json"));
    for (const name of readdirSync(home)) chownSync(join(home, name), 0, 0);
    for (const name of readdirSync(home)) if (name.startsWith("c_")) rmSync(join(home, name));
    await again();
    giveAway(...readdirSync(home).map((name) => join(home, name)));
    chmodSync(home, 0o775);
    expect(await again()).toMatchObject({ isUnchanged: true });
  });

  test("have a manifest that no other file is mistaken for", async () => {
    const { base, again } = await made();
    const manifest = JSON.parse(readFileSync(`${base}.json`, "utf8"));
    const wrong = [
      null,
      [],
      {},
      { ...manifest, format: 1 },
      { ...manifest, format: 3 },
      { ...manifest, shards: [{}] },
      { ...manifest, next: {} },
    ];
    for (const one of [...wrong.map((one) => JSON.stringify(one)), "{", ""]) {
      writeFileSync(`${base}.json`, one);
      expect((await refusalOf(again())).message).toInclude("c.json");
    }
  });
});

test("a file of ids that a run reads is not replaced", async () => {
  const home = scratch();
  const path = put(home, "c_00001.bin", `low lower newest${separator}`.repeat(50));
  const encoded = encode([path], join(home, "c"), "llmc", { shardSize: 100 });
  expect((await refusalOf(encoded)).message).toInclude("would replace");
  expect(readFileSync(path, "utf8")).toStartWith("low lower");
});

test("a range that may begin or end within a document is refused if documents are kept", async () => {
  const home = scratch();
  const inputs = findInputs([
    put(home, "a.txt", "low lower newest"),
    put(home, "b.jsonl", '{"text":"low"}\n'),
  ]);
  const range = { inputIndex: 0, startByte: 0, endByte: 4, startsInside: false, endsInside: true };
  const record = { inputIndex: 1, startByte: 0, endByte: 15, startsInside: false, endsInside: false };
  const encodeRanges = (name: Format, ranges: (typeof range)[]) => {
    const encoding = { inputs, ranges, parts, workerCount: 1, type: "uint16" as const, report() {} };
    const asked = { base: join(home, name), format: idFormats.of(name, "")!, shardSize: undefined };
    return encodeIntoFiles(encoding, parts, { ...asked, documentEnd: undefined }, () => () => {});
  };
  for (const name of ["megatron", "olmo", "datatrove", "parquet"] as const) {
    const { message } = await refusalOf(encodeRanges(name, [range]));
    expect(message).toEndWith(
      `a.txt" may begin or end within a document, but files of the format ${name} contain whole documents`,
    );
    expect(await encodeRanges(name, [record])).toMatchObject({ documentCount: 1 });
  }
  expect(await encodeRanges("npy", [range])).toMatchObject({ fileCount: 1 });
});

test("a document too long for a field of 32 bits is refused", () => {
  const sink = { write() {}, overwrite() {} };
  const writer = idFormats.of("megatron", "")!.open([sink, sink], "uint16");
  const ids = new Uint16Array(2 ** 28);
  for (let part = 0; part < 8; part++) writer.write(ids);
  writer.endInput();
  expect(errorOf(() => writer.finish()).message).toBe(
    "a document has 2,147,483,648 ids, but megatron allows at most 2,147,483,647 per document",
  );
});

test("a lock covers each of several single files, and of shards the manifest", () => {
  const asked = { base: "ids", format: idFormats.of("megatron", "")!, documentEnd: undefined };
  expect(pathsToLock({ ...asked, shardSize: undefined })).toEqual(["ids.bin", "ids.idx"]);
  expect(pathsToLock({ ...asked, shardSize: 100 })).toEqual(["ids.json"]);
});
