import { expect, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gunzipSync, gzipSync, zstdCompressSync } from "node:zlib";
import { parquetReadObjects } from "hyparquet";
import { parquetWriteBuffer } from "hyparquet-writer";
import { binary, environment, scratch } from "../binary.ts";
import { pick, type Random, randomNumbers } from "../random.ts";
import { isThorough, rounds } from "../rounds.ts";

/**
 * The usual build and dist/bpe-small must write the same bytes. The blocks, windows and tables of dist/bpe-small are
 * tiny, so it reaches their ends with the small files here.
 *
 * With another seed, longer: BPE_SCALES_SEED=7 BPE_TEST_ROUNDS=50 node scripts/test.mjs test/cli/both-scales
 */
const seed = Number(process.env.BPE_SCALES_SEED ?? 20261127);

const small = `${binary}-small`;
if (!existsSync(small)) throw new Error("dist/bpe-small is missing: npm run build -- --small-scale");

const eot = "<|endoftext|>";
const odd = [
  ...[
    "é",
    "中",
    "😀",
    "\u0e01\u0e33",
    "e\u0301",
    "\u0301",
    "\u1100\u1161",
    "  ",
    "   \n",
    "'s",
    "\r\n",
    "1234567",
    "\u00a0",
    "\ufeff",
  ],
  ...[
    "\u0085",
    "🇩🇪",
    "\t",
    "a".repeat(40),
    "中".repeat(17),
    "é".repeat(70),
    '"',
    "\\",
    "\n\n",
    '{"text":"x"}',
    "ab".repeat(30),
    "aab".repeat(15),
  ],
  ...[eot, "<|endof", "|>", "<|x|>", "  <|endoftext|>", "\n\n<|endoftext|> "],
];
const letters = [..."etaoinsh rdlu cm\n  "];
const plain = readFileSync(join(binary, "../../docs/encode.md"), "utf8");

/** Returns odd input, random letters, or a part of the manual. */
function piece(random: Random): string {
  const kind = random(10);
  if (kind < 4) return pick(random, odd);
  if (kind < 6) return Array.from({ length: random(20) }, () => pick(random, letters)).join("");
  const start = random(plain.length);
  return plain.slice(start, start + random(60));
}

const textOf = (random: Random, lengths = [0, 1, 3, 20, 60]) =>
  Array.from({ length: pick(random, lengths) }, () => piece(random)).join("");

/**
 * Each build runs in a directory of its own, so both write files of the same names. The inputs are in `home`, the
 * parent of these directories.
 */
class Sides {
  readonly home = scratch();

  put(name: string, content: string | Uint8Array): string {
    writeFileSync(join(this.home, name), content);
    return join("..", name);
  }

  clear(): void {
    for (const side of ["usual", "small"]) {
      rmSync(join(this.home, side), { recursive: true, force: true });
      mkdirSync(join(this.home, side));
    }
  }

  run(side: "usual" | "small", args: readonly string[]) {
    const program = side === "usual" ? binary : small;
    const cwd = join(this.home, side);
    const { exitCode, stdout, stderr } = Bun.spawnSync([program, ...args], { cwd, env: environment });
    return { exitCode, stdout: stdout.toString(), stderr: stderr.toString() };
  }

  /**
   * Runs both builds and expects the same exit code, stdout and files. Returns whether they succeeded. A failed test
   * shows `note`.
   */
  async compare(note: object, args: readonly string[], smallArgs = args): Promise<boolean> {
    const [usual, tiny] = [this.run("usual", args), this.run("small", smallArgs)];
    const said = { ...note, args, stderr: tiny.stderr };
    expect({ ...said, exitCode: tiny.exitCode, stdout: tiny.stdout }).toEqual({
      ...said,
      exitCode: usual.exitCode,
      stdout: usual.stdout,
    });
    await this.expectSameFiles({ ...note, args });
    return usual.exitCode === 0;
  }

  async expectSameFiles(note: object): Promise<void> {
    const [usual, tiny] = [
      await contents(join(this.home, "usual")),
      await contents(join(this.home, "small")),
    ];
    expect({ ...note, names: Object.keys(tiny) }).toEqual({ ...note, names: Object.keys(usual) });
    const other = Object.keys(usual).filter((name) => !Bun.deepEquals(usual[name], tiny[name]));
    if (other.length === 0) return;
    const kept = `${this.home}-differs`;
    if (process.env.BPE_SCALES_KEEP !== undefined) cpSync(this.home, kept, { recursive: true });
    expect({ ...note, other }).toEqual({ ...note, other: [] });
  }
}

/**
 * Returns the contents of files by name, without empty files, caches, compact counts, and JSON other than
 * tokenizer.json.
 */
async function contents(directory: string): Promise<Record<string, unknown>> {
  const names = readdirSync(directory, { recursive: true, encoding: "utf8" })
    .filter(
      (name) =>
        !/(^|\/)(training\.json|cache(\/.*)?)$|\.(json|counts)$/.test(name) ||
        basename(name) === "tokenizer.json",
    )
    .sort();
  const found: Record<string, unknown> = {};
  for (const name of names) {
    const path = join(directory, name);
    if (Bun.file(path).size === 0 || readdirIsDirectory(path)) continue;
    const bytes = readFileSync(path);
    if (name.endsWith(".gz")) found[name] = gunzipSync(bytes).toString("hex");
    else if (name.endsWith(".parquet")) {
      const file = new Uint8Array(bytes).buffer;
      found[name] = await parquetReadObjects({ file });
    } else found[name] = bytes.toString("hex");
  }
  return found;
}

function readdirIsDirectory(path: string): boolean {
  try {
    readdirSync(path);
    return true;
  } catch {
    return false;
  }
}

type Made = { readonly name: string; readonly isText: boolean };

/** Makes a file of a random format, sometimes with bytes that are not text. */
function makeInput(random: Random, sides: Sides): Made {
  const kind = pick(random, [
    "txt",
    "txt",
    "jsonl",
    "jsonl",
    "jsonl.gz",
    "jsonl.zst",
    "txt.gz",
    "json",
    "parquet",
  ]);
  const docs = Array.from({ length: 1 + random(12) }, () => textOf(random, [0, 1, 3, 20, 60, 150]));
  const isText = kind.startsWith("txt");
  const name = `in.${kind}`;
  if (kind === "parquet") {
    const columnData = [
      { name: "id", data: docs.map((_, i) => i), type: "INT32" as const },
      { name: "text", data: docs, type: "STRING" as const },
    ];
    const codec = pick(random, ["UNCOMPRESSED", "SNAPPY"] as const);
    const options = {
      columnData,
      codec,
      rowGroupSize: pick(random, [1, 3, 1000]),
      pageSize: pick(random, [32, 1024]),
    };
    return { name: sides.put(name, new Uint8Array(parquetWriteBuffer(options))), isText };
  }
  let bytes: Buffer = isText
    ? Buffer.from(docs.join(eot))
    : kind === "json"
      ? Buffer.from(
          JSON.stringify(
            docs.map((text, id) => ({ id, text })),
            null,
            pick(random, [0, 1]),
          ),
        )
      : Buffer.from(
          docs.map((text, id) => recordOf(random, text, id)).join(pick(random, ["\n", "\r\n", "\n\n"])),
        );
  if (random(4) === 0) bytes = withNoText(random, bytes);
  const packed = kind.endsWith("gz")
    ? gzipSync(bytes)
    : kind.endsWith("zst")
      ? zstdCompressSync(bytes)
      : bytes;
  return { name: sides.put(name, packed), isText };
}

function recordOf(random: Random, text: string, id: number): string {
  const gap = () => pick(random, ["", "", " ", "\t ", " ".repeat(20)]);
  let value = JSON.stringify(text);
  if (random(3) === 0)
    value = value.replace(/[^\x20-\x7e]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
  if (random(4) === 0) {
    value = `${value.slice(0, -1)}${pick(random, ["\\ud83d\\ude00", "\\ud83d", "\\ude00x", "\\u0000", "\\/"])}"`;
  }
  const other = pick(random, [
    '"x":{"text":"no","a":[1,{"text":[]}]}',
    '"y":[true,null,1e5,-0.5]',
    `"z":"${"q".repeat(random(40))}"`,
  ]);
  const fields = [`${gap()}"text"${gap()}:${gap()}${value}${gap()}`, `"id"${gap()}:${gap()}${id}`, other];
  return `{${random(2) === 0 ? fields.join(",") : fields.toReversed().join(",")}}`;
}

const noText = ["ff", "eda080", "f09f", "efbbbf", "c3", "e4b8", "0d", "00", "f09f9880"].map((hex) =>
  Buffer.from(hex, "hex"),
);

function withNoText(random: Random, bytes: Buffer): Buffer {
  const at = random(bytes.length + 1);
  return Buffer.concat([bytes.subarray(0, at), pick(random, noText), bytes.subarray(at)]);
}

const tokenizerOptions = [
  ["-p", "gpt2"],
  ["-p", "o200k", "--superwords-from", "400"],
  ["-p", "gpt2", "--normalize", "NFC", "--compat", "huggingface"],
  ["-p", "none"],
  ["-p", String.raw`\p{L}+(?!\p{N})|\p{N}{1,3}(?=(?:\p{N}{3})*(?:\P{N}|$))|\s+(?!\S)|.`],
  ["-p", "llama3", "--whole-characters"],
];

function makeTokenizers(sides: Sides): string[] {
  const base = sides.put("base.txt", `${plain.slice(0, 20_000)}${eot}${odd.join(" ")}`);
  return tokenizerOptions.map((options, i) => {
    const name = join("..", `tokenizer-${i}`);
    const typed = [
      "train",
      base,
      "-n",
      "500",
      "-s",
      eot,
      "-s",
      "<|x|>",
      "-o",
      name,
      "-q",
      "-w",
      "1",
      ...options,
    ];
    const { exitCode, stderr } = sides.run("usual", typed);
    expect({ stderr, exitCode }).toEqual({ stderr, exitCode: 0 });
    return name;
  });
}

const idFormats: Record<string, string> = {
  npy: ".npy",
  bin: ".bin",
  parquet: ".parquet",
  megatron: "",
  olmo: "",
  datatrove: ".ds",
  llmc: ".bin",
};

const sides = new Sides();
sides.clear();
const tokenizers = makeTokenizers(sides);

function encodingOf(random: Random, { name, isText }: Made) {
  const format = pick(random, Object.keys(idFormats));
  const args = ["encode", name, "--tokenizer", pick(random, tokenizers), "-q", "--ids-format", format];
  if (isText && format !== "npy" && format !== "bin") args.push("--document-end", eot);
  if (!isText && format === "parquet" && random(2) === 0) args.push("--keep-field", "id");
  if (random(4) === 0) args.push("--append-token", "<|x|>");
  return { args, output: `ids${idFormats[format]}` };
}

test("count, tokens and encode give the same bytes", async () => {
  for (let round = 0; round < rounds(150); round++) {
    const random = randomNumbers(seed + round);
    sides.clear();
    const made = makeInput(random, sides);
    const workers = ["-w", pick(random, ["1", "2", "3"])];
    const command = pick(random, ["count", "tokens", "encode", "encode", "encode"]);
    const note = { seed: seed + round };
    if (command === "count") {
      const pattern = ["-p", pick(random, ["gpt2", "o200k", "none", "llama3"])];
      await sides.compare(note, ["count", made.name, "-s", eot, ...pattern, ...workers, "-o", "o.tsv", "-q"]);
    } else if (command === "tokens") {
      await sides.compare(note, [
        "tokens",
        made.name,
        "--tokenizer",
        pick(random, tokenizers),
        ...workers,
        "-q",
      ]);
    } else {
      const { args, output } = encodingOf(random, made);
      await sides.compare(note, [...args, ...workers, "-o", output]);
    }
  }
});

test("shards give the same bytes, also if runs are killed in between", async () => {
  for (let round = 0; round < rounds(40); round++) {
    const random = randomNumbers(seed + 10_000 + round);
    const note = { seed: seed + 10_000 + round };
    sides.clear();
    const { args, output } = encodingOf(random, makeInput(random, sides));
    const shards = [
      "--shard-size",
      pick(random, ["1", "7", "30", "64", "200"]),
      "-w",
      pick(random, ["1", "2", "3"]),
    ];
    const typed = [...args, ...shards, "-o", output];
    for (let kill = random(3); kill > 0; kill--) {
      const cwd = join(sides.home, "small");
      const run = Bun.spawn([small, ...typed], {
        cwd,
        env: environment,
        stdio: ["ignore", "ignore", "ignore"],
      });
      await Promise.race([run.exited, Bun.sleep(20 + random(300))]);
      run.kill(pick(random, ["SIGKILL", "SIGTERM"]));
      await run.exited;
    }
    const usual = sides.run("usual", typed);
    const tiny = sides.run("small", typed);
    const said = { ...note, typed, stderr: tiny.stderr };
    expect({ ...said, exitCode: tiny.exitCode }).toEqual({ ...said, exitCode: usual.exitCode });
    // After a failed run, files are not compared, because the run may have written some shards.
    if (usual.exitCode === 0) await sides.expectSameFiles({ ...note, typed });
  }
});

function trainingOf(random: Random, inputs: readonly string[]): string[] {
  const size = pick(random, [300, 400, 600]);
  const pattern = pick(random, [
    "gpt2",
    "o200k",
    "llama3",
    "none",
    String.raw`\p{L}+(?!\p{N})| ?\p{N}{1,3}|\s+(?!\S)|.`,
    String.raw`[^\n]+|\n`,
  ]);
  const plain = ["-p", pattern, "-s", eot, "--compat", pick(random, ["cs336", "huggingface", "rustbpe"])];
  const sized = ["-n", String(size)];
  const limits = [
    ...(random(5) === 0 ? ["--max-token-length", pick(random, ["2", "4", "8"])] : []),
    ...(random(5) === 0 ? ["--min-frequency", "3"] : []),
  ];
  switch (random(9)) {
    case 0:
    case 1:
      return [
        ...inputs,
        ...sized,
        ...plain,
        ...limits,
        "--superwords-from",
        String(size - pick(random, [10, 20, 40])),
      ];
    case 2:
      return [...inputs.flatMap((name, i) => ["--language", `l${i}=${name}`]), ...sized, ...plain];
    case 3:
      return [...inputs, "--extend", pick(random, tokenizers), "-n", "600"];
    case 4:
      return [...inputs, ...sized, ...plain, ...limits, "--seed-token", " the", "--seed-token", "中"];
    case 5:
      return [...inputs, ...sized, ...plain, "--whole-characters"];
    case 6:
      return [...inputs, ...sized, ...plain, "--normalize", pick(random, ["NFC", "NFKC", "NFD"])];
    case 7:
      return [...inputs, "-n", `${size - 40},${size}`, ...plain, ...limits];
    default:
      return [...inputs, ...sized, ...plain, ...limits];
  }
}

/**
 * Returns one of: text of few symbols, whose pairs often tie; a repeated word; words whose counts are mostly equal; or
 * any text.
 */
function trainingText(random: Random): string {
  const kind = random(6);
  const from = (alphabet: string, length: number) =>
    Array.from({ length }, () => pick(random, [...alphabet])).join("");
  if (kind === 0) return from(pick(random, ["ab", "ab ", "abc ", "aé ", "01\n", "xy中 "]), 1 + random(600));
  if (kind === 1) return `${from("abcd", 1 + random(50)).repeat(1 + random(30))} `.repeat(1 + random(8));
  if (kind === 2)
    return Array.from({ length: 1 + random(40) }, () => from("abcdefé", 1 + random(20)))
      .join(" ")
      .repeat(2);
  return textOf(random, [20, 60, 150, 400]);
}

test("trainings of every kind give the same bytes, and so do saved counts", async () => {
  for (let round = 0; round < rounds(100); round++) {
    const random = randomNumbers(seed + 20_000 + round);
    const note = { seed: seed + 20_000 + round };
    sides.clear();
    const inputs = Array.from({ length: 2 + random(3) }, (_, i) =>
      sides.put(`t${i}.txt`, trainingText(random)),
    );
    const workers = ["-w", pick(random, ["1", "2", "3", "4"])];
    await sides.compare(note, ["train", ...trainingOf(random, inputs), ...workers, "-o", "o", "-q"]);
    if (random(3) > 0) continue;
    sides.clear();
    const common = ["-s", eot, "-p", pick(random, ["gpt2", "none"]), ...workers, "-q"];
    const kept = pick(random, ["k.counts", "k.tsv"]);
    await sides.compare(note, ["count", ...inputs, ...common, "-o", kept]);
    await sides.compare(note, [
      "train",
      "--counts",
      kept,
      "-n",
      "400",
      ...common,
      "-o",
      "o",
      "--save-counts",
      "s.tsv",
    ]);
  }
});

test("repeated trainings with a cache give the bytes of trainings without one", async () => {
  for (let round = 0; round < rounds(15); round++) {
    const random = randomNumbers(seed + 30_000 + round);
    sides.clear();
    const texts = Array.from({ length: 1 + random(4) }, () => trainingText(random));
    const common = ["-n", "400", "-q", "-s", eot, "-p", pick(random, ["gpt2", "o200k"]), "-o", "o"];
    const limit = random(3) === 0 ? ["--cache-limit", pick(random, ["1MB", "2MB"])] : [];
    for (let night = 0; night < 2 + random(3); night++) {
      const change = pick(random, ["append", "change", "new", "remove", "same"]);
      const i = random(texts.length);
      if (night > 0 && change === "append") texts[i] += trainingText(random);
      if (night > 0 && change === "change")
        texts[i] = texts[i]!.slice(0, texts[i]!.length / 2) + pick(random, odd);
      if (night > 0 && change === "new") texts.push(trainingText(random));
      if (night > 0 && change === "remove" && texts.length > 1) texts.splice(i, 1);
      const inputs = texts.map((text, i) => sides.put(`t${i}.txt`, text));
      const workers = ["-w", pick(random, ["1", "2", "3"])];
      const typed = ["train", ...inputs, ...common, ...workers];
      const cached = [...typed, "--cache", "cache", ...limit];
      await sides.compare({ seed: seed + 30_000 + round, night, change }, typed, cached);
    }
  }
});

test("evaluations print the same", async () => {
  for (let round = 0; round < rounds(20); round++) {
    const random = randomNumbers(seed + 40_000 + round);
    sides.clear();
    const inputs = Array.from({ length: 1 + random(3) }, (_, i) =>
      sides.put(`e${i}.txt`, textOf(random, [1, 20, 100, 300])),
    );
    const chosen = isThorough ? tokenizers.slice(random(3)) : [pick(random, tokenizers)];
    const texts = inputs.flatMap((name) => ["--text", name]);
    const workers = ["-w", pick(random, ["1", "2", "3"])];
    await sides.compare({ seed: seed + 40_000 + round }, [
      "eval",
      ...chosen,
      ...texts,
      "--progress",
      "none",
      ...workers,
    ]);
  }
});
