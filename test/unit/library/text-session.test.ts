import { expect, test } from "bun:test";
import type { Session } from "../../../src/library/text-session.ts";
import { TextTokenizer } from "../../../src/library/text-tokenizer.ts";
import { isSmallScale } from "../../../src/runtime/scale.ts";
import { pick, type Random, randomNumbers } from "../../random.ts";
import { rounds, turns } from "../../rounds.ts";
import { madeTrial, pieces } from "../text/made-trials.ts";
import { madeText } from "../tokenizer/made-merges.ts";
import { jsonOf, specialTokens, type TokenizerJson, writeTokenizer } from "../tokenizer/made-tokenizer.ts";

const seed = Number(process.env.TEST_SEED ?? 31);
const names = ["gpt2", "cl100k", "o200k", "llama3", "qwen2"] as const;
const bases = names.map((name) => jsonOf(writeTokenizer(name)));

/** What a session is, without one: each code unit of its text, and whether it is trusted. */
class Twin {
  units: { readonly unit: string; readonly trusted: boolean }[] = [];

  replace(start: number, end: number, text: string, trusted: boolean): void {
    const units = Array.from({ length: text.length }, (_, i) => ({ unit: text[i]!, trusted }));
    this.units = [...this.units.slice(0, start), ...units, ...this.units.slice(end)];
  }

  get text(): string {
    return this.units.map(({ unit }) => unit).join("");
  }

  segmentsWith(text: string, isTrusted: boolean): { text: string; trusted: boolean }[] {
    const segments: { text: string; trusted: boolean }[] = [];
    for (const { unit, trusted } of [...this.units, { unit: text, trusted: isTrusted }]) {
      const last = segments.at(-1);
      if (last?.trusted === trusted) last.text += unit;
      else segments.push({ text: unit, trusted });
    }
    return segments;
  }
}

const halves = ["\ud83d", "\ude00", "\ud83d\ude00", "\ufffd", "\udc00", "\ud800"];
const marks = ["\u0301", "\u0316\u0301", "\u0301".repeat(30), "\u1161", "\u11a8", "\u0345"];
const hostile = [
  ...[..."a1 \n!", "'ll", "|>", "endoftext|>", "  x", "_end|>", "<|end", " ".repeat(20), "\u3000"],
  ...[...marks, "¨", "½", "!¨"],
];

function madePart(random: Random, tokens: readonly string[]): string {
  const kinds = [
    () => madeText(random(1000), random(40)),
    () => pick(random, [...hostile, ...tokens]),
    () => pick(random, tokens).slice(random(12)),
    () => `${pick(random, pieces)}${pick(random, pieces)}`,
    () => pick(random, halves),
    () => "x".repeat(random(60)),
  ];
  const count = pick(random, [0, 1, 1, 2, 8, 30]);
  return Array.from({ length: count }, () => pick(random, kinds)()).join("");
}

const jsonsOf = (base: TokenizerJson): TokenizerJson[] => [
  base,
  ...changing(base),
  { ...base, added_tokens: base.added_tokens.map((token, i) => ({ ...token, special: i > 0 })) },
];

/** Tokenizers that change a text before it is cut, or have tokens that look at their neighbours. */
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

type Made = { readonly tokenizer: TextTokenizer; readonly tokens: readonly string[] };

/** Tokenizers of five patterns, and of random settings, with their added tokens. */
function* madeTokenizers(): Generator<Made> {
  for (const [i, base] of bases.entries())
    for (const json of turns(jsonsOf(base), i))
      yield { tokenizer: TextTokenizer.from(json), tokens: specialTokens };
  for (let trial = 0; trial < rounds(80); trial++) {
    try {
      const { json } = madeTrial(bases[trial % bases.length]!, seed * 1_000_003 + trial);
      yield {
        tokenizer: TextTokenizer.from(json),
        tokens: json.added_tokens.map(({ content }) => String(content)),
      };
    } catch {
      // Settings that no tokenizer has.
    }
  }
}

function commonLength(a: ArrayLike<number>, b: ArrayLike<number>): number {
  let i = 0;
  while (i < a.length && i < b.length && a[i] === b[i]) i++;
  return i;
}

/** Edits a session and its twin alike. Returns how many leading ids have not changed, by the session. */
function editBoth(
  random: Random,
  session: Session,
  twin: Twin,
  { trusted, tokens }: { trusted: boolean; tokens: readonly string[] },
): number {
  const length = twin.units.length;
  const start = random(length + 1);
  const end = Math.min(length, start + pick(random, [0, 1, 5, 50]));
  const kind = random(6);
  const text = kind === 5 ? "" : madePart(random, tokens);
  const options = trusted && random(2) === 0 ? {} : { trusted };
  if (kind < 3) twin.replace(length, length, text, trusted);
  else twin.replace(start, kind === 5 ? length : end, text, trusted);
  if (kind < 3) return session.append(text, options);
  return kind === 5 ? session.truncate(start) : session.replace(start, end, text, options);
}

test("after any edits the ids are those of the whole text", () => {
  let number = 0;
  const others: Session[] = [];
  for (const { tokenizer, tokens } of madeTokenizers()) {
    const random = randomNumbers(seed * 1009 + number++);
    for (const isMixed of [false, true]) {
      let session = tokenizer.session();
      const twin = new Twin();
      let before = new Uint32Array(0);
      for (let round = 0; round < 50; round++) {
        const trusted = !isMixed || random(2) === 0;
        const kept = editBoth(random, session, twin, { trusted, tokens });
        const segments = twin.segmentsWith("", trusted);
        const about = { seed, number, round, segments };
        const expected = tokenizer.encodeSegments(segments);
        expect({ ...about, ids: [...session.ids] }).toEqual({ ...about, ids: [...expected] });
        if (!isMixed) expect(tokenizer.encode(session.text)).toEqual(expected);
        const facts = { text: session.text, length: session.length, count: session.count, kept };
        const text = twin.text;
        const wanted = { text, length: text.length, count: expected.length };
        expect(facts).toEqual({ ...wanted, kept: commonLength(before, expected) });
        before = expected;
        const { stable } = session;
        for (let i = 0; i < 3; i++) {
          const end = Array.from({ length: 3 }, () => pick(random, [...hostile, ...halves, ...tokens]));
          const ids = tokenizer.encodeSegments(twin.segmentsWith(end.join(""), trusted));
          const leading = (list: Uint32Array) => [...list.subarray(0, stable)];
          expect({ ...about, end, ids: leading(ids) }).toEqual({ ...about, end, ids: leading(expected) });
        }
        if (random(10) === 0) session = session.fork();
      }
      others.push(session);
    }
  }
  // More tokenizers than memories: each has to be set up again.
  for (const session of others) {
    const [kept, count, text] = [session.fork(), session.count, session.text];
    session.append(" and more");
    session.truncate(text.length);
    expect([session.count, session.ids]).toEqual([count, kept.ids]);
  }
});

test.skipIf(isSmallScale)("an edit encodes what has changed, and little next to it", () => {
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

test("a text may begin with a space that it does not have, and continue with a character that is changed", () => {
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

test("a session has its own text, and refuses what is none", () => {
  const tokenizer = TextTokenizer.from(bases[0]!);
  const session = tokenizer.session("one two");
  const fork = session.fork();
  fork.append(" three");
  expect([session.text, fork.text]).toEqual(["one two", "one two three"]);
  const wrong: readonly [call: () => unknown, message: RegExp][] = [
    [() => session.replace(3, 2, ""), /^replace: end is 2: it must be a whole number from 3 to 7$/],
    [() => session.replace(-1, 2, ""), /^replace: start is -1: /],
    [() => session.replace(0, 99, ""), /^replace: end is 99: /],
    [() => session.truncate(8), /^truncate: length is 8: it must be a whole number from 0 to 7$/],
    [() => session.truncate(0.5), /^truncate: length is 0.5: /],
    [() => session.append(Buffer.from("a") as never), /^append: text is /],
    [() => session.append("a", { trusted: 1 } as never), /^append: trusted is 1: it must be true or false$/],
    [() => session.append("a", { Trusted: true } as never), /^append has no option "Trusted"$/],
    [() => tokenizer.session(5 as never), /^session: text is 5: it must be a string$/],
  ];
  for (const [call, message] of wrong) expect(call).toThrow(message);
  expect([session.text, ...session.ids]).toEqual(["one two", ...tokenizer.encode("one two")]);
  tokenizer.dispose();
  expect(() => session.append(" more")).toThrow(/was disposed/);
  expect(() => tokenizer.session()).toThrow(/was disposed/);
  expect([session.text, session.count]).toEqual(["one two", session.ids.length]);
});
