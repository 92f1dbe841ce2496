import { describe, expect, test } from "bun:test";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as tokenizerFiles from "../../../src/formats/load-tokenizer.ts";
import { loadInWorker } from "../../../src/jobs/load-in-worker.ts";
import { Tokenizer } from "../../../src/library/tokenizer.ts";
import { digestOfParts } from "../../../src/tokenizer/parts-digest.ts";
import { bpe, put, scratch } from "../../binary.ts";
import { makePipe } from "../../other-user.ts";
import { refusalOf } from "../../thrown.ts";
import { writeTokenizer } from "../tokenizer/made-tokenizer.ts";

const made = writeTokenizer("gpt2");
const home = scratch();
const text = "the lowest newest widest <|endoftext|> é漢 1234\r\n\n ";
const json = readFileSync(join(made, "tokenizer.json"), "utf8");
/** A file so large that another thread loads it. */
const large = put(home, "tokenizer.json", json + " ".repeat(3e6));

describe("a large tokenizer, which is loaded by another thread,", () => {
  test("encodes and decodes as if this thread had loaded it", async () => {
    const here = new Tokenizer(await tokenizerFiles.load(large));
    const ids = here.encode(text);
    for (const isDecoded of [true, false]) {
      const parts = await loadInWorker({ path: large, options: {}, isDecoded });
      const apart = new Tokenizer(parts);
      expect(apart.encode(text)).toEqual(ids);
      expect(parts.description).toEqual(here.parts.description);
      if (!isDecoded) continue;
      expect(Buffer.from(apart.decodeBytes(ids)).toString()).toBe(text);
      expect(apart.size).toBe(here.size);
      expect(digestOfParts(parts)).toBe(digestOfParts(here.parts));
    }
  });

  test("is refused with the same error", async () => {
    const broken = put(home, "broken.json", json.replace('"BPE"', '"WordPiece"') + " ".repeat(3e6));
    const cases = [
      [broken, {}],
      [large, { specialTokens: [{ text: "<x>", id: 1 }] }],
    ] as const;
    for (const [path, options] of cases) {
      const { message, hint, exitCode } = await refusalOf(tokenizerFiles.load(path, options));
      const loading = loadInWorker({ path, options, isDecoded: true });
      await expect(loading).rejects.toMatchObject({ message, hint, exitCode });
    }
  });
});

describe("a pipe in place of a tokenizer's file", () => {
  const refused = (args: readonly string[]) => {
    const { code, stderr } = bpe([...args]);
    expect(code).toBe(1);
    return stderr;
  };

  test("is refused without waiting, and the error names it", () => {
    for (const name of ["tokenizer.json", "x.tiktoken", "vocab.json", "merges.txt", "pipe"]) {
      const directory = join(home, `pipe-${name}`);
      mkdirSync(directory);
      const pipe = makePipe(join(directory, name));
      expect(refused(["inspect", pipe])).toStartWith(`bpe: error: "${pipe}" is not a regular file`);
    }
  });

  test("does not count as the second file of a pair, or as a file of a directory", () => {
    const directory = join(home, "partner");
    mkdirSync(directory);
    put(directory, "vocab.json", readFileSync(join(made, "vocab.json")));
    const merges = makePipe(join(directory, "merges.txt"));
    expect(refused(["inspect", join(directory, "vocab.json")])).toStartWith(
      `bpe: error: "${merges}" is not a regular file`,
    );
    expect(refused(["inspect", directory])).toStartWith(`bpe: error: "${directory}" contains no tokenizer`);
  });
});
