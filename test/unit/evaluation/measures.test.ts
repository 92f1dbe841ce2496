import { describe, expect, test } from "bun:test";
import type { Measures } from "../../../src/evaluation/measures.ts";
import * as measures from "../../../src/evaluation/measures.ts";

/** A different number in each field. */
const numbers = {
  count: 20,
  digitGroups: 21,
  tokens: 22,
  tokensPerDigitGroup: 23,
  alignment: 24,
  longCount: 25,
  fromRight: 26,
  fromRightShare: 27,
  fromLeft: 28,
  fromLeftShare: 29,
};
const sample: Measures = {
  tokens: 1,
  bytesPerToken: 2,
  charactersPerToken: 3,
  tokensPerCharacter: 4,
  wordsPerToken: 5,
  fertility: 6,
  singleTokenWords: 7,
  singleTokenShare: 8,
  continuedWords: 9,
  continuedShare: 10,
  usedTokens: 11,
  vocabularyUtilization: 12,
  renyi: [
    { alpha: 2, entropy: 13, efficiency: 14 },
    { alpha: 2.5, entropy: 15, efficiency: 16 },
  ],
  notUtf8Tokens: 17,
  notUtf8Share: 18,
  mixedTokens: 19,
  numbers,
  flopsPerByte: 30,
  relativeCost: 31,
};

describe("the list of measures", () => {
  test("their keys are the columns of CSV, in order, each with its value", () => {
    expect(measures.alphas).toEqual([2, 2.5]);
    expect(measures.ofText.map(({ key, value }) => [key, value(sample)])).toEqual([
      ["tokens", 1],
      ["bytes_per_token", 2],
      ["characters_per_token", 3],
      ["words_per_token", 5],
      ["fertility", 6],
      ["single_token_words", 7],
      ["single_token_share", 8],
      ["continued_words", 9],
      ["continued_share", 10],
      ["used_tokens", 11],
      ["vocabulary_utilization", 12],
      ["renyi_entropy_2", 13],
      ["renyi_efficiency_2", 14],
      ["renyi_entropy_2.5", 15],
      ["renyi_efficiency_2.5", 16],
      ["not_utf8_tokens", 17],
      ["not_utf8_share", 18],
      ["tokens_per_character", 4],
      ["mixed_tokens", 19],
      ["numbers", 20],
      ["tokens_per_digit_group", 23],
      ["digit_alignment", 24],
      ["long_numbers", 25],
      ["from_right_share", 27],
      ["from_left_share", 29],
      ["flops_per_byte", 30],
      ["relative_cost", 31],
    ]);
  });

  test("measures of numbers are those without a value if numbers are not measured", () => {
    const without = { ...sample, numbers: null };
    expect(measures.ofDigits).toEqual(measures.ofText.filter(({ value }) => value(without) === null));
    expect(measures.ofDigits[0]!.key).toBe("numbers");
  });

  test("higher is better for bytes per token, and lower for the cost of a text", () => {
    const betterOf = Object.fromEntries(measures.ofText.map(({ key, better }) => [key, better]));
    expect(betterOf).toEqual({
      tokens: "lower",
      bytes_per_token: "higher",
      characters_per_token: "higher",
      words_per_token: "higher",
      fertility: "lower",
      flops_per_byte: "lower",
      relative_cost: "lower",
      single_token_words: "higher",
      single_token_share: "higher",
      continued_words: "lower",
      continued_share: "lower",
      used_tokens: null,
      vocabulary_utilization: null,
      renyi_entropy_2: null,
      renyi_efficiency_2: "higher",
      "renyi_entropy_2.5": null,
      "renyi_efficiency_2.5": "higher",
      not_utf8_tokens: "lower",
      not_utf8_share: "lower",
      tokens_per_character: "lower",
      mixed_tokens: "lower",
      numbers: null,
      tokens_per_digit_group: "lower",
      digit_alignment: "higher",
      long_numbers: null,
      from_right_share: "higher",
      from_left_share: null,
    });
    expect([...measures.ofParity, ...measures.ofTerms].map(({ better }) => better)).toEqual(
      Array(4).fill("lower"),
    );
    expect(measures.ofVocabulary.map(({ better }) => better)).toEqual([null, "lower", "lower"]);
  });

  test("parity has each of its costs", () => {
    const parity = Object.fromEntries(
      ["", "ByBytes", "ByCharacters", "ByTokens"].flatMap((by, i) => [
        [`gini${["Fertility", "Bytes", "Characters", "Tokens"][i]}`, i + 0.5],
        [`costRatio${by}`, i],
        [`cheapestText${by}`, `cheap ${i}`],
        [`costliestText${by}`, `costly ${i}`],
      ]),
    ) as unknown as measures.Parity;
    expect(measures.parityCosts.map(({ of }) => of(parity))).toEqual(
      [0, 1, 2, 3].map((i) => ({
        gini: i + 0.5,
        costRatio: i,
        cheapestText: `cheap ${i}`,
        costliestText: `costly ${i}`,
      })),
    );
  });

  test("of equal best values all are marked, and none if all are equal or no direction is better", () => {
    const best = (better: "higher" | "lower" | null, values: (number | null)[]) => [
      ...measures.bestOf({ better }, values),
    ];
    expect(best("higher", [1, 3, 2, 3])).toEqual([1, 3]);
    expect(best("lower", [1, 3, null, 1])).toEqual([0, 3]);
    expect(best("lower", [null, 0, 2])).toEqual([1]);
    expect(best("higher", [2, 2])).toEqual([]);
    expect(best("higher", [2, null])).toEqual([]);
    expect(best("higher", [])).toEqual([]);
    expect(best(null, [1, 2])).toEqual([]);
  });

  test("values are shown with their unit, and missing values as a dash", () => {
    const shown = (key: string, of = sample) =>
      measures.shownValue(measures.ofText.find((one) => one.key === key)!, of);
    expect(shown("tokens", { ...sample, tokens: 1234567 })).toBe("1,234,567");
    expect(shown("fertility")).toBe("6.000");
    expect(shown("single_token_share", { ...sample, singleTokenShare: 0.12345 })).toBe("12.35 %");
    expect(shown("renyi_efficiency_2")).toBe("14.0000");
    expect(shown("fertility", { ...sample, fertility: null })).toBe("-");
  });
});
