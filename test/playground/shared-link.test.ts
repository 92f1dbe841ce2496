import { expect, test } from "bun:test";
import { commandOf, hashOf, readHash } from "../../src/playground/shared-link.ts";

const settings = {
  ...{ vocabSize: 500, pattern: "\\p{L}+|&=#", specialTokens: ["<|a|>", "%20&"], compat: "rustbpe" as const },
};

test("a link contains the settings, and the text if it is short", () => {
  const asked = { ...settings, text: "naïve & <b>\n数据" };
  expect(readHash(hashOf(asked))).toEqual(asked);
  expect(readHash(hashOf({ ...asked, text: "x".repeat(5000) }))).toEqual(settings);
});

test("foreign parameters in a link are ignored", () => {
  expect(readHash("")).toEqual({});
  expect(readHash("#watch")).toEqual({});
  expect(readHash("#n=1e99&rule=x&special=a b")).toEqual({ specialTokens: [] });
  expect(readHash("#n=255")).toEqual({ specialTokens: [] });
});

test("the command has every setting, quoted for a shell", () => {
  expect(commandOf(settings, ["it's.txt"])).toBe(
    "bpe train 'it'\\''s.txt' -n 500 -s '<|a|>' -s '%20&' --pattern '\\p{L}+|&=#' --compat rustbpe -o tokenizer",
  );
});
