import { expect, test } from "bun:test";
import type { CompiledPattern } from "../../../src/pattern/compiled-pattern.ts";
import { cutText } from "../../../src/pattern/cut-text.ts";
import { type PatternName, patterns } from "../../../src/pattern/named-patterns.ts";
import * as compiledPatterns from "../../../src/pattern/pattern.ts";
import { isSmallScale } from "../../../src/runtime/scale.ts";
import { runToEnd } from "../../../src/runtime/slices.ts";
import { Pretokens } from "../../../src/text/pretokens.ts";
import { WordCounter } from "../../../src/words/word-counter.ts";
import { inOrder } from "../../naive.ts";
import { places, turns } from "../../rounds.ts";
import { chunksOf, stream } from "../corpus/made-chunks.ts";
import {
  bothOf,
  huggingFaceIds,
  jsonOf,
  type TokenizerJson,
  writeTokenizer,
} from "../tokenizer/made-tokenizer.ts";
import { entriesOf } from "../words/generators.ts";
import { countingTexts } from "./counting-texts.ts";

/**
 * The distances from a text's beginning at which each of `things` is placed. At small scale, they reach past several
 * edges of blocks, slices and windows. At the usual scale, they are around the end of the first block.
 */
const distances = isSmallScale
  ? Array.from({ length: 201 }, (_, distance) => distance)
  : Array.from({ length: 24 }, (_, i) => (1 << 14) - 20 + i);

/**
 * Returns the distances to try: all of them in a thorough run. A quick run tries every fifth one at small scale, and a
 * single one at the usual scale, where texts are long.
 */
const someDistances = (turn: number) =>
  isSmallScale ? Array.from(places(distances.length, turn), (i) => distances[i]!) : turns(distances, turn);

const things = [
  ...[
    "é",
    "中",
    "😀",
    "e\u0301",
    "\u0301\u0301",
    "\u1100\u1161\u11a8",
    "ﬁ",
    "Å",
    "\u0e01\u0e33",
    "🇩🇪",
    "👨‍👩‍👧",
  ],
  ...[
    "  ",
    "   ",
    " \n",
    "\n\n \n",
    "\r\n",
    "\u00a0 ",
    "\u0085\u0085",
    "\u2028 ",
    "\u3000 ",
    "\ufeff",
    "\t\t",
  ],
  ...[
    "'s",
    "'LL",
    "'ſ",
    " 'x",
    "12",
    "1234567",
    "٣٤٥",
    "ABc",
    "中Bc",
    "!!\n",
    " /x/",
    "a".repeat(40),
    "中".repeat(17),
  ],
  ...[
    "<|end|>",
    "<|end",
    "|>",
    "  <|end|>",
    "\n\n<|end|>\n",
    "é<|end|>é",
    "中中<|end|><|end|>",
    "[é漢]",
    "1<|end|>2",
  ],
  ...[
    "<|endoftext|><|endoftext|>",
    "<|endoftext|><|endoftext",
    "x<|<|end|>",
    "'<|end|>s",
    "e<|end|>\u0301",
    " \u0085<|end|>",
  ],
];
const tails = ["", " the dog", "<|end|>", "\u0301x", "中 <|end|> \n"];

const filler = "the cat ".repeat(2100);
const textOf = (distance: number, thing: string, tail: string) => filler.slice(0, distance) + thing + tail;

const names = ["gpt2", "o200k", "llama3", "deepseek-v3", "none"] as const;

/** Patterns with look-aheads. Some look-aheads have no greatest length. */
const looks = [
  String.raw`\p{L}+(?!\p{N})|\p{N}{1,3}(?=(?:\p{N}{3})*(?:\P{N}|$))|\s+(?!\S)|\s|.`,
  String.raw`[^\s]+(?=\s{2,}d)|\s+(?!\S)|.`,
];

function withLook(json: TokenizerJson, look: string): TokenizerJson {
  const split = { type: "Split", pattern: { Regex: look }, behavior: "Isolated", invert: false };
  const bytes = { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: false };
  return { ...json, pre_tokenizer: { type: "Sequence", pretokenizers: [split, bytes] } };
}

function tokenizers(): [string, TokenizerJson][] {
  const plain = (name: PatternName) => jsonOf(writeTokenizer(name, "huggingface"));
  return [
    ...names.map((name): [string, TokenizerJson] => [name, plain(name)]),
    ...looks.map((look): [string, TokenizerJson] => [look, withLook(plain("none"), look)]),
    ...["NFC", "NFD", "NFKC"].map((type): [string, TokenizerJson] => [
      type,
      { ...plain("gpt2"), normalizer: { type } },
    ]),
  ];
}

test("ids are HF's, whatever an edge cuts", async () => {
  let turn = 0;
  for (const [name, json] of tokenizers()) {
    const { theirs, ours } = await bothOf(json);
    // The kernel uses masks only after it has scanned some text, so a long text comes first.
    ours.encode(filler.repeat(64));
    for (const thing of things) {
      for (const distance of someDistances(turn)) {
        for (const tail of turns(tails, turn++)) {
          const text = textOf(distance, thing, tail);
          const ids = [...ours.encode(text)];
          const wanted = await huggingFaceIds(theirs, text);
          if (Bun.deepEquals(ids, wanted)) continue;
          expect({ name, distance, thing, tail, ids }).toEqual({ name, distance, thing, tail, ids: wanted });
        }
      }
    }
  }
});

/** Returns the words of a text. `cutText` cuts each of its documents as a whole. */
function naiveWords(pattern: CompiledPattern, text: string): [string, number][] {
  const words = new Map<string, number>();
  for (const document of text.split("<|end|>")) {
    const bytes = Buffer.from(document);
    cutText(pattern, bytes).reduce((from, to) => {
      const word = bytes.toString("latin1", from, to);
      words.set(word, (words.get(word) ?? 0) + 1);
      return to;
    }, 0);
  }
  return inOrder(words);
}

test("words are those of whole documents, whatever an edge cuts", () => {
  const anyPattern = compiledPatterns.compile(patterns.none.sources);
  const token = { bytes: new TextEncoder().encode("<|end|>"), id: 0 };
  let turn = 0;
  for (const name of [...names, ...looks]) {
    const pattern = compiledPatterns.compile(
      name in patterns ? patterns[name as PatternName].sources : [name],
    );
    const counter = new WordCounter(1 << 20);
    const atOnce = { fourByteTablesBytes: 0, masksBytes: 0 };
    const pretokens = new Pretokens(pattern.automata, [token], counter, atOnce);
    for (const thing of things) {
      for (const distance of someDistances(turn)) {
        for (const tail of turns(tails, turn++)) {
          const text = textOf(distance, thing, tail);
          const bytes = Buffer.from(text);
          const texts = countingTexts({ inputs: [stream], pattern: anyPattern, pretokens }, counter);
          for (const chunk of chunksOf(bytes, bytes.length)) runToEnd(texts.take(chunk));
          const words = entriesOf(counter.toWordTable());
          counter.clear();
          const wanted = naiveWords(pattern, text);
          if (Bun.deepEquals(words, wanted)) continue;
          expect({ name, distance, thing, tail, words }).toEqual({
            name,
            distance,
            thing,
            tail,
            words: wanted,
          });
        }
      }
    }
  }
});
