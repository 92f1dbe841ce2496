import { expect, test } from "bun:test";
import { TextEncoding } from "../../src/encode/text-encoding.ts";
import { Tokenizer } from "../../src/encode/tokenizer.ts";
import type { EncodingParts } from "../../src/encode/tokenizer-parts.ts";
import { trainTokenizer } from "../../src/index.ts";
import { put, scratch } from "../binary.ts";
import { randomNumbers } from "../vocabulary/made-merges.ts";

const seed = Number(process.env.TEST_SEED ?? 9);
const random = randomNumbers(seed);

/** Words without spaces, of characters whose bytes have much in common. */
function madeScript(firstCodePoint: number, spread: number, length: number): string {
  const words = Array.from({ length: 60 }, () =>
    Array.from({ length: 1 + random(4) }, () => String.fromCodePoint(firstCodePoint + random(spread))).join(
      "",
    ),
  );
  return Array.from({ length }, () =>
    random(12) === 0 ? "。a\n"[random(3)]! : words[random(words.length)]!,
  ).join("");
}

const encode = (encoding: TextEncoding, bytes: Uint8Array) => {
  encoding.push(bytes, 0, bytes.length);
  encoding.end();
  return [...encoding.out.flush()];
};

test("cuts where no merge crosses change no id, in any script and in bytes at random", async () => {
  const home = scratch();
  for (const [firstCodePoint, spread] of [
    [0x4e00, 90],
    [0xac00, 300],
    [0x400, 60],
    [0x1f600, 40],
    [0xe00, 80],
  ] as const) {
    const text = madeScript(firstCodePoint, spread, 3000);
    const tokenizer = await trainTokenizer({
      files: put(home, "corpus.txt", text),
      vocabSize: 900,
      pattern: "gpt4",
    });
    const { parts } = tokenizer;
    const uncut: EncodingParts = { ...parts, model: { ...parts.model, joins: null, characters: null } };
    const [withCuts, without] = [new TextEncoding(parts), new TextEncoding(uncut)];
    for (let round = 0; round < 60; round++) {
      const other = madeScript(firstCodePoint + random(20), spread, 40);
      const bytes = Buffer.from(random(2) === 0 ? other : text.slice(random(1000)).slice(0, 200));
      for (let n = random(4); n > 0; n--) bytes[random(bytes.length)] = random(256);
      const found = encode(withCuts, bytes);
      expect({ seed, round, firstCodePoint, found }).toEqual({
        seed,
        round,
        firstCodePoint,
        found: encode(without, bytes),
      });
    }
    expect(new Tokenizer(parts).decode(encode(withCuts, Buffer.from(text)))).toEqual(
      new Uint8Array(Buffer.from(text)),
    );
  }
});
