import { expect, test } from "bun:test";
import * as encodingModels from "../../../src/tokenizer/encoding-model.ts";
import { idBytesOf, LiftedPretokens } from "../../../src/words/lifted-pretokens.ts";
import { WordCounter } from "../../../src/words/word-counter.ts";

const byteIds = Int32Array.from({ length: 256 }, (_, byte) => byte);
/** The merges of "th" and "the". */
const merges = {
  left: Int32Array.of(116, 256),
  right: Int32Array.of(104, 101),
  merged: Int32Array.of(256, 257),
};

for (const [name, idMax, idBytes] of [
  ["16", 257, 2],
  ["32", 1 << 16, 4],
] as const) {
  test(`pretokens are counted as sequences of ids of ${name} bits`, () => {
    const model = encodingModels.build({ byteIds, merges, idMax });
    expect(idBytesOf(model)).toBe(idBytes);
    const counter = new WordCounter();
    const lifted = new LiftedPretokens(model, counter);
    const text = "the then the thx";
    lifted.text(text.length).bytes.set(Buffer.from(text));
    lifted.take(Int32Array.of(0, 3, 4, 8, 9, 12, 13, 16), 8);
    const { wordCount, bytes, starts, counts } = counter.toWordTable();
    const Ids = idBytes === 2 ? Uint16Array : Uint32Array;
    const words = Array.from({ length: wordCount }, (_, w) => [
      new Ids(bytes.slice(starts[w]!, starts[w + 1]!).buffer).join(" "),
      counts[w],
    ]);
    expect(words.sort()).toEqual([
      ["256 120", 1],
      ["257 110", 1],
      ["257", 2],
      ["32", 3],
    ]);
  });
}
