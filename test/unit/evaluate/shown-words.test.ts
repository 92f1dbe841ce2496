import { expect, test } from "bun:test";
import { shownWords } from "../../../src/evaluate/shown-words.ts";

test("people are shown words with letters first, similar words once, and lines of one character last", () => {
  const words = ["----", "low", "Low,", "\u201clow", "|", "newest", "--low--", "été"].map((word) => ({
    ...{ word, bytes: 9, count: 1, tokens: 3, tokensBeyondFirst: 2, pieces: [] },
  }));
  const shown = (count: number) => shownWords(words, count).map(({ word }) => word);
  expect(shown(9)).toEqual(["low", "newest", "été", "Low,", "\u201clow", "--low--", "----", "|"]);
  expect(shown(4)).toEqual(["low", "newest", "été", "Low,"]);
});
