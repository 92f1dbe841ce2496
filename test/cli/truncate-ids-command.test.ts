import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { bpe, put, scratch } from "../binary.ts";
import { rowsOf } from "../rows.ts";
import { madeText } from "../unit/tokenizer/made-merges.ts";

const home = scratch();
const end = "<|endoftext|>";
const corpus = put(home, "corpus.txt", `${madeText(1, 3000)}${end}${madeText(2, 500)}`);
put(home, "text.txt", `${madeText(3, 2000)}${end} ${madeText(1, 300)}  123 \n\n 漢字é${end}`);
put(
  home,
  "lines.jsonl",
  ["", "lowest  low", `a${end}b`, madeText(4, 50)].map((text) => `${JSON.stringify({ text })}\n`).join(""),
);

const run = (...args: string[]) => bpe(args, { cwd: home });
const done = (...args: string[]) => {
  const { code, stderr, stdout } = run(...args, "-q");
  expect([args, stderr, code]).toEqual([args, "", 0]);
  return stdout;
};
const bytesOf = (name: string) => readFileSync(join(home, name));

/** Trains a tokenizer, and truncates it to two sizes. */
function make(name: string, ...more: string[]): void {
  done("train", corpus, "-n", "700", "-s", end, "-s", "<|x|>", "-w", "1", "-o", name, ...more);
  done("truncate", name, "-n", "500,300", "-o", `${name}-cut`);
}

make("cs336");
describe("ids cut from ids equal those of encoding from scratch", () => {
  for (const [name, ...more] of [
    ["cs336"],
    ["huggingface", "--compat", "huggingface", "-p", "o200k"],
    ["rustbpe", "--compat", "rustbpe", "-p", "cl100k"],
    ["superwords", "--superwords-from", "450"],
    ["split", "-p", "starcoder", "--normalize", "NFC"],
  ] as const) {
    test(name, () => {
      if (name !== "cs336") make(name, ...more);
      done("encode", "text.txt", "--tokenizer", name, "-o", "big.npy");
      for (const size of [500, 300]) {
        const small = `${name}-cut/${size}`;
        done("encode", "text.txt", "--tokenizer", small, "-o", "again.npy");
        done("ids", "truncate", "big.npy", "--from", name, "--to", small, "-o", "cut.npy");
        expect(bytesOf("cut.npy").equals(bytesOf("again.npy"))).toBe(true);
      }
    });
  }

  test("by ranks, whose pattern and special tokens are typed or in the record", () => {
    const ranks = put(
      scratch(),
      "tokenizer.tiktoken",
      readFileSync(join(home, "cs336", "tokenizer.tiktoken")),
    );
    const said = ["-p", "gpt2", "-s", `${end}=2000`];
    done("truncate", ranks, "-n", "400", "-o", "ranks-cut", ...said);
    done("encode", "text.txt", "--tokenizer", ranks, "-o", "big.npy", ...said);
    done("encode", "text.txt", "--tokenizer", "ranks-cut", "-o", "again.npy");
    done("ids", "truncate", "big.npy", "--from", ranks, "--to", "ranks-cut", "-o", "cut.npy", ...said);
    expect(bytesOf("cut.npy").equals(bytesOf("again.npy"))).toBe(true);
  });

  test("from every form of ids to every other; a line stays a line", () => {
    const small = ["--from", "cs336", "--to", "cs336-cut/300"];
    const encoded = (tokenizer: string, file: string) =>
      done("encode", "lines.jsonl", "--tokenizer", tokenizer, ...(file === "" ? [] : ["-o", file]));
    const again = encoded("cs336-cut/300", "");
    const lines = put(home, "lines.txt", encoded("cs336", ""));
    expect(done("ids", "truncate", lines, ...small)).toBe(again);
    expect(bpe(["ids", "truncate", ...small, "-q"], { cwd: home, stdin: readFileSync(lines) }).stdout).toBe(
      again,
    );
    encoded("cs336", "big.bin");
    encoded("cs336-cut/300", "again.bin");
    done("ids", "truncate", "big.bin", ...small, "-o", "cut.bin");
    expect(bytesOf("cut.bin").equals(bytesOf("again.bin"))).toBe(true);
    done("encode", "lines.jsonl", "--tokenizer", "cs336", "--dtype", "uint32", "-o", "wide.bin");
    done("ids", "truncate", "wide.bin", ...small, "--dtype", "uint32", "-o", "cut32.bin");
    const wide = new Uint32Array(bytesOf("cut32.bin").buffer.slice(0));
    expect([...wide]).toEqual(again.trim().split(/\s+/).map(Number));
    expect(done("ids", "truncate", "wide.bin", ...small, "--dtype", "uint32").trim()).toBe(
      [...wide].join(" "),
    );
  });
});

describe("files of the trainers' formats, with their documents,", () => {
  const texts = ["text.txt", "lines.jsonl"];
  const small = ["--from", "cs336", "--to", "cs336-cut/300", "-q"];
  const files = (base: string) =>
    readdirSync(home)
      .filter((name) => name.startsWith(`${base}.`))
      .sort();
  const bytes = (base: string) =>
    files(base).map((name) => [name.slice(base.length), bytesOf(name).toString("base64")]);
  const encode = (format: string, tokenizer: string, base: string, ...more: string[]) =>
    done(
      "encode",
      ...texts,
      "--tokenizer",
      tokenizer,
      "-o",
      base,
      "--ids-format",
      format,
      "-w",
      "1",
      ...more,
    );
  const first = { megatron: ".bin", olmo: ".npy", datatrove: ".ds", parquet: ".parquet", llmc: ".bin" };

  for (const [format, ending] of Object.entries(first)) {
    test(`${format}: truncated files are byte-identical to encoding again, and can be decoded`, () => {
      encode(format, "cs336", `big-${format}`);
      encode(format, "cs336-cut/300", `again-${format}`);
      for (const to of [`cut-${format}${ending}`, `cut-${format}`]) {
        done("ids", "truncate", `big-${format}${ending}`, ...small, "-o", to);
        expect(bytes(`cut-${format}`)).toEqual(bytes(`again-${format}`));
        for (const name of files(`cut-${format}`)) rmSync(join(home, name));
      }
      const records = JSON.parse(
        `[${readFileSync(join(home, "lines.jsonl"), "utf8").trim().replaceAll("\n", ",")}]`,
      );
      const decoded = done("decode", `big-${format}${ending}`, "--tokenizer", "cs336");
      expect(decoded).toBe(
        `${bytesOf("text.txt")}${records.map(({ text }: { text: string }) => text).join("")}`,
      );
    });
  }

  test("are truncated into another format, or to lines, on request", () => {
    encode("olmo", "cs336", "from");
    encode("datatrove", "cs336-cut/300", "to");
    done("ids", "truncate", "from.csv.gz", ...small, "-o", "olmo-cut.ds");
    expect(bytes("olmo-cut")).toEqual(bytes("to"));
    encode("bin", "cs336-cut/300", "bare");
    done("ids", "truncate", "from.npy", ...small, "--ids-format", "bin", "-o", "bare-cut");
    expect(bytes("bare-cut")).toEqual(bytes("bare"));
    const lines = done("ids", "truncate", "from.npy", ...small).split("\n");
    expect(lines.flatMap((line) => line.trim().split(" ").filter(Boolean).map(Number))).toEqual([
      ...new Uint16Array(bytesOf("bare.bin").buffer.slice(0)),
    ]);
    // There is a line for each of two documents, and for three of the four records, because OLMo drops the empty one.
    // Splitting at the last line end adds "".
    expect(lines).toHaveLength(2 + 3 + 1);
  });

  test("keep the fields of records", () => {
    put(
      home,
      "fields.jsonl",
      [1, null].map((id) => `${JSON.stringify({ text: "low lower", id, none: null })}\n`).join(""),
    );
    const keep = ["encode", "fields.jsonl", "--keep-field", "id,none:double", "-w", "1", "--tokenizer"];
    done(...keep, "cs336", "-o", "kept.parquet");
    done(...keep, "cs336-cut/300", "-o", "kept-again.parquet");
    done("ids", "truncate", "kept.parquet", ...small, "-o", "kept-cut.parquet");
    expect(bytesOf("kept-cut.parquet").equals(bytesOf("kept-again.parquet"))).toBe(true);
    const { stderr } = run("ids", "truncate", "kept.parquet", ...small, "-o", "kept.ds");
    expect(stderr).toInclude('datatrove cannot store the fields that "kept.parquet" contains');
  });

  test("without documents get none", () => {
    put(home, "blank.jsonl", "\n");
    for (const [documentCount, file, ...more] of [
      [0, "none.parquet"],
      [0, "kept-none.parquet", "--keep-field", "id"],
      [0, "none.bin", "--ids-format", "megatron"],
      [0, "none.ds"],
      // A file of bare ids is always one document.
      [1, "bare-none.bin", "--ids-format", "llmc"],
    ] as const) {
      const encodeBlank = (tokenizer: string, into: string) =>
        done("encode", "blank.jsonl", "--tokenizer", tokenizer, "-w", "1", "-o", into, ...more);
      encodeBlank("cs336", file);
      encodeBlank("cs336-cut/300", `again-${file}`);
      done("ids", "truncate", file, ...small, "-o", `cut-${file}`);
      const base = file.replace(/\.\w+$/, "");
      expect(bytes(`cut-${base}`)).toEqual(bytes(`again-${base}`));
      expect(JSON.parse(done("ids", "check", file, "--tokenizer", "cs336", "--json"))).toMatchObject({
        documentCount,
      });
    }
  });

  test("that lack a part, are damaged, or belong to other files, are refused", () => {
    const refused = (from: string, to: string, message: string, ...more: string[]) => {
      const before = readdirSync(home);
      const { code, stderr } = run("ids", "truncate", from, ...small, "-o", to, ...more);
      expect([from, stderr, code !== 0]).toEqual([from, expect.stringContaining(message), true]);
      expect(readdirSync(home)).toEqual(before);
    };
    for (const format of ["megatron", "datatrove", "olmo", "parquet"]) encode(format, "cs336", `m-${format}`);
    refused(
      "m-megatron.bin",
      "never.npy",
      '--output "never.npy" would be written as npy, which does not store where the documents of "m-megatron.bin" end',
    );
    refused("m-megatron.bin", "never.xyz", '--output "never.xyz" does not say which format to write');
    refused(
      "ids.npy",
      "never.ds",
      'needs input in the format parquet, megatron, olmo, datatrove or llmc, but "ids.npy" is in none of these formats',
      "--ids-format",
      "datatrove",
    );
    refused("m-megatron.idx", "m-megatron", "would replace");
    const damage = (name: string, change: (bytes: Buffer) => Buffer) =>
      writeFileSync(join(home, name), change(bytesOf(name)));
    damage("m-megatron.bin", (bytes) => bytes.subarray(2));
    refused("m-megatron.bin", "never", "but its documents have");
    damage("m-megatron.idx", (bytes) => Buffer.concat([bytes, Buffer.of(0)]));
    refused("m-megatron.bin", "never", '"m-megatron.idx" is damaged: it has');
    damage("m-datatrove.ds.index", (bytes) => Buffer.concat([bytes.subarray(8), bytes.subarray(0, 8)]));
    refused("m-datatrove.ds", "never.ds", "before it begins");
    rmSync(join(home, "m-datatrove.ds.index"));
    refused("m-datatrove.ds", "never.ds", "m-datatrove.ds.index");
    damage("m-olmo.csv.gz", () => gzipSync("0,5,0,source,0\r\n"));
    refused(
      "m-olmo.npy",
      "never",
      'line 1 of "m-olmo.csv.gz" is "0,5,0,source,0", which bpe encode would not write',
    );
    damage("m-parquet.parquet", (bytes) =>
      Buffer.from(bytes.toString("latin1").replace("\x03bpe", "\x03BPE"), "latin1"),
    );
    refused("m-parquet.parquet", "never", "was not written by bpe encode");
  });
});

describe("refusals, which write nothing", () => {
  make("other", "-p", "cl100k");
  done("train", corpus, "-n", "400", "-s", end, "-w", "1", "-o", "fewer");
  done("prune", "cs336", "--text", "text.txt", "-n", "600", "-o", "pruned", "-w", "1");
  done("encode", "text.txt", "--tokenizer", "cs336", "-o", "ids.npy");
  put(home, "wrong.txt", "1 2 700\n");
  put(home, "empty.bin", "");
  put(home, "odd.bin", "abc");
  const cases = rowsOf(`
    another pattern | ids.npy --from cs336 --to other-cut/300 | the two tokenizers split or normalize text differently
    other special tokens | ids.npy --from cs336 --to fewer | their added tokens differ
    tokens in another order | ids.npy --from cs336 --to pruned | "pruned/tokenizer.json" is not a truncated form of "cs336/tokenizer.json": its merge
    the larger for the smaller | ids.npy --from cs336-cut/300 --to cs336 | only one of the two tokenizers has the merge
    give the tokenizer that the ids were made with | wrong.txt --from cs336 --to cs336-cut/300 | is 700, but must be from 0 to 699
    a file that is not a tokenizer | ids.npy --from cs336 --to ids.npy | is not a tokenizer of a known kind
    a damaged file | odd.bin --from cs336 --to cs336-cut/300 | not a multiple of 2, the size of a uint16 id
  `);
  for (const [name, typed, message] of cases) {
    test(name!, () => {
      const args = [...typed!.split(" "), "-o", "never.npy", "-q"];
      const { code, stderr } = run("ids", "truncate", ...args);
      expect([stderr, code]).toEqual([expect.stringContaining(message!), 1]);
      expect(existsSync(join(home, "never.npy"))).toBe(false);
    });
  }

  test("the file itself, or a tokenizer, as output; a name that implies no format", () => {
    const before = bytesOf("ids.npy");
    for (const [into, message] of [
      ["ids.npy", "which this run reads"],
      ["cs336-cut/300/tokenizer.json", "which this run reads"],
      ["ids.parquet", "ends in neither .npy nor .bin"],
    ] as const) {
      const args = "ids truncate ids.npy --from cs336 --to cs336-cut/300 -o".split(" ");
      const { code, stderr } = run(...args, into);
      expect([stderr, code]).toEqual([expect.stringContaining(message), 2]);
    }
    expect(bytesOf("ids.npy").equals(before)).toBe(true);
    done("ids", "truncate", "empty.bin", "--from", "cs336", "--to", "cs336-cut/300", "-o", "none.npy");
    expect(bytesOf("none.npy").length).toBe(128);
  });

  test("an id that no text produces, with its position", () => {
    const json = JSON.parse(readFileSync(join(home, "cs336", "tokenizer.json"), "utf8"));
    json.model.vocab.qzqz = 700;
    const big = put(scratch(), "tokenizer.json", JSON.stringify(json));
    const { code, stderr } = run("ids", "truncate", "wrong.txt", "--from", big, "--to", "cs336-cut/300");
    expect([stderr, code]).toEqual([
      expect.stringContaining("never encodes text to the id 700, which the input has at position 2"),
      1,
    ]);
  });
});
