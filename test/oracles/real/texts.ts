import { randomSource } from "../../../bench/random.ts";

/** What the texts for one tokenizer are made of, in addition to `pieces`. */
export type OwnMaterial = {
  readonly specialTokens: readonly string[];
  /** Tokens of the vocabulary that are valid text. */
  readonly tokens: readonly string[];
  /** Tokens that no merges produce. A text gets such a token only where a whole pretoken equals it. */
  readonly unreachable: readonly string[];
};

type Random = ReturnType<typeof randomSource>;

const pick = <T>(random: Random, list: readonly T[]): T => list[random.below(list.length)]!;
const made = (count: number, make: (i: number) => string) => Array.from({ length: count }, (_, i) => make(i));

/** Characters that patterns, normal forms and added tokens distinguish, and strings that break tools. */
const pieces: readonly string[] = [
  ..." \n\t\r\0\u000b\u000c\u001b\u007f",
  "\r\n",
  "\n\r",
  // White space beyond ASCII, and invisible characters that are not white space.
  ..."\u0085\u00a0\u1680\u2003\u2028\u2029\u202f\u205f\u3000\u180e\u200b\u2060\ufeff\u00ad",
  // Letters, numbers and marks.
  ..."aZéßÿſıİKΩσςДцאبबกあア漢가ǅʰªᾳ",
  ..."0٣৭Ⅷ²¼½௰〇一𝟙",
  ..."\u0301\u0308\u0338\u05b0\u064b\u093f\u094d\u0e38\u3099\u20e3\ufe0f\ufe0e",
  // Hangul in parts, and characters that normal forms replace.
  "\u1112\u1161\u11ab",
  ..."\u212b\u2126\u0958\ufb01\ufdfa\uff21\u3300\u2460\u1e9b\u0323",
  // Zero-width non-joiner and joiner, and sequences of emoji.
  ..."\u200c\u200d",
  "👨‍👩‍👧‍👦",
  "🏳️‍🌈",
  "🇩🇪🇫🇷🇬",
  "👍🏽",
  "1️⃣",
  "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
  // Text with direction marks, and words of Hindi and Thai.
  "\u202eabc\u202c",
  "\u2067שלום\u2069",
  "\u200fمرحبا\u200e",
  "क्षत्रिय",
  "ที่นี่",
  // Apostrophes and contractions.
  ..."'’ʼ＇",
  "'s",
  "'S",
  "'ll",
  "'LL",
  "'rE",
  "'ſ",
  "'d've",
  "I'm",
  // Punctuation and symbols.
  ...'._-/\\|()[]{}<>!?;:,"`~@#$%^&*+=…—«»。、！₿€',
  "--",
  "::",
  "=>",
  "...",
  "https://x.y/z?a=1&b=%20",
  // Private-use and unassigned characters, noncharacters, and the replacement character.
  ..."\ue000\u0378\ufdd0\uffff\ufffd\u{1f8ff}\u{50000}\u{f0000}\u{10fffe}\u{10ffff}",
  // Characters new in Unicode 15, 15.1, 16 and 17: letters, marks and digits.
  ..."\u{1e4d0}\u{11f02}\u{31350}\u{2ebf0}\u1c89\u1c8a\ua7cb\ua7dc\u{10d4a}\u{10d50}\u{10d40}\u{11380}\u{113b8}",
  ..."\u{16100}\u{16130}\u{16d40}\u{1e5d0}\u{1ccf0}\u{105c0}",
  ..."\ua7ce\ua7d2\ua7d4\ua7f1\u{10940}\u{11db0}\u{11de0}\u{16ea0}\u{1e6c0}\u{323b0}\u{2b739}\u0c5c\u0cdc\u1acf",
];

const scripts = [
  ...[
    "Latin",
    "Greek",
    "Cyrillic",
    "Armenian",
    "Hebrew",
    "Arabic",
    "Syriac",
    "Thaana",
    "Devanagari",
    "Bengali",
  ],
  ...["Gurmukhi", "Gujarati", "Tamil", "Telugu", "Kannada", "Malayalam", "Sinhala", "Thai", "Lao", "Tibetan"],
  ...["Myanmar", "Georgian", "Hangul", "Ethiopic", "Cherokee", "Khmer", "Mongolian", "Hiragana", "Katakana"],
  ...[
    "Bopomofo",
    "Han",
    "Yi",
    "Tifinagh",
    "Nko",
    "Vai",
    "Adlam",
    "Cuneiform",
    "Deseret",
    "Gothic",
    "Braille",
  ],
];

const isSurrogate = (point: number) => point >= 0xd800 && point < 0xe000;

function charactersByScript(): string[][] {
  let all = "";
  for (let point = 0; point < 0x110000; point++) if (!isSurrogate(point)) all += String.fromCodePoint(point);
  return scripts.map((script) => all.match(new RegExp(`\\p{Script=${script}}`, "gu"))!);
}

/** Returns a random character below the limit, assigned or not. */
function character(random: Random, limit: number): string {
  const point = random.below(limit);
  return isSurrogate(point) ? "�" : String.fromCodePoint(point);
}

const separators = [
  " ",
  " ",
  " ",
  "  ",
  "\n",
  "\r\n",
  ", ",
  ". ",
  "-",
  "'s ",
  "\u00a0",
  "\t",
  "",
  "1",
  " 23 ",
  "\n\n  ",
];

/** Returns a random length from 1 to below the limit. All orders of magnitude are equally likely. */
const lengthUpTo = (random: Random, limit: number) => Math.floor(limit ** random.unit());

/** Returns texts for all tokenizers. The same seed gives the same texts. */
export function commonTexts(seed: number): string[] {
  const random = randomSource(seed);
  const byScript = charactersByScript();
  const words = (alphabet: readonly string[]) =>
    made(1 + random.below(12), () => {
      const word = made(1 + lengthUpTo(random, 12), () => pick(random, alphabet)).join("");
      return word + pick(random, separators);
    }).join("");
  const soup = (limit: number) => made(1 + random.below(40), () => character(random, limit)).join("");
  const cuts = pieces.filter((piece) => [...piece].length === 1);
  return [
    "",
    ...pieces,
    ...pieces.map((piece) => piece.repeat(7)),
    ...made(3000, () => made(2 + random.below(2), () => pick(random, cuts)).join("")),
    ...made(1500, () => made(3 + random.below(12), () => pick(random, pieces)).join("")),
    ...byScript.flatMap((alphabet) => made(20, () => words(alphabet))),
    // Several scripts in one word.
    ...made(300, () => words(made(6, () => pick(random, pick(random, byScript))))),
    ...made(600, () => soup(0x110000)),
    ...made(600, () => soup(0x20000)),
    ...made(300, () => soup(0x3000)),
    ...made(300, () => {
      const run = pick(random, pieces).repeat(1 + lengthUpTo(random, 1500));
      return pick(random, pieces) + run + pick(random, pieces);
    }),
  ];
}

/** Returns texts made of one tokenizer's special tokens and vocabulary. */
export function ownTexts(seed: number, { specialTokens, tokens, unreachable }: OwnMaterial): string[] {
  const random = randomSource(seed ^ 0x5bd1e995);
  const cut = (token: string) => {
    const characters = [...token];
    const start = random.below(characters.length);
    return characters.slice(start, start + 1 + random.below(characters.length - start)).join("");
  };
  const withSpecials = () =>
    made(1 + random.below(6), () => {
      const token = pick(random, specialTokens);
      return pick(random, [
        token,
        token,
        token + token,
        cut(token),
        pick(random, pieces),
        ` ${token} `,
        "word",
      ]);
    }).join("");
  return [
    ...specialTokens,
    ...(specialTokens.length === 0 ? [] : made(1500, withSpecials)),
    ...unreachable.flatMap((token) => [
      token,
      token + token,
      pick(random, tokens) + token,
      token + pick(random, tokens),
      pick(random, pieces) + token + pick(random, pieces),
    ]),
    ...made(tokens.length === 0 ? 0 : 3000, () =>
      made(1 + random.below(12), () => pick(random, tokens) + pick(random, separators)).join(""),
    ),
    ...made(tokens.length === 0 ? 0 : 3000, () => pick(random, tokens) + pick(random, tokens)),
  ];
}
