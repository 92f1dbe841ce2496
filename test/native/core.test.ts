import { describe, expect, test } from "bun:test";
import * as byteCharacters from "../../src/bytes/byte-characters.ts";
import { tokenizerOfJson } from "../../src/formats/tokenizer-json.ts";
import { NoCut, TextCuts } from "../../src/library/text-cuts.ts";
import { TextTokenizer } from "../../src/library/text-tokenizer.ts";
import type { PatternName } from "../../src/pattern/named-patterns.ts";
import * as normalForms from "../../src/text/normalization.ts";
import { type Normalization, TextNormalizer } from "../../src/text/normalization.ts";
import * as obstacles from "../../src/tokenizer/offset-obstacles.ts";
import { TextEncoding, TextNotes } from "../../src/tokenizer/text-encoding.ts";
import { TokenDecoder } from "../../src/tokenizer/token-decoder.ts";
import { haveAllBytes } from "../../src/tokenizer/token-table.ts";
import type { TokenizerParts } from "../../src/tokenizer/tokenizer-parts.ts";
import { pick, type Random, randomNumbers } from "../random.ts";
import { isThorough, places, rounds, turns } from "../rounds.ts";
import { triedPatterns } from "../unit/pattern/names.ts";
import { madeTrial } from "../unit/text/made-trials.ts";
import { madeText } from "../unit/tokenizer/made-merges.ts";
import {
  jsonOf,
  specialTokens,
  type TokenizerJson,
  writeTokenizer,
} from "../unit/tokenizer/made-tokenizer.ts";
import { OffsetFinder } from "../unit/tokenizer/naive-offsets.ts";
import { ask, compiled, numbersOf, type Question } from "./driver.ts";

const seed = Number(process.env.TEST_SEED ?? 40);
const driver = await compiled("driver");
/** With BPE_TEST_SANITIZED=1, the program under test is compiled with gcc's sanitizers. */
const program = (process.env.BPE_TEST_SANITIZED ? await compiled("driver", "sanitized") : driver)!;

const randomOf = (trial: number): Random => randomNumbers(seed * 1_000_003 + trial);

const load = (json: TokenizerJson): TokenizerParts =>
  tokenizerOfJson(Buffer.from(JSON.stringify(json)), "made");

/** Returns an encoder in TypeScript, the twin of the core in C. */
function encoderOf(parts: TokenizerParts, specialTokensAsText = false, notes?: TextNotes) {
  const encoding = new TextEncoding({ ...parts, specialTokensAsText }, notes);
  return (bytes: Uint8Array) => {
    notes?.clear();
    encoding.pushText(bytes, 0, bytes.length);
    return Uint32Array.from(encoding.out.flush());
  };
}

/** Asks the core in C about texts, and compares its answers with those of TypeScript. */
function compare(
  parts: TokenizerParts,
  texts: readonly Uint8Array[],
  about: object,
  asked: readonly Question["kind"][] = ["encode", "slices", "count", "decode", "offsets", "cuts", "recode"],
): void {
  const questions: Question[] = [];
  const wanted: Uint8Array[] = [];
  const want = (question: Question, answer: Uint8Array | Uint32Array) => {
    if (!asked.includes(question.kind)) return;
    questions.push(question);
    wanted.push(new Uint8Array(answer.buffer, answer.byteOffset, answer.byteLength));
  };
  const decoded = (ids: Uint32Array) => {
    const { bytes, starts } = parts.tokens;
    return Buffer.concat(Array.from(ids, (id) => bytes.subarray(starts[id]!, starts[id + 1]!)));
  };
  const tokenizer = new TextTokenizer(parts);
  for (const specialsAsText of [false, true]) {
    const encode = encoderOf(parts, specialsAsText);
    for (const bytes of texts) {
      const ids = encode(bytes);
      want({ kind: "encode", bytes, specialsAsText }, ids);
      want({ kind: "slices", bytes, specialsAsText, number: 1 + (bytes.length >> 3) }, ids);
      const [start, end] = [bytes.subarray(0, bytes.length >> 1), bytes.subarray(bytes.length >> 1)];
      const sampled = concatenated(encode(start), encode(end));
      if (asked.includes("recode") && areDecodable(parts, sampled))
        want(
          { kind: "recode", bytes: new Uint8Array(sampled.buffer), specialsAsText },
          recoded(tokenizer, sampled, specialsAsText),
        );
      const limit = ids.length >> 1;
      want(
        { kind: "count", bytes, specialsAsText, number: limit },
        Uint32Array.of(Math.min(ids.length, limit + 1)),
      );
      if (specialsAsText) continue;
      want({ kind: "count", bytes, specialsAsText, number: 2 ** 32 - 1 }, Uint32Array.of(ids.length));
      if (areDecodable(parts, ids)) want({ kind: "decode", bytes: new Uint8Array(ids.buffer) }, decoded(ids));
    }
  }
  if (obstacles.toOffsets(parts) === undefined) {
    const notes = new TextNotes();
    const encode = encoderOf(parts, false, notes);
    const finder = new OffsetFinder(parts);
    for (const bytes of texts) {
      const ids = encode(bytes);
      for (const unit of ["bytes", "characters"] as const) {
        if (unit === "characters" && (obstacles.toTrims(parts) !== undefined || !isUtf8(bytes))) continue;
        const { starts, ends } = finder.find(bytes, ids, notes, unit);
        want({ kind: "offsets", bytes, inCharacters: unit === "characters" }, concatenated(starts, ends));
      }
    }
  }
  if (asked.includes("cuts") && haveAllBytes(parts.model.byteIds, parts.tokens)) {
    const cutsOf = cutterOf(parts);
    for (const [i, bytes] of texts.entries())
      for (const which of [0, 1, 2]) {
        const idsMax = [0, 1, 7, bytes.length >> 2][(i + which) % 4]!;
        if (idsMax === 0 && which === 2) continue;
        const found = cutsOf(bytes, which, idsMax);
        if (found !== null) want({ kind: "cuts", bytes, number: (idsMax << 2) | which }, found);
      }
  }
  ask(program, parts, questions).forEach((answer, i) => {
    if (!(answer instanceof Error) && answer.equals(wanted[i]!)) return;
    const { kind, bytes, specialsAsText } = questions[i]!;
    const text = Buffer.from(bytes.subarray(0, 1000)).toString("latin1");
    const what = { ...about, kind, specialsAsText, text };
    const expected = kind === "decode" ? wanted[i]! : [...numbersOf(Buffer.from(wanted[i]!))].slice(0, 1000);
    const got = kind === "decode" || answer instanceof Error ? answer : [...numbersOf(answer)].slice(0, 1000);
    expect<object>({ ...what, got }).toEqual({ ...what, got: expected });
    throw new Error("the answers differ after the part shown");
  });
}

/** Whether none of the ids is that of an empty token, which cannot be decoded. */
const areDecodable = ({ tokens }: TokenizerParts, ids: Uint32Array) =>
  ids.every((id) => tokens.starts[id] !== tokens.starts[id + 1]);

/** Answers the question "recode" of driver.c in TypeScript. */
function recoded(tokenizer: TextTokenizer, ids: Uint32Array, specialTokensAsText: boolean): Uint32Array {
  const { ids: canonical, spans } = tokenizer.recode(ids, { specialTokensAsText });
  const index = tokenizer.firstNoncanonical(ids, { specialTokensAsText });
  const all = spans.flatMap((span) => [span.start, span.end, span.canonicalStart, span.canonicalEnd]);
  return Uint32Array.from([index, canonical.length, ...canonical, ...all]);
}

/** Returns a function that answers the question "cuts" of driver.c in TypeScript. */
function cutterOf(parts: TokenizerParts) {
  const notes = new TextNotes();
  const encode = encoderOf(parts, false, notes);
  const counting = new TextEncoding(parts);
  const decoder = new TokenDecoder(parts.tokens);
  return (bytes: Uint8Array, which: number, idsMax: number): Uint32Array | null => {
    const ids = encode(bytes);
    if (ids.length <= idsMax) return new Uint32Array(0);
    try {
      const cuts = new TextCuts(bytes, ids, notes, parts, decoder, counting);
      const found =
        which === 2
          ? cuts.parts(idsMax, idsMax >> 2)
          : [which === 0 ? cuts.firstPart(idsMax) : cuts.lastPart(idsMax)];
      return Uint32Array.from(found.flatMap(({ start, end }) => [start, end]));
    } catch (error) {
      expect(error).toBeInstanceOf(NoCut);
      return (error as Error).message.includes("more than size") ? new Uint32Array(0) : null;
    }
  };
}

function concatenated(a: Uint32Array, b: Uint32Array): Uint32Array {
  const both = new Uint32Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

const isUtf8 = (bytes: Uint8Array) => Buffer.from(Buffer.from(bytes).toString()).equals(Buffer.from(bytes));

/** Returns a random character of any plane, assigned or not. */
function anyCharacter(random: Random): string {
  const limits = [0x80, 0x250, 0x800, 0x3000, 0xd800, 0x10000, 0x20000, 0x110000];
  const codePoint = random(limits[random(limits.length)]!);
  return codePoint >= 0xd800 && codePoint < 0xe000 ? "\ue000" : String.fromCodePoint(codePoint);
}

/** Functions that make pieces of text which are hard to cut or to normalize. */
const runs: readonly ((random: Random) => string)[] = [
  (random) => madeText(random(1 << 20), 1 + random(20)),
  (random) => Array.from({ length: random(20) }, () => anyCharacter(random)).join(""),
  (random) => `a${Array.from({ length: random(60) }, () => pick(random, marks)).join("")}`,
  (random) => Array.from({ length: random(12) }, () => pick(random, jamo)).join(""),
  (random) => " \n\r\t\u00a0\u3000"[random(6)]!.repeat(random(8)),
  (random) => pick(random, specialTokens).slice(random(2)),
  (random) => "0123456789٣５"[random(12)]!.repeat(random(9)),
  (random) => pick(random, ["a", "漢", "é", "'", "🙂"]).repeat(random(40)),
];
const marks = [
  ..."\u0301\u0316\u0323\u0345\u0334\u0327\u0344\u0338\u3099\u093c\u0e48\u05b0\u064b\u20e3\u0307\u08ca\u1ac1\u{11930}",
];
const jamo = [..."\u1100\u1112\u1161\u1175\u11a8\u11c2\u115f가각힣\u11a7\u1176\ud7a4"];
const wrong = [
  [0xff],
  [0xc3],
  [0xe2, 0x80],
  [0xed, 0xa0, 0x80],
  [0xf4, 0x90, 0x80, 0x80],
  [0xc0, 0x80],
  [0x80],
];

const anyText = (random: Random, runCount: number) =>
  Array.from({ length: runCount }, () => pick(random, runs)(random)).join("");

/** Returns random text, into which bytes that are not UTF-8 may be mixed. */
function anyBytes(random: Random, runCount: number): Buffer {
  const parts = Array.from({ length: runCount }, () => [
    Buffer.from(anyText(random, 2)),
    Buffer.from(random(3) === 0 ? pick(random, wrong) : []),
  ]);
  return Buffer.concat(parts.flat());
}

const textsFor = (random: Random) => [
  Buffer.from(""),
  ...Array.from({ length: 6 }, () => Buffer.from(anyText(random, 1 + random(12)))),
  ...Array.from({ length: 4 }, () => anyBytes(random, 1 + random(8))),
];

describe.skipIf(driver === undefined)("the core in C", () => {
  const all: PatternName[] = ["gpt2", "o200k", "deepseek-v3", "falcon", "marin-gpt-4o", "llama3", "none"];
  const names = all.filter((name) => triedPatterns.includes(name));

  test("encodes, counts, decodes, cuts and finds offsets as TypeScript does, with each kind of pattern", () => {
    names.forEach((name, trial) => {
      const parts = load(jsonOf(writeTokenizer(name)));
      compare(parts, textsFor(randomOf(trial)), { seed, name });
    });
  });

  test("finds added tokens of all kinds, in every normal form", () => {
    const base = jsonOf(writeTokenizer("gpt2"));
    for (const token of specialTokens) delete base.model.vocab[token];
    let loadedCount = 0;
    for (let trial = 0; trial < rounds(40); trial++) {
      const random = randomOf(trial);
      const { json, texts } = madeTrial(base, seed * 1_000_003 + trial);
      let parts: TokenizerParts;
      try {
        parts = load(json);
      } catch {
        continue; // `bpe` refuses to load this random tokenizer.
      }
      loadedCount++;
      const broken = texts.map((text) =>
        Buffer.concat([Buffer.from(text), Buffer.from(pick(random, wrong)), Buffer.from(text)]),
      );
      const about = { seed, trial, added: json.added_tokens, normalizer: json.normalizer };
      compare(parts, [...texts.map((text) => Buffer.from(text)), broken[0]!, anyBytes(random, 4)], about);
    }
    expect(loadedCount).toBeGreaterThan(rounds(12));
  });

  const changes: Record<string, (json: TokenizerJson) => void> = {
    "a space before each section": (json) => {
      json.pre_tokenizer = { type: "ByteLevel", add_prefix_space: true, trim_offsets: true, use_regex: true };
    },
    "whole tokens": (json) => {
      json.model.ignore_merges = true;
      ["Ġthelow", "ewest", "æ¼¢å", "aaaa"].forEach((token, i) => {
        json.model.vocab[token] = 1000 + i;
      });
    },
    "bytes that the vocabulary lacks": (json) => {
      for (const byte of [0x80, 0xbc, 0xff, 0x71]) delete json.model.vocab[byteCharacters.characters[byte]!];
      const isWhole = (token: unknown) => !/[\u0122¼ÿq]/.test(JSON.stringify(token));
      json.model.merges = json.model.merges.filter(isWhole);
    },
    "ids beyond 65,535": (json) => {
      const { vocab } = json.model;
      for (const token of Object.keys(vocab)) if (vocab[token]! >= 256) vocab[token]! += 70_000;
      for (const token of json.added_tokens) token.id = (token.id as number) + 70_000;
    },
    "offsets that are trimmed": (json) => {
      json.post_processor = {
        type: "ByteLevel",
        add_prefix_space: true,
        trim_offsets: true,
        use_regex: true,
      };
    },
  };

  test.each(Object.keys(changes))("encodes with %s", (what) => {
    const json = jsonOf(writeTokenizer("gpt2"));
    changes[what]!(json);
    const parts = load(json);
    expect(parts.isNarrow).toBe(what !== "ids beyond 65,535");
    for (let trial = 0; trial < rounds(5); trial++)
      compare(parts, textsFor(randomOf(trial)), { seed, trial, what });
  });

  test("encodes long texts: tokens and pretokens across windows, and two megabytes without a cut", () => {
    const window = 1 << 18;
    const random = randomOf(0);
    const short = madeText(3, 400);
    const across = (isThorough ? [-9, -5, -4, -3, -1, 0, 1] : [-4, -1, 0]).map((shift) => {
      const before = short.repeat(1 + window / short.length).slice(0, window + shift);
      return Buffer.from(
        before.replace(/[^\x20-\x7e\n]/g, "x").slice(0, window + shift) +
          pick(random, [...specialTokens, "漢字", "é", "  \n x", "'ll"]) +
          short,
      );
    });
    const long = [
      Buffer.from(`${"a".repeat(rounds(2 << 20))} ${short}`),
      Buffer.from(`${" ".repeat(window)}${"\n".repeat(window)}x${" ".repeat(window + 3)}`),
      Buffer.from("e\u0301".repeat(200_000)),
    ];
    const asked = (turn: number) => turns(["encode", "slices"] as const, turn);
    for (const [turn, name] of (["gpt2", "none"] as const).entries()) {
      const texts = name === "none" ? [across[0]!, long[2]!] : [...across, ...long];
      compare(load(jsonOf(writeTokenizer(name))), texts, { name }, asked(turn));
    }
    const json = jsonOf(writeTokenizer("gpt2"));
    json.normalizer = { type: "NFC" };
    json.pre_tokenizer = { type: "ByteLevel", add_prefix_space: true, trim_offsets: true, use_regex: true };
    const out = Buffer.from(`a${"\u0301\u0316\u0334".repeat(100_000)}`);
    compare(load(json), [...across.slice(0, 3), long[2]!, out], {}, asked(1));
  });

  /** Returns a tokenizer with only these added tokens. */
  function withAdded(contents: readonly string[], flags: object = {}): TokenizerParts {
    const json = jsonOf(writeTokenizer("gpt2"));
    for (const { content } of json.added_tokens) delete json.model.vocab[content as string];
    const usual = { special: true, normalized: false, lstrip: false, rstrip: false, single_word: false };
    json.added_tokens = contents.map((content, i) => ({ ...usual, ...flags, id: 5000 + i, content }));
    return load(json);
  }

  test("finds added tokens of any length where TypeScript does", () => {
    for (let trial = 0; trial < rounds(30); trial++) {
      const random = randomOf(trial);
      const letters = Array.from({ length: 1 + random(3) }, () => pick(random, ["a", "b", "-", "漢"]));
      const made = (most: number) =>
        Array.from({ length: 1 + random(most) }, () => pick(random, letters)).join("");
      const stem = made(60);
      const contents = new Set(
        Array.from({ length: 1 + random(6) }, () =>
          pick(random, [made(3), stem + made(40), made(90) + stem, letters[0]!.repeat(1 + random(120))]),
        ),
      );
      const flags = pick(random, [{}, {}, { lstrip: true }, { rstrip: true }, { single_word: true }]);
      const parts = withAdded([...contents], { ...flags, normalized: random(3) === 0 });
      const texts = Array.from({ length: 6 }, () =>
        Buffer.from(
          Array.from({ length: random(30) }, () => pick(random, [...contents, stem, made(9), " "])).join(""),
        ),
      );
      compare(parts, texts, { seed, trial, contents: [...contents] }, ["encode", "slices", "offsets"]);
    }
  });

  // Each text has the token without its last character, then `distance` letters, then the whole token. Where the first
  // bytes of a long token occur, the search reads a block of text at once (src/kernel/token-search.ts). The longest
  // distances reach past the end of that block.
  test("finds a long added token at every distance from text that resembles it", () => {
    for (const length of [4, 5, 16, 17, 33, 64, 65, 100]) {
      const content = `<${"|".repeat(length - 2)}>`;
      const texts = Array.from({ length: 2 * Math.max(64, length) + 2 }, (_, distance) =>
        Buffer.from(`${content.slice(0, -1)}${"b".repeat(distance)}${content}c`),
      );
      const parts = withAdded([content]);
      compare(parts, texts, { length }, ["encode", "slices"]);
      const { id } = parts.addedTokens[0]!;
      const answers = ask(
        program,
        parts,
        texts.map((bytes) => ({ kind: "encode", bytes })),
      );
      const missed = answers.flatMap((answer, distance) =>
        numbersOf(answer).includes(id) ? [] : [distance],
      );
      expect({ length, missed }).toEqual({ length, missed: [] });
    }
  });

  const forms: readonly Normalization[] = [
    ...["NFC", "NFD", "NFKC", "NFKD", "lowercase", "NFKC,lowercase", "lowercase,NFC", "NFD,lowercase,NFC"],
    "NFKD,NFC",
  ];

  test("normalizes every character into each form, alone and next to marks", () => {
    const characters: string[] = [];
    for (let codePoint = 0; codePoint < 0x110000; codePoint++) {
      // Normalization changes no character from U+30000 on, so a sample is enough.
      if (codePoint >= 0x30000 && codePoint % 0x101 !== 0) continue;
      if (codePoint < 0xd800 || codePoint > 0xdfff) characters.push(String.fromCodePoint(codePoint));
    }
    const texts = [
      characters.join("\n"),
      characters
        .slice(0, 0x20000)
        .map((character) => `e${character}\u0301\u0323\n`)
        .join(""),
      characters
        .slice(0, 0x20000)
        .map((character) => `${character}\u0345\u0334\n`)
        .join(""),
    ];
    for (const form of turns(forms, 0)) expectForms(form, texts);
  });

  test("normalizes random texts into each form", () => {
    for (const trial of places(forms.length, 1)) {
      const form = forms[trial]!;
      const random = randomOf(trial);
      const texts = Array.from({ length: rounds(400) }, () => anyText(random, 1 + random(4)));
      expectForms(form, [texts.join("\n"), ...texts.slice(0, 20)]);
      const bytes = Array.from({ length: rounds(40) }, () => anyBytes(random, 3));
      const answers = ask(
        program,
        inForm(form),
        bytes.map((bytes) => ({ kind: "form", bytes })),
      );
      const wanted = bytes.map((bytes) => latin1(TextNormalizer.of(form).normalizeText(bytes)));
      expect(answers.map((answer) => (answer as Buffer).toString("latin1"))).toEqual(wanted);
    }
  });

  test("an id without a token, and a damaged image, are errors", () => {
    const parts = load(jsonOf(writeTokenizer("gpt2")));
    const limit = parts.tokens.idLimit;
    const ids = [[limit], [2 ** 32 - 1], [5, limit]].map((ids) => Uint32Array.from(ids));
    const answers = ask(
      program,
      parts,
      ids.map(({ buffer }) => ({ kind: "decode", bytes: new Uint8Array(buffer) })),
    );
    for (const answer of answers) expect(answer).toEqual(new Error("an id is not in the vocabulary"));
  });
});

/** Returns a tokenizer without added tokens that has this normalization. */
function inForm(form: Normalization): TokenizerParts {
  return { ...load(jsonOf(writeTokenizer("gpt2"))), addedTokens: [], normalization: form };
}

function expectForms(form: Normalization, texts: readonly string[]): void {
  const questions = texts.map((text): Question => ({ kind: "form", bytes: Buffer.from(text) }));
  ask(program, inForm(form), questions).forEach((answer, i) => {
    const wanted = normalForms.normalize(texts[i]!, form);
    const got = answer instanceof Error ? answer.message : answer.toString();
    if (got === wanted) return;
    const lines = got.split("\n");
    const at = wanted.split("\n").findIndex((line, i) => line !== lines[i]);
    const said = (line: string) => [...line].map((c) => c.codePointAt(0)!.toString(16)).join(" ");
    expect({ seed, form, at: said(texts[i]!.split("\n")[at] ?? ""), got: said(lines[at] ?? "") }).toEqual({
      seed,
      form,
      at: said(texts[i]!.split("\n")[at] ?? ""),
      got: said(wanted.split("\n")[at] ?? ""),
    });
  });
}

const latin1 = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1");
