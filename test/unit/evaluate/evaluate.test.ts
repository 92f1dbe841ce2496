import { afterAll, expect, test } from "bun:test";
import { escapeBytes } from "../../../src/bytes/escape.ts";
import { findInputs } from "../../../src/corpus/find-inputs.ts";
import { compareTokenizers, type Evaluated, evaluate } from "../../../src/evaluate/evaluate.ts";
import type { NamedTokenizer } from "../../../src/evaluation/evaluation.ts";
import { Tokenizer } from "../../../src/library/tokenizer.ts";
import { MemoryBudget } from "../../../src/runtime/machine.ts";
import { ScratchDirectory } from "../../../src/store/scratch-directory.ts";
import { put, scratch } from "../../binary.ts";
import { randomNumbers } from "../../random.ts";
import { rounds, turns } from "../../rounds.ts";
import {
  type NaiveMeasures,
  type Normalize,
  naiveGini,
  naiveMeasures,
  naiveWords,
} from "../evaluation/naive-evaluation.ts";
import { madeText } from "../tokenizer/made-merges.ts";
import { jsonOf, specialTokens, type TokenizerJson, writeTokenizer } from "../tokenizer/made-tokenizer.ts";

const temporary = new ScratchDirectory();
afterAll(() => temporary.remove());
const directory = scratch();
const seed = Number(process.env.TEST_SEED ?? 5);

const write = (name: string, content: string | Uint8Array) => put(directory, name, content);

type Given = { readonly tokenizers: Record<string, Tokenizer>; readonly texts: Record<string, string[]> };

const optionsOf = ({ tokenizers, texts }: Given, workerCount = 1, specialTokensAsText = false) => ({
  tokenizers: Object.entries(tokenizers).map(
    ([name, { parts }]): NamedTokenizer => ({
      name,
      path: parts.description.path,
      parts: { ...parts, specialTokensAsText },
    }),
  ),
  texts: Object.entries(texts).map(([name, paths]) => ({ name, paths, inputs: findInputs(paths) })),
  workerCountFor: () => workerCount,
  budget: new MemoryBudget(),
  numbers: true,
  scratch: temporary,
});

const run = (given: Given, workerCount?: number, specialTokensAsText?: boolean): Promise<Evaluated> =>
  evaluate(optionsOf(given, workerCount, specialTokensAsText), () => {});

function randomText(length: number, n: number): string {
  const random = randomNumbers(seed + n);
  const spaces = [" ", " ", " ", "\n", "\t", "  ", "\r\n", "\xa0", "\u3000", " \n "];
  const parts = ["the", "th", "é", "e\u0301", "漢字", "don't", "a,", "😀", "x1", "THE", "...", "ﬁ"];
  parts.push("2026", "1", "123", "٣٤", "५", "９", "𝟠𝟡", "²");
  return Array.from({ length }, () => {
    const chosen = random(12);
    if (chosen === 0) return specialTokens[random(specialTokens.length)]!;
    return chosen < 5 ? spaces[random(spaces.length)]! : parts[random(parts.length)]!;
  }).join("");
}

/** Compares the measures of one tokenizer on one text with naive ones. */
function check({ evaluation, tokenCounts }: Evaluated, t: number, i: number, naive: NaiveMeasures): void {
  const { texts, tokenizers } = evaluation;
  const measures = tokenizers[t]!.texts[i]!;
  const counts = tokenCounts[t]![i]!;
  const found = new Map(
    Array.from(counts, (count, id) => [id, count] as const).filter(([, count]) => count > 0),
  );
  expect(found).toEqual(new Map([...naive.counts].sort(([a], [b]) => a - b)));
  expect(texts[i]).toMatchObject({
    bytes: naive.bytes,
    characters: naive.characters,
    words: naive.words,
    distinctWords: naive.distinctWords,
  });
  expect(measures).toMatchObject({
    tokens: naive.tokens,
    singleTokenWords: naive.single,
    continuedWords: naive.continued,
    usedTokens: naive.used,
    notUtf8Tokens: naive.notUtf8,
    mixedTokens: naive.mixed,
    numbers: naive.numbers,
  });
  expect(tokenizers[t]).toMatchObject({
    notUtf8InVocabulary: naive.notUtf8InVocabulary,
    mixedInVocabulary: naive.mixedInVocabulary,
  });
  const { alignment, tokensPerDigitGroup, fromRightShare, fromLeftShare } = measures.numbers!;
  const { numbers, scoreSum } = naive;
  for (const [found, of, by] of [
    [alignment, scoreSum, numbers.count],
    [tokensPerDigitGroup, numbers.tokens, numbers.digitGroups],
    [fromRightShare, numbers.fromRight, numbers.longCount],
    [fromLeftShare, numbers.fromLeft, numbers.longCount],
  ] as const) {
    if (by === 0) expect(found).toBe(null);
    else expect(found).toBeCloseTo(of / by, 10);
  }
  const close = (value: number | null, wanted: number) => expect(value).toBeCloseTo(wanted, 10);
  close(measures.bytesPerToken, naive.bytes / naive.tokens);
  close(measures.charactersPerToken, naive.characters / naive.tokens);
  close(measures.tokensPerCharacter, naive.tokens / naive.characters);
  close(measures.wordsPerToken, naive.words / naive.tokens);
  close(measures.fertility, naive.fertility);
  close(measures.singleTokenShare, naive.single / naive.words);
  close(measures.continuedShare, naive.continued / naive.words);
  close(measures.vocabularyUtilization, naive.used / tokenizers[t]!.vocabularySize);
  close(measures.notUtf8Share, naive.notUtf8 / naive.content);
  for (const [a, { entropy, efficiency }] of measures.renyi.entries()) {
    close(entropy, naive.entropies[a]!);
    close(efficiency, naive.entropies[a]! / Math.log2(naive.used));
  }
  const costliest = measures.costliestWords.map(({ count, tokens, tokensBeyondFirst }) => ({
    count,
    tokens,
    beyond: tokensBeyondFirst,
  }));
  expect(costliest).toEqual(naive.costliest.map(({ count, tokens, beyond }) => ({ count, tokens, beyond })));
}

const gpt2 = await Tokenizer.load(writeTokenizer("gpt2"));
const o200k = await Tokenizer.load(writeTokenizer("o200k", "huggingface"));

async function changed(change: (json: TokenizerJson) => void): Promise<Tokenizer> {
  const json = jsonOf(writeTokenizer("gpt2", "huggingface"));
  change(json);
  return Tokenizer.load(write(`tokenizer-${Math.random()}.json`, JSON.stringify(json)));
}

const addedToken = { single_word: false, lstrip: false, rstrip: false, normalized: false, special: true };

test("measures of random texts are those of a naive count, for several tokenizers and texts at once", async () => {
  for (let round = 0; round < rounds(6); round++) {
    const [one, two] = [randomText(400, 2 * round), madeText(seed + round, 3000)];
    const texts = { one: [write("one.txt", one)], two: [write("two.txt", two)] };
    const evaluated = await run({ tokenizers: { gpt2, o200k }, texts });
    for (const [t, tokenizer] of [gpt2, o200k].entries()) {
      check(evaluated, t, 0, naiveMeasures(tokenizer, [one]));
      check(evaluated, t, 1, naiveMeasures(tokenizer, [two]));
    }
  }
});

/** Returns a normalization that applies `change` to the text between special tokens and `tokens`. */
const between = (change: (text: string, index: number) => string, ...tokens: string[]): Normalize => {
  const longestFirst = [...specialTokens, ...tokens].sort((a, b) => b.length - a.length);
  const pieces = new RegExp(`(${longestFirst.map((token) => RegExp.escape(token)).join("|")})`);
  return (text) =>
    text
      .split(pieces)
      .map((piece, i) => (i % 2 === 1 ? piece : change(piece, i)))
      .join("");
};

test("tokenizers whose texts cannot be encoded word by word are measured as exactly", async () => {
  const space = { id: 900, content: "e t", ...addedToken };
  const wide = { id: 901, content: "<｜①｜>", ...addedToken };
  const inForm = (type: string) => (json: TokenizerJson) => {
    json.normalizer = { type };
    json.added_tokens.push(wide);
  };
  const prefixed = (json: TokenizerJson) =>
    Object.assign(json.pre_tokenizer as object, { add_prefix_space: true });
  /** Puts a space before a piece, unless the piece is the first one, is empty, or begins with a space. */
  const behindSpace = (piece: string, i: number) => (i === 0 || /^( |$)/.test(piece) ? piece : ` ${piece}`);
  const nfkc = (text: string) => text.normalize("NFKC");
  const cases: [Tokenizer, Normalize?][] = [
    [await changed(inForm("NFC")), between((text) => text.normalize("NFC"), wide.content)],
    [await changed(inForm("NFKC")), between(nfkc, wide.content)],
    [await changed(inForm("Lowercase")), between((text) => text.toLowerCase(), wide.content)],
    [await changed(prefixed), between(behindSpace)],
    [
      await changed((json) => {
        inForm("NFKC")(json);
        prefixed(json);
      }),
      between((text, i) => behindSpace(nfkc(text), i), wide.content),
    ],
    [
      await changed(({ model }) => delete model.vocab.ĉ && delete model.vocab.Y),
      (text) => text.replaceAll("Y", ""),
    ],
    [
      await changed(({ model }) => {
        delete model.vocab.Y;
        model.vocab["<unk>"] = 902;
        model.unk_token = "<unk>";
      }),
      (text) => text.replaceAll("Y", "<unk>"),
    ],
    [await changed((json) => json.added_tokens.push({ ...wide, content: "\t", special: false }))],
    [
      await changed((json) => {
        inForm("NFKC")(json);
        json.added_tokens.push({ ...wide, id: 902, content: "\t", special: false });
        json.added_tokens.push({ ...wide, id: 903, content: "\xa0", special: false, normalized: true });
      }),
      between(nfkc, wide.content),
    ],
    [await changed((json) => json.added_tokens.push(space))],
    [
      await changed((json) =>
        json.added_tokens.push({ ...space, content: "the", lstrip: true, normalized: true }),
      ),
    ],
    [await changed((json) => json.added_tokens.push({ ...space, content: "th", single_word: true }))],
  ];
  const marks = ["<｜①｜>", "⑳", "⑳", "Y", "½", "´", "\tthe"];
  const words = randomText(900, 77).split(/(?= )/);
  const text = `${words.map((word, i) => word + (i % 3 === 0 ? marks[(i / 3) % marks.length] : "")).join("")} e t e\u0301 the Hi<｜①｜> ⑳ 5`;
  const texts = { text: [write("changed.txt", text)] };
  for (const [tokenizer, normalize] of cases) {
    check(await run({ tokenizers: { tokenizer }, texts }), 0, 0, naiveMeasures(tokenizer, [text], normalize));
  }
});

test("the tokens of bytes that are not UTF-8, and of special tokens as text, are those of encode", async () => {
  const broken = Buffer.from("\xff\xfe th\xe9e \xc3(", "latin1");
  const bytes = Buffer.concat([Buffer.from(randomText(300, 5)), broken]);
  const texts = { bytes: [write("bytes.txt", bytes)] };
  for (const asText of [false, true]) {
    const { evaluation, tokenCounts } = await run({ tokenizers: { gpt2, o200k }, texts }, 1, asText);
    for (const [t, tokenizer] of [gpt2, o200k].entries()) {
      const counts = new Float64Array(tokenizer.idLimit);
      for (const id of tokenizer.encode(bytes, { specialTokensAsText: asText })) counts[id]!++;
      expect(tokenCounts[t]![0]).toEqual(counts);
    }
    expect(evaluation.texts[0]!.bytes).toBe(bytes.length);
    expect(evaluation.texts[0]!.invalidBytes).toBeGreaterThan(3);
  }
});

test("records are separate texts, and several files are one text", async () => {
  const documents = Array.from({ length: 40 }, (_, n) => randomText(30, 1000 + n));
  const lines = documents.slice(0, 30).map((text) => JSON.stringify({ text }));
  const paths = [
    write("records.jsonl", `${lines.join("\n")}\n`),
    ...documents.slice(30).map((text, n) => write(`file-${n}.txt`, text)),
  ];
  const evaluated = await run({ tokenizers: { gpt2, o200k }, texts: { all: paths } });
  for (const [t, tokenizer] of [gpt2, o200k].entries())
    check(evaluated, t, 0, naiveMeasures(tokenizer, documents));
  expect(evaluated.evaluation.texts[0]!.inputs).toEqual(paths);
});

test("any number of threads gives the same result", async () => {
  const texts = { one: [write("w1.txt", randomText(1000, 8))], two: [write("w2.txt", madeText(3, 3000))] };
  const tokenizers = { gpt2, nfc };
  const runOf = (count: number) =>
    evaluate({ ...optionsOf({ tokenizers, texts }, count), partWordsLeast: 20 }, () => {});
  const [alone, ...others] = await Promise.all([1, ...turns([5, 2], 0)].map(runOf));
  for (const other of others) expect(other).toEqual(alone!);
});

test("a special token that has digits is not a number, and ends one", async () => {
  const special = await changed((json) =>
    json.added_tokens.push({ id: 900, content: "7<20>8", ...addedToken }),
  );
  const text = "1234 127<20>834 7<20>8 x";
  const naive = naiveMeasures(special, [text]);
  expect(naive.numbers.count).toBe(3);
  check(await run({ tokenizers: { special }, texts: { text: [write("7.txt", text)] } }), 0, 0, naive);
});

test("a token of parts of one character is not mixed; any other token that is not whole characters is", async () => {
  const madeOf = async (...pairs: [string, string][]) => {
    const tokenizer = await changed(({ model }) => {
      for (const [i, [left, right]] of pairs.entries()) {
        model.vocab[left + right] = 900 + i;
        model.merges.push(typeof model.merges[0] === "string" ? `${left} ${right}` : [left, right]);
      }
    });
    const texts = { text: [write("mixed.txt", "the")] };
    const { notUtf8InVocabulary, mixedInVocabulary } = (await run({ tokenizers: { tokenizer }, texts }))
      .evaluation.tokenizers[0]!;
    return [notUtf8InVocabulary, mixedInVocabulary] as const;
  };
  const [notUtf8, mixed] = await madeOf();
  // Three new tokens, each of which is a part of one character: E0 A5, F3 A0 and F3 A0 81.
  expect(await madeOf(["à", "¥"], ["ó", "ł"], ["ół", "ģ"])).toEqual([notUtf8 + 3, mixed]);
  // 80 81 and 80 81 82 may be parts of one character, but 80 81 82 83 may not, because at most three bytes follow a
  // character's first byte.
  expect(await madeOf(["Ģ", "ģ"], ["Ģģ", "Ĥ"], ["ĢģĤ", "ĥ"])).toEqual([notUtf8 + 3, mixed + 1]);
  // The tokens are 20 E0, ED A0, ED A0 80, A5 E0, C0 80 and E0 71. Only ED A0 counts as a part of one character, because
  // it is a lead byte with too few continuation bytes. ED A0 80 and C0 80 are no part of any character, and the others
  // have bytes of two characters.
  expect(await madeOf(["Ġ", "à"], ["í", "ł"], ["íł", "Ģ"], ["¥", "à"], ["À", "Ģ"], ["à", "q"])).toEqual([
    notUtf8 + 6,
    mixed + 5,
  ]);
});

test("numbers are measured only on request, and change no other measure", async () => {
  const options = optionsOf({
    tokenizers: { gpt2, nfc },
    texts: { text: [write("n.txt", randomText(300, 9))] },
  });
  const { evaluation: with_ } = await evaluate(options, () => {});
  const { evaluation: without } = await evaluate({ ...options, numbers: false }, () => {});
  for (const [t, { texts, overall, ...rest }] of without.tokenizers.entries()) {
    const asked = with_.tokenizers[t]!;
    expect(asked.overall.numbers!.count).toBeGreaterThan(0);
    expect({ ...rest, overall, texts }).toEqual({
      ...asked,
      overall: { ...asked.overall, numbers: null },
      texts: asked.texts.map((measures) => ({ ...measures, numbers: null })),
    });
  }
});

test("terms are encoded alone and after a space, as separate texts", async () => {
  const terms = ["the", "漢字", "<|endoftext|>", " ", "no such word", "don't"];
  const options = optionsOf({ tokenizers: { gpt2, nfc }, texts: { text: [write("terms.txt", "the")] } });
  const { evaluation } = await evaluate({ ...options, terms }, () => {});
  for (const [t, tokenizer] of [gpt2, nfc].entries()) {
    expect(evaluation.tokenizers[t]!.terms).toEqual(
      terms.map((term) => ({
        term,
        tokens: tokenizer.encode(term).length,
        tokensBehindSpace: tokenizer.encode(` ${term}`).length,
      })),
    );
  }
});

test("all texts together, and their inequality", async () => {
  const contents = ["the the the 20261", "漢字 漢", "don't don't x1 THE 1234567 202"];
  const texts = Object.fromEntries(contents.map((text, n) => [`t${n}`, [write(`p${n}.txt`, text)]]));
  const { evaluation } = await run({ tokenizers: { gpt2 }, texts });
  const naive = contents.map((text) => naiveMeasures(gpt2, [text]));
  const [{ overall, parity }] = evaluation.tokenizers as [(typeof evaluation.tokenizers)[0]];
  const sum = (field: "tokens" | "words" | "bytes" | "single" | "continued" | "mixed" | "scoreSum") =>
    naive.reduce((all, some) => all + some[field], 0);
  expect(overall).toMatchObject({
    tokens: sum("tokens"),
    singleTokenWords: sum("single"),
    continuedWords: sum("continued"),
    usedTokens: new Set(naive.flatMap(({ counts }) => [...counts.keys()])).size,
    fertility: sum("tokens") / sum("words"),
    bytesPerToken: sum("bytes") / sum("tokens"),
    mixedTokens: sum("mixed"),
  });
  const sumOfNumbers = (field: keyof NaiveMeasures["numbers"]) =>
    naive.reduce((all, { numbers }) => all + numbers[field], 0);
  for (const field of ["count", "digitGroups", "tokens", "longCount", "fromRight", "fromLeft"] as const) {
    expect(overall.numbers![field]).toBe(sumOfNumbers(field));
  }
  expect(overall.numbers!.alignment).toBeCloseTo(sum("scoreSum") / sumOfNumbers("count"), 12);
  const fertilities = naive.map(({ fertility }) => fertility);
  const perByte = naive.map(({ tokens, bytes }) => tokens / bytes);
  expect(parity!.giniFertility).toBeCloseTo(naiveGini(fertilities), 12);
  expect(parity!.giniBytes).toBeCloseTo(naiveGini(perByte), 12);
  const perCharacter = naive.map(({ tokens, characters }) => tokens / characters);
  const wholes = naive.map(({ tokens }) => tokens);
  expect(parity!.giniCharacters).toBeCloseTo(naiveGini(perCharacter), 12);
  expect(parity!.giniTokens).toBeCloseTo(naiveGini(wholes), 12);
  const nameOf = (costs: number[], cost: number) => `t${costs.indexOf(cost)}`;
  expect(parity).toMatchObject({
    cheapestText: nameOf(fertilities, Math.min(...fertilities)),
    costliestText: nameOf(fertilities, Math.max(...fertilities)),
    costRatio: Math.max(...fertilities) / Math.min(...fertilities),
    cheapestTextByBytes: nameOf(perByte, Math.min(...perByte)),
    costliestTextByBytes: nameOf(perByte, Math.max(...perByte)),
    costRatioByBytes: Math.max(...perByte) / Math.min(...perByte),
    cheapestTextByCharacters: nameOf(perCharacter, Math.min(...perCharacter)),
    costliestTextByCharacters: nameOf(perCharacter, Math.max(...perCharacter)),
    costRatioByCharacters: Math.max(...perCharacter) / Math.min(...perCharacter),
    cheapestTextByTokens: nameOf(wholes, Math.min(...wholes)),
    costliestTextByTokens: nameOf(wholes, Math.max(...wholes)),
    costRatioByTokens: Math.max(...wholes) / Math.min(...wholes),
  });
  expect(
    (await run({ tokenizers: { gpt2 }, texts: { t0: texts.t0! } })).evaluation.tokenizers[0]!.parity,
  ).toBe(null);
});

test("a text without words has no fertility", async () => {
  const texts = { blank: [write("blank.txt", " \n\n ")], words: [write("words.txt", "the")] };
  const { evaluation } = await run({ tokenizers: { gpt2 }, texts });
  const { texts: measured, parity } = evaluation.tokenizers[0]!;
  expect(measured[0]).toMatchObject({
    fertility: null,
    singleTokenShare: null,
    wordsPerToken: 0,
    costliestWords: [],
  });
  expect(measured[0]!.tokens).toBeGreaterThan(0);
  expect(parity).toBe(null);
});

test("a long word is shown by its beginning, with its length", async () => {
  const texts = { long: [write("long.txt", `${"é漢".repeat(50_000)} the`)] };
  const { evaluation } = await run({ tokenizers: { gpt2 }, texts });
  const [word] = evaluation.tokenizers[0]!.texts[0]!.costliestWords;
  expect(word).toMatchObject({ bytes: 250_000, count: 1 });
  expect(word!.word).toBe("é漢".repeat(32));
  expect(word!.pieces.length).toBe(64);
});

test("a word is returned verbatim, even if it would be escaped for people; one token alone has no efficiency", async () => {
  const odd = "a\\x0ab\u0007\u202e漢";
  const texts = { odd: [write("odd.txt", `${odd} ${odd}`)], one: [write("one.txt", "a")] };
  const { evaluation } = await run({ tokenizers: { gpt2 }, texts });
  const [first, second] = evaluation.tokenizers[0]!.texts;
  expect(first!.costliestWords[0]).toMatchObject({ word: odd, count: 2 });
  expect(second!.renyi.map(({ efficiency }) => efficiency)).toEqual([null, null]);
});

test("words that do not fit into memory go to disk, and the result is the same", async () => {
  const paths = [
    write("big.txt", Array.from({ length: 60_000 }, (_, n) => `w${(n * 7919) % 50_021}`).join(" ")),
  ];
  const plenty = await run({ tokenizers: { gpt2 }, texts: { big: paths } });
  const little = await evaluate(
    {
      tokenizers: [{ name: "gpt2", path: gpt2.parts.description.path, parts: gpt2.parts }],
      texts: [{ name: "big", paths, inputs: findInputs(paths) }],
      workerCountFor: () => 1,
      budget: new MemoryBudget(120e6),
      numbers: true,
      scratch: temporary,
    },
    () => {},
  );
  expect(little).toEqual(plenty);
});

test("special tokens with white space may hide others, so their texts are encoded as a whole", async () => {
  const spaced = await changed((json) => {
    json.added_tokens.push(
      { id: 900, content: "a b", ...addedToken },
      { id: 901, content: "bcd", ...addedToken },
    );
  });
  const text = "x a bcd bcd a b";
  check(
    await run({ tokenizers: { spaced }, texts: { text: [write("spaced.txt", text)] } }),
    0,
    0,
    naiveMeasures(spaced, [text]),
  );
});

test("a tokenizer that drops bytes is measured by the tokens that are left", async () => {
  const dropping = await changed((json) => {
    const { vocab, merges } = json.model;
    for (const token of Object.keys(vocab)) if (/[xe]/.test(token)) delete vocab[token];
    json.model.merges = merges.filter((merge) => !/[xe]/.test(String(merge)));
  });
  expect(dropping.parts.model.dropsBytes).toBe(true);
  const text = `${randomText(500, 31)} x xx\nxthe xe axe`;
  const texts = { text: [write("dropping.txt", text)] };
  const keep = between((word) => word.replace(/[xe]/g, ""));
  for (const specialTokensAsText of [false, true]) {
    const evaluated = await run({ tokenizers: { dropping, gpt2 }, texts }, 1, specialTokensAsText);
    if (!specialTokensAsText) check(evaluated, 0, 0, naiveMeasures(dropping, [text], keep));
    const counts = new Float64Array(dropping.idLimit);
    for (const id of dropping.encode(text, { specialTokensAsText })) counts[id]!++;
    expect(evaluated.tokenCounts[0]![0]).toEqual(counts);
  }
});

test("tokenizers with the same pattern share the counting of a text that has none of their special tokens", async () => {
  const [one, other] = ["<one>", "<other>"].map((content) =>
    changed((json) => json.added_tokens.push({ id: 900, content, ...addedToken })),
  );
  const tokenizers = { one: await one!, other: await other!, gpt2 };
  const sizes: number[] = [];
  for (const text of ["the cat, the hat\n", "the cat, <one>the hat\n"]) {
    const path = write("shared.txt", text.repeat(50));
    const passes = new Set<number>();
    const options = optionsOf({ tokenizers, texts: { text: [path] } });
    const { tokenCounts } = await evaluate(options, ({ done }) => passes.add(done));
    for (const [t, tokenizer] of Object.values(tokenizers).entries()) {
      const counts = new Float64Array(tokenizer.idLimit);
      for (const id of tokenizer.encode(text.repeat(50))) counts[id]!++;
      expect(tokenCounts[t]![0]).toEqual(counts);
    }
    sizes.push(passes.size);
  }
  expect(sizes).toEqual([2, 3]);
});

const nfc = await changed((json) => Object.assign(json, { normalizer: { type: "NFC" } }));
/** A tokenizer without the second half of its merges, and without the tokens that these merges make. */
const half = await changed(({ model }) => {
  for (const merge of model.merges.splice(model.merges.length / 2)) {
    delete model.vocab[(merge as string[] & string).length === 2 ? (merge as string[]).join("") : ""];
  }
});

async function compare(a: Tokenizer, b: Tokenizer, paths: readonly string[] | null, workerCount = 1) {
  const texts = paths === null ? {} : { text: [...paths] };
  const { tokenizers, texts: opened, ...options } = optionsOf({ tokenizers: { a, b }, texts }, workerCount);
  const two = [tokenizers[0]!, tokenizers[1]!] as const;
  const comparing = { ...options, tokenizers: two, text: opened[0] ?? null, partWordsLeast: 20 };
  return (await compareTokenizers(comparing, () => {})).difference;
}

/** Returns the words that the tokenizers cut differently, with both cuts and their counts. */
function naiveDifferences(a: Tokenizer, b: Tokenizer, text: string) {
  const piecesOf = (tokenizer: Tokenizer, word: string) =>
    Array.from(tokenizer.encode(word), (id) => escapeBytes(tokenizer.tokenBytes(id)));
  const found = new Map<string, number>();
  for (const { before, word } of naiveWords(text)) {
    const placed = before + word;
    if (Bun.deepEquals(piecesOf(a, placed), piecesOf(b, placed))) continue;
    found.set(placed, (found.get(placed) ?? 0) + 1);
  }
  return [...found]
    .sort(([p, m], [q, n]) => n - m || Buffer.compare(Buffer.from(p), Buffer.from(q)))
    .map(([word, count]) => ({
      word: escapeBytes(Buffer.from(word)),
      count,
      piecesA: piecesOf(a, word),
      piecesB: piecesOf(b, word),
    }));
}

const text = `${madeText(4, 3000)} ${randomText(800, 3)}`;

const compared = [write("compared.txt", text)];

test("the words that are cut differently are those of a naive comparison, with any number of threads", async () => {
  const pairs = [
    [gpt2, half],
    [half, nfc],
    [gpt2, nfc],
  ] as const;
  for (const [turn, [a, b]] of pairs.entries()) {
    const wanted = naiveDifferences(a, b, text);
    const wordCount = naiveWords(text).length;
    const [tokensA, tokensB] = [a, b].map((tokenizer) => tokenizer.encode(text).length);
    const found = await Promise.all(
      [1, ...turns([2, 5], turn)].map((count) => compare(a, b, compared, count)),
    );
    for (const { text: difference } of found) {
      expect(difference!.mostFrequent).toEqual(wanted.slice(0, 1000));
      expect(difference!.distinctDifferentWords).toBe(wanted.length);
      const count = wanted.reduce((sum, word) => sum + word.count, 0);
      expect(difference).toMatchObject({
        differentWords: count,
        words: wordCount,
        differentShare: count / wordCount,
        tokensA,
        tokensB,
      });
    }
    expect(wanted.length).toBeGreaterThan(0);
  }
});

test("a tokenizer and itself do not differ", async () => {
  const { tokens, merges, text: difference } = await compare(gpt2, gpt2, compared);
  expect(tokens).toMatchObject({ inBoth: gpt2.size, onlyInA: [], onlyInB: [], moved: [] });
  expect(merges).toMatchObject({ onlyInA: [], onlyInB: [], moved: [] });
  expect(difference).toMatchObject({ differentWords: 0, differentShare: 0, mostFrequent: [] });
});

test("without a text there is no difference of texts", async () => {
  expect((await compare(gpt2, half, null)).text).toBe(null);
});

test("cuts of equal lengths into different bytes, as after normalization, differ", async () => {
  // NFC replaces U+0340 by U+0300, which has as many bytes.
  const { text: difference } = await compare(gpt2, nfc, [write("forms.txt", "x\u0340 x")]);
  expect(difference).toMatchObject({ words: 2, differentWords: 1 });
});

test("at most 1,000 of the words that are cut differently are listed, and all are counted", async () => {
  const words = Array.from({ length: 1001 }, (_, n) => `${n}\u0340`);
  const { text: difference } = await compare(gpt2, nfc, [write("many.txt", words.join(" "))]);
  expect(difference).toMatchObject({ differentWords: 1001, distinctDifferentWords: 1001 });
  expect(difference!.mostFrequent.length).toBe(1000);
});
