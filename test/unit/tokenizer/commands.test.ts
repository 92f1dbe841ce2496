import { describe, expect, test } from "bun:test";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { binary, bpe, environment, put, scratch } from "../../binary.ts";
import { rowsOf } from "../../rows.ts";
import { madeText } from "./made-merges.ts";

const home = scratch();

const special = "<|endoftext|>";
/** A text with long words, so that the longest tokens differ in length. */
const longWords = " extraordinary considerations".repeat(40);
const text = Array.from({ length: 30 }, (_, seed) => madeText(seed, 400) + longWords).join(special);
const corpus = put(home, "corpus.txt", text);
const tokenizer = join(home, "tokenizer");
const trained = bpe(["train", corpus, "-n", "700", "-s", special, "-o", tokenizer, "-q"]);
if (trained.code !== 0) throw new Error(trained.stderr);
const specialId = 699;

/** Returns the numbers after the header of an .npy file of uint16. */
function npyIds(path: string): Uint16Array {
  const bytes = readFileSync(path);
  return new Uint16Array(new Uint8Array(bytes.subarray(128)).buffer);
}

describe("encode", () => {
  test("writes the same .npy with any number of workers, and decode restores the text", () => {
    const outputs = ["1", "2", "7"].map((workers) => {
      const output = join(home, `ids${workers}.npy`);
      expect(bpe(["encode", corpus, "--tokenizer", tokenizer, "-o", output, "-w", workers, "-q"])).toEqual({
        code: 0,
        stdout: "",
        stderr: "",
      });
      return readFileSync(output);
    });
    expect(outputs[1]!.equals(outputs[0]!)).toBe(true);
    expect(outputs[2]!.equals(outputs[0]!)).toBe(true);
    const head = outputs[0]!.subarray(0, 128).toString("latin1");
    const idCount = (outputs[0]!.length - 128) / 2;
    expect(head).toStartWith(
      `\x93NUMPY\x01\x00\x76\x00{'descr': '<u2', 'fortran_order': False, 'shape': (${idCount},), } `,
    );
    expect(head).toEndWith(" \n");
    const back = bpe(["decode", join(home, "ids2.npy"), "--tokenizer", tokenizer, "-q"]);
    expect(back.stdout === text).toBe(true);
  });

  test("writes decimal ids on stdout, a line for each input, and decode reads them", () => {
    const a = put(home, "a.txt", "the low");
    const empty = put(home, "empty.txt", "");
    const b = put(home, "b.txt", special);
    const args = ["encode", a, empty, b, "--tokenizer", tokenizer, "-q"];
    const plain = bpe(args);
    expect(plain.stdout).toMatch(/^\d+( \d+)*\n\n699\n$/);
    const appended = bpe([...args, "--append-token", special, "-o", "-"]);
    expect(appended.stdout).toBe(plain.stdout.replaceAll("\n", ` ${specialId}\n`).replace(/^ /m, ""));
    const ids = put(home, "ids.txt", appended.stdout);
    const back = bpe(["decode", ids, "--tokenizer", tokenizer, "-q"]);
    expect(back.stdout).toBe(`the low${special}${special}${special}${special}`);
    const asText = bpe(["encode", b, "--tokenizer", tokenizer, "--special-tokens-as-text", "-q"]);
    expect(asText.stdout).not.toContain(String(specialId));
  });

  test("--dtype decides the width, and ids that do not fit are an error", () => {
    const narrow = join(home, "narrow.bin");
    const wide = join(home, "wide.bin");
    bpe(["encode", corpus, "--tokenizer", tokenizer, "-o", narrow]);
    bpe(["encode", corpus, "--tokenizer", tokenizer, "-o", wide, "--dtype", "uint32"]);
    const wideIds = new Uint32Array(new Uint8Array(readFileSync(wide)).buffer);
    expect(new Uint32Array(new Uint16Array(new Uint8Array(readFileSync(narrow)).buffer))).toEqual(wideIds);
    const back = bpe(["decode", wide, "--tokenizer", tokenizer, "--dtype", "uint32", "-q"]);
    expect(back.stdout === text).toBe(true);

    const large = join(home, "large.json");
    const json = JSON.parse(readFileSync(join(tokenizer, "tokenizer.json"), "utf8"));
    json.added_tokens[0].id = json.model.vocab[special] = 70_000;
    writeFileSync(large, JSON.stringify(json));
    const output = join(home, "large.npy");
    bpe(["encode", corpus, "--tokenizer", large, "-o", output, "-q"]);
    expect(readFileSync(output).toString("latin1", 10, 30)).toContain("'<u4'");
    const wrong = bpe(["encode", corpus, "--tokenizer", large, "-o", output, "--dtype", "uint16"]);
    expect(wrong.code).toBe(1);
    expect(wrong.stderr).toMatch(
      /the id 70000 at position \d+ does not fit into uint16, whose largest number is 65535\nhint: leave out --dtype/,
    );
  });

  test("reads .tiktoken with --pattern and --special-token TEXT=ID, where the last = separates", () => {
    const rankFile = put(home, "x.tiktoken", readFileSync(join(tokenizer, "tokenizer.tiktoken")));
    const input = put(home, "equals.txt", "the=low<a=b>the");
    const args = ["encode", input, "--tokenizer", rankFile, "-q"];
    expect(bpe(args).stderr).toContain("hint: give the pattern, e.g. --pattern cl100k");
    const { stdout } = bpe([...args, "-p", "gpt2", "-s", "<a=b>=5000", "-s", "the="]);
    expect(stdout).toMatch(/^5001 .* 5000 /);
  });

  test("is ended by a signal and leaves no file", async () => {
    const big = join(home, "big.txt");
    writeFileSync(big, Buffer.alloc(40e6, text));
    const output = join(home, "big.npy");
    for (const workers of ["1", "2"]) {
      const run = Bun.spawn(
        [binary, "encode", big, "--tokenizer", tokenizer, "-o", output, "-w", workers, "--progress", "json"],
        {
          stderr: "pipe",
          env: environment,
        },
      );
      let stderr = "";
      let isSent = false;
      for await (const chunk of run.stderr) {
        stderr += Buffer.from(chunk).toString();
        if (!isSent && stderr.includes('"stage":"encoding"')) {
          run.kill("SIGINT");
          isSent = true;
        }
      }
      await run.exited;
      expect([run.exitCode, existsSync(output)]).toEqual([130, false]);
      expect(readdirSync(home).filter((name) => name.includes("big.npy"))).toEqual([]);
    }
  }, 600_000);

  test("reports mistakes", () => {
    const cases = rowsOf(`
      encode corpus.txt --tokenizer tokenizer -o ids.txt | 2 | --output "ids.txt" does not say which format to write
      encode corpus.txt --tokenizer tokenizer --dtype int8 -o x.npy | 2 | --dtype: unknown value "int8"
      encode corpus.txt --tokenizer nowhere | 1 | "nowhere": no such file or directory
      encode nowhere.txt --tokenizer tokenizer | 1 | "nowhere.txt": no such file
      encode corpus.txt --tokenizer tokenizer --append-token <x> | 1 | --append-token "<x>" is not a special token of the tokenizer hint: name one of its special tokens: <|endoftext|>
      encode corpus.txt --tokenizer tokenizer -p gpt2 | 2 | "tokenizer/tokenizer.json" has its own pattern, so --pattern cannot be given
    `);
    for (const [typed, code, message] of cases) {
      const result = bpe(typed!.split(" "), { cwd: home });
      expect(result.stderr.replaceAll("\n", " ")).toContain(message!);
      expect([typed, result.code, result.stdout]).toEqual([typed, Number(code), ""]);
    }
  });
});

test("a text, or ids, in place of a file name causes a hint", () => {
  const hintOf = (...args: string[]) => {
    const { code, stderr } = bpe([...args, "--tokenizer", "tokenizer"], { cwd: home });
    expect([args, code]).toEqual([args, 1]);
    return /^bpe: error: ("[^\n]*": no such file)\n(?:hint: (.*)\n)?$/s.exec(stderr)?.slice(1, 3);
  };
  const piped = (text: string, command: string) =>
    `to pass ${command === "decode" ? "ids, pipe them" : "a text, pipe it"}: echo ${text} | bpe ${command} --tokenizer tokenizer`;
  const how = "bpe explain tokenizer 'Hello world' shows how it is encoded";
  expect(hintOf("encode", "Hello world")).toEqual([
    '"Hello world": no such file',
    `${piped("'Hello world'", "encode")}; ${how}`,
  ]);
  expect(hintOf("tokens", "It's", "-q")?.[1]).toBe(piped(String.raw`'It'\''s'`, "tokens -q"));
  expect(hintOf("tokens", "long ".repeat(1000))?.[1]).toBe(piped("TEXT", "tokens"));
  expect(hintOf("decode", "104", "105")?.[1]).toBe(piped("'104 105'", "decode"));
  // These arguments look like paths.
  for (const file of ["nowhere.txt", "no/where"]) expect(hintOf("encode", file)?.[1]).toBeUndefined();
  put(home, "a text", "the low");
  expect(bpe(["tokens", "a text", "--tokenizer", "tokenizer", "-q"], { cwd: home }).code).toBe(0);
});

test("a speed is shown for 1 MB or more", () => {
  const tiny = put(home, "tiny.txt", "the low");
  const large = put(home, "large.txt", "the low lower lowest newest widest ".repeat(30_000));
  const summaryOf = (command: string, file: string) =>
    bpe([command, file, "--tokenizer", tokenizer, "-w", "1"]).stderr;
  for (const command of ["encode", "tokens"]) {
    expect(summaryOf(command, tiny)).toMatch(/ in \d+ ms, [\d.]+ MB memory\n/);
    expect(summaryOf(command, large)).toMatch(/ in [\d.]+ m?s, [\d.]+ MB\/s, [\d.]+ MB memory\n/);
  }
});

describe("decode", () => {
  test("an id without a token is an error with its position, and no file", () => {
    const output = join(home, "text.txt");
    for (const [ids, wrong] of [
      ["65 66 700\n67", "id 700 at position 2"],
      ["65 4294967361", "id 4294967361 at position 1"],
    ] as const) {
      const file = put(home, "wrong.ids", ids);
      const { code, stderr } = bpe(["decode", file, "--tokenizer", tokenizer, "-o", output]);
      expect([code, stderr]).toEqual([
        1,
        `bpe: error: ${wrong} is not in the vocabulary\nhint: give the tokenizer that the ids were made with; the largest id of this tokenizer is 699\n`,
      ]);
      expect(existsSync(output)).toBe(false);
    }
  });

  test("damaged files are named", () => {
    const npy = readFileSync(join(home, "ids1.npy"));
    const cases = [
      ["cut.npy", npy.subarray(0, npy.length - 1), "is damaged: by its header it should have"],
      ["odd.bin", Buffer.of(1, 2, 3), "has 3 bytes, not a multiple of 2, the size of a uint16 id"],
      [
        "float.npy",
        Buffer.from(npy.toString("latin1").replace("<u2", "<f2"), "latin1"),
        "its numbers are <f2",
      ],
      ["text.npy", Buffer.from("just some text here"), "it is not an .npy file"],
      ["words.txt", Buffer.from("12 -1 x"), '"-1" is not an id'],
      ["text.txt", Buffer.from("12 Größe à"), '"Größe" is not an id'],
      ["nbsp.txt", Buffer.from("à 1"), '"à" is not an id'],
      ["bytes.txt", Buffer.from([0x31, 0x20, 0xff, 0x85, 0x9f]), String.raw`"\xff\x85\x9f" is not an id`],
    ] as const;
    for (const [name, content, message] of cases) {
      const { code, stderr } = bpe(["decode", put(home, name, content), "--tokenizer", tokenizer]);
      expect([name, code]).toEqual([name, 1]);
      expect(stderr).toContain(message);
    }
  });

  test("reads numpy's own integers and standard input", () => {
    const ids = npyIds(join(home, "ids1.npy"));
    const head = `{'descr': '<i8', 'fortran_order': False, 'shape': (${ids.length},), }`.padEnd(117);
    const wide = Buffer.from(BigInt64Array.from(ids, BigInt).buffer);
    const file = put(
      home,
      "wide.npy",
      Buffer.concat([Buffer.from("\x93NUMPY\x01\x00\x76\x00", "latin1"), Buffer.from(`${head}\n`), wide]),
    );
    expect(bpe(["decode", file, "--tokenizer", tokenizer, "-q"]).stdout === text).toBe(true);
    const piped = Bun.spawnSync([binary, "decode", "-", "--tokenizer", tokenizer, "-q"], {
      env: environment,
      stdin: Buffer.from([...ids].join("\n")),
    });
    expect(piped.stdout.toString() === text).toBe(true);
  });
});

test("inspect shows size, pattern, special tokens, shares and a sample", () => {
  const { code, stdout, stderr } = bpe(["inspect", tokenizer, "--text", corpus]);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(/^size +700 tokens, ids up to 699, 443 merges$/m);
  expect(stdout).toMatch(/^pattern +gpt2\n +also called gpt-2\n +'s\|'t\|/m);
  expect(stdout).toContain("699  <|endoftext|>  bos, eos\n");
  const longest = Array.from(stdout.matchAll(/(\d+) bytes +(\d+) "/g), ([, bytes, id]) =>
    [bytes, id].map(Number),
  );
  expect(longest).toHaveLength(10);
  // The order is by descending length, then by id.
  expect(longest).toEqual(longest.toSorted((a, b) => b[0]! - a[0]! || a[1]! - b[1]!));
  expect(longest[0]![0]).toBeGreaterThan(longest[9]![0]!);
  expect(stdout).toMatch(/^by script +Latin +\d+ +\d+\.\d %$/m);
  expect(stdout).toMatch(/^bytes\/token +\d+\.\d{3}$/m);
});

test("inspect begins with what a model and its programs have to agree on", () => {
  const args = ["-s", special, "-s", "<|im_start|>", "-s", "<|im_end|>", "--chat-template", "chatml"];
  const more = ["--add-bos", "--model-max-length", "4k", "--normalize", "NFC", "-o", "chat", "-q"];
  expect(bpe(["train", corpus, "-n", "300", ...args, ...more], { cwd: home }).code).toBe(0);
  const lines = bpe(["inspect", "chat"], { cwd: home }).stdout.split("\n");
  const patternAt = lines.findIndex((line) => line.startsWith("pattern"));
  expect(lines.slice(0, patternAt)).toEqual([
    "tokenizer       chat (chat/tokenizer.json)",
    "size            300 tokens, ids up to 299, 41 merges",
    expect.stringMatching(/^fingerprint {5}1-[\da-f]{32}$/),
    "special         3 tokens",
    "                297  <|endoftext|>  bos, pad",
    "                298  <|im_start|>",
    "                299  <|im_end|>     eos",
    "template        chatml",
    "longest input   4,096 tokens",
    "class           PreTrainedTokenizerFast",
    "normalizer      NFC",
  ]);
  const text = lines.join("\n");
  expect(text).toContain(
    `\npost-processor  ${special} the text (TemplateProcessing); bpe encode does not add these tokens\ndecoder         ByteLevel\n`,
  );
  const found = JSON.parse(bpe(["inspect", "chat", "--json"], { cwd: home }).stdout);
  expect(found).toMatchObject({
    ...{ before: [297], after: [], decoder: "ByteLevel", modelMaxLength: 4096, addsPrefixSpace: false },
    specialTokens: [{ roles: ["bos", "pad"] }, { roles: [] }, { roles: ["eos"] }],
    chatTemplate: JSON.parse(readFileSync(join(home, "chat/tokenizer_config.json"), "utf8")).chat_template,
  });
  // Among many special tokens, those with roles are shown.
  const many = Array.from({ length: 30 }, (_, i) => ["-s", `<${i}>`]).flat();
  const roles = ["--pad", "<29>", "-o", "many", "-q"];
  expect(bpe(["train", corpus, "-n", "300", ...many, ...roles], { cwd: home }).code).toBe(0);
  expect(bpe(["inspect", "many"], { cwd: home }).stdout).toMatch(/<18>\n +299 +<29> +pad\n +and 10 more\n/);
});

test("settings that are not applied are reported with the tokenizer's name, once in total, unless they were requested", () => {
  const noteOf = (...args: string[]) =>
    bpe(args, { cwd: home })
      .stderr.split("\n")
      .filter((line) => line.startsWith("bpe: warning"))
      .join("\n");
  expect(noteOf("encode", corpus, "--tokenizer", "chat", "-q")).toBe("");
  expect(bpe(["tokens", corpus, "--tokenizer", "chat"], { cwd: home }).stderr).not.toContain("warning");
  for (const name of ["a", "b"]) {
    mkdirSync(join(home, name));
    copyFileSync(join(home, "chat/tokenizer.json"), join(home, name, "tokenizer.json"));
  }
  expect(noteOf("eval", "a", "b", "chat", "--text", corpus)).toBe(
    "bpe: warning: a, b: the post-processor (TemplateProcessing) is not applied: ids are as with add_special_tokens=False",
  );
  expect(bpe(["inspect", "a/tokenizer.json"], { cwd: home }).stderr).toStartWith(
    "bpe: warning: a: the post-proc",
  );
});

test("a worker's read error is reported like the main thread's", () => {
  const lines = Buffer.from('{"text":"a b"}\nnope\n');
  const said = ["1", "2"].map((workers) => {
    const args = ["encode", "-", "--input-format", "jsonl", "--tokenizer", tokenizer, "-w", workers, "-q"];
    const output = join(home, "never.npy");
    const run = Bun.spawnSync([binary, ...args, "-o", output], { cwd: home, env: environment, stdin: lines });
    expect([run.exitCode, existsSync(output)]).toEqual([1, false]);
    return run.stderr.toString();
  });
  expect(said[0]).toStartWith("bpe: error: line 2 of standard input: not valid JSON\n");
  expect(said[1]).toBe(said[0]!);
});

test("neither encode nor decode overwrites its input", () => {
  const ids = put(home, "mine.bin", "abcd");
  for (const command of ["encode", "decode"]) {
    const { code, stderr } = bpe([command, ids, "--tokenizer", tokenizer, "-o", ids]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(", which this run reads")]);
    expect(readFileSync(ids, "latin1")).toBe("abcd");
  }
});
