import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parquetWriteBuffer } from "hyparquet-writer";
import { must } from "./outcome.ts";
import { mustEndWell, type RunOptions, run } from "./process.ts";
import { madeText } from "./text.ts";

const specialToken = "<|endoftext|>";
/** The options of a plain training. */
export const trainOptions = ["-n", "2000", "-s", specialToken];

/**
 * Commands whose results differ from that of a plain training. `sign` is an argument by which each command is
 * recognized.
 */
export function otherResults(root: string): { readonly sign: string; readonly args: readonly string[] }[] {
  const [text, old] = [join(root, "inputs", "new.txt"), join(root, "old")];
  return [
    { sign: "--superwords-from", args: ["train", text, ...trainOptions, "--superwords-from", "1500"] },
    { sign: "--extend", args: ["train", text, "-n", "+500", "-s", specialToken, "--extend", old] },
    { sign: "prune", args: ["prune", old, "--text", text, "-n", "1000"] },
    { sign: "truncate", args: ["truncate", old, "-n", "1200"] },
    { sign: "convert", args: ["convert", old, "--format", "huggingface,gguf"] },
  ];
}

/** Adds `-w`, the number of threads, if the command has that option. */
export const withWorkers = (args: readonly string[], count: string) =>
  ["truncate", "convert"].includes(args[0]!) ? args : [...args, "-w", count];

/** The names and hashes of a result's files, except the record, which contains times. */
type Print = string;

/** The files for fault injection: yesterday's corpus ("old"), today's ("new"), and results of undisturbed runs. */
export class World {
  readonly root: string;
  /** The directory where runs write their outputs. */
  readonly work: string;
  readonly temporary: string;
  readonly inputs: string;
  /** Whether outputs go to a separate small device, which can be filled. */
  readonly isOnDevice: boolean;
  /**
   * Sizes in bytes to which a compressed file can be truncated and still be valid, because the cut is between two gzip
   * members or zstd frames.
   */
  readonly wholeSizes: number[] = [];
  private newText = "";
  private prints = { old: "", new: "", ids: "", oldIds: "" };
  /** The prints of `otherResults`, by `sign`. */
  private readonly otherPrints = new Map<string, Print>();

  constructor(private readonly textBytes: number) {
    this.root = mkdtempSync(join(tmpdir(), "bpe-faults-"));
    const device = join(this.root, "device");
    mkdirSync(device);
    this.isOnDevice = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=32m", "bpe-faults", device]).success;
    this.work = join(device, "work");
    this.temporary = join(device, "temporary");
    this.inputs = join(this.root, "inputs");
  }

  /** Makes the corpora, and stores the results of undisturbed runs. */
  async build(seed: number): Promise<void> {
    mkdirSync(this.inputs);
    writeFileSync(join(this.inputs, "old.txt"), madeText(seed, this.textBytes));
    this.newText = madeText(seed + 1, this.textBytes);
    this.layOutInputs();
    this.clear();
    for (const which of ["old", "new"] as const) {
      const ended = await run(
        ["train", this.input(`${which}.txt`), ...trainOptions, "-w", "1", "-o", join(this.root, which)],
        this.options,
      );
      must(ended.code === 0, () => `an undisturbed run failed: ${ended.stderr}`);
      this.prints[which] = printOf(join(this.root, which));
    }
    must(this.prints.old !== this.prints.new, () => "both corpora give the same result");
    for (const { sign, args } of otherResults(this.root)) {
      const path = join(this.root, "other");
      rmSync(path, { recursive: true, force: true });
      const ended = await run([...withWorkers(args, "1"), "-o", path], this.options);
      must(ended.code === 0, () => `an undisturbed run failed: ${ended.stderr}`);
      this.otherPrints.set(sign, printOf(path));
    }
    must(
      new Set([...this.otherPrints.values(), this.prints.new]).size === this.otherPrints.size + 1,
      () => "two results are the same",
    );
    for (const [key, text] of [
      ["oldIds", "old.txt"],
      ["ids", "new.txt"],
    ] as const) {
      const path = join(this.root, `${key}.npy`);
      const ended = await run(
        ["encode", this.input(text), "--tokenizer", join(this.root, "old"), "-w", "1", "-o", path],
        this.options,
      );
      must(ended.code === 0, () => `an undisturbed run failed: ${ended.stderr}`);
      this.prints[key] = hashOf(path);
    }
  }

  /** Writes today's corpus as text, gzip, zstd, Parquet and JSON lines. */
  layOutInputs(): void {
    const text = this.newText;
    this.wholeSizes.length = 0;
    const bytes = Buffer.from(text);
    const half = bytes.indexOf("\n", bytes.length >> 1) + 1;
    const members = [bytes.subarray(0, half), bytes.subarray(half)] as const;
    const put = (name: string, content: Uint8Array | string) => writeFileSync(this.input(name), content);
    put("new.txt", bytes);
    // Each file has several members or frames, as written by tools that compress in parallel.
    for (const [name, compress] of [
      ["new.txt.gz", Bun.gzipSync],
      ["new.txt.zst", Bun.zstdCompressSync],
    ] as const) {
      const compressed = members.map((member) => compress(member));
      put(name, Buffer.concat(compressed));
      this.wholeSizes.push(compressed[0]!.length);
    }
    const documents = text.split(specialToken).filter((document) => document !== "");
    put(
      "new.parquet",
      new Uint8Array(parquetWriteBuffer({ columnData: [{ name: "text", data: documents, type: "STRING" }] })),
    );
    put("new.jsonl", documents.map((document) => `${JSON.stringify({ text: document })}\n`).join(""));
  }

  input(name: string): string {
    return join(this.inputs, name);
  }

  get options(): RunOptions {
    return { cwd: this.work, temporary: this.temporary };
  }

  /** Empties the directories that runs write to. */
  clear(): void {
    for (const directory of [this.work, this.temporary]) {
      if (existsSync(directory)) {
        for (const name of readdirSync(directory))
          rmSync(join(directory, name), { recursive: true, force: true });
      } else mkdirSync(directory);
    }
  }

  /** Puts yesterday's results where runs write today's. */
  layOutOld(): void {
    this.clear();
    copyDirectory(join(this.root, "old"), join(this.work, "out"));
    writeFileSync(join(this.work, "ids.npy"), readFileSync(join(this.root, "oldIds.npy")));
  }

  /** Returns whether the tokenizer and the ids are old or new; throws if they are neither. */
  standing(after = ""): { out: "old" | "new"; ids: "old" | "new" } {
    const out = printOf(join(this.work, "out"));
    must(
      out === this.prints.old || this.isNew(out),
      () => `the tokenizer is neither the old nor the new one; ${after}`,
    );
    const ids = hashOf(join(this.work, "ids.npy"));
    must(
      ids === this.prints.oldIds || ids === this.prints.ids,
      () => `the ids are neither the old nor the new ones; ${after}`,
    );
    return {
      out: out === this.prints.old ? "old" : "new",
      ids: ids === this.prints.oldIds ? "old" : "new",
    };
  }

  private isNew(print: Print): boolean {
    return print === this.prints.new || [...this.otherPrints.values()].includes(print);
  }

  /** Checks that runs have left no stray files. */
  mustBeTidy(): void {
    const strays = readdirSync(this.temporary);
    must(strays.length === 0, () => `left in the directory for temporary files: ${strays.join(", ")}`);
    for (const name of readdirSync(this.work)) {
      if (["out", "ids.npy", "log"].includes(name)) continue;
      const path = join(this.work, name);
      if (/^out\.\d{8}T\d{6}Z(-\d+)?$/.test(name)) {
        const print = printOf(path);
        must(print === this.prints.old || this.isNew(print), () => `${name} is no whole result`);
      } else if (name === "words.counts") {
        must(existsSync(path), () => "unreachable");
      } else if (name === "cache") {
        const odd = readdirSync(path).filter(
          (file) => !/^bpe-(index|[0-9a-f-]+\.(words|sum|result))$/.test(file),
        );
        must(odd.length === 0, () => `left in the cache: ${odd.join(", ")}`);
      } else must(false, () => `left next to the output: ${name}`);
    }
  }

  /** Checks that the next run, undisturbed, gives the right result and leaves no stray files. */
  async mustWorkAgain(args: readonly string[], stdin?: string): Promise<void> {
    const ended = await run(args, { ...this.options, stdin });
    mustEndWell(ended);
    must(ended.code === 0, () => `the next run failed: ${ended.stderr}`);
    const { out, ids } = this.standing();
    must((args[0] === "encode" ? ids : out) === "new", () => "the next run left the old result");
    const sign = args.find((arg) => this.otherPrints.has(arg));
    const wanted = sign === undefined ? this.prints.new : this.otherPrints.get(sign);
    must(
      args[0] === "encode" || printOf(join(this.work, "out")) === wanted,
      () => "the next run gave another result than undisturbed ones",
    );
    this.mustBeTidy();
  }

  /** Checks that --keep 2 has kept the old result next to the new one. */
  mustHaveKeptOld(): void {
    const kept = readdirSync(this.work).filter((name) => name.startsWith("out."));
    must(
      kept.some((name) => printOf(join(this.work, name)) === this.prints.old),
      () => "the old result was to be kept and is gone",
    );
  }

  remove(): void {
    if (this.isOnDevice) Bun.spawnSync(["umount", join(this.root, "device")]);
    rmSync(this.root, { recursive: true, force: true });
  }
}

const hashOf = (path: string) => new Bun.CryptoHasher("sha256").update(readFileSync(path)).digest("hex");

/**
 * Returns the print of a complete result. Checks that the directory contains the record, the files that it lists, and
 * nothing else.
 */
function printOf(directory: string): Print {
  must(existsSync(directory), () => `${directory} is gone`);
  const names = readdirSync(directory).sort();
  must(names.includes("training.json"), () => `${directory} has no record, only ${names.join(", ")}`);
  const record = JSON.parse(readFileSync(join(directory, "training.json"), "utf8")) as { files: string[] };
  const listed = [...new Set([...record.files, "training.json"])].sort();
  must(
    `${listed}` === `${names}`,
    () => `${directory} holds ${names.join(", ")}, its record says ${listed.join(", ")}`,
  );
  return names
    .filter((name) => name !== "training.json")
    .map((name) => `${name} ${hashOf(join(directory, name))}`)
    .join("\n");
}

export function copyDirectory(from: string, to: string): void {
  const staged = `${to}.copy`;
  mkdirSync(staged);
  for (const name of readdirSync(from)) writeFileSync(join(staged, name), readFileSync(join(from, name)));
  renameSync(staged, to);
}
