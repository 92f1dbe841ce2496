import { expect, test } from "bun:test";
import type { Session } from "../../../src/library/text-session.ts";
import { TextTokenizer } from "../../../src/library/text-tokenizer.ts";
import { isSmallScale } from "../../../src/runtime/scale.ts";
import { randomNumbers } from "../../random.ts";
import { places, rounds, turns } from "../../rounds.ts";
import { specialTokens, type TokenizerJson } from "../tokenizer/made-tokenizer.ts";
import { checkEdits, type Made, made, madeAtRandom, madeBases } from "./session-checks.ts";

const seed = Number(process.env.TEST_SEED ?? 31);
const bases = madeBases();

const jsonsOf = (base: TokenizerJson): TokenizerJson[] => [
  base,
  ...changing(base),
  { ...base, added_tokens: base.added_tokens.map((token, i) => ({ ...token, special: i > 0 })) },
];

/** Tokenizers that change a text before they cut it, or have added tokens that depend on the text next to them. */
const changing = (base: TokenizerJson): TokenizerJson[] => [
  {
    ...base,
    pre_tokenizer: { type: "ByteLevel", add_prefix_space: true, trim_offsets: true, use_regex: true },
  },
  { ...base, normalizer: { type: "NFC" } },
  { ...base, normalizer: { type: "Sequence", normalizers: [{ type: "NFKC" }, { type: "Lowercase" }] } },
  { ...base, added_tokens: base.added_tokens.map((token, i) => ({ ...token, lstrip: i === 1 })) },
  {
    ...base,
    added_tokens: base.added_tokens.map((token) => ({ ...token, rstrip: true, single_word: true })),
  },
];

/** Yields tokenizers of five patterns, and with random settings. */
function* madeTokenizers(): Generator<Made> {
  for (const [i, base] of bases.entries()) for (const json of turns(jsonsOf(base), i)) yield made(json);
  for (let trial = 0; trial < rounds(80); trial++) {
    const tokenizer = madeAtRandom(bases, seed * 1_000_003 + trial);
    if (tokenizer !== null) yield tokenizer;
  }
}

test("after any edits the ids are those of the whole text", () => {
  let number = 0;
  const others: Session[] = [];
  for (const tokenizer of madeTokenizers()) {
    const random = randomNumbers(seed * 1009 + number++);
    for (const isMixed of [false, true])
      others.push(checkEdits(tokenizer, random, { isMixed, editCount: 50 }));
  }
  // Other tokenizers have used the kernel's memories since, so a session has to be set up again.
  for (const session of others) {
    const [kept, count, text] = [session.fork(), session.count, session.text];
    session.append(" and more");
    session.truncate(text.length);
    expect([session.count, session.ids]).toEqual([count, kept.ids]);
  }
});

test.skipIf(isSmallScale)("an edit encodes the changed text, and little around it", () => {
  const base = bases[1]!;
  for (const json of [base, ...changing(base)]) {
    const tokenizer = TextTokenizer.from(json);
    const session = tokenizer.session("low lower the text, é漢 e\u0301 ".repeat(5000));
    let encoded = session.encodedBytes;
    for (let turn = 0; turn < 50; turn++)
      session.append(`${specialTokens[0]} and turn ${turn}, which is short.`);
    expect(session.encodedBytes - encoded).toBeLessThan(50 * 200);
    expect(session.stable).toBeGreaterThan(session.count - 80);
    encoded = session.encodedBytes;
    session.replace(1000, 1001, "anything");
    expect(session.encodedBytes - encoded).toBeLessThan(20_000);
    expect(session.ids).toEqual(tokenizer.encode(session.text));
    expect(session.fork().encodedBytes).toBe(0);
  }
});

test("a cut after an edit is also a cut of the new text", () => {
  const text = "it's 1234 low  lower\n\n the'll é漢 e\u0301 <|end|> 12 [é漢]".repeat(4);
  for (const [i, base] of bases.entries())
    for (const json of turns([base, ...changing(base)], i)) {
      const tokenizer = TextTokenizer.from(json);
      const whole = tokenizer.session(text);
      for (const end of places(text.length, i))
        for (const inserted of ["", " ", "x", "'", "1", "\n", "\u0301", "<|end|>"]) {
          const session = whole.fork();
          session.replace(Math.max(0, end - 1), end, inserted);
          expect({ i, end, inserted, ids: session.ids }).toEqual({
            ...{ i, end, inserted },
            ids: tokenizer.encode(session.text),
          });
        }
    }
});

test("a text may begin with an added space, and continue with a character that normalization changes", () => {
  const [spaced, , folded] = changing(bases[0]!).map((json) => TextTokenizer.from(json));
  for (const [tokenizer, text] of [
    [spaced!, `'ll${"x".repeat(60)}`],
    [folded!, `${"!".repeat(60)}¨${"a".repeat(60)}`],
  ] as const) {
    const session = tokenizer.session(text);
    expect(session.ids).toEqual(tokenizer.encode(text));
    session.append("a");
    expect(session.ids).toEqual(tokenizer.encode(`${text}a`));
  }
});

test("half a surrogate pair is a replacement character until its other half is next to it", () => {
  const tokenizer = TextTokenizer.from(bases[0]!);
  const ids = (text: string) => [...tokenizer.encode(text)];
  const session = tokenizer.session("a\ud83d");
  expect([...session.ids]).toEqual(ids("a\ufffd"));
  session.append("\ude00b");
  expect([session.text, ...session.ids]).toEqual(["a😀b", ...ids("a😀b")]);
  session.truncate(2);
  expect([...session.ids]).toEqual(ids("a\ufffd"));
  session.append("\ude00", { trusted: false });
  expect([...session.ids]).toEqual(ids("a\ufffd\ufffd"));
  const parted = tokenizer.session("\ud83d-\ude00");
  parted.replace(1, 2, "", { trusted: false });
  expect([...parted.ids]).toEqual(ids("😀"));
});

test("a session has its own text, and refuses values other than text", () => {
  const tokenizer = TextTokenizer.from(bases[0]!);
  const session = tokenizer.session("one two");
  const fork = session.fork();
  fork.append(" three");
  expect([session.text, fork.text]).toEqual(["one two", "one two three"]);
  const wrong: readonly [call: () => unknown, message: RegExp][] = [
    [() => session.replace(3, 2, ""), /^replace: end is 2, but must be a whole number from 3 to 7$/],
    [() => session.replace(-1, 2, ""), /^replace: start is -1, /],
    [() => session.replace(0, 99, ""), /^replace: end is 99, /],
    [() => session.truncate(8), /^truncate: length is 8, but must be a whole number from 0 to 7$/],
    [() => session.truncate(0.5), /^truncate: length is 0.5, /],
    [() => session.append(Buffer.from("a") as never), /^append: text is /],
    [() => session.append("a", { trusted: 1 } as never), /^append: trusted is 1, but must be true or false$/],
    [() => session.append("a", { Trusted: true } as never), /^append has no option "Trusted"$/],
    [() => tokenizer.session(5 as never), /^session: text is 5, but must be a string$/],
  ];
  for (const [call, message] of wrong) expect(call).toThrow(message);
  expect([session.text, ...session.ids]).toEqual(["one two", ...tokenizer.encode("one two")]);
  tokenizer.dispose();
  expect(() => session.append(" more")).toThrow(/was disposed/);
  expect(() => tokenizer.session()).toThrow(/was disposed/);
  expect([session.text, session.count]).toEqual(["one two", session.ids.length]);
});
