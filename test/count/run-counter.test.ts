import { expect, test } from "bun:test";
import { RunCounter, type RunTokens, runTokenBytes } from "../../src/count/run-counter.ts";
import { WordCounter } from "../../src/words/word-counter.ts";
import { Random } from "../pattern/naive.ts";

const runTokensOf = (texts: readonly string[]): RunTokens => {
  const starts = new Uint32Array(texts.length + 1);
  texts.forEach((text, t) => {
    starts[t + 1] = starts[t]! + text.length;
  });
  return { count: texts.length, bytes: Buffer.from(texts.join("")), starts };
};

/** Runs by their tokens, with their counts. */
function countedRuns(counter: WordCounter, width: 2 | 4): Map<string, number> {
  const { wordCount, bytes, starts, counts } = counter.toWordTable();
  const view = Buffer.from(bytes);
  return new Map(
    Array.from({ length: wordCount }, (_, w) => {
      const ids: number[] = [];
      for (let pos = starts[w]!; pos < starts[w + 1]!; pos += width) ids.push(view.readUIntLE(pos, width));
      return [ids.join(" "), counts[w]!] as const;
    }),
  );
}

test("runs of tokens are counted, in documents of their own, whatever arrives at a time", () => {
  const seed = 20261122;
  const random = new Random(seed);
  for (let trial = 0; trial < 40; trial++) {
    const tokens = runTokensOf(["of", " the", "I", " a"]);
    const words = ["of", " the", "I", " a", ",", " th", "o"];
    const counter = new WordCounter();
    const runs = new RunCounter(tokens, counter);
    const wanted = new Map<string, number>();
    for (let document = 0; document < 12; document++) {
      const pretokens = Array.from({ length: random.below(random.pick([8, 8, 3000])) }, () =>
        random.pick(words),
      );
      const text = pretokens.join("");
      runs.text(text.length).bytes.set(Buffer.from(text));
      const ends = [0];
      for (const pretoken of pretokens) ends.push(ends.at(-1)! + pretoken.length);
      for (let first = 0; first < pretokens.length; ) {
        const count = Math.min(1 + random.below(9), pretokens.length - first);
        runs.count(Int32Array.from(ends.slice(first, first + count + 1)), count + 1);
        first += count;
      }
      runs.endDocument();
      const ids = pretokens.map((pretoken) => words.indexOf(pretoken));
      for (const run of ids
        .map((id) => (id < 4 ? id : "|"))
        .join(" ")
        .split("|")) {
        if (!run.trim().includes(" ")) continue;
        wanted.set(run.trim(), (wanted.get(run.trim()) ?? 0) + 1);
      }
    }
    runs.flush();
    const found = countedRuns(counter, 2);
    expect({ seed, trial, found: [...found].sort() }).toEqual({ seed, trial, found: [...wanted].sort() });
  }
});

test("ids take four bytes where there are more than 65,536 tokens", () => {
  const texts = Array.from({ length: 65_537 }, (_, t) => `${t} `);
  const tokens = runTokensOf(texts);
  expect(runTokenBytes(tokens)).toBe(4);
  const counter = new WordCounter();
  const runs = new RunCounter(tokens, counter);
  const text = "65536 7 65535 ";
  runs.text(text.length).bytes.set(Buffer.from(text));
  runs.count(Int32Array.of(0, 6, 8, 14), 4);
  runs.endDocument();
  runs.flush();
  expect([...countedRuns(counter, 4)]).toEqual([["65536 7 65535", 1]]);
  expect(runTokenBytes(runTokensOf(texts.slice(1)))).toBe(2);
});
