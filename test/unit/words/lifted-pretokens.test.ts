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

for (const [name, last] of [
  ["end before spaces", [32, 116]],
  ["reach into spaces", [101, 32]],
] as const) {
  test(`lines are cut nowhere that a token crosses, if tokens ${name}`, () => {
    const rules = [[116, 104], [256, 101], [65, 100], last] as const;
    const merges = {
      left: Int32Array.from(rules, ([left]) => left),
      right: Int32Array.from(rules, ([, right]) => right),
      merged: Int32Array.from(rules, (_, k) => 256 + k),
    };
    const counter = new WordCounter();
    const lifted = new LiftedPretokens(encodingModels.build({ byteIds, merges }), counter);
    let state = 7;
    const random = (limit: number) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
      return (state >>> 16) % limit;
    };
    const lines = Array.from({ length: 200 }, () =>
      Array.from({ length: 1 + random(150) }, () => "the  dA.\xe9"[random(9)]).join(""),
    ).map((line) => Buffer.from(line));
    const ends = Int32Array.of(
      0,
      ...lines.map(
        (
          (end) => (line) =>
            (end += line.length)
        )(0),
      ),
    );
    lifted.text(ends.at(-1)!).bytes.set(Buffer.concat(lines));
    lifted.take(ends, ends.length);
    const { wordCount, bytes, starts, counts } = counter.toWordTable();
    const found = new Map(
      Array.from({ length: wordCount }, (_, w) => [
        new Uint16Array(bytes.slice(starts[w]!, starts[w + 1]!).buffer).join(" "),
        counts[w]!,
      ]),
    );
    const expected = new Map<string, number>();
    for (const line of lines) {
      const ids = rules.reduce((ids, rule, k) => joined(ids, rule, 256 + k), [...line]).join(" ");
      expected.set(ids, (expected.get(ids) ?? 0) + 1);
    }
    expect(found).toEqual(expected);
  });
}

/** Makes one merge in a sequence of ids. */
function joined(ids: readonly number[], [left, right]: readonly [number, number], merged: number): number[] {
  const result: number[] = [];
  for (let i = 0; i < ids.length; i++) {
    const isPair = ids[i] === left && ids[i + 1] === right;
    result.push(isPair ? merged : ids[i]!);
    if (isPair) i++;
  }
  return result;
}
