import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { BPE, Tokenizer as HuggingFace, whitespaceSplitPreTokenizer } from "tokenizers";
import { characterOf } from "../../src/ids/id-merges.ts";
import { npyHead } from "../../src/ids/id-writers.ts";
import { bpe, put, scratch } from "../binary.ts";
import { type Random, randomNumbers } from "../random.ts";
import { rounds } from "../rounds.ts";

const home = scratch();

/** Returns documents of few distinct ids, with pairs of equal counts, and with runs of one id. */
function makeDocuments(random: Random, alphabet: readonly number[]): number[][] {
  return Array.from({ length: 1 + random(30) }, () => {
    const ids: number[] = [];
    for (let k = 1 + random(20); k > 0; k--) {
      const id = alphabet[Math.min(random(alphabet.length), random(alphabet.length))]!;
      ids.push(...Array.from({ length: 1 + random(random(4) === 0 ? 8 : 1) }, () => id));
    }
    return ids;
  });
}

const linesOf = (documents: readonly number[][]) => documents.map((ids) => `${ids.join(" ")}\n`).join("");

function train(files: readonly string[], ...options: string[]) {
  const output = join(home, "tokenizer");
  const { code, stderr } = bpe(["ids", "train", ...files, "-o", output, ...options]);
  return { code, stderr, output };
}

/**
 * Learns merges of ids naively: counts all allowed pairs, merges the most frequent one, and starts over. Of equally
 * frequent pairs, the one with smaller ids wins.
 */
function naively(documents: readonly number[][], mergeCount: number, lengthMax = Infinity) {
  const texts = documents.map((ids) => [...ids]);
  const alphabetSize = Math.max(...documents.flat()) + 1;
  const lengths = new Map<number, number>();
  const lengthOf = (id: number) => lengths.get(id) ?? 1;
  const merges: string[] = [];
  while (merges.length < mergeCount) {
    const counts = new Map<string, number>();
    for (const ids of texts) {
      for (let i = 0; i + 1 < ids.length; i++) {
        if (lengthOf(ids[i]!) + lengthOf(ids[i + 1]!) > lengthMax) continue;
        const pair = `${ids[i]} ${ids[i + 1]}`;
        counts.set(pair, (counts.get(pair) ?? 0) + 1);
      }
    }
    const numbers = (pair: string) => pair.split(" ").map(Number) as [number, number];
    const [best] = [...counts].sort(([p, n], [q, m]) => {
      const [a, b] = numbers(p);
      const [c, d] = numbers(q);
      return m - n || a - c || b - d;
    });
    if (best === undefined) break;
    const [left, right] = numbers(best[0]);
    const made = alphabetSize + merges.length;
    lengths.set(made, lengthOf(left) + lengthOf(right));
    merges.push(best[0]);
    for (const ids of texts) {
      for (let i = 0; i + 1 < ids.length; i++)
        if (ids[i] === left && ids[i + 1] === right) ids.splice(i, 2, made);
    }
  }
  return { alphabetSize, merges, texts };
}

const mergesIn = (directory: string) => readFileSync(join(directory, "merges.txt"), "utf8").split("\n");

describe("merges over ids", () => {
  test("and the encodings of documents agree with the naive twin, in any width, with 1, 2 and 7 threads", () => {
    for (let seed = 1; seed <= rounds(4); seed++) {
      const random = randomNumbers(seed * 7919);
      const alphabet = [[0], [0, 1], [3, 7, 250], [5, 900, 65_535], [1, 70_000, 2 ** 20 - 1]][seed % 5]!;
      const documents = makeDocuments(random, alphabet);
      const path = put(home, "ids.txt", linesOf(documents));
      const mergeCount = 1 + random(60);
      const lengthMax = random(2) === 0 ? undefined : 1 + random(8);
      const { alphabetSize, merges, texts } = naively(documents, mergeCount, lengthMax);
      const limit = lengthMax === undefined ? [] : ["--max-token-length", String(lengthMax)];
      const threads = String([1, 2, 7][seed % 3]);
      const { code, output } = train([path], "-n", `+${mergeCount}`, "-w", threads, ...limit);
      expect({ seed, code }).toEqual({ seed, code: 0 });
      expect({ seed, lines: mergesIn(output) }).toEqual({
        seed,
        lines: [`#bpe-ids ${alphabetSize}`, ...merges, ""],
      });
      const { stdout } = bpe(["ids", "encode", path, "--tokenizer", output, "-q"]);
      expect({ seed, stdout }).toEqual({ seed, stdout: linesOf(texts) });
    }
  });

  test("equal those of HF's trainer over the same ids as characters, and HF encodes as we do", async () => {
    // Characters from 0x4e00 on, none of which is whitespace: HF's trainer is configured to cut at whitespace.
    const first = 0x4e00;
    for (let seed = 1; seed <= rounds(2); seed++) {
      const random = randomNumbers(seed * 104729);
      const documents = makeDocuments(random, [0, 1, 2, 3, 40, 41]);
      const character = (id: number) => String.fromCodePoint(first + id);
      const text = documents.map((ids) => `${ids.map(character).join("")}\n`).join("");
      const theirs = new HuggingFace(BPE.empty());
      theirs.setPreTokenizer(whitespaceSplitPreTokenizer());
      theirs.train([put(home, "characters.txt", text)]);
      const saved = join(home, "theirs.json");
      theirs.save(saved);
      const { merges } = JSON.parse(readFileSync(saved, "utf8")).model as { merges: [string, string][] };
      const path = put(home, "ids.txt", linesOf(documents));
      const { output } = train([path], "-n", "+30000", "--compat", "huggingface");
      const json = JSON.parse(readFileSync(join(output, "tokenizer.json"), "utf8"));
      const asTheirs = (token: string) => [...token].map((c) => character(c.codePointAt(0)!)).join("");
      const ours = json.model.merges.map((pair: string[]) => pair.map(asTheirs));
      expect({ seed, merges: ours }).toEqual({ seed, merges });

      const loaded = HuggingFace.fromString(JSON.stringify(json));
      const { stdout } = bpe(["ids", "encode", path, "--tokenizer", output, "-q"]);
      const expected: number[][] = [];
      for (const ids of documents)
        expected.push((await loaded.encode(ids.map(characterOf).join(""))).getIds());
      expect({ seed, stdout }).toEqual({ seed, stdout: linesOf(expected) });
    }
  });
});

describe("files of ids", () => {
  const ids = Uint16Array.of(1, 2, 1, 2, 3, 1, 2, 3, 500);
  const wide = Uint32Array.from(ids);
  const npy = Buffer.concat([npyHead("uint16", ids.length), new Uint8Array(ids.buffer)]);

  test("a .npy or .bin is one document, and the tokens come in the same formats", () => {
    const line = put(home, "one.txt", `${ids.join(" ")}\n`);
    const { output } = train([line], "-n", "+3");
    const expected = mergesIn(output);
    const files = [
      [put(home, "ids.npy", npy)],
      [put(home, "ids.bin", new Uint8Array(ids.buffer))],
      [put(home, "wide.bin", new Uint8Array(wide.buffer)), "--dtype", "uint32"],
    ];
    for (const [path, ...options] of files) {
      expect(train([path!], "-n", "504", ...options).code).toBe(0);
      expect(mergesIn(output)).toEqual(expected);
    }
    const encoded = join(home, "encoded.npy");
    const encode = ["ids", "encode", "--tokenizer", output, "-q"];
    expect(bpe([...encode, files[0]![0]!, "-o", encoded]).code).toBe(0);
    const { stdout } = bpe([...encode, line]);
    expect([...new Uint16Array(readFileSync(encoded).buffer.slice(128))].join(" ")).toBe(stdout.trim());
  });

  test("a raw file has the type that its own ids need: those of the alphabet, or of all tokens", () => {
    // 16 bits suffice for the alphabet, but not for merged tokens.
    const alphabet = 65_535;
    const learned = Array.from({ length: 40 }, (_, k) => `${k} ${k + 1}`).join(" ");
    const corpus = put(home, "wide.txt", `${learned} ${learned} ${alphabet - 1}\n`);
    const { output } = train([corpus], "-n", "+30");
    const encode = (path: string, ...options: string[]) =>
      bpe(["ids", "encode", path, "--tokenizer", output, "-q", ...options]);
    // Read as 32-bit ids, all but the last would be ids of tokens.
    const ids = Uint16Array.of(1, 0, 2, 0, 0, 1, 3, 0, 4, 1, 0, 1, 2, 0, 5, alphabet - 1);
    const raw = put(home, "raw.bin", new Uint8Array(ids.buffer));
    const expected = encode(put(home, "lines.txt", `${ids.join(" ")}\n`)).stdout;
    expect(encode(raw).stdout).toBe(expected);
    const [tokens, back] = [join(home, "tokens.bin"), join(home, "back.bin")];
    expect(encode(raw, "-o", tokens).code).toBe(0);
    expect([...new Uint32Array(readFileSync(tokens).buffer.slice(0))].join(" ")).toBe(expected.trim());
    expect(bpe(["ids", "decode", tokens, "--tokenizer", output, "-o", back]).code).toBe(0);
    expect(readFileSync(back)).toEqual(readFileSync(raw));
    expect(encode(back).stdout).toBe(expected);
  });

  test("a raw file of 32-bit ids is not read as twice as many 16-bit ids, unless --dtype says so", () => {
    const rawOf = (...ids: number[]) => put(home, "raw.bin", new Uint8Array(Uint32Array.from(ids).buffer));
    const looks = (path: string, ...options: string[]) => train([path], "-n", "+1", ...options);
    const large = Array.from({ length: 40 }, (_, k) => 65_000 + k * 1_000);
    for (const [ids, second] of [
      [[1, 2, 1, 2, 3], "below 16"],
      [[1, 2], "0"],
      [large, "below 16"],
    ] as const) {
      const path = rawOf(...ids, ...(ids.length === 5 ? [40] : []));
      expect(looks(path).stderr).toContain(`read as uint16, every second id is ${second}`);
      for (const type of ["uint16", "uint32"]) expect(looks(path, "--dtype", type).code).toBe(0);
    }
    // These 16-bit ids do not look like 32-bit ones, so they are accepted.
    for (const ids of [
      [500, 7, 400, 0],
      [1, 0, 2, 0, 3, 0, 1, 0, 2, 3],
      [1, 20, 3, 400, 5, 60, 7, 800],
    ]) {
      const path = put(home, "narrow.bin", new Uint8Array(Uint16Array.from(ids).buffer));
      expect({ ids, code: looks(path).code }).toEqual({ ids, code: 0 });
    }
    const tokenizer = train([put(home, "bytes.txt", "1 2 1 2 300\n")], "-n", "+1").output;
    const read = (...args: string[]) => bpe([...args, rawOf(1, 2, 300), "--tokenizer", tokenizer, "-q"]);
    for (const command of [
      ["ids", "encode"],
      ["ids", "decode"],
    ]) {
      expect(read(...command)).toMatchObject({ code: 1, stderr: expect.stringContaining("--dtype uint32") });
      expect(read(...command, "--dtype", "uint32").code).toBe(0);
    }
  });

  test("spaces are ignored, an empty line is an empty document, and a last line needs no end", () => {
    const { output } = train([put(home, "odd.txt", "\n 1 2\t1  2 \r\n\n1 2")], "-n", "+1");
    expect(mergesIn(output)).toEqual(["#bpe-ids 3", "1 2", ""]);
    const record = JSON.parse(readFileSync(join(output, "training.json"), "utf8"));
    expect(record).toMatchObject({
      options: { alphabetSize: 3, vocabSize: 4 },
      inputs: [{ documents: 4, format: "ids" }],
      symbolCount: 6,
      tokenCount: 3,
      mergeCount: 1,
    });
  });
});

test("an empty document is an empty line, of encoding and of decoding", () => {
  const { output } = train([put(home, "some.txt", "1 2 1 2\n\n3\n")], "-n", "+1");
  const lines = (command: string[], content: string | Uint8Array, name: string) => {
    const path = put(home, name, content);
    return bpe([...command, path, "--tokenizer", output, "-q"]).stdout;
  };
  const [encode, decode] = [
    ["ids", "encode"],
    ["ids", "decode"],
  ];
  for (const [ids, tokens] of [
    ["1 2 1 2\n\n3\n", "4 4\n\n3\n"],
    ["\n\n", "\n\n"],
    ["\n1 2", "\n4\n"],
    ["1\n \t\r\n", "1\n\n"],
    ["1\n ", "1\n\n"],
    ["", ""],
  ] as const) {
    expect(lines(encode, ids, "ids.txt")).toBe(tokens);
    expect(lines(decode, tokens, "tokens.txt")).toBe(lines(decode, ids, "ids.txt"));
    expect(lines(decode, tokens, "tokens.txt").split("\n").length).toBe(tokens.split("\n").length);
  }
  for (const command of [encode, decode]) {
    expect(lines(command, npyHead("uint16", 0), "empty.npy")).toBe("\n");
    expect(lines(command, "", "empty.bin")).toBe("\n");
  }
  expect(train([put(home, "empty.npy", npyHead("uint32", 0))], "-n", "+1")).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("the input contains no ids"),
  });
  const several = [join(home, "empty.npy"), join(home, "some.txt"), join(home, "empty.npy")];
  const trained = train(several, "-n", "+1");
  expect(mergesIn(trained.output)).toEqual(["#bpe-ids 4", "1 2", ""]);
  const record = JSON.parse(readFileSync(join(trained.output, "training.json"), "utf8"));
  expect(record.inputs.map((input: { documents: number }) => input.documents)).toEqual([1, 3, 1]);
  const all = bpe([...encode, ...several, "--tokenizer", trained.output, "-q"]).stdout;
  expect(all).toBe("\n4 4\n\n3\n\n");
});

describe("decoding", () => {
  const decode = (path: string, tokenizer: string, ...options: string[]) =>
    bpe(["ids", "decode", path, "--tokenizer", tokenizer, "-q", ...options]);

  test("gives the documents back, of random merges, from lines and from files of numbers", () => {
    for (let seed = 1; seed <= rounds(3); seed++) {
      const random = randomNumbers(seed * 31);
      // With a large alphabet, tokens have ids beyond 2^20.
      const documents = makeDocuments(random, seed % 3 === 0 ? [0, 7, 2 ** 20 - 1] : [0, 1, 2, 3]);
      const lines = linesOf(documents);
      const corpus = put(home, "corpus.txt", lines);
      const { output } = train([corpus], "-n", "+20");
      const encode = (...options: string[]) =>
        bpe(["ids", "encode", corpus, "--tokenizer", output, "-q", ...options]).stdout;
      const tokens = put(home, "tokens.txt", encode());
      expect(decode(tokens, output)).toMatchObject({ code: 0, stdout: lines });
      expect(decode(tokens, join(output, "merges.txt")).stdout).toBe(lines);
      for (const name of ["tokens.npy", "tokens.bin"]) {
        const [from, to] = [join(home, name), join(home, "back.txt")];
        encode("-o", from);
        expect(decode(from, output, "-o", to).code).toBe(0);
        expect(readFileSync(to, "utf8")).toBe(`${documents.flat().join(" ")}\n`);
        decode(tokens, output, "-o", join(home, `back-${name}`));
        const type = Math.max(...documents.flat()) > 0xffff ? Uint32Array : Uint16Array;
        const written = readFileSync(join(home, `back-${name}`));
        const bytes = written.buffer.slice(written.byteOffset + (name.endsWith("npy") ? 128 : 0));
        expect([...new type(bytes.slice(0, documents.flat().length * type.BYTES_PER_ELEMENT))]).toEqual(
          documents.flat(),
        );
      }
    }
  });

  test("of a token with more symbols than are written in one step", () => {
    const line = `${Array.from({ length: 1 << 16 }, () => "5").join(" ")}\n`;
    const { output } = train([put(home, "long.txt", line)], "-n", "+16");
    const token = put(home, "token.txt", "21\n");
    expect(decode(token, output).stdout).toBe(line);
    expect(bpe(["ids", "inspect", output]).stdout).toContain(
      "longest       65,536 ids  21: 5 5 5 5 5 5 5 5 5 5 5 5 …",
    );
  });

  test("and what other commands print for a tokenizer of ids", () => {
    const { output } = train([put(home, "few.txt", "1 2 1 2 1 2\n")], "-n", "+2");
    expect(decode(put(home, "tokens.txt", "3\n1 5\n"), output)).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("the id on line 2 is 5, but must be from 0 to 4"),
    });
    expect(bpe(["ids", "inspect", output]).stdout).toContain("4 ids  4: 1 2 1 2");
    const text = put(home, "text.txt", "some text");
    for (const path of [output, join(output, "tokenizer.json"), join(output, "merges.txt")]) {
      for (const args of [
        ["encode", text, "--tokenizer", path],
        ["decode", text, "--tokenizer", path],
        ["inspect", path],
      ])
        expect(bpe(args)).toMatchObject({
          code: 1,
          stderr: `bpe: error: "${path}" is a tokenizer of ids, not of text\nhint: use it with bpe ids encode, bpe ids decode or bpe ids inspect\n`,
        });
      expect(bpe(["ids", "inspect", path]).stdout).toContain("4 ids  4: 1 2 1 2");
    }
  });
});

describe("refusals", () => {
  const good = put(home, "good.txt", "1 2 1 2\n");

  test("invalid or too large ids, with their position", () => {
    for (const [content, message] of [
      ["1 2\n3 x4 5\n", 'wrong.txt" has "x4", which is not an id'],
      ["1 -2\n", 'wrong.txt" has "-2", which is not an id'],
      ["1 -2", 'wrong.txt" has "-2", which is not an id'],
      ["1\n1048576\n", "the id on line 2 is 1048576, but must be from 0 to 1048575"],
      ["\n\n", "contains no ids"],
    ] as const) {
      const wrong = train([put(home, "wrong.txt", content)], "-n", "+4");
      expect(wrong).toMatchObject({ code: 1, stderr: expect.stringContaining(message) });
    }
    const odd = train([put(home, "odd.bin", Uint8Array.of(1, 2, 3))], "-n", "+4");
    expect(odd).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("not a multiple of 2, the size of a uint16 id"),
    });
  });

  test("sizes and options that do not fit", () => {
    for (const [message, ...options] of [
      ["--vocab-size is 2, but must be at least 3, because the input has ids up to 2", "-n", "2"],
      ["unknown option -p", "-n", "+4", "-p", "gpt2"],
      ['--compat: unknown value "cs336"', "-n", "+4", "--compat", "cs336"],
      ['--vocab-size is "4,8", but must be a whole number', "-n", "4,8"],
    ]) {
      expect(train([good], ...options)).toMatchObject({ code: 2, stderr: expect.stringContaining(message!) });
    }
  });

  test("the former format, with the command line that replaces it", () => {
    const line = (typed: string) => bpe(typed.split(" ")).stderr;
    const gone = "bpe: error: --input-format ids was removed: ids have their own commands\nhint: ";
    expect(line("train --input-format ids a.txt -n +3 -o ids")).toBe(
      `${gone}use bpe ids train a.txt -n +3 -o ids\n`,
    );
    expect(line("encode ids --input-format=ids")).toBe(`${gone}use bpe ids encode ids\n`);
    expect(line("count a.txt --input-format ids")).toBe(`${gone}see the list of these commands: bpe ids\n`);
    expect(bpe(["train", "--input-format", "ids"]).code).toBe(2);
  });

  test("a command that ids do not have, which no command lists", () => {
    expect(bpe(["ids", "trian"])).toEqual({
      code: 2,
      stdout: "",
      stderr: 'bpe: error: unknown command "ids trian"\nhint: did you mean bpe ids train?\n',
    });
    const { code, stdout } = bpe(["ids"]);
    expect(code).toBe(0);
    for (const word of ["train", "encode", "decode", "inspect"])
      expect(stdout).toContain(`  bpe ids ${word} `);
    for (const args of [
      ["ids", "--help"],
      ["ids", "-h"],
      ["help", "ids"],
    ])
      expect(bpe(args).stdout).toBe(stdout);
    expect(bpe(["help", "ids", "train"]).stdout).toBe(bpe(["ids", "train", "--help"]).stdout);
    expect(bpe(["help", "ids", "train", "tokens"]).stdout).toBe(bpe(["ids", "train", "-h", "tokens"]).stdout);
    expect(bpe(["help", "ids", "train", "tokens", "more"]).stderr).toContain('"more" is one word too many');
  });

  test("a tokenizer that is not one of ids, damaged merges, and symbols outside of the alphabet", () => {
    const { output } = train([good], "-n", "+1");
    const encode = (path: string, tokenizer: string) =>
      bpe(["ids", "encode", path, "--tokenizer", tokenizer]);
    expect(encode(put(home, "more.txt", "1 9\n"), output).stderr).toContain(
      "contains the id 9, but the tokenizer was trained on ids up to 2",
    );
    expect(encode(good, put(home, "merges.txt", "#version: 0.2\na b\n")).stderr).toContain(
      "it contains no merges over ids",
    );
    expect(encode(good, put(home, "merges.txt", "#bpe-ids 3\n1 2\n5 1\n")).stderr).toContain(
      "its line 3 is not two ids below",
    );
    expect(encode(good, put(home, "merges.txt", "#bpe-ids 3\n1 2")).stderr).toContain("cut off");
  });
});
