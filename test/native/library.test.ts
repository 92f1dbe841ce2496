import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32 } from "node:zlib";
import { compile, compilerHere, libraryParts } from "../../scripts/native/build.ts";
import { run } from "../../scripts/release/run.ts";
import { Tokenizer } from "../../src/library/tokenizer.ts";
import { binary, bpe, scratch } from "../binary.ts";
import { rounds } from "../rounds.ts";
import { madeText } from "../unit/tokenizer/made-merges.ts";
import { writeTokenizer } from "../unit/tokenizer/made-tokenizer.ts";
import { compiled } from "./driver.ts";

const compiler = compilerHere();
const home = scratch();
const tokenizer = writeTokenizer("gpt2");
const text = `${madeText(1, 3000)}<|endoftext|>${madeText(2, 500)}`;
const imagePath = join(home, "tokenizer.image");

describe.skipIf(compiler === undefined)("the C library", () => {
  expect(bpe(["image", tokenizer, "-o", imagePath, "-q"]).code).toBe(0);

  test("the example prints the ids that the program gives", async () => {
    const library = join(home, "libbpe.so");
    await compile(compiler!, { parts: libraryParts, linking: ["-shared"], output: library });
    const [source, program] = [join(import.meta.dir, "../../examples/encode.c"), join(home, "encode")];
    const headers = join(import.meta.dir, "../../native");
    const flags = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", `-I${headers}`];
    run(compiler!.command[0]!, [...flags, source, `-L${home}`, "-lbpe", `-Wl,-rpath,${home}`, "-o", program]);
    const said = Bun.spawnSync([program, imagePath], { stdin: Buffer.from(text) });
    expect(said.stderr.toString()).toBe("");
    const ids = (await Tokenizer.load(tokenizer)).encode(text);
    expect(said.stdout.toString()).toBe([...ids, ""].join("\n"));
    const wrong = Bun.spawnSync([program, binary], { stdin: Buffer.from(text) });
    expect([wrong.exitCode, wrong.stderr.toString()]).toEqual([1, "encode: this is not a tokenizer image\n"]);
    const missing = Bun.spawnSync([program, join(home, "nothing")]);
    expect([missing.exitCode, missing.stderr.toString()]).toEqual([
      1,
      "encode: the image cannot be opened\n",
    ]);
  });

  test("several threads get the ids that one gets", async () => {
    const program = (await compiled("threads"))!;
    const said = Bun.spawnSync([program, imagePath], { stdin: Buffer.from(text) }).stdout.toString();
    expect(said).toMatch(/^\d{4,} ids, 0 wrong\n$/);
  });

  test("a session has the ids of its whole text, and special tokens in trusted segments only", async () => {
    const program = (await compiled("sessions", "sanitized"))!;
    const said = Bun.spawnSync([program, imagePath], { stdin: Buffer.from(text) }).stdout.toString();
    expect(said).toMatch(/^\d+ ids, 0 wrong\n$/);
  });

  test("an image's claims about the kernel's memory are checked, whatever its checksum is", async () => {
    const driver = (await compiled("driver"))!;
    const image = readFileSync(imagePath);
    const placeOf = (part: number) => image.readUInt32LE(56 + 8 * part);
    const [areas, variables] = [placeOf(5), placeOf(7)];
    const lastArea = areas + image.readUInt32LE(60 + 8 * 5) - 12;
    const number = (place: number, value: number) => (bytes: Buffer) =>
      bytes.writeUInt32LE(value >>> 0, place);
    const [start, size] = [image.readUInt32LE(areas), image.readUInt32LE(areas + 4)];
    const key = image.readUInt32LE(variables);
    const edits = {
      "an area in the regions of an instance": number(areas, 64),
      "areas that overlap": number(areas + 12, start + size - 64),
      "an area that ends after the memory": number(areas, 0xffff_ff00),
      "an area that is longer than its bytes": number(areas + 4, size + 256),
      "an area of what is no byte": number(areas + 8, 257),
      "a listed area that is said to be filled": number(areas + 8, 0),
      "more memory that is filled than there may be": (bytes: Buffer) => {
        bytes.writeUInt32LE(0x8000, 52);
        bytes.writeUInt32LE(2 ** 24 + 1, lastArea + 4);
        bytes.writeUInt32LE(0, lastArea + 8);
      },
      "a memory that is too small": number(52, 1),
      "a memory larger than any": number(52, 0x1_0001),
      "a variable that nobody has": number(variables, key + 1),
      "variables in no order": number(variables + 12, key),
      "a part that ends after the image": number(56 + 8 * 6 + 4, image.length),
      "half a variable": number(56 + 8 * 7 + 4, 7),
    };
    for (const [what, edit] of Object.entries(edits)) {
      const bytes = Buffer.from(image);
      edit(bytes);
      bytes.writeUInt32LE(crc32(bytes.subarray(16)), 12);
      writeFileSync(join(home, "edited.image"), bytes);
      const { exitCode, stderr } = Bun.spawnSync([driver, join(home, "edited.image")]);
      expect([what, exitCode, stderr.toString()]).toEqual([what, 1, expect.stringMatching(/damaged|memory/)]);
    }
  });

  test("an image that is damaged anywhere gives an error or ids", async () => {
    const program = (await compiled("damage"))!;
    const { exitCode, signalCode, stdout } = Bun.spawnSync([program, imagePath, "1", "0", `${rounds(500)}`]);
    const last = stdout.toString().trim().split("\n").at(-1);
    expect([exitCode, signalCode, last]).toEqual([
      0,
      undefined as never,
      expect.stringContaining(" opened, "),
    ]);
    // Only the first eight bytes of an image.
    writeFileSync(join(home, "damaged.image"), "bpeimage");
    const opened = Bun.spawnSync([(await compiled("driver"))!, join(home, "damaged.image")]);
    expect([opened.exitCode, opened.stderr.toString()]).toEqual([1, "this is not a tokenizer image\n"]);
  });
});
