import { randomNumbers } from "../../random.ts";
import type { TokenizerJson } from "../tokenizer/made-tokenizer.ts";

/** Pieces of added tokens and texts. */
export const pieces = [
  ..."aehtlowx_.<>|'5",
  ...["<A>", "<A", "A>", "<|b|>", "|b|", "the", "low", "lower", "er", "'s", "<A><A>"],
  ...[
    " ",
    " ",
    "  ",
    "\n",
    "\r\n",
    "\t",
    "\u0085",
    "\u00a0",
    "\u1680",
    "\u2003",
    "\u2028",
    "\u3000",
    "\u200b",
    "\ufeff",
    "\u180e",
  ],
  ...[
    "é",
    "e\u0301",
    "\u0301",
    "\u0345",
    "\u0323",
    "Å",
    "\u212b",
    "ﬁ",
    "½",
    "²",
    "Ⅷ",
    "ⅷ",
    "¨",
    "ſ",
    "ǆ",
    "\u200d",
    "\u200c",
    "‿",
    "·",
    "ª",
  ],
  ...[
    "漢",
    "字",
    "\uf900",
    "가",
    "\u1100\u1161",
    "\u11a8",
    "𠀀",
    "😀",
    "\u{1d7d8}",
    "\u{e0100}",
    "\u20e3",
    "\u0903",
    "\u0966",
  ],
  ...[
    "\u0378",
    "\u{1e030}",
    "\u{1e08f}",
    "\u{10d4e}",
    "\u{105c9}",
    "\u0897",
    "\u{11de0}",
    "\u088f",
    "\u1c89",
    "\u{16ea0}",
  ],
];

/** A tokenizer with random added tokens, and texts made of these and other pieces. */
export type Trial = { json: TokenizerJson; texts: string[] };

export function madeTrial(base: TokenizerJson, seed: number): Trial {
  const random = randomNumbers(seed);
  const pick = <T>(list: readonly T[]): T => list[random(list.length)]!;
  const madeText = (most: number) => Array.from({ length: random(most + 1) }, () => pick(pieces)).join("");
  const json = structuredClone(base);
  json.added_tokens = [];
  json.normalizer = pick([
    null,
    null,
    { type: "NFC" },
    { type: "NFD" },
    { type: "NFKC" },
    { type: "NFKD" },
    { type: "Sequence", normalizers: [{ type: "NFKC" }] },
    { type: "Sequence", normalizers: [{ type: "NFKC" }, { type: "Lowercase" }] },
    { type: "Sequence", normalizers: [{ type: "Lowercase" }, { type: "NFD" }] },
    { type: "Lowercase" },
  ]);
  json.model.ignore_merges = random(4) === 0;
  json.pre_tokenizer = {
    type: "ByteLevel",
    add_prefix_space: random(5) === 0,
    trim_offsets: true,
    use_regex: true,
  };
  const { vocab } = json.model;
  let nextId = Object.keys(vocab).length;
  // Most of the added tokens below get ids from `nextId` on, so one of them may get the id of this vocabulary token,
  // too.
  if (random(6) === 0) vocab.Ġfar = nextId + random(4);
  const contents: string[] = [];
  for (let n = 1 + random(6); n > 0; n--) {
    const isKnown = contents.length > 0 && random(5) === 0;
    const content = isKnown ? pick(contents).normalize(pick(["NFC", "NFD", "NFKC", "NFKD"])) : madeText(3);
    contents.push(content);
    const often = (one: number) => random(one) === 0;
    if (often(8)) vocab[content] ??= pick([nextId++, nextId + random(5), random(256)]);
    json.added_tokens.push({
      id: often(3) ? random(1000) : nextId++,
      content,
      single_word: often(3),
      lstrip: often(3),
      rstrip: often(3),
      normalized: often(2),
      special: often(2),
    });
  }
  const texts = Array.from({ length: 8 }, () =>
    Array.from({ length: random(8) }, () => {
      const content = pick(contents);
      const kind = random(8);
      if (kind < 4) return content;
      if (kind === 4) return content.slice(0, random(content.length + 1));
      return madeText(2);
    })
      .join("")
      .toWellFormed(),
  );
  return { json, texts };
}
