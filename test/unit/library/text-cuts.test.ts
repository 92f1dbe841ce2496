import { expect, spyOn, test } from "bun:test";
import * as byteCharacters from "../../../src/bytes/byte-characters.ts";
import { TextTokenizer } from "../../../src/library/text-tokenizer.ts";
import { UserError } from "../../../src/runtime/errors.ts";
import * as normalForms from "../../../src/text/normalization.ts";
import { TextEncoding } from "../../../src/tokenizer/text-encoding.ts";
import { haveAllBytes } from "../../../src/tokenizer/token-table.ts";
import { randomNumbers } from "../../random.ts";
import { rounds } from "../../rounds.ts";
import { madeTrial, pieces } from "../text/made-trials.ts";
import { jsonOf, type TokenizerJson, writeTokenizer } from "../tokenizer/made-tokenizer.ts";

const seed = Number(process.env.TEST_SEED ?? 61);
const decode = (bytes: Uint8Array) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);

type Added = Record<string, unknown> & { readonly content: string };

/** Returns the JSON of a tokenizer of bytes, these merges, and added tokens. */
function jsonWith(
  merges: readonly (readonly [string, string])[],
  added: readonly Added[] = [],
): TokenizerJson {
  const tokens = [...new Set([...byteCharacters.characters, ...merges.map((pair) => pair.join(""))])];
  const flags = { special: true, normalized: false, lstrip: false, rstrip: false, single_word: false };
  return {
    added_tokens: added.map((token, i) => ({ id: tokens.length + i, ...flags, ...token })),
    normalizer: null,
    pre_tokenizer: { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: true },
    model: {
      type: "BPE",
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
      merges: merges.map((pair) => pair.join(" ")),
    },
  };
}

/** Returns random merges of the bytes of a text. */
function madeMerges(random: (below: number) => number, text: string): [string, string][] {
  const merges: [string, string][] = [];
  let tokens = [...byteCharacters.encode(Buffer.from(text))];
  for (let n = random(60); n > 0 && tokens.length > 1; n--) {
    const at = random(tokens.length - 1);
    const [left, right] = [tokens[at]!, tokens[at + 1]!];
    merges.push([left, right]);
    const merged: string[] = [];
    for (let i = 0; i < tokens.length; i++) {
      const isPair = tokens[i] === left && tokens[i + 1] === right;
      merged.push(isPair ? left + right : tokens[i]!);
      if (isPair) i++;
    }
    tokens = merged;
  }
  return merges;
}

/** `truncate` and `chunks` in simple code, for tokenizers without normalization or a prefix space. */
class NaiveCuts {
  readonly ends: number[];

  constructor(
    readonly tokenizer: TextTokenizer,
    readonly text: Uint8Array,
  ) {
    let end = 0;
    const lengths = Array.from(tokenizer.encode(text), (id) => tokenizer.tokenBytes(id).length);
    this.ends = [0, ...lengths.map((length) => (end += length))];
  }

  /** Whether the position is not inside a valid character. */
  isCut(position: number): boolean {
    const isCharacter = (start: number, end: number) => {
      const text = decode(this.text.subarray(start, end));
      return [...text].length === 1 && Buffer.from(text).equals(this.text.subarray(start, end));
    };
    for (let start = Math.max(0, position - 3); start < position; start++)
      for (let end = position + 1; end <= start + 4 && end <= this.text.length; end++)
        if (isCharacter(start, end)) return false;
    return true;
  }

  moved(position: number, by: 1 | -1): number {
    while (!this.isCut(position)) position += by;
    return position;
  }

  firstFitting(
    candidates: readonly number[],
    n: number,
    part: (cut: number) => Uint8Array,
  ): number | undefined {
    return candidates.find((cut) => part(cut).length > 0 && this.tokenizer.encode(part(cut)).length <= n);
  }

  end(start: number, n: number): number {
    if (n === 0) return start;
    const { ends, text } = this;
    const first = ends.findIndex((end) => end > start) - 1;
    const tokenEnds = ends.slice(first + 1, first + n + 1).map((end) => this.moved(end, -1));
    const inside = [];
    for (let at = start; at <= this.moved(ends[first + 1]!, 1); at++) if (this.isCut(at)) inside.push(at);
    const candidates = [...tokenEnds.reverse(), ...inside.reverse()].filter((cut) => cut > start);
    return this.firstFitting(candidates, n, (cut) => text.subarray(start, cut)) ?? start;
  }

  lastStart(n: number): number {
    const { ends, text } = this;
    if (n === 0) return text.length;
    const tokenStarts = ends.slice(-n - 1, -1).map((start) => this.moved(start, 1));
    const inside = [];
    for (let at = this.moved(ends.at(-2)!, -1); at < text.length; at++) if (this.isCut(at)) inside.push(at);
    return this.firstFitting([...tokenStarts, ...inside], n, (cut) => text.subarray(cut)) ?? text.length;
  }

  chunks(n: number, overlap: number): Uint8Array[] | null {
    const found: Uint8Array[] = [];
    for (let [start, end] = [0, 0]; end < this.text.length; ) {
      const after = this.ends.findIndex((tokenEnd) => tokenEnd > end) - 1;
      const froms = [end];
      for (let shared = 1; shared <= Math.min(overlap, after); shared++)
        froms.push(this.moved(this.ends[after - shared]!, 1));
      const from = froms.findLast((at) => at === end || (at > start && at < end && this.end(at, n) > end))!;
      [start, end] = [from, this.end(from, n)];
      if (end === start) return null;
      found.push(this.text.subarray(start, end));
    }
    return found;
  }
}

const edges = ["it'll", "'ll", "'ve", "'re", "漢字", "漢漢", "12"].flatMap(
  (edge) => Array(8).fill(edge) as string[],
);

test("texts are cut like by the naive rules, for any merges; bytes need not be UTF-8", () => {
  let [rareCount, refusedCount] = [0, 0];
  for (let round = 0; round < rounds(150); round++) {
    const random = randomNumbers(seed * 7919 + round);
    const pick = <T>(list: readonly T[]): T => list[random(list.length)]!;
    const alphabet = Array.from({ length: 1 + random(6) }, () => pick([...pieces, ...edges]));
    const madeText = () => Array.from({ length: random(25) }, () => pick(alphabet)).join("");
    const text = madeText();
    const json = jsonWith(
      madeMerges(random, text),
      random(2) === 0 ? [] : [{ content: "<A>" }, { content: "漢" }],
    );
    json.model.ignore_merges = random(3) === 0;
    json.pre_tokenizer = { type: "ByteLevel", add_prefix_space: false, use_regex: random(4) > 0 };
    const tokenizer = TextTokenizer.from(json);
    const bytes = Buffer.from(random(2) === 0 ? text : madeText() + text.repeat(1 + random(12)));
    if (random(3) === 0 && bytes.length > 0) bytes[random(bytes.length)] = random(256);
    const naive = new NaiveCuts(tokenizer, bytes);
    const count = tokenizer.encode(bytes).length;
    const n = random(2) === 0 ? random(5) : random(count + 2);
    const about = { seed, round, n };
    const wanted = count <= n ? [0, bytes.length] : [naive.lastStart(n), naive.end(0, n)];
    const found = [
      bytes.length - tokenizer.truncate(bytes, n, { keep: "end" }).length,
      tokenizer.truncate(bytes, n).length,
    ];
    expect({ about, found }).toEqual({ about, found: wanted });
    if (n > 0 && n < count && wanted[1] !== naive.moved(naive.ends[n]!, -1)) rareCount++;
    if (n === 0) continue;
    const overlap = random(2) === 0 ? 0 : random(n);
    const chunks = naive.chunks(n, overlap)?.map((chunk) => Buffer.from(chunk).toString("latin1"));
    if (chunks === undefined) {
      refusedCount++;
      expect(() => tokenizer.chunks(bytes, n, { overlap })).toThrow(UserError);
    } else {
      const made = tokenizer.chunks(bytes, n, { overlap });
      const shown = made.map((chunk) => Buffer.from(chunk).toString("latin1"));
      expect({ about, overlap, chunks: shown }).toEqual({ about, overlap, chunks });
    }
    expect([...tokenizer.encode(bytes)].length).toBe(count);
  }
  expect([rareCount > rounds(1), refusedCount > rounds(5)]).toEqual([true, true]);
});

const base = jsonOf(writeTokenizer("gpt2"));
/** Whether no normal form joins the character at this position to the preceding text. */
const opens = (text: string, at: number) => !/^[\p{M}\u1160-\u11ff]/u.test(text.slice(at).normalize("NFKD"));

/** Whether a cut at `at` leaves the normal form of the text unchanged. */
function keepsForm(text: string, at: number, normalization: string | null): boolean {
  if (normalization === null) return true;
  const form = (part: string) => normalForms.normalize(part, normalization);
  return form(text.slice(0, at)) + form(text.slice(at)) === form(text);
}

/**
 * Whether some byte has no token of its own, or two tokens of different bytes may share an id. For example, an added
 * token "Å" would have the id of the byte C5, which the vocabulary spells "Å".
 */
function sharesId({ model }: TokenizerJson, { parts }: TextTokenizer): boolean {
  const isOther = (id: number, content: string) =>
    Object.entries(model.vocab).some(([key, its]) => its === id && key !== content);
  const isByte = (content: string) => byteCharacters.characters.includes(content) && content > "~";
  return (
    !haveAllBytes(parts.model.byteIds, parts.tokens) ||
    parts.addedTokens.some(({ id, content }) => isOther(id, content) || isByte(content))
  );
}

test("with added tokens of every kind, prefix spaces and normal forms, a part has as many ids as it may, and no parts of tokens", () => {
  const counts = { tried: 0, chunked: 0, normalized: 0 };
  for (let trial = 0; trial < rounds(60); trial++) {
    const { json, texts } = madeTrial(base, seed * 1_000_003 + trial);
    let tokenizer: TextTokenizer;
    try {
      tokenizer = TextTokenizer.from(json);
    } catch (error) {
      expect(error).toBeInstanceOf(UserError);
      continue;
    }
    const { normalization, addedTokens } = tokenizer.parts;
    if (sharesId(json, tokenizer)) continue;
    // Whether an added token begins or ends with white space, which an adjacent added token may strip.
    const hasEdges = addedTokens.some(({ content }) => content.trim() !== content);
    const isAdded = new Set(addedTokens.map(({ id }) => id));
    for (const [turn, text] of texts.entries()) {
      const options = { specialTokensAsText: turn % 3 === 0 };
      const idsOf = (part: string) => [...tokenizer.encode(part, options)];
      const ids = idsOf(text);
      const n = (trial + turn) % (ids.length + 2);
      const about = { seed, trial, text, n, normalization, ...options };
      const places = [...text, ""].map((_, i, all) => all.slice(0, i).join("").length);
      for (const keep of ["start", "end"] as const) {
        const part = tokenizer.truncate(text, n, { ...options, keep });
        const cut = keep === "start" ? part.length : text.length - part.length;
        const partIds = idsOf(part);
        expect({ about, cut, count: partIds.length <= n, isPlace: places.includes(cut) }).toEqual({
          ...{ about, cut, count: true, isPlace: true },
        });
        if (ids.length <= n) expect(part).toBe(text);
        // A cut must not change the normal form. This is not checked if the part is within one character and its marks,
        // or if the text has added tokens.
        const [from, to] = keep === "start" ? [0, cut] : [cut, text.length];
        const isPartOfOne = !places.some((at) => at > from && at < to && opens(text, at));
        const holdsAdded = addedTokens.some(({ content }) => text.includes(content));
        const isKept = isPartOfOne || holdsAdded || keepsForm(text, cut, normalization);
        expect({ about, cut, isKept }).toEqual({ about, cut, isKept: true });
        // Looks for cuts that give a longer part with at most `n` ids. These ids must be the first (or the last) ids of
        // the text.
        const [inside, partOf] =
          keep === "start"
            ? [(at: number) => at > cut, (at: number) => text.slice(0, at)]
            : [(at: number) => at < cut, (at: number) => text.slice(at)];
        const better = places.filter((at) => {
          if (!inside(at) || hasEdges || !opens(text, at)) return false;
          const its = idsOf(partOf(at));
          const same = keep === "start" ? ids.slice(0, its.length) : ids.slice(ids.length - its.length);
          return its.length <= n && Bun.deepEquals(its, same);
        });
        expect({ about, keep, cut, better }).toEqual({ about, keep, cut, better: [] });
        if (normalForms.normalize(text, normalization ?? "NFC") !== text && normalization !== null)
          counts.normalized++;
        counts.tried++;
      }
      if (n === 0) continue;
      // `chunks` reads the whole text, `truncate` only its beginning. Both give the same first part.
      const long = texts.join(text).repeat(3);
      try {
        const [first = ""] = tokenizer.chunks(long, n, options);
        expect({ about, first: tokenizer.truncate(long, n, options) }).toEqual({ about, first });
      } catch (error) {
        expect((error as Error).message).toContain(`more than size, which is ${n}`);
      }
      for (const overlap of [0, Math.floor(n / 2)]) {
        let chunks: string[];
        try {
          chunks = tokenizer.chunks(text, n, { ...options, overlap });
        } catch (error) {
          expect((error as Error).message).toContain(`more than size, which is ${n}`);
          continue;
        }
        counts.chunked++;
        if (overlap === 0) expect({ about, joined: chunks.join("") }).toEqual({ about, joined: text });
        let end = 0;
        let start = -1;
        for (const chunk of chunks) {
          const chunkIds = idsOf(chunk);
          expect({ about, chunk, fits: chunkIds.length <= n }).toEqual({ about, chunk, fits: true });
          const from = text.indexOf(chunk, start + 1);
          expect(from).toBeGreaterThan(start);
          start = from;
          end += overlap === 0 ? chunk.length : 0;
        }
        if (overlap === 0) expect(end).toBe(text.length);
      }
      // A cut may remove the letter after a `single_word` token. The token is then found in the part, although it is
      // not found in the text.
      if (options.specialTokensAsText || addedTokens.some(({ singleWord }) => singleWord)) continue;
      const kept = idsOf(tokenizer.truncate(text, n)).filter((id) => isAdded.has(id));
      expect(kept.length).toBeLessThanOrEqual(ids.filter((id) => isAdded.has(id)).length);
    }
  }
  expect(counts.tried).toBeGreaterThan(rounds(200));
  expect(counts.chunked).toBeGreaterThan(rounds(120));
  expect(counts.normalized).toBeGreaterThan(rounds(40));
});

test("the ids of a part are counted when it is encoded alone, which may give more than its tokens in the text", () => {
  const tokenizer = TextTokenizer.from(
    jsonWith([
      ["i", "t"],
      ["'", "l"],
      ["\u0120", "a"],
    ]),
  );
  expect(tokenizer.encode("it'll").length).toBe(3);
  expect(tokenizer.encode("it'l").length).toBe(3);
  expect(tokenizer.truncate("it'll a", 2)).toBe("it");
  expect(tokenizer.truncate("'ll a", 1)).toBe("'");
  expect(tokenizer.chunks("it'll a", 2)).toEqual(["it", "'ll", " a"]);
});

test("a part has no more tokens of the whole text than requested, though it may have fewer ids", () => {
  const tokenizer = TextTokenizer.from(jsonWith([["s", "b"]]));
  expect([tokenizer.encode("a'sb").length, tokenizer.encode("sb").length]).toEqual([4, 1]);
  expect(tokenizer.truncate("a'sb", 1, { keep: "end" })).toBe("b");
});

test("no part ends within a character, though every token does", () => {
  const merges = [
    [byteCharacters.encode(Uint8Array.of(0xa2)), byteCharacters.encode(Uint8Array.of(0xe6))],
  ] as [string, string][];
  const tokenizer = TextTokenizer.from(jsonWith(merges));
  const text = "漢".repeat(5);
  expect(tokenizer.encode(text).length).toBe(11);
  expect(tokenizer.truncate(text, 8)).toBe("漢漢漢");
  expect(tokenizer.truncate(text, 8, { keep: "end" })).toBe("漢漢漢");
  expect(tokenizer.chunks(text, 4)).toEqual(["漢", "漢", "漢", "漢", "漢"]);
  expect(tokenizer.truncate(text, 2)).toBe("");
  expect(() => tokenizer.chunks(`a${text}`, 2)).toThrow(
    'chunks: "漢" at byte 1 has 3 tokens: more than size, which is 2',
  );
  // No state of the refused text remains.
  expect(tokenizer.encode("a").length).toBe(1);
});

test("added tokens are whole, with the white space that they strip", () => {
  const added = [
    { content: "<l>", lstrip: true },
    { content: "<r>", rstrip: true },
  ];
  const tokenizer = TextTokenizer.from(jsonWith([], added));
  const text = "a  <l>b<r> \u2003 c";
  expect([0, 1, 2, 3, 4, 5, 6].map((n) => tokenizer.truncate(text, n))).toEqual([
    ...["", "a", "a  <l>", "a  <l>b", "a  <l>b<r> \u2003 ", text, text],
  ]);
  expect([1, 2, 3].map((n) => tokenizer.truncate(text, n, { keep: "end" }))).toEqual([
    ...["c", "<r> \u2003 c", "b<r> \u2003 c"],
  ]);
  expect(tokenizer.chunks(text, 2, { overlap: 1 })).toEqual([
    ...["a  <l>", "  <l>b", "b<r> \u2003 ", "<r> \u2003 c"],
  ]);
  expect(tokenizer.truncate(text, 4, { specialTokensAsText: true })).toBe("a  <");
});

test("a part of a text with a prefix space is encoded with a prefix space of its own", () => {
  const json = jsonWith([["\u0120", "a"]]);
  json.pre_tokenizer = { type: "ByteLevel", add_prefix_space: true, trim_offsets: true, use_regex: true };
  const tokenizer = TextTokenizer.from(json);
  expect(tokenizer.encode("abc d").length).toBe(5);
  expect(tokenizer.truncate("abc d", 2)).toBe("ab");
  // With its prefix space, "c d" has four tokens, so only " d" fits.
  expect(tokenizer.truncate("abc d", 3, { keep: "end" })).toBe(" d");
  expect(tokenizer.chunks("abcaa", 3)).toEqual(["abc", "aa"]);
  expect(tokenizer.chunks("bcb", 2)).toEqual(["b", "c", "b"]);
  expect(() => tokenizer.chunks("bcb", 1)).toThrow('chunks: "b" at byte 0 has 2 tokens');
  // The first token is the prefix space, which is not in the text.
  expect(tokenizer.truncate("bc", 1)).toBe("");
  expect(tokenizer.truncate("bc", 2)).toBe("b");
  // In "abc", the prefix space is a token of its own, so "ab" takes three tokens. Encoded alone, "ab" is one token,
  // with its prefix space.
  json.model.vocab["\u0120ab"] = 1000;
  json.model.ignore_merges = true;
  json.model.merges = [];
  delete json.model.vocab["\u0120a"];
  const whole = TextTokenizer.from(json);
  expect([whole.encode("abc").length, whole.encode("ab").length]).toEqual([4, 1]);
  expect([1, 2, 3].map((n) => whole.truncate("abc", n))).toEqual(["", "a", "ab"]);
});

test("characters that a normal form changes together are not separated, and the text is returned unchanged", () => {
  const json = jsonWith([]);
  json.normalizer = { type: "NFC" };
  const tokenizer = TextTokenizer.from(json);
  const decomposed = "e\u0301";
  expect(tokenizer.encode(decomposed).length).toBe(2);
  expect(tokenizer.truncate(`a${decomposed}b`, 2)).toBe("a");
  expect(tokenizer.truncate(`a${decomposed}b`, 3)).toBe(`a${decomposed}`);
  expect(tokenizer.chunks(`a${decomposed}b`, 2)).toEqual(["a", decomposed, "b"]);
  expect(tokenizer.chunks("²e\u0301가\u11a8가²", 3)).toEqual(["²", "e\u0301", "가\u11a8", "가", "²"]);
  // These characters are adjacent, but do not change, so they are separated.
  expect(tokenizer.chunks("x\u0301x\u0301", 2)).toEqual(["x", "\u0301", "x", "\u0301"]);
  expect(tokenizer.truncate(`x\u0301${decomposed}`, 1)).toBe("x");
  // Characters that the normal form joins are separated only if nothing else fits.
  const many = `e${"\u0301".repeat(5)}`;
  expect([1, 2, 4].map((n) => tokenizer.truncate(many, n))).toEqual(["e", "e\u0301", "e\u0301\u0301"]);
  expect(tokenizer.truncate(many, 3, { keep: "end" })).toBe("\u0301");
  expect(tokenizer.chunks(many, 4)).toEqual(["e\u0301\u0301", "\u0301\u0301", "\u0301"]);
});

test("an added token keeps its position in a text that a normal form changes, whether it is searched for before or after", () => {
  const decomposed = "e\u0301";
  for (const normalized of [false, true]) {
    const json = jsonWith([], [{ content: `<${decomposed}>`, normalized }]);
    json.normalizer = { type: "NFC" };
    const tokenizer = TextTokenizer.from(json);
    const text = `${decomposed}<${decomposed}>${decomposed}x`;
    expect(tokenizer.encode(text).length).toBe(6);
    expect([2, 3, 4, 5].map((n) => tokenizer.truncate(text, n))).toEqual([
      decomposed,
      text.slice(0, 6),
      text.slice(0, 6),
      text.slice(0, 8),
    ]);
    expect(tokenizer.truncate(text, 4, { keep: "end" })).toBe(text.slice(2));
  }
});

test("half a surrogate pair is a character of three bytes, and stays within its part", () => {
  const tokenizer = TextTokenizer.from(jsonWith([]));
  const text = "a\ud800b😀\udc00";
  expect(tokenizer.count(text)).toBe(12);
  expect([3, 4, 5, 8, 9, 11].map((n) => tokenizer.truncate(text, n))).toEqual([
    ...["a", "a\ud800", "a\ud800b", "a\ud800b", "a\ud800b😀", "a\ud800b😀"],
  ]);
  expect(tokenizer.chunks(text, 4)).toEqual(["a\ud800", "b", "😀", "\udc00"]);
});

test("a part that does not fit is not tried cut by cut: text that normalization changes as a whole is encoded a few times only", () => {
  const json = jsonWith([]);
  json.normalizer = { type: "NFC" };
  const tokenizer = TextTokenizer.from(json);
  const text = `a${"\u0344".repeat(1000)}${"\u0301".repeat(1000)}`;
  const pushText = spyOn(TextEncoding.prototype, "pushText");
  const readBy = (work: () => unknown) => {
    pushText.mockClear();
    work();
    return pushText.mock.calls.reduce((sum, [, start, end]) => sum + end - start, 0);
  };
  for (const n of [50, 1000, 2500]) {
    const read = [
      readBy(() => tokenizer.truncate(text, n)),
      readBy(() => tokenizer.truncate(text, n, { keep: "end" })),
      readBy(() => tokenizer.chunks(text, n)),
    ];
    expect({ n, most: Math.max(...read) < 50 * Buffer.byteLength(text) }).toEqual({ n, most: true });
  }
  pushText.mockRestore();
});
