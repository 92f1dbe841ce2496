import { expect, test } from "bun:test";
import { patterns } from "../../../src/pattern/named-patterns.ts";
import * as compiledPatterns from "../../../src/pattern/pattern.ts";
import { isSmallScale } from "../../../src/runtime/scale.ts";
import { runToEnd } from "../../../src/runtime/slices.ts";
import { Pretokens } from "../../../src/text/pretokens.ts";
import { TextEncoding } from "../../../src/tokenizer/text-encoding.ts";
import { WordCounter } from "../../../src/words/word-counter.ts";
import { turns } from "../../rounds.ts";
import { chunksOf, stream } from "../corpus/made-chunks.ts";
import { bothOf, encodeWith, huggingFaceIds, jsonOf, writeTokenizer } from "../tokenizer/made-tokenizer.ts";
import { entriesOf } from "../words/generators.ts";
import { countingTexts } from "./counting-texts.ts";

/** Regression tests: a text lost its last bytes if a block (16 KiB) ended inside its last character. */

const lastCharacters = ["z", "é", "中", "\u201d", "😀", "e\u0301"];
const names = ["gpt2", "o200k", "none"] as const;

const range = (start: number, end: number) => Array.from({ length: end - start }, (_, i) => start + i);
/** At small scale a block ends after every 16 bytes, so every length is near an edge. */
const lengths = isSmallScale ? range(0, 201) : usualLengths();

function usualLengths(): number[] {
  return [
    ...range(16_370, 16_401),
    ...range(32_750, 32_791),
    ...range((1 << 18) - 5, (1 << 18) + 3),
    ...range((1 << 20) - 5, (1 << 20) + 3),
  ];
}

const filler = "the cat ".repeat((1 << 17) + 1);
const textOf = (length: number, last: string) => filler.slice(0, length) + last;

test("a text of any length keeps its last character: its ids are HF's, and decode to it", async () => {
  let turn = 0;
  for (const name of names) {
    const { theirs, ours } = await bothOf(jsonOf(writeTokenizer(name)));
    for (const length of lengths) {
      for (const last of isSmallScale ? lastCharacters : turns(lastCharacters, turn++)) {
        const text = textOf(length, last);
        const ids = ours.encode(text);
        const decoded = ours.decode(ids);
        expect({ name, length, last, isSame: decoded === text }).toEqual({
          name,
          length,
          last,
          isSame: true,
        });
        if (length > 20_000) continue;
        expect({ name, length, last, ids: [...ids] }).toEqual({
          name,
          length,
          last,
          ids: await huggingFaceIds(theirs, text),
        });
      }
    }
  }
});

test("a text before a special token keeps its last character", async () => {
  const { ours } = await bothOf(jsonOf(writeTokenizer("gpt2")));
  const encoding = new TextEncoding(ours.parts);
  for (const length of lengths.slice(0, isSmallScale ? 201 : 80)) {
    for (const last of lastCharacters) {
      const text = `x<|end|>${textOf(length, last)}<|endoftext|>${textOf(length, last)}`;
      const ids = encodeWith(encoding, Buffer.from(text));
      expect({ length, last, text: ours.decode(ids) }).toEqual({
        length,
        last,
        text,
      });
    }
  }
});

test("a text of any length is counted with its last character", () => {
  for (const name of names) {
    const pattern = compiledPatterns.compile(patterns[name].sources);
    const counter = new WordCounter(1 << 20);
    const pretokens = new Pretokens(pattern.automata, [], counter);
    for (const length of lengths) {
      for (const last of isSmallScale ? lastCharacters : turns(lastCharacters, length)) {
        const bytes = Buffer.from(textOf(length, last));
        const texts = countingTexts({ inputs: [stream], pattern, pretokens }, counter);
        for (const chunk of chunksOf(bytes, bytes.length)) runToEnd(texts.take(chunk));
        const byteCount = entriesOf(counter.toWordTable()).reduce(
          (sum, [word, count]) => sum + word.length * count,
          0,
        );
        counter.clear();
        expect({ name, length, last, byteCount }).toEqual({ name, length, last, byteCount: bytes.length });
      }
    }
  }
});
