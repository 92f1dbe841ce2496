import { describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { binary, bpe, mergesOf, put, scratch, tokenizerFiles } from "../binary.ts";
import { rowsOf } from "../rows.ts";
import { madeText } from "../unit/tokenizer/made-merges.ts";

const directory = scratch();

const corpus = put(
  directory,
  "corpus.txt",
  "low low low low low<|end|>lower lower widest widest widest".repeat(3),
);
const output = () => join(directory, `tokenizer-${Math.random().toString(36).slice(2)}`);
const train = (...args: string[]) => bpe(["train", "--progress", "none", ...args], { cwd: directory });

describe("a run that succeeds", () => {
  test("writes every format, a record that lists them, and a summary on stderr", () => {
    const into = output();
    const { code, stdout, stderr } = train(corpus, "-n", "262", "-s", "<|end|>", "-o", into, "-w", "1");
    expect([code, stdout]).toEqual([0, ""]);
    const record = JSON.parse(readFileSync(join(into, "training.json"), "utf8"));
    expect(readdirSync(into).sort()).toEqual([...record.files].sort());
    expect(record.files).toEqual([
      "tokenizer.json",
      "tokenizer_config.json",
      "special_tokens_map.json",
      "vocab.json",
      "merges.txt",
      "tokenizer.tiktoken",
      "tokens.tsv",
      "training.json",
    ]);
    expect(record.inputs).toEqual([
      {
        path: corpus,
        sizeBytes: 174,
        textBytes: 174,
        documents: 4,
        invalidBytes: 0,
        crc32: "e73dfdfa",
        format: "text",
        formatFrom: "name",
      },
    ]);
    expect([record.wordCount, record.distinctWordCount, record.mergeCount]).toEqual([28, 6, 5]);
    expect(record.options).toEqual({
      vocabSize: 262,
      specialTokens: ["<|end|>"],
      padTo: 1,
      reservedTokens: [],
      pattern: {
        name: "gpt2",
        regex: expect.stringContaining("\\p{L}"),
        javascript: expect.stringContaining("\\p{White_Space}"),
      },
      compat: "cs336",
      minFrequency: 1,
      maxTokenLength: null,
      model: {
        addsBos: false,
        chatTemplate: null,
        modelMaxLength: null,
        tokenizerClass: "PreTrainedTokenizerFast",
      },
      workers: 1,
    });
    for (const shown of ["4 documents", "bytes per token", "memory", into]) expect(stderr).toContain(shown);
  });

  test("names the pattern by its own name, and by the one that was typed", () => {
    const into = output();
    const { code, stderr } = train(corpus, "-n", "260", "-o", into, "-p", "gpt-4o");
    expect(code).toBe(0);
    expect(stderr).toMatch(/^pattern +o200k \(gpt-4o\)$/m);
    const { options } = JSON.parse(readFileSync(join(into, "training.json"), "utf8"));
    expect(options.pattern.name).toBe("o200k");
  });

  test("replaces an older result, and leaves nothing next to it", () => {
    const home = scratch();
    const into = join(home, "tokenizer");
    expect(train(corpus, "-n", "260", "-o", into).code).toBe(0);
    expect(train(corpus, "-n", "258", "-o", into, "--format", "gpt2").code).toBe(0);
    expect(readdirSync(home)).toEqual(["tokenizer"]);
    expect(readdirSync(into).sort()).toEqual(["merges.txt", "training.json", "vocab.json"]);
    expect(mergesOf(into).length).toBe(2);
    rmSync(home, { recursive: true });
  });

  test("invalid bytes are reported with their number and the first one's position", () => {
    const path = put(directory, "invalid.txt", Buffer.from([0x61, 0x62, 0xff, 0x61, 0x62, 0xfe]));
    const { code, stderr } = train(path, "-n", "257", "-o", output());
    expect(code).toBe(0);
    expect(stderr).toContain(`warning: 2 bytes are not valid UTF-8, the first at offset 2 of "${path}"`);
  });
});

describe("wrong input ends with a clear error, its exit code and nothing written", () => {
  const cases = rowsOf(`
    no input, and no place for the output | -n 300 -o foreign | 2 | <file>... is missing
    standard input twice, and no place | - - -n 300 -o foreign | 2 | named more than once
    Parquet from a pipe, and no place | - --input-format parquet -n 300 -o foreign | 2 | Parquet cannot be read from standard input
    nothing at all | | 2 | <file>..., --vocab-size and --output are missing
    an unknown option, and nothing else | --keep-all | 2 | unknown option --keep-all
    no room for the special token | corpus.txt -n 256 -s <|e|> -o out | 2 | --vocab-size is 256, but must be at least
    counts in the output | corpus.txt -n 300 -o out --save-counts ./out/a.tsv | 2 | "./out/a.tsv" is in --output "out", which
    a log in the output | corpus.txt -n 300 -o foreign --log-file foreign/log | 2 | --log-file "foreign/log" is in --output
    a cache in the output | corpus.txt -n 300 -o foreign/ --cache foreign | 2 | "foreign" is also --output "foreign/"
    counts in place of the corpus | corpus.txt -n 300 -o out --save-counts corpus.txt | 2 | would replace "corpus.txt", which this run reads
    an output that is a file | corpus.txt -n 300 -o corpus.txt | 2 | corpus.txt
    an output with foreign files | corpus.txt -n 300 -o foreign | 1 | foreign
  `);
  for (const [what, args, code, error] of cases) {
    test(what!, () => {
      const home = scratch();
      put(home, "corpus.txt", "some text");
      mkdirSync(join(home, "foreign"));
      mkdirSync(join(home, "none"));
      writeFileSync(join(home, "foreign", "thesis.tex"), "");
      const before = readdirSync(home, { recursive: true }).sort();
      const finished = bpe(`train ${args}`.trim().split(" "), { cwd: home });
      expect(finished.stderr).toStartWith("bpe: error: ");
      expect(finished.stderr).toContain(error!);
      expect(finished.stderr).not.toMatch(/^\s+at /m);
      expect([finished.code, finished.stdout]).toEqual([Number(code), ""]);
      expect(readdirSync(home, { recursive: true }).sort()).toEqual(before);
      expect(readFileSync(join(home, "corpus.txt"), "utf8")).toBe("some text");
      rmSync(home, { recursive: true });
    });
  }

  test("an older result survives a run that fails", () => {
    const into = output();
    train(corpus, "-n", "260", "-o", into);
    const before = tokenizerFiles(into);
    expect(train("nowhere.txt", "-n", "300", "-o", into).code).toBe(1);
    expect(tokenizerFiles(into)).toEqual(before);
  });

  test("with --progress json the error is the last object", () => {
    const { code, stderr } = bpe(["train", "nowhere.txt", "-n", "300", "-o", "x", "--progress", "json"]);
    expect(code).toBe(1);
    expect(JSON.parse(stderr.trim())).toMatchObject({ event: "result", success: false, exitCode: 1 });
  });
});

describe("help and version", () => {
  test("bpe alone, help, --help and -h go to stdout and end with 0", () => {
    for (const args of [[], ["help"], ["--help"], ["-h"]]) {
      expect(bpe(args)).toEqual({
        code: 0,
        stderr: "",
        stdout: expect.stringContaining("  train <file>...  "),
      });
    }
  });

  test("the version names Bun and the commit", () => {
    const { stdout } = bpe(["--version"]);
    expect(stdout).toMatch(/^bpe \d+\.\d+\.\d+ \(Bun 1\.4\.5, commit \S+\)\n$/);
    for (const spelling of ["-v", "-V", "version"])
      expect(bpe([spelling])).toMatchObject({ code: 0, stdout });
  });

  test("a closed stdout ends each of them silently", () => {
    for (const args of ["", "help", "train --help", "--version", "train --pattern help"]) {
      const script = `"$0" ${args} | true; exit "\${PIPESTATUS[0]}"`;
      const { exitCode, stderr } = Bun.spawnSync(["bash", "-c", script, binary]);
      expect([args, exitCode, stderr.toString()]).toEqual([args, 0, ""]);
    }
  });
});

const repeated = "low lower lowest new newer newest wide wider widest <pad> of the other ".repeat(30);
const sizesCorpus = put(directory, "sizes.txt", `${repeated}aaaa aaaaaaa\n`.repeat(3));
const words = (text: string) => text.split(" ");

function trainSizes(name: string, sizes: string, ...options: string[]) {
  const output = join(directory, name);
  const { code, stderr } = bpe(["train", sizesCorpus, "-n", sizes, "-o", output, "-w", "1", ...options]);
  return { code, stderr, output };
}

const recordIn = (path: string) => JSON.parse(readFileSync(join(path, "training.json"), "utf8"));

describe("several sizes", () => {
  test("each is what a separate run gives, under every rule", () => {
    for (const compat of ["cs336", "huggingface", "rustbpe"]) {
      // Merges make the special tokens "Ġlo" and "we". Under HF's rule, such a merge takes the special token's id and
      // adds no entry to the vocabulary, so there is room for one more merge.
      const special = compat === "huggingface" ? ["-s", "Ġlo", "-s", "we"] : ["-s", "<|end|>"];
      const options = ["--compat", compat, "--pad-to", "16", ...special];
      const { code, output } = trainSizes("several", "285,265,275,1000", ...options);
      expect(code).toBe(0);
      expect(readdirSync(output).sort()).toEqual(["1000", "265", "275", "285", "training.json"]);
      for (const size of [265, 275, 285, 1000]) {
        const own = trainSizes("own", String(size), ...options).output;
        const among = join(output, String(size));
        expect(tokenizerFiles(among)).toEqual(tokenizerFiles(own));
        for (const field of ["mergeCount", "mergesSha256", "files", "options"]) {
          expect(recordIn(among)[field]).toEqual(recordIn(own)[field]);
        }
      }
      expect(recordIn(output).options).toMatchObject({ vocabSize: 1000, sizes: [265, 275, 285, 1000] });
      expect(recordIn(output).files).toContain("265/tokenizer.json");
    }
  });

  test("the summary names the directories, and a wrong tokenizer path names the sizes", () => {
    const { stderr, output } = trainSizes("named", "260,270", "--summary", "full");
    expect(stderr).toContain(`written     ${output}/260, ${output}/270: tokenizer.json, `);
    const { code, stderr: error } = bpe(["encode", sizesCorpus, "--tokenizer", output]);
    expect(code).toBe(1);
    expect(error).toBe(
      `bpe: error: "${output}" contains tokenizers of 2 sizes: 260, 270\nhint: name the directory of one size, e.g. "${output}/270"\n`,
    );
  });

  test("results of one and of several sizes replace each other, are kept, and are recognized as unchanged", () => {
    const cached = ["--cache", join(directory, "cache"), "--if-changed", "--keep", "2"];
    trainSizes("kept", "260", ...cached);
    trainSizes("kept", "260,270", ...cached);
    expect(trainSizes("kept", "260,270", ...cached).stderr).toContain("unchanged: ");
    const { output } = trainSizes("kept", "265", ...cached);
    expect(readdirSync(output)).toContain("tokenizer.json");
    const kept = readdirSync(directory).filter((name) => name.startsWith("kept."));
    expect(kept.map((name) => readdirSync(join(directory, name)).length).sort()).toEqual([3, 8]);
    trainSizes("kept", "260,270", "--keep", "0");
    expect(readdirSync(directory).filter((name) => name.startsWith("kept."))).toEqual([]);
  });
});

describe("--pad-to", () => {
  const padded = (compat: string) =>
    trainSizes(
      "padded",
      "270",
      ...words("--pad-to 64 -s <pad> -s <|reserved_special_token_1|> --compat"),
      compat,
    ).output;

  test("fills the vocabulary with reserved special tokens after all others", () => {
    for (const compat of ["cs336", "huggingface"]) {
      const output = padded(compat);
      const { added_tokens, model } = JSON.parse(readFileSync(join(output, "tokenizer.json"), "utf8"));
      expect(Object.keys(model.vocab).length).toBe(320);
      const names = Array.from({ length: 51 }, (_, n) => `<|reserved_special_token_${n}|>`).filter(
        (_, n) => n !== 1,
      );
      const reserved = added_tokens.slice(-50);
      expect(reserved.map(({ content }: { content: string }) => content)).toEqual(names);
      expect(reserved.map(({ id }: { id: number }) => id)).toEqual(names.map((_, n) => 270 + n));
      expect(recordIn(output).options).toMatchObject({ vocabSize: 270, padTo: 64, reservedTokens: names });
    }
  });

  test("adds none where the size is a multiple, also if the corpus gave fewer merges", () => {
    expect(recordIn(trainSizes("even", "272", "--pad-to", "16").output).options.reservedTokens).toEqual([]);
    const { stderr, output } = trainSizes("short", "5000", "--pad-to", "1000");
    expect(stderr).toContain("stopped early");
    const size = 256 + recordIn(output).mergeCount;
    expect(recordIn(output).options.reservedTokens.length).toBe(1000 - size);
  });
});

const ledgerCorpus = put(
  directory,
  "ledger.txt",
  `${madeText(7, 3000)}<|end|>${madeText(8, 500)} -------- ----------- ${"=".repeat(40)}      x`,
);
const trainLedger = (output: string, ...args: string[]) =>
  bpe(["train", ledgerCorpus, "-n", "500", "-s", "<|end|>", "-o", output, ...args], { cwd: directory });
const tableOf = (output: string) => {
  const path = join(directory, output, "tokens.tsv");
  return existsSync(path) ? readFileSync(path, "utf8") : null;
};

test("occurrences at the end are those in the ids of the corpus, for each rule and any number of threads", () => {
  for (const compat of ["cs336", "rustbpe"]) {
    const tables = ["1", "2", "7"].map((workers) => {
      const output = `${compat}-${workers}`;
      expect(trainLedger(output, "-q", "--compat", compat, "-w", workers).code).toBe(0);
      return tableOf(output)!;
    });
    expect(tables[1]).toBe(tables[0]!);
    expect(tables[2]).toBe(tables[0]!);
    const ids = bpe(["encode", ledgerCorpus, "--tokenizer", `${compat}-1`, "-q"], { cwd: directory })
      .stdout.trim()
      .split(" ");
    const counts = new Map<string, number>();
    for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
    const rows = tables[0]!
      .split("\n")
      .slice(1, -1)
      .map((line) => line.split("\t"));
    expect(rows).toHaveLength(500);
    for (const [id, token, , birth, end] of rows) {
      if (token === "<|end|>") expect([birth, end]).toEqual(["", ""]);
      else expect([id, Number(end)]).toEqual([id, counts.get(id!) ?? 0]);
    }
  }
});

test("tokens.tsv is written without being requested if it is small and no formats are named", () => {
  const isWritten = (...args: string[]) => {
    expect(trainLedger("chosen", "-q", "-w", "1", ...args).code).toBe(0);
    const { files } = JSON.parse(readFileSync(join(directory, "chosen/training.json"), "utf8"));
    expect(files.includes("tokens.tsv")).toBe(tableOf("chosen") !== null);
    return tableOf("chosen") !== null;
  };
  expect(isWritten()).toBe(true);
  expect(isWritten("--no-ledger")).toBe(false);
  expect(isWritten("--format", "gpt2")).toBe(false);
  expect(isWritten("--format", "gpt2", "--ledger")).toBe(true);
});

test("--if-changed writes the table again if a different one is requested", () => {
  const nightly = (...args: string[]) => {
    const { stderr } = trainLedger(
      "nightly",
      "-w",
      "1",
      "--cache",
      "cache",
      "--if-changed",
      "--progress",
      "json",
      ...args,
    );
    return JSON.parse(stderr.trim().split("\n").at(-1)!).changed;
  };
  expect([nightly(), nightly(), nightly("--no-ledger"), nightly("--no-ledger")]).toEqual([
    true,
    false,
    true,
    false,
  ]);
  expect(tableOf("nightly")).toBe(null);
});

test("failed runs leave nothing in their temporary outputs", () => {
  expect(readdirSync(directory).filter((name) => name.startsWith("."))).toEqual([]);
  expect(existsSync(join(directory, "out"))).toBe(false);
});
