import { describe, expect, test } from "bun:test";
import { exitCode } from "../../../src/runtime/errors.ts";
import * as vocabularies from "../../../src/tokenizer/vocabulary.ts";
import { randomNumbers } from "../../random.ts";
import { errorOf } from "../../thrown.ts";
import { mergesOf, naiveMerges } from "./made-merges.ts";

// The merges are "t" + "h", "th" + "e" and " " + "t".
const merges = mergesOf([116, 256, 32], [104, 101, 116]);

describe("buildVocabulary", () => {
  for (const compat of ["cs336", "rustbpe"] as const) {
    test(`${compat}: bytes are 0 to 255, then merges, then special tokens`, () => {
      const vocabulary = vocabularies.build({ merges, specialTokens: ["<|b|>", "<|a|>"], compat });
      expect([...vocabulary.tokenIds]).toEqual(Array.from({ length: 259 }, (_, id) => id));
      expect([...vocabulary.specialIds]).toEqual([259, 260]);
      expect([...vocabulary.entries.slice(256)]).toEqual([256, 257, 258, -1, -2]);
      expect(vocabulary.size).toBe(261);
    });
  }

  test("special tokens first: then bytes in order, then merges", () => {
    const specials = { specialTokens: ["<|b|>", "<|a|>"], specialTokensFirst: true };
    for (const compat of ["cs336", "rustbpe"] as const) {
      const vocabulary = vocabularies.build({ merges, compat, ...specials, padTo: 8 });
      expect([...vocabulary.specialIds]).toEqual([0, 1, 261, 262, 263]);
      expect([...vocabulary.tokenIds]).toEqual(Array.from({ length: 259 }, (_, token) => token + 2));
      expect([...vocabulary.entries.slice(0, 3), ...vocabulary.entries.slice(260)]).toEqual([
        ...[-1, -2, 0],
        ...[258, -3, -4, -5],
      ]);
    }
  });

  test("huggingface: special tokens, then the alphabet by code point, then merges", () => {
    const vocabulary = vocabularies.build({
      merges,
      specialTokens: ["<|b|>", "<|a|>"],
      compat: "huggingface",
    });
    expect([...vocabulary.specialIds]).toEqual([0, 1]);
    expect(vocabulary.tokenIds["!".charCodeAt(0)]).toBe(2);
    expect(vocabulary.tokenIds["~".charCodeAt(0)]).toBe(95);
    expect(vocabulary.tokenIds[161]).toBe(96);
    // The 68 bytes that have no printable character come last, in order: first byte 0, and at the end byte 173.
    expect(vocabulary.tokenIds[0]).toBe(2 + 188);
    expect(vocabulary.tokenIds[32]).toBe(2 + 188 + 32);
    expect(vocabulary.tokenIds[173]).toBe(2 + 255);
    expect([...vocabulary.tokenIds.slice(256)]).toEqual([258, 259, 260]);
  });

  test("huggingface: a special token that equals a byte's character or a learned token keeps its id", () => {
    for (const specialTokens of [
      ["Ġt", "a", "<|end|>"],
      ["a", "<|end|>", "Ġt"],
    ]) {
      const vocabulary = vocabularies.build({ merges, specialTokens, compat: "huggingface" });
      expect([...vocabulary.specialIds]).toEqual([0, 1, 2]);
      expect(vocabulary.tokenIds[97]).toBe(specialTokens.indexOf("a"));
      expect([...vocabulary.tokenIds.slice(256)]).toEqual([3 + 255, 3 + 256, specialTokens.indexOf("Ġt")]);
      expect(vocabulary.size).toBe(3 + 255 + 2);
      expect(vocabularies.baseSize(specialTokens, "huggingface")).toBe(3 + 255);
    }
  });

  test("other rules name the special token that equals a learned one, as bytes or as characters", () => {
    for (const special of ["Ġt", " t", "the"]) {
      const error = errorOf(() => vocabularies.build({ merges, specialTokens: [special], compat: "cs336" }));
      expect(error.message).toContain(JSON.stringify(special));
      expect(error.exitCode).toBe(exitCode.failed);
    }
  });

  test("without merges there are still the bytes and the special tokens", () => {
    const vocabulary = vocabularies.build({
      merges: mergesOf([], []),
      specialTokens: ["<s>"],
      compat: "cs336",
    });
    expect(vocabulary.size).toBe(257);
    expect([...vocabulary.specialIds]).toEqual([256]);
  });
});

test("no two merges give the same bytes, however repetitive the text is", () => {
  for (let seed = 1; seed <= 60; seed++) {
    const random = randomNumbers(seed);
    const letters = "ab".repeat(1 + random(3)).slice(0, 1 + random(3));
    const words = Array.from({ length: 12 }, () => {
      return Array.from({ length: 1 + random(14) }, () => letters[random(letters.length)]).join("");
    });
    const { tokenBytes } = vocabularies.build({
      merges: naiveMerges(words.join(" "), 80),
      specialTokens: [],
      compat: "cs336",
    });
    const texts = Array.from(tokenBytes.lengths, (_, token) =>
      Buffer.from(tokenBytes.copy(token)).toString("latin1"),
    );
    expect(`seed ${seed}: ${new Set(texts).size}`).toBe(`seed ${seed}: ${texts.length}`);
  }
});

describe("checkSpecialTokens", () => {
  test("refuses mistakes that the command line alone reveals", () => {
    for (const specials of [[""], ["<s>", "<s>"], ["a"], [" "], ["\n"], ["Ġ"], ["é"], ["<s>", "~"]]) {
      expect(errorOf(() => vocabularies.checkSpecialTokens(specials, "cs336")).exitCode).toBe(exitCode.usage);
    }
  });

  test("accepts tokens that can only be judged after training", () => {
    vocabularies.checkSpecialTokens(["Ġt", "the", "漢", "😀", "<|endoftext|>", "\u0080", "\u0085"], "cs336");
  });

  test("under huggingface accepts single bytes, like HF, but nothing empty or twice", () => {
    vocabularies.checkSpecialTokens(["a", "Ġ"], "huggingface");
    expect(errorOf(() => vocabularies.checkSpecialTokens([""], "huggingface")).exitCode).toBe(exitCode.usage);
    expect(errorOf(() => vocabularies.checkSpecialTokens(["x", "x"], "huggingface")).exitCode).toBe(
      exitCode.usage,
    );
  });
});

describe("token bytes", () => {
  test("are those of the halves, one after the other", () => {
    const { tokenBytes } = vocabularies.build({ merges, specialTokens: [], compat: "cs336" });
    const texts = [256, 257, 258].map((token) => new TextDecoder().decode(tokenBytes.copy(token)));
    expect(texts).toEqual(["th", "the", " t"]);
  });

  test("of a token of a million bytes are read from its derivation, deep or balanced", () => {
    const doublings = Array.from({ length: 20 }, (_, k) => (k === 0 ? 97 : 255 + k));
    const doubled = vocabularies.build({
      merges: mergesOf(doublings, doublings),
      specialTokens: [],
      compat: "cs336",
    });
    expect(Buffer.from(doubled.tokenBytes.copy(275)).equals(Buffer.alloc(2 ** 20, "a"))).toBe(true);

    // Each of 20,000 merges adds one byte to the token before, on the left or on the right.
    const halves = Array.from({ length: 20_000 }, (_, k) => [k === 0 ? 97 : 255 + k, 98]);
    const left = halves.map(([long, byte], k) => (k % 2 === 0 ? long! : byte!));
    const right = halves.map(([long, byte], k) => (k % 2 === 0 ? byte! : long!));
    const grown = vocabularies.build({ merges: mergesOf(left, right), specialTokens: [], compat: "cs336" });
    const bytes = Buffer.from(grown.tokenBytes.copy(255 + 20_000));
    expect(bytes.toString()).toBe(`${"b".repeat(10_000)}a${"b".repeat(10_000)}`);
    expect(grown.tokenBytes.kept.length).toBeLessThan(256 + 64 * 64);
  });
});
