import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { findInputs } from "../../../src/corpus/find-inputs.ts";
import * as planFile from "../../../src/corpus/plan-file.ts";
import type * as keptField from "../../../src/corpus/records/kept-fields.ts";
import { encodeIntoFiles } from "../../../src/encode/id-files.ts";
import { joinParts } from "../../../src/encode/join-parts.ts";
import { manifestText } from "../../../src/encode/shard-manifest.ts";
import { cutSettingsOf } from "../../../src/encoding/encode-corpus.ts";
import * as tokenizerFiles from "../../../src/formats/load-tokenizer.ts";
import * as idFormats from "../../../src/ids/id-formats.ts";
import * as idWriters from "../../../src/ids/id-writers.ts";
import { specialTokenId } from "../../../src/tokenizer/tokenizer-parts.ts";
import { put, scratch } from "../../binary.ts";
import { canPlayOthers, giveAway } from "../../other-user.ts";
import { isThorough, rounds } from "../../rounds.ts";
import { refusalOf } from "../../thrown.ts";
import { writeTokenizer } from "../tokenizer/made-tokenizer.ts";

const parts = await tokenizerFiles.load(writeTokenizer("gpt2"));
const separator = "<|endoftext|>";
const settings = cutSettingsOf(parts);

type Name = idFormats.IdFormat["name"];
type Asked = { append?: boolean; shardSize?: number | undefined; keptFields?: readonly keptField.Field[] };

function encode(
  read: {
    inputs: ReturnType<typeof planFile.read>["inputs"];
    ranges?: ReturnType<typeof planFile.read>["ranges"];
  },
  base: string,
  name: Name,
  asked: Asked,
) {
  const format = idFormats.of(name, "")!;
  const { append, ...files } = { shardSize: undefined, ...asked };
  const type = format.typeFor?.(parts.tokens.idLimit) ?? idWriters.typeFor(parts);
  const appendId = append ? specialTokenId(parts, separator) : undefined;
  const encoding = { ...read, parts, workerCount: 1, rangeSizeBytes: 150, type, appendId, report() {} };
  return encodeIntoFiles(encoding, parts, { base, format, documentEnd: undefined, ...files }, () => () => {});
}

/** Returns the lines of a plan with ranges of this size. */
async function planOf(paths: readonly string[], rangeSizeBytes: number): Promise<string[]> {
  const options = {
    ...settings,
    inputs: findInputs(paths),
    pattern: parts.pattern,
    rangeSizeBytes,
    keepsTextsWhole: false,
  };
  const lineOf = planFile.lineMaker(options);
  const lines: string[] = [];
  for await (const range of planFile.plannedRanges(options)) lines.push(`${JSON.stringify(lineOf(range))}\n`);
  return lines;
}

const encodePart = (lines: readonly string[], base: string, asked: Asked) =>
  encode(planFile.read(lines.join(""), "plan", settings), base, "part", { shardSize: 12, ...asked });

const joined = (
  home: string,
  partPaths: readonly string[],
  name: Name,
  shardSize?: number,
  stop = () => {},
  to = "joined",
) =>
  joinParts({
    ...{
      planPath: join(home, "plan.jsonl"),
      partPaths,
      type: undefined,
      report: stop,
      guard: () => () => {},
    },
    files: { base: join(home, to), format: idFormats.of(name, "")!, shardSize, ifChanged: to !== "joined" },
  });

const filesIn = (home: string, base: string) =>
  readdirSync(home)
    .filter((name) => name.startsWith(base))
    .sort()
    .map((name) => [name.slice(base.length), readFileSync(join(home, name), "base64")]);

const piece = fc.constantFrom("low ", "lower", " 漢字", "\n", separator, "é", "newest widest ".repeat(9), "");
const text = fc.array(piece, { maxLength: 30 }).map((words) => words.join(""));
const textFile = text.map((text) => ({ ending: "txt", text }));
const recordFile = fc.array(fc.tuple(text, fc.integer()), { maxLength: 8 }).map((records) => ({
  ending: "jsonl",
  text: records.map(([text, id]) => `${JSON.stringify({ text, id })}\n`).join(""),
}));

describe("parts of a plan", () => {
  test("are joined to the files that one machine writes, including the manifest, wherever joining was stopped", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.boolean(),
        fc.array(fc.oneof(textFile, recordFile), { minLength: 1, maxLength: 4 }),
        fc.record({
          append: fc.boolean(),
          rangeSizeBytes: fc.integer({ min: 20, max: 400 }),
          sliceCount: fc.integer({ min: 1, max: 5 }),
          shardSize: fc.option(fc.integer({ min: 1, max: 200 }), { nil: undefined }),
          name: fc.constantFrom<Name>("npy", "llmc", "megatron", "olmo", "datatrove", "parquet"),
        }),
        async (hasFields, allFiles, { append, rangeSizeBytes, sliceCount, shardSize, name }) => {
          const files = hasFields ? allFiles.filter(({ ending }) => ending === "jsonl") : allFiles;
          if (files.every(({ text }) => text === "")) return;
          const home = scratch();
          const paths = files.map(({ ending, text }, i) => put(home, `${i}.${ending}`, text));
          const asked = { append, ...(hasFields && { keptFields: [{ name: "id" }] }) };
          const format = hasFields ? "parquet" : name;
          await encode({ inputs: findInputs(paths) }, join(home, "one"), format, { ...asked, shardSize });
          const lines = await planOf(paths, rangeSizeBytes);
          put(home, "plan.jsonl", lines.toReversed().join(""));
          const size = Math.ceil(lines.length / sliceCount);
          const partPaths: string[] = [];
          for (let from = 0; from < lines.length; from += size) {
            const base = join(home, `part${from}`);
            await encodePart(lines.slice(from, from + size), base, asked);
            partPaths.push(`${base}.json`);
          }
          let reports = 0;
          const stop = () => {
            if (reports++ === 1) throw new Error("stopped");
          };
          await joined(home, partPaths.toReversed(), format, shardSize, stop).catch(({ message }) =>
            expect(message).toBe("stopped"),
          );
          const { isUnchanged } = await joined(home, partPaths, format, shardSize);
          expect(filesIn(home, "joined")).toEqual(filesIn(home, "one"));
          expect(isUnchanged).toBe(reports < 2 && shardSize !== undefined);
        },
      ),
      { numRuns: rounds(40) },
    );
  });

  test("with a record longer than a window, and special tokens in it, are joined like others", async () => {
    const home = scratch();
    const half = "low lower newest ".repeat(40_000);
    const records = [`low${separator}lower`, `${half}${separator}${half}`, "", `low${separator}`];
    const path = put(
      ...([home, "a.jsonl"] as const),
      records.map((text, id) => `${JSON.stringify({ text, id })}\n`).join(""),
    );
    const asked = { append: true, keptFields: [{ name: "id" }] };
    await encode({ inputs: findInputs([path]) }, join(home, "one"), "parquet", asked);
    const lines = await planOf([path], 50);
    put(home, "plan.jsonl", lines.join(""));
    const partPaths: string[] = [];
    for (const [i, line] of lines.entries()) {
      await encodePart([line], join(home, `part${i}`), asked);
      partPaths.push(join(home, `part${i}.json`));
    }
    expect(lines.length).toBeGreaterThan(1);
    expect(await joined(home, partPaths, "parquet")).toMatchObject({ documentCount: 4 });
    expect(filesIn(home, "joined")).toEqual(filesIn(home, "one"));
  });

  const made = async () => {
    const home = scratch();
    const paths = [
      put(home, "a.txt", "low lower newest ".repeat(40)),
      put(home, "b.txt", `low${separator}`.repeat(40)),
    ];
    const lines = await planOf(paths, 100);
    const slices = [lines.slice(0, 2), lines.slice(2, 5), lines.slice(5)];
    put(home, "plan.jsonl", lines.join(""));
    for (const [i, slice] of slices.entries()) await encodePart(slice, join(home, `p${i}`), {});
    const pathsOf = (...numbers: number[]) => numbers.map((i) => join(home, `p${i}.json`));
    const refusal = async (partPaths: readonly string[]) =>
      (await refusalOf(joined(home, partPaths, "megatron"))).message.replaceAll(`${home}/`, "");
    return { home, lines, slices, pathsOf, refusal };
  };

  test("that are missing, repeated, or of another run are refused by name", async () => {
    const { home, lines, slices, pathsOf, refusal } = await made();
    const all = pathsOf(0, 1, 2);
    expect(await refusal(pathsOf(0, 2))).toMatch(
      /^no part contains line 3 of "plan\.jsonl" \(bytes \d+ to \d+ of "a\.txt"\), nor the 2 lines after it$/,
    );
    expect(await refusal(pathsOf(1, 2))).toStartWith('no part contains line 1 of "plan.jsonl" (bytes 0 to ');
    expect(await refusal(pathsOf(0, 1))).toStartWith('no part contains line 6 of "plan.jsonl" (bytes ');
    expect(await refusal([...all, ...pathsOf(1)])).toBe(
      '"p1.json" and "p1.json" both contain line 3 of the plan',
    );
    await encodePart(slices[1]!, join(home, "p3"), { append: true });
    expect(await refusal(pathsOf(0, 3, 2))).toBe(
      `"p0.json" and "p3.json" were not encoded with the same tokenizer and options: the id of --append-token is none in "p0.json", but ${specialTokenId(parts, separator)} in "p3.json"`,
    );
    expect(await refusal(pathsOf(3, 0, 2))).toInclude('"p3.json" were not encoded with the same tokenizer');
    await encodePart(slices[0]!, join(home, "p5"), { append: true });
    expect(await refusal(pathsOf(5, 1, 2))).toEndWith(
      `the id of --append-token is ${specialTokenId(parts, separator)} in "p5.json", but none in "p1.json"`,
    );
    await encodePart([slices[1]![0]!, slices[1]![2]!], join(home, "p4"), {});
    expect(await refusal(pathsOf(0, 4))).toBe(
      '"p4.json" has line 5 of the plan right after line 3: the lines of a part must be consecutive and in order',
    );
    put(home, "plan.jsonl", lines.slice(0, -1).join(""));
    expect(await refusal(all)).toMatch(
      /^"p2\.json" contains bytes .* of "b\.txt", but no line of "plan\.jsonl" does$/,
    );
    expect(await refusal(pathsOf(0, 1))).toStartWith("no part contains line 6");
    put(home, "plan.jsonl", [...lines.slice(0, 2), ...lines.slice(3)].join(""));
    expect(await refusal(all)).toBe('"plan.jsonl" is not a complete plan: line 3 is missing');
    put(home, "plan.jsonl", [...lines.slice(0, 2), lines[1], ...lines.slice(2)].join(""));
    expect(await refusal(all)).toBe('"plan.jsonl" is not a complete plan: line 2 is repeated');
    put(home, "plan.jsonl", lines.slice(0, 5).join(""));
    expect(await refusal(pathsOf(0, 1))).toStartWith('"plan.jsonl" does not contain all ranges of "');
    expect(filesIn(home, "joined")).toEqual([]);
  });

  test("that are incomplete are refused, and so are files that are not parts", async () => {
    const { home, pathsOf, refusal } = await made();
    const all = pathsOf(0, 1, 2);
    expect(await refusal([join(home, "p0_00000.part")])).toBe(
      '"p0_00000.part" is not the manifest of a part',
    );
    const manifest = JSON.parse(readFileSync(all[1]!, "utf8"));
    const point = {
      rangeIndex: 0,
      byte: 0,
      startsInside: false,
      ids: 9,
      documents: 0,
      isOpen: true,
      hasEnded: false,
    };
    const { format, checksum, ...content } = manifest;
    writeFileSync(all[1]!, manifestText({ ...content, next: point }));
    expect(await refusal(all)).toBe('"p1.json" belongs to an unfinished part');
    const { ranges: _, ...request } = manifest.request;
    writeFileSync(all[1]!, manifestText({ ...content, request }));
    expect(await refusal(all)).toStartWith('"p1.json" is not the manifest of a part: ');
    writeFileSync(all[1]!, JSON.stringify(manifest));
    truncateSync(join(home, "p1_00000.part"), 10);
    expect(await refusal(all)).toBe('"p1_00000.part" does not have the size that "p1.json" states');
    rmSync(join(home, "p1_00000.part"));
    expect(await refusal(all)).toBe('"p1_00000.part" is missing, but "p1.json" lists it');
    expect(filesIn(home, "joined")).toEqual([]);
  });

  test("that are damaged anywhere, or of an earlier build, are refused by name", async () => {
    const { home, pathsOf, refusal } = await made();
    const all = pathsOf(0, 1, 2);
    for (const name of ["p0_00000.part", "p2_00001.part", "p1.json"]) {
      const path = join(home, name);
      const bytes = readFileSync(path);
      for (let byte = 0; byte < bytes.length; byte += isThorough ? 1 : 29) {
        const damaged = Uint8Array.from(bytes);
        damaged[byte]! ^= 1 << (byte % 8);
        writeFileSync(path, damaged);
        expect(await refusal(all)).toStartWith(`"${name}" is `);
      }
      writeFileSync(path, bytes);
    }
    const { checksum: _, ...content } = JSON.parse(readFileSync(all[1]!, "utf8"));
    writeFileSync(all[1]!, JSON.stringify({ ...content, format: 1 }));
    expect(await refusal(all)).toBe('"p1.json" was written by an earlier version of bpe, without checksums');
    expect(filesIn(home, "joined")).toEqual([]);
  });

  test("of another user are not used if everybody may write there", async () => {
    if (!canPlayOthers()) return;
    const { home, pathsOf, refusal } = await made();
    const all = pathsOf(0, 1, 2);
    chmodSync(home, 0o1777);
    for (const name of ["p0_00000.part", "p1.json"]) {
      giveAway(join(home, name));
      expect(await refusal(all)).toStartWith(`"${name}" is not used: it belongs to another user`);
      chownSync(join(home, name), 0, 0);
    }
    await joined(home, all, "megatron", 20);
    giveAway(join(home, "joined_00001.bin"));
    const again = joined(home, all, "megatron", 20);
    expect((await refusalOf(again)).message).toInclude(
      'joined_00001.bin" is not used: it belongs to another user',
    );
    expect(filesIn(home, ".")).toEqual([]);
  });

  test("are not replaced", async () => {
    const { home, pathsOf } = await made();
    const before = filesIn(home, "p");
    const { message } = await refusalOf(joined(home, pathsOf(0, 1, 2), "llmc", 20, () => {}, "p1"));
    expect(message).toEndWith('p1.json", which this run reads');
    expect(filesIn(home, "p")).toEqual(before);
  });

  test("are not joined to an unfinished encoding", async () => {
    const { home, pathsOf } = await made();
    const all = pathsOf(0, 1, 2);
    await joined(home, all, "megatron", 20);
    const path = join(home, "joined.json");
    const { format, checksum, ...manifest } = JSON.parse(readFileSync(path, "utf8"));
    const next = {
      rangeIndex: 0,
      byte: 50,
      startsInside: true,
      ids: 0,
      documents: 0,
      isOpen: true,
      hasEnded: false,
    };
    writeFileSync(path, manifestText({ ...manifest, next }));
    const { message } = await refusalOf(joined(home, all, "megatron", 20));
    expect(message).toEndWith('joined.json" belongs to a bpe encode that was interrupted');
  });
});
