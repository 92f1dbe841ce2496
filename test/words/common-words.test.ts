import { expect, test } from "bun:test";
import { CommonWords, commonWordsOf, nothingLeftOut, TableWords } from "../../src/words/sorted-words.ts";
import { type WordTable, wordTableOf } from "../../src/words/word-table.ts";
import { randomOf } from "./generators.ts";

type Entry = readonly [word: string, count: number];

function entriesOfTable({ wordCount, bytes, starts, counts }: WordTable): Entry[] {
  return Array.from({ length: wordCount }, (_, w) => [
    Buffer.from(bytes.subarray(starts[w]!, starts[w + 1]!)).toString("latin1"),
    counts[w]!,
  ]);
}

function entriesOfSorted(words: CommonWords): Entry[] {
  const entries: Entry[] = [];
  while (words.next()) {
    const word = Buffer.from(words.word.bytes.subarray(0, words.wordLength)).toString("latin1");
    entries.push([word, words.count]);
  }
  return entries;
}

const byWord = (entries: readonly Entry[]) => entries.toSorted(([a], [b]) => (a < b ? -1 : 1));

test("words that occur fewer times are left out and told of, in a table and in sorted words alike", () => {
  for (let seed = 1; seed <= 15; seed++) {
    const random = randomOf(seed);
    const made = new Map<string, number>();
    for (let i = random(60); i > 0; i--) {
      const word = Array.from({ length: 1 + random(6) }, () => "ab\0\xff"[random(4)]).join("");
      made.set(word, 1 + random(6));
    }
    const entries = [...made];
    const table = () => wordTableOf(entries.map(([word, count]) => [Buffer.from(word, "latin1"), count]));
    for (const minCount of [1, 2, 4, 7]) {
      const common = entries.filter(([, count]) => count >= minCount);
      const rare = entries.filter(([, count]) => count < minCount);
      const expectedLeftOut = {
        wordCount: rare.length,
        pretokenCount: rare.reduce((sum, [, count]) => sum + count, 0),
      };
      const ofTable = nothingLeftOut();
      expect({ seed, words: entriesOfTable(commonWordsOf(table(), minCount, ofTable)) }).toEqual({
        seed,
        words: common,
      });
      const ofSorted = nothingLeftOut();
      const sorted = entriesOfSorted(new CommonWords(new TableWords(table()), minCount, ofSorted));
      expect({ seed, words: sorted }).toEqual({ seed, words: byWord(common) });
      expect([ofTable, ofSorted]).toEqual([expectedLeftOut, expectedLeftOut]);
    }
  }
});
