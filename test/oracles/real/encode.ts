// `npm run suite real` tests real tokenizers, mostly by comparing their ids with those of the programs that they come
// from. This suite is not part of `npm test`, because it needs Python and downloads.
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { readNpyHead } from "../../../src/ids/id-reader.ts";
import { Tokenizer } from "../../../src/library/tokenizer.ts";
import { bpe, put, scratch } from "../../binary.ts";
import {
  askOracle,
  encode,
  finish,
  linesOf,
  materialOf,
  pathOf,
  readOptions,
  tokenizerOptions,
} from "./programs.ts";
import { commonTexts, ownTexts } from "./texts.ts";
import { realTokenizers } from "./tokenizers.ts";

setDefaultTimeout(600_000);

const seed = Number(process.env.TEST_SEED ?? 12);
const directory = scratch();
const common = commonTexts(seed);
const total = { tokenizers: 0, families: new Set<string>(), texts: 0, ids: 0, refused: 0 };

afterAll(() => {
  const { tokenizers, families, texts, ids, refused } = total;
  const grouped = (count: number) => count.toLocaleString("en");
  console.log(
    `seed ${seed}: ${tokenizers} tokenizers of ${families.size} families, ${grouped(texts)} texts, ${grouped(ids)} ids compared; ${refused} tokenizers refused, and the error names it`,
  );
});

describe("ids are those of the reference", () => {
  for (const tokenizer of realTokenizers) {
    const { name, family, expected } = tokenizer;
    if (!("oracle" in expected)) continue;
    test(`${name} (${expected.oracle.join(" ")})`, async () => {
      const { normalization, ...material } = await materialOf(tokenizer);
      const texts = [...common, ...ownTexts(seed, material)];
      // All texts are joined into one file, which is read in windows and may be shared by threads. It contains NUL, so
      // encoding it needs `--binary text`.
      const whole = texts.join("\n");
      const wholePath = put(directory, "whole.txt", whole);
      const lines = texts.map((text) => JSON.stringify(text));
      const asked = put(directory, "texts.json", `${[...lines, JSON.stringify(whole)].join("\n")}\n`);
      const records = put(directory, "texts.jsonl", lines.map((line) => `{"text":${line}}\n`).join(""));
      const [theirs, ours, oursOfWhole] = await Promise.all([
        askOracle(asked, [pathOf(tokenizer), ...expected.oracle]),
        encode([records], tokenizer).then(linesOf),
        encode(
          [wholePath, "--binary", "text", "-w", "2", "-o", join(directory, "whole.npy")],
          tokenizer,
        ).then(readWhole),
      ]);
      const theirsOfWhole = theirs.pop()!;
      const differing = texts.findIndex((_, i) => theirs[i] !== ours[i]);
      const differCount = texts.filter((_, i) => theirs[i] !== ours[i]).length;
      const [text, wanted, got] = [texts, theirs, ours].map((list) => list[differing]);
      expect({ seed, differCount, text, ids: got }).toEqual({ seed, differCount: 0, text, ids: wanted! });
      expect(ours.length).toBe(theirs.length);
      expect(oursOfWhole === theirsOfWhole).toBe(true);
      if (normalization === null) {
        const decoded = await finish([
          "decode",
          join(directory, "whole.npy"),
          ...tokenizerOptions(tokenizer),
        ]);
        expect(decoded === whole).toBe(true);
      }
      total.tokenizers++;
      total.families.add(family);
      total.texts += texts.length + 1;
      for (const line of [...theirs, theirsOfWhole]) total.ids += line === "" ? 0 : line.split(" ").length;
    });
  }
});

describe("parts of a text have as many ids as requested, and joined they are the text", () => {
  for (const tokenizer of realTokenizers) {
    if ("refusal" in tokenizer.expected) continue;
    test(tokenizer.name, async () => {
      const loaded = await Tokenizer.load(pathOf(tokenizer), readOptions(tokenizer.options ?? []));
      for (const text of common) {
        const ids = loaded.encode(text);
        expect(loaded.count(text)).toBe(ids.length);
        const stream = loaded.stream();
        const streamed = Array.from(ids, (id) => stream.push(id));
        expect([...streamed, stream.end()].join("") === loaded.decode(ids)).toBe(true);
        const limit = 1 + (text.length % 40);
        const [first, last] = [loaded.truncate(text, limit), loaded.truncate(text, limit, { keep: "end" })];
        expect([text.startsWith(first), text.endsWith(last)]).toEqual([true, true]);
        const chunks = loaded.chunks(text, 60);
        expect(chunks.join("") === text).toBe(true);
        const counts = [first, last].map((part) => loaded.count(part) <= limit);
        const sizes = [...chunks, ...loaded.chunks(text, 60, { overlap: 20 })].map(
          (part) => loaded.count(part) <= 60,
        );
        expect({ seed, text, fits: [...counts, ...sizes].every(Boolean) }).toEqual({
          seed,
          text,
          fits: true,
        });
      }
    });
  }
});

describe("known ranks", () => {
  const ranks = realTokenizers.find(({ name }) => name === "r50k-ranks")!;
  const text = put(directory, "known.txt", "a<|endoftext|>b<|end|>");
  const idsOf = async (...options: string[]) => {
    const line = await finish(["encode", text, ...tokenizerOptions({ ...ranks, options })]);
    return line.trim().split(" ").map(Number);
  };

  test("bring their special tokens, and leave room for those that are requested", async () => {
    expect((await idsOf()).slice(0, 3)).toEqual([64, 50256, 65]);
    expect((await idsOf("-s", "<|end|>")).at(-1)).toBe(50257);
    const instead = await idsOf("-s", "<|end|>=50256");
    expect(instead.at(-1)).toBe(50256);
    expect(instead.indexOf(50256)).toBe(instead.length - 1);
    const moved = await idsOf("-s", "<|endoftext|>=60000");
    expect(moved[1]).toBe(60000);
    expect(moved).not.toContain(50256);
  });

  test("are identified by inspect, with their pattern, which --pattern overrides", async () => {
    const inspect = (...options: string[]) => finish(["inspect", pathOf(ranks), ...options]);
    expect(await inspect()).toMatch(/, rank file of r50k_base\)\n[\s\S]*\npattern +r50k\n/);
    expect(await inspect("-p", "gpt-4o")).toMatch(/\npattern +o200k\n/);
  });
});

test("no published tokenizer is refused for its pattern", () => {
  for (const tokenizer of realTokenizers) {
    const { code, stderr } = bpe(["inspect", pathOf(tokenizer), ...(tokenizer.options ?? [])]);
    const { name, expected } = tokenizer;
    expect([name, code, /pattern|expression/.test(stderr)]).toEqual([
      name,
      "oracle" in expected ? 0 : 1,
      false,
    ]);
  }
});

describe("tokenizers other than byte-level BPE are refused, and the error says why", () => {
  for (const tokenizer of realTokenizers) {
    const { name, expected } = tokenizer;
    if (!("refusal" in expected)) continue;
    test(name, () => {
      const { code, stdout, stderr } = bpe(["inspect", pathOf(tokenizer)]);
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
      expect(stderr).toContain(expected.refusal);
      total.refused++;
    });
  }
});

/** Returns the ids of whole.npy in decimal, separated by spaces. */
async function readWhole(): Promise<string> {
  const path = join(directory, "whole.npy");
  const bytes = await Bun.file(path).bytes();
  const { itemBytes, startByte } = readNpyHead(bytes, path);
  const data = bytes.slice(startByte).buffer;
  return (itemBytes === 2 ? new Uint16Array(data) : new Uint32Array(data)).join(" ");
}
